package policy

import "strings"

// editLine is one line of rules: one that stands in the text, or a new one.
type editLine struct {
	entry   *entry // nil for a new line
	table   string
	key     string
	object  string // stand-in object, with a final "/" for a tree
	rights  []Op
	from    string
	deny    bool // true/false tables
	value   *string
	why     string
	changed bool
	removed bool
	asked   Rule
	ruled   bool   // by a rule of the policy, not a base or a limit
	raw     string // the value as it is to be written, of a line that is no rule
	comment string // to stand in place of the line's own
	kept    bool   // the value stays as it is written
}

func (l *editLine) lineNumber() int {
	if l.entry == nil {
		return 0
	}
	return l.entry.line
}

// covers says whether the line already says what r says, word for word. It catches what Decide cannot judge because
// the object is a network, a range of ports or a glob.
func (l *editLine) covers(r Rule) bool {
	has := false
	for _, op := range l.rights {
		has = has || op == r.Op
	}
	same := l.value == nil && r.Value == nil || l.value != nil && r.Value != nil && *l.value == *r.Value
	return has && l.deny == r.Deny && same
}

// put adds r's right to the line. A refusal replaces what the line allowed; write takes the place of read, and a tree
// that can be read needs no list.
func (l *editLine) put(r Rule) {
	l.changed, l.asked = true, r
	if l.why == "" {
		l.why = r.Why
	}
	l.value = r.Value
	if r.Deny || l.deny || !isFileOp(r.Op) && !isNetOp(r.Op) {
		l.rights, l.deny = []Op{r.Op}, r.Deny
		if r.Deny {
			l.from = ""
		}
		return
	}
	has := map[Op]bool{r.Op: true}
	for _, op := range l.rights {
		has[op] = true
	}
	if has[OpPrivate] {
		has[OpConnect] = true
	}
	tree := strings.HasSuffix(l.object, "/")
	if has[OpWrite] {
		delete(has, OpRead)
		if tree {
			delete(has, OpCreate)
		}
	}
	if tree && (has[OpRead] || has[OpWrite]) {
		delete(has, OpList)
	}
	l.rights = nil
	for _, op := range append(fileOps(), netOps...) {
		if has[Op(op)] {
			l.rights = append(l.rights, Op(op))
		}
	}
}

// take takes r's right out of the line, and private with connect; it says whether the line had it.
func (l *editLine) take(r Rule) bool {
	var left []Op
	had := false
	for _, op := range l.rights {
		if op == r.Op {
			had = true
		} else if op != OpPrivate || r.Op != OpConnect {
			left = append(left, op)
		}
	}
	if had {
		l.changed, l.asked, l.removed = true, r, len(left) == 0
		if !l.removed {
			l.rights = left
		}
	}
	return had
}

// text writes the value of the line.
func (l *editLine) text() string {
	if l.raw != "" {
		return l.raw
	}
	switch l.table {
	case "files", "net":
		return rightsText(l.rights, l.from)
	}
	switch {
	case l.deny:
		return "false"
	case l.value != nil:
		return quoteTOML(*l.value)
	}
	return "true"
}

// full writes a new line without its newline.
func (l *editLine) full() string {
	s := keyText(l.asked.Op, l.key) + " = " + l.text()
	if l.raw != "" {
		s = l.key + " = " + l.raw
	}
	if why := oneLine(l.why); why != "" {
		s += "  # " + why
	}
	return s
}
