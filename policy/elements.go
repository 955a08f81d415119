package policy

import (
	"bytes"
	"strings"
)

// element is one text of a list.
type element struct {
	start, end int    // offsets of the text with its quotes
	line       int    // from 1
	comment    string // behind it on its line; where there is none, the one behind the opening bracket
}

// list is a value of several texts taken apart.
type list struct {
	elems  []element
	above  map[int][]string // comments on lines of their own, by the index of the element below them
	behind map[int]string   // comments behind an element, by the index of the last one on the line
	open   string           // behind the opening bracket, and behind a list in one line
	close  string           // behind the closing bracket of several lines
	last   int              // line of the closing bracket
}

// listOf takes a list of texts apart that the decoder has accepted.
func listOf(src []byte, e entry) list {
	l := list{above: map[int][]string{}, behind: map[int]string{}}
	s := scanner{src: src[:e.valEnd], pos: e.valStart, line: e.line}
	note := func(line int, text string) {
		n := len(l.elems)
		switch {
		case text == "":
		case n > 0 && l.elems[n-1].line == line && (line > e.line || l.last == 0):
			l.behind[n-1] = text
		case line == e.line:
			l.open = text
		default:
			l.above[n] = append(l.above[n], text)
		}
	}
	for s.pos < e.valEnd {
		switch s.peek() {
		case '"', '\'':
			el := element{start: s.pos, line: s.line}
			s.str()
			el.end = s.pos
			l.elems = append(l.elems, el)
		case '#':
			line := s.line
			note(line, s.endLine())
		case '\n':
			s.line++
			s.pos++
		default:
			s.pos++
		}
	}
	l.last = e.line + bytes.Count(src[e.valStart:e.valEnd], []byte("\n"))
	n := len(l.elems)
	switch {
	case l.last == e.line || n > 0 && l.elems[n-1].line == l.last:
		note(l.last, e.comment)
	default:
		l.close = e.comment
	}
	for i := range l.elems {
		for j := i; j < n && l.elems[j].line == l.elems[i].line; j++ {
			l.elems[i].comment = l.behind[j]
		}
		if l.elems[i].comment == "" {
			l.elems[i].comment = l.open
		}
	}
	return l
}

// oneLine says whether the whole list stands in one line.
func (l list) oneLine(e entry) bool { return l.last == e.line }

// tidy says whether each element has a line of its own, and both brackets stand elsewhere.
func (l list) tidy(e entry) bool {
	seen := map[int]bool{e.line: true, l.last: true}
	for _, el := range l.elems {
		if seen[el.line] {
			return false
		}
		seen[el.line] = true
	}
	return !l.oneLine(e)
}

// lined is an element as it is to be written: a line of its own, with comments above it.
type lined struct {
	above        []string
	text, behind string
}

// broken writes a list with each element on a line of its own; the comment of the closing bracket is left to the caller.
func (l list) broken(elems []lined, nl string) string {
	if len(elems) == 0 && len(l.above) == 0 {
		return "[]"
	}
	lines := []string{commented("[", l.open)}
	for _, m := range elems {
		for _, c := range m.above {
			lines = append(lines, "  # "+c)
		}
		lines = append(lines, "  "+commented(m.text+",", m.behind))
	}
	for _, c := range l.above[len(l.elems)] {
		lines = append(lines, "  # "+c)
	}
	return strings.Join(append(lines, "]"), nl)
}
