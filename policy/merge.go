package policy

import (
	"fmt"
	"slices"
)

// Merged is the union of several policy files.
type Merged struct {
	Text    []byte
	Changes []Change  // by which the first file became Text
	Refused []Refused // rights of one file that another refuses
}

// Refused is a right that the union does not give, because another file has a false, hide or deny for it.
type Refused struct {
	Right, By Rule
}

// String gives "file:line: read a/b: file:line, hide a/, refuses it".
func (r Refused) String() string {
	return Problem{r.Right.Origin.File, r.Right.Origin.Line, fmt.Sprintf("%s: %s:%d, %s, refuses it", r.Right, r.By.Origin.File, r.By.Origin.Line, refusalWords(r.By))}.String()
}

func refusalWords(r Rule) string {
	if r.Op == OpHide || r.Op == OpDeny {
		return r.String()
	}
	return r.String() + " = false"
}

// Merge joins policy files: what any of them allows is allowed, what any of them refuses is refused, limits and lists of [sandbox] join. It
// goes by the texts: paths count as they are written, as if all files stood in one folder, and includes are listed, not read.
//
// The first text stays as it is but for what has to come in. Of a line that both have, the first's reason stays; the larger count of files
// seen replaces the smaller, and a mark is taken over. Among the others the first reason in sort order is taken. Where two files give one
// variable, limit or other single value two values, or one is locked and another has a right more, all such places come back in one
// *ParseError. The rights do not depend on the order of the files, and merging again changes nothing.
func Merge(files []Source) (Merged, error) {
	m := merger{}
	for _, f := range files {
		p, err := Parse(f.Name, f.Bytes)
		if pe, ok := err.(*ParseError); ok {
			m.probs.list = append(m.probs.list, pe.Problems...)
			continue
		}
		w, err := newSide(p)
		if err != nil {
			return Merged{}, err
		}
		m.sides = append(m.sides, w)
	}
	if err := m.probs.err(); err != nil || len(m.sides) == 0 {
		return Merged{}, err
	}
	m.conflicts()
	m.locks()
	if err := m.probs.err(); err != nil {
		return Merged{}, err
	}
	return m.join(files[0].Bytes)
}

// merger holds the files taken apart.
type merger struct {
	sides []side
	probs problems
}

// refusedBy finds a refusal of another file where those of all files together take away all that a right of file i gives.
func (m *merger) refusedBy(i int, r *Rule) *Rule {
	var refusals []Rule
	for j, s := range m.sides {
		if j != i {
			refusals = append(refusals, s.refusals...)
		}
	}
	refusals = append(refusals, m.sides[i].refusals...) // of which one alone is no other file's doing
	if by, all := blocked(refusals, r); all {
		return by
	}
	return nil
}

// has says whether the first file gives all of a right that no file refuses.
func (m *merger) has(r *Rule) bool {
	n, err := parseNet(r.Pattern.Object)
	if anyCovers(m.sides[0].given, r) || !isNetOp(r.Op) || err != nil || n.unix != "" {
		return anyCovers(m.sides[0].given, r)
	}
	for _, part := range n.parts() {
		piece := *r
		piece.Pattern.Object = part.canonical()
		if !anyCovers(m.sides[0].given, &piece) && m.refusedBy(0, &piece) == nil {
			return false
		}
	}
	return true
}

// locks holds every file to what a locked one allows.
func (m *merger) locks() {
	for _, lock := range m.sides {
		if !lock.Locked {
			continue
		}
		at := fmt.Sprintf("%s:%d is locked", lock.LockedAt.File, lock.LockedAt.Line)
		for _, s := range m.sides {
			for _, r := range s.rights {
				if !anyCovers(lock.given, &r) {
					m.probs.add(r.Origin, "%s: %q adds a right", at, r.Pattern.Text)
				}
			}
			for _, n := range narrowings(lock.rights) {
				changing := *n
				changing.Op = OpWrite
				if by := coveredBy(s.rights, &changing); by != nil {
					m.probs.add(by.Origin, "%s: %q adds a right below %q", at, by.Pattern.Text, n.Pattern.Text)
				}
			}
			for name, e := range s.Eval {
				if _, ok := lock.Eval[name]; !ok {
					m.probs.add(e.Origin, "%s: a table of [python.eval] adds rights", at)
				}
			}
			for _, gap := range s.Sandbox.AllowGaps {
				if !slices.Contains(lock.Sandbox.AllowGaps, gap) {
					m.probs.add(s.Sandbox.Origin["allow_gaps"], "%s: allow_gaps %q adds a right", at, gap)
				}
			}
		}
	}
}

// join brings everything into the first text.
func (m *merger) join(src []byte) (Merged, error) {
	e, err := newEditor(src)
	if err != nil {
		return Merged{}, err
	}
	e.loose = true
	var out Merged
	for i, s := range m.sides {
		for _, r := range s.rights {
			if d := m.refusedBy(i, &r); d != nil {
				out.Refused = append(out.Refused, Refused{s.asRead(r), *d})
			}
		}
	}
	var add []Rule
	for _, s := range m.sides[1:] {
		add = append(add, s.refusals...)
	}
	for i, s := range m.sides {
		for _, r := range s.rights {
			if i > 0 && m.refusedBy(i, &r) == nil && !m.has(&r) {
				add = append(add, r)
			}
		}
	}
	byText(add)
	for _, r := range add {
		if err := m.put(e, m.asRead(r)); err != nil {
			return Merged{}, err
		}
	}
	if err := m.free(e); err != nil {
		return Merged{}, err
	}
	m.reasons(e)
	m.values(e)
	out.Text, out.Changes = e.render()
	if _, err := Parse("", out.Text); err != nil {
		return Merged{}, fmt.Errorf("BUG: the merged policy does not parse; please report it: %w", err)
	}
	return out, nil
}

// put adds a rule as it stands in its file.
func (m *merger) put(e *editor, r Rule) error {
	r.Why = m.reason(&r)
	if err := e.add(r); err != nil {
		return fmt.Errorf("%s:%d: %w", r.Origin.File, r.Origin.Line, err)
	}
	return nil
}

// free adds write for places that one file keeps from being changed by a line of its own, and another lets be changed: within one file the
// deeper line would win, here what one of them allows is allowed.
func (m *merger) free(e *editor) error {
	var kept []Rule
	for _, s := range m.sides {
		for _, r := range s.rights {
			changing := r
			changing.Op = OpWrite
			if isFileOp(r.Op) && slices.ContainsFunc(m.sides, func(s side) bool { return anyCovers(s.rights, &changing) }) {
				kept = append(kept, r)
			}
		}
	}
	byText(kept)
	for _, r := range kept {
		if v := e.decide(OpWrite, symbolObject(&r)); v.Narrower == nil || v.Blocker != nil {
			continue
		}
		r = m.asRead(r)
		r.Op = OpWrite
		if err := m.put(e, r); err != nil {
			return err
		}
	}
	return nil
}

// byText sorts as a file shows its lines, what refuses first.
func byText(add []Rule) {
	slices.SortStableFunc(add, func(a, b Rule) int {
		switch {
		case a.Deny != b.Deny && a.Deny:
			return -1
		case a.Deny != b.Deny:
			return 1
		case ruleLess(&a, &b):
			return -1
		case ruleLess(&b, &a):
			return 1
		}
		return 0
	})
}

// asRead is the rule as it stands in its file, without values of macros.
func (m *merger) asRead(r Rule) Rule {
	for _, s := range m.sides {
		if s.Name == r.Origin.File {
			r = s.asRead(r)
		}
	}
	r.Pattern.Object = ""
	return r
}
