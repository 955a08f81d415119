package policy

import (
	"bytes"
	"slices"
	"strings"
)

// editList is one list of [python.eval]: one that stands in the text, or a new one.
type editList struct {
	line  *editLine // of the whole key; its entry is nil for a new list
	of    evalObject
	list  list        // as it stands in the text
	elems []*editElem // in the order of the text
}

// editElem is one name of a list: one that stands in the text, or a new one.
type editElem struct {
	index   int // in the text; -1 for a new one
	name    string
	deny    bool
	why     string
	changed bool
	removed bool
	asked   Rule
}

func (m *editElem) quoted() string {
	if m.deny {
		return quoteTOML("!" + m.name)
	}
	return quoteTOML(m.name)
}

// less sorts names, those that deny first.
func (m *editElem) less(o *editElem) bool { return m.quoted() < o.quoted() }

// isEvalTable says whether a table's name is that of a profile, and which.
func isEvalTable(table string) (profile string, ok bool) {
	if table == "python.eval" {
		return "", true
	}
	return strings.CutPrefix(table, "python.eval.")
}

// takeLists takes the lists of the text apart.
func (e *editor) takeLists(values map[string]any) {
	for _, l := range e.lines {
		profile, ok := isEvalTable(l.table)
		if !ok || !contains(evalLists, l.key) {
			continue
		}
		own := &editList{line: l, of: evalObject{profile: profile, key: l.key}, list: listOf(e.src, *l.entry)}
		v, _ := lookUp(values, append(slices.Clone(l.entry.table), l.entry.key...))
		names, _ := v.([]any)
		for i := range min(len(names), len(own.list.elems)) {
			text, _ := names[i].(string)
			name, deny := strings.CutPrefix(text, "!")
			own.elems = append(own.elems, &editElem{index: i, name: name, deny: deny})
		}
		e.lists = append(e.lists, own)
	}
}

// listFor gives the list that an object stands in, a new one where there is none.
func (e *editor) listFor(o evalObject) *editList {
	for _, l := range e.lists {
		if l.of.profile == o.profile && l.of.key == o.key {
			return l
		}
	}
	l := &editList{line: &editLine{table: o.table(), key: o.key}, of: evalObject{profile: o.profile, key: o.key}}
	e.lists = append(e.lists, l)
	return l
}

// names finds the elements of a name, those that allow or those that deny.
func (l *editList) names(name string, deny bool) []*editElem {
	var out []*editElem
	for _, m := range l.elems {
		if !m.removed && m.name == name && m.deny == deny {
			out = append(out, m)
		}
	}
	return out
}

// put adds a name; a refusal takes the place of the right of the same name, and the other way round.
func (l *editList) put(name string, r Rule) {
	if other := l.names(name, !r.Deny); len(other) > 0 {
		for i, m := range other {
			m.deny, m.changed, m.removed, m.asked = r.Deny, true, i > 0, r
		}
		return
	}
	m := &editElem{index: -1, name: name, deny: r.Deny, why: r.Why, changed: true, asked: r}
	at := 0
	for i, s := range l.elems { // behind the last of those that come before it, as lines of a table do
		if m.less(s) {
			break
		}
		at = i + 1
	}
	l.elems = slices.Insert(l.elems, at, m)
}

// take takes a name out; it says whether the list had it.
func (l *editList) take(name string, r Rule) bool {
	found := l.names(name, r.Deny)
	for _, m := range found {
		m.changed, m.removed, m.asked = true, true, r
	}
	return len(found) > 0
}

// comes says whether an element is new in the text.
func (m *editElem) comes() bool { return m.index < 0 && !m.removed }

// lined writes the elements that stay or come, with the comments that stand by them. Comments of one that goes stay above the next.
func (l *editList) lined() []lined {
	var out []lined
	var above []string
	for _, m := range l.elems {
		why := oneLine(m.why)
		if m.index >= 0 {
			above = append(above, l.list.above[m.index]...)
			why = l.list.behind[m.index]
		}
		if m.removed {
			continue
		}
		out = append(out, lined{above, m.quoted(), why})
		above = nil
	}
	if len(above) > 0 {
		n := len(l.list.elems)
		l.list.above[n] = append(above, l.list.above[n]...)
	}
	return out
}

