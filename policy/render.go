package policy

import (
	"bytes"
	"sort"
	"strings"
)

// splice replaces src[from:to] by text.
type splice struct {
	from, to int
	text     string
	line     *editLine // whose change this is; nil for a table's header
	elem     *editElem // or the name of a list
}

// render applies everything asked to the text, and says what became of which line.
func (e *editor) render() ([]byte, []Change) {
	var cuts []splice
	fresh := map[string][]*editLine{}
	for _, l := range e.lines {
		switch {
		case !l.changed || l.entry == nil && l.removed:
		case l.entry == nil:
			fresh[l.table] = append(fresh[l.table], l)
		case l.removed:
			cuts = append(cuts, splice{from: l.entry.start, to: l.entry.end, line: l})
		default:
			text, to := l.text(), l.entry.valEnd
			if l.kept {
				text = string(e.src[l.entry.valStart:to])
			}
			if l.comment != "" { // in place of the one that stands there
				text += "  # " + oneLine(l.comment)
				to = l.entry.start + len(bytes.TrimRight(e.src[l.entry.start:l.entry.end], "\r\n"))
			} else if why := oneLine(l.why); l.entry.comment == "" && why != "" && !bytes.Contains(e.src[l.entry.valEnd:l.entry.end], []byte("#")) {
				text += "  # " + why
			}
			cuts = append(cuts, splice{from: l.entry.valStart, to: to, text: text, line: l})
		}
	}
	for _, name := range e.fresh {
		fresh[name] = append(fresh[name], nil...)
	}
	changed, lists := e.renderLists()
	cuts = append(cuts, changed...)
	for name := range lists {
		fresh[name] = append(fresh[name], nil...)
	}
	opened := map[int]bool{}
	var missing []string
	for _, name := range sortedKeys(fresh) {
		lines := fresh[name]
		sort.SliceStable(lines, func(i, j int) bool { return lines[i].less(lines[j]) })
		if head := e.head(name); head != nil {
			cuts = append(append(cuts, e.placeLists(head, name, lists[name])...), e.place(head, name, lines)...)
		} else if name == "" {
			cuts = append(cuts, e.top(lines, opened)...)
		} else {
			missing = append(missing, name)
		}
	}
	sort.SliceStable(missing, func(i, j int) bool {
		a, _, _ := tableRank(missing[i])
		b, _, _ := tableRank(missing[j])
		return a < b
	})
	for _, name := range missing {
		cuts = append(cuts, e.newTable(name, fresh[name], lists[name], opened)...)
	}
	sort.SliceStable(cuts, func(i, j int) bool { return cuts[i].from < cuts[j].from })
	return e.apply(cuts)
}

func (l *editLine) less(o *editLine) bool {
	if a, b := lineRank(l.rights), lineRank(o.rights); a != b {
		return a < b
	}
	return l.key < o.key
}

// head finds a table's header line.
func (e *editor) head(name string) *header {
	for i := range e.index.headers {
		if tableName(e.index.headers[i].path) == name {
			return &e.index.headers[i]
		}
	}
	return nil
}

// place finds where the new lines of a table go.
func (e *editor) place(head *header, name string, lines []*editLine) []splice {
	var siblings []*editLine
	for _, l := range e.lines {
		if l.entry != nil && l.table == name && l.ruled {
			siblings = append(siblings, l)
		}
	}
	last := head.end // past the last line of the table, ruled or not: [syscalls] base stays first
	for _, l := range e.lines {
		if l.entry != nil && l.table == name && !l.ruled {
			last = l.entry.end
		}
	}
	var cuts []splice
	for _, l := range lines {
		at := last
		for _, s := range siblings {
			if l.less(s) {
				break
			}
			at = s.entry.end
		}
		cuts = append(cuts, splice{from: at, to: at, text: l.full(), line: l})
	}
	return cuts
}

// top finds where lines before any table go: below those that are there, else above the first table.
func (e *editor) top(lines []*editLine, opened map[int]bool) []splice {
	at, gap := len(e.src), false
	if len(e.index.headers) > 0 {
		at, gap = e.aboveComments(e.index.headers[0].start), true
	}
	for _, en := range e.index.entries {
		if en.table == nil {
			at, gap = en.end, false
		}
	}
	var cuts []splice
	for _, l := range lines {
		cuts = append(cuts, splice{from: at, to: at, text: l.full(), line: l})
	}
	if gap {
		cuts = append(cuts, splice{from: at, to: at})
		opened[at] = true
	}
	return cuts
}

// tableTitle is a table's header; the name of a profile may need quotes.
func tableTitle(name string) string {
	if profile, ok := strings.CutPrefix(name, "python.eval."); ok {
		return "[python.eval." + keyText(OpEnv, profile) + "]"
	}
	return "[" + name + "]"
}

