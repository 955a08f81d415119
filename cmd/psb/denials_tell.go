package main

import (
	"fmt"
	"strings"
)

// line is one denial on one line.
func (d *denial) line(cwd string) string {
	var notes []string
	if d.Where != "" {
		notes = append(notes, plainText(shown(cwd, d.Where)))
	}
	if d.LeadsTo != "" {
		notes = append(notes, "leads to "+plainText(shownObject(cwd, d.LeadsTo)))
	}
	notes = append(notes, d.netNotes()...)
	switch {
	case d.Count > 1 && nameOnly(d.Access):
		notes = append(notes, fmt.Sprintf("%d look-ups", d.Count)) // a resolver asks for each kind of address
	case d.Count > 1:
		notes = append(notes, fmt.Sprintf("%d times", d.Count))
	}
	s := "denied: " + d.Op + " " + plainText(shownObject(cwd, d.Object))
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, ", ") + ")"
	}
	return s
}

// mostDenials bounds what is printed: a program may be refused a thousand things, and the report has them all.
const mostDenials = 20

// tell prints denials with their hints; psb says nothing when there are none.
func tell(v voice, cwd string, found denials) {
	for _, d := range found.list[:min(len(found.list), mostDenials)] {
		v.say("%s", d.line(cwd))
		if d.Hint != "" {
			v.hint("%s", d.Hint)
		}
		if d.Wider != "" {
			v.hint("%s", d.Wider)
		}
	}
	switch n := max(len(found.list)-mostDenials, 0) + found.more.Count; {
	case n == 0:
	case found.more.AtLeast:
		v.say("… and at least %s: --report FILE.json", counted(n, "more denial"))
	default:
		v.say("… and %s: --report FILE.json", counted(n, "more denial"))
	}
}