// renderLists makes the splices of all lists that stand in the text, and gives the new ones by their table.
func (e *editor) renderLists() (cuts []splice, fresh map[string][]*editList) {
	fresh = map[string][]*editList{}
	for _, l := range e.lists {
		i := slices.IndexFunc(l.elems, func(m *editElem) bool { return m.changed && (m.index >= 0 || !m.removed) })
		if i < 0 {
			continue
		}
		l.line.asked = l.elems[i].asked
		en := l.line.entry
		stays := slices.ContainsFunc(l.elems, func(m *editElem) bool { return !m.removed })
		switch {
		case en == nil:
			fresh[l.line.table] = append(fresh[l.line.table], l)
		case !stays && len(l.list.above) == 0:
			l.line.removed = true
			cuts = append(cuts, splice{from: en.start, to: en.end, line: l.line})
		case l.list.tidy(*en):
			cuts = append(cuts, e.inPlace(l)...)
		case l.list.oneLine(*en) && !slices.ContainsFunc(l.elems, (*editElem).comes):
			var rest []string
			for _, m := range l.lined() {
				rest = append(rest, m.text)
			}
			cuts = append(cuts, splice{from: en.valStart, to: en.valEnd, text: "[" + strings.Join(rest, ", ") + "]", line: l.line})
		default:
			to := en.start + len(bytes.TrimRight(e.src[en.start:en.end], "\r\n"))
			cuts = append(cuts, splice{from: en.valStart, to: to, text: commented(l.list.broken(l.lined(), e.nl), l.list.close), line: l.line})
		}
	}
	for _, lists := range fresh {
		slices.SortFunc(lists, func(a, b *editList) int { return slices.Index(evalLists, a.of.key) - slices.Index(evalLists, b.of.key) })
	}
	return cuts, fresh
}

// inPlace changes names on their lines, and puts new ones on lines of their own.
func (e *editor) inPlace(l *editList) (cuts []splice) {
	indent := "  "
	if len(l.list.elems) > 0 {
		first := l.list.elems[0].start
		if lead := e.src[e.lineStart(first):first]; len(bytes.TrimSpace(lead)) == 0 {
			indent = string(lead)
		}
	}
	at := e.lineEnd(l.line.entry.valStart)
	for i, m := range l.elems {
		if m.index < 0 {
			if m.comes() {
				cuts = append(cuts, splice{from: at, to: at, text: indent + commented(m.quoted()+",", oneLine(m.why)), elem: m})
			}
			continue
		}
		el := l.list.elems[m.index]
		at = e.lineEnd(el.end)
		comma := m.index == len(l.list.elems)-1 && slices.ContainsFunc(l.elems[i:], (*editElem).comes) && !e.comma(el, *l.line.entry)
		switch {
		case m.removed:
			cuts = append(cuts, splice{from: e.lineStart(el.start), to: at, elem: m})
		case m.changed || comma:
			text := m.quoted()
			if !m.changed { // the comma is of the name that comes behind it
				m.asked = l.elems[i+1].asked
				text = string(e.src[el.start:el.end])
			}
			cuts = append(cuts, splice{from: el.start, to: el.end, text: text + strings.Repeat(",", btoi(comma)), elem: m})
		}
	}
	return cuts
}

// comma says whether one stands behind an element.
func (e *editor) comma(el element, en entry) bool {
	s := scanner{src: e.src[:en.valEnd], pos: el.end}
	for s.pos < en.valEnd {
		switch s.peek() {
		case ',':
			return true
		case '#':
			s.endLine()
		default:
			s.pos++
		}
	}
	return false
}

// lineStart and lineEnd are the offsets of the line that holds an offset: of its first byte, and past its newline.
func (e *editor) lineStart(at int) int { return bytes.LastIndexByte(e.src[:at], '\n') + 1 }

func (e *editor) lineEnd(at int) int {
	if i := bytes.IndexByte(e.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(e.src)
}

// freshList writes a new list at an offset, in a table that is there or is made with it.
func (l *editList) splices(at int) []splice {
	cuts := []splice{{from: at, to: at, text: l.of.key + " = ["}}
	for _, m := range l.elems {
		if m.comes() {
			cuts = append(cuts, splice{from: at, to: at, text: "  " + commented(m.quoted()+",", oneLine(m.why)), elem: m})
		}
	}
	return append(cuts, splice{from: at, to: at, text: "]"})
}

// placeLists finds where the new lists of a table go: in the order of the keys, before values.
func (e *editor) placeLists(head *header, name string, lists []*editList) []splice {
	var cuts []splice
	for _, l := range lists {
		at := head.end
		for _, o := range e.lines {
			if o.entry != nil && o.table == name && contains(evalLists, o.key) && slices.Index(evalLists, o.key) < slices.Index(evalLists, l.of.key) {
				at = max(at, o.entry.end)
			}
		}
		cuts = append(cuts, l.splices(at)...)
	}
	return cuts
}