// newTable makes a table in the fixed order of tables, one blank line away from its neighbours. opened remembers the
// places where a table has been made already.
func (e *editor) newTable(name string, lines []*editLine, lists []*editList, opened map[int]bool) []splice {
	rank, t, _ := tableRank(name)
	at := len(e.src)
	for _, h := range e.index.headers {
		if r, _, ok := tableRank(tableName(h.path)); ok && r > rank {
			at = e.aboveComments(h.start)
			break
		}
	}
	title := tableTitle(name)
	if t.help != "" {
		title += "  # " + t.help
	}
	above := bytes.ReplaceAll(e.src[:at], []byte("\r"), nil)
	switch {
	case at < len(e.src):
		// every table made above another ends in a blank line
		if !opened[at] && len(bytes.TrimSpace(above)) > 0 && !bytes.HasSuffix(above, []byte("\n\n")) {
			title = e.nl + title
		}
	case opened[at]:
		title = e.nl + title
	case len(bytes.TrimSpace(above)) == 0 || bytes.HasSuffix(above, []byte("\n\n")):
	default:
		title = e.nl + title
	}
	opened[at] = true
	cuts := []splice{{from: at, to: at, text: title}}
	for _, l := range lists {
		cuts = append(cuts, l.splices(at)...)
	}
	for _, l := range lines {
		cuts = append(cuts, splice{from: at, to: at, text: l.full(), line: l})
	}
	if at < len(e.src) {
		cuts = append(cuts, splice{from: at, to: at})
	}
	return cuts
}

// aboveComments gives the start of the comment lines that stand directly above the header at start: they belong to
// it, except where they open the file.
func (e *editor) aboveComments(start int) int {
	at := start
	for at > 0 {
		from := bytes.LastIndexByte(e.src[:at-1], '\n') + 1
		line := strings.TrimSpace(strings.TrimPrefix(string(e.src[from:at]), "\ufeff"))
		if !strings.HasPrefix(line, "#") || e.insideValue(from) {
			return at
		}
		at = from
	}
	if bytes.HasPrefix(e.src, []byte("\ufeff")) && start == 3 {
		return 3
	}
	return start
}

// insideValue says whether an offset lies in a key = value that spans lines.
func (e *editor) insideValue(at int) bool {
	for _, en := range e.index.entries {
		if en.start < at && at < en.end {
			return true
		}
	}
	return false
}

// apply makes the splices, which are in order and do not overlap. Those with an empty range insert whole lines.
func (e *editor) apply(cuts []splice) ([]byte, []Change) {
	var (
		out     bytes.Buffer
		changes []Change
		pos     int
		noEnd   = len(e.src) > 0 && e.src[len(e.src)-1] != '\n' // the last line has no newline, and shall have none
	)
	for _, c := range cuts {
		out.Write(e.src[pos:c.from])
		pos = c.to
		line := bytes.Count(out.Bytes(), []byte("\n")) + 1
		if c.from < c.to {
			out.WriteString(c.text)
			switch {
			case c.elem != nil:
				changes = append(changes, e.elemChange(c, line))
			case c.line != nil:
				changes = append(changes, e.change(c, line))
			}
			continue
		}
		text := c.text + e.nl
		if noEnd && c.from == len(e.src) {
			text = c.text
			if o := out.Bytes(); len(o) > 0 && o[len(o)-1] != '\n' {
				text = e.nl + text
				line++
			}
		}
		out.WriteString(text)
		switch {
		case c.elem != nil:
			changes = append(changes, Change{Line: line, Rule: c.elem.asked, New: c.text})
		case c.line != nil:
			changes = append(changes, Change{Line: line, Rule: c.line.asked, New: c.text})
		}
	}
	out.Write(e.src[pos:])
	return out.Bytes(), changes
}

// change describes an altered or removed line.
func (e *editor) change(c splice, line int) Change {
	en := c.line.entry
	ch := Change{Line: line, Rule: c.line.asked, Old: strings.TrimRight(string(e.src[en.start:en.end]), "\r\n")}
	if c.line.removed {
		ch.Line = en.line
		return ch
	}
	ch.New = strings.TrimRight(string(e.src[en.start:c.from])+c.text+string(e.src[c.to:en.end]), "\r\n")
	return ch
}

// elemChange describes an altered or removed name of a list, a line of its own.
func (e *editor) elemChange(c splice, line int) Change {
	start, end := e.lineStart(c.from), e.lineEnd(c.to-1)
	ch := Change{Line: line, Rule: c.elem.asked, Old: strings.TrimRight(string(e.src[start:end]), "\r\n")}
	if c.elem.removed {
		ch.Line = 1 + bytes.Count(e.src[:start], []byte("\n"))
		return ch
	}
	ch.New = strings.TrimRight(string(e.src[start:c.from])+c.text+string(e.src[c.to:end]), "\r\n")
	return ch
}
