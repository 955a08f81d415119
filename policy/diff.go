package policy

import (
	"slices"
	"strings"
)

// Effect is what a difference does to the rights of the program.
type Effect string

// The effects. Another value for a variable is More: the program gets something that it did not get before.
const (
	More  Effect = "more"
	Fewer Effect = "fewer"
	None  Effect = "none" // a refusal came or went of what nothing allows
)

// Difference is one line by which two policies differ.
type Difference struct {
	Effect Effect
	Kind   string // "added", "removed", "changed"; "widened" and "narrowed" where a line takes the place of others
	Risk   Risk   // of what is More
	Op     string // the word before Object: a rule's operation, "limit", "sandbox", "eval", "locked", "learn", "shim"
	Object string // "" where Op says all
	Value  string // what it is set to; "" for a right
	Origin Origin // the line that makes the difference: of the new policy, and of the old one where it is gone
	Others []Said // the lines of the other policy in whose place it stands
}

// Said is a line of the other policy.
type Said struct {
	Text   string // as String of a Difference
	Origin Origin
}

// String gives the line's words, "read data/", "env MODE = \"test\"", unquoted but for the value.
func (d Difference) String() string { return saying(d.Op, d.Object, d.Value) }

func saying(op, object, value string) string {
	s := op
	if object != "" {
		s += " " + object
	}
	if value != "" {
		s += " = " + value
	}
	return s
}

// Compare tells by what the policy next differs from the policy last in rights: by what is allowed, not by text or order. Both come from
// Load, unexpanded. Paths and macros count as they are written, those of the top files as if both stood in one folder. risk grades what is
// more, given a rule as it stands in the file. The differences come riskiest first, what is fewer after what is more, otherwise in the
// order of the files.
func Compare(last, next *Policy, risk func(Rule) Risk) ([]Difference, error) {
	c := comparison{risk: risk}
	var err error
	if c.last, err = newSide(last); err != nil {
		return nil, err
	}
	if c.next, err = newSide(next); err != nil {
		return nil, err
	}
	c.rights()
	c.deeper(c.last, c.next, More, "removed")
	c.deeper(c.next, c.last, Fewer, "added")
	c.refusals()
	c.values()
	rank := map[Effect]int{More: 0, Fewer: 1, None: 2}
	slices.SortStableFunc(c.out, func(a, b Difference) int {
		if a.Effect != b.Effect {
			return rank[a.Effect] - rank[b.Effect]
		}
		return int(b.Risk.Tier - a.Risk.Tier)
	})
	return c.out, nil
}

// side is one of the two policies: its rights, without those that a line of its own refuses, and its refusals.
type side struct {
	written
	rights, refusals []Rule
	given            []Rule // rights, and those that are refused
}

func newSide(p *Policy) (side, error) {
	w, err := p.asWritten()
	if err != nil {
		return side{}, err
	}
	s := side{written: w}
	for _, r := range w.Rules {
		switch {
		case r.Deny:
			s.refusals = append(s.refusals, r)
		case s.variable(&r) == nil: // of two lines for one variable the first counts
			s.given = append(s.given, r)
		}
	}
	for _, r := range s.given {
		if _, all := blocked(s.refusals, &r); !all {
			s.rights = append(s.rights, r)
		}
	}
	return s, nil
}

// comparison collects the differences.
type comparison struct {
	last, next side
	risk       func(Rule) Risk
	out        []Difference
}

func has(rules []Rule, r *Rule) bool {
	return slices.ContainsFunc(rules, func(o Rule) bool { return sameRule(&o, r) })
}

// rights compares what is allowed, leaving refusals aside.
func (c *comparison) rights() {
	for _, r := range c.next.rights {
		if anyCovers(c.last.given, &r) {
			continue
		}
		d := c.difference(More, "added", r, c.next)
		if old := c.last.variable(&r); old != nil {
			d.Kind, d.Others = "changed", []Said{c.last.said(*old)}
		} else if olds := c.last.replaced(c.last.rights, c.next.given, &r); len(olds) > 0 {
			d.Kind, d.Others = "widened", olds
		}
		c.out = append(c.out, d)
	}
	for _, r := range c.last.rights {
		if anyCovers(c.next.given, &r) || c.next.variable(&r) != nil {
			continue
		}
		d := c.difference(Fewer, "removed", r, c.last)
		if news := c.next.replaced(c.next.rights, c.last.given, &r); len(news) > 0 {
			d.Kind, d.Others = "narrowed", news
		}
		c.out = append(c.out, d)
	}
}

// deeper compares what lines take away from wider ones: of a place that one side keeps from being changed by a line of its own, and the other
// leaves to a wider line that both have. Where that line is one side's alone, rights has told of it.
func (c *comparison) deeper(kept, free side, e Effect, kind string) {
	for _, n := range narrowings(kept.rights) {
		changing := *n
		changing.Op = OpWrite
		by := coveredBy(free.given, &changing)
		if by == nil || !anyCovers(kept.given, by) {
			continue
		}
		d := c.difference(e, kind, *n, kept)
		if e == More {
			lost := kept.asRead(*n)
			lost.Op = OpWrite
			d.Risk = c.risk(lost)
		}
		c.out = append(c.out, d)
	}
}

// variable finds the line that passes the same variable with another value.
func (s side) variable(r *Rule) *Rule {
	for i := range s.given {
		if o := &s.given[i]; r.Op == OpEnv && o.Op == OpEnv && o.Pattern.Object == r.Pattern.Object {
			return o
		}
	}
	return nil
}

// replaced are those of the side's rules that r covers and the other side does not have.
func (s side) replaced(rules, other []Rule, r *Rule) []Said {
	var out []Said
	for _, o := range rules {
		if r.covers(&o) && !has(other, &o) {
			out = append(out, s.said(o))
		}
	}
	return out
}

// refusals compares what is never allowed. One that is gone lets through what the new policy's rights reach.
func (c *comparison) refusals() {
	for _, r := range c.last.refusals {
		if anyCovers(c.next.refusals, &r) {
			continue
		}
		d := c.difference(None, "removed", r, c.last)
		if news := c.next.replaced(c.next.refusals, c.last.refusals, &r); len(news) > 0 {
			d.Kind, d.Others = "narrowed", news
		}
		for _, right := range c.next.given {
			if !r.touches(&right) {
				continue
			}
			free := c.last.asRead(r)
			free.Op, free.Deny = right.Op, false
			if risk := c.risk(free); d.Effect == None || risk.Tier > d.Risk.Tier {
				d.Effect, d.Risk = More, risk
			}
		}
		c.out = append(c.out, d)
	}
	for _, r := range c.next.refusals {
		if anyCovers(c.last.refusals, &r) {
			continue
		}
		d := c.difference(None, "added", r, c.next)
		if olds := c.last.replaced(c.last.refusals, c.next.refusals, &r); len(olds) > 0 {
			d.Kind, d.Others = "widened", olds
		}
		if slices.ContainsFunc(c.last.given, func(right Rule) bool { return r.touches(&right) }) {
			d.Effect = Fewer
		}
		c.out = append(c.out, d)
	}
}

// asRead is the rule as it stands in its file.
func (s side) asRead(r Rule) Rule {
	for i := range s.Rules {
		if s.Rules[i].Origin == r.Origin && s.Rules[i].Op == r.Op && s.Rules[i].Pattern.Object == r.Pattern.Object {
			return s.raw[i]
		}
	}
	return r
}

func (c *comparison) difference(e Effect, kind string, r Rule, s side) Difference {
	op, object, value := s.words(r)
	d := Difference{Effect: e, Kind: kind, Op: op, Object: object, Value: value, Origin: r.Origin}
	if e == More {
		d.Risk = c.risk(s.asRead(r))
	}
	return d
}

func (s side) said(r Rule) Said {
	op, object, value := s.words(r)
	return Said{saying(op, object, value), r.Origin}
}

// words are those of a rule as it stands in its file: what refuses by a value says so.
func (s side) words(r Rule) (op, object, value string) {
	op, object = string(r.Op), r.Pattern.Text
	switch {
	case r.Pattern.From != "":
		object += " from " + s.asRead(r).Pattern.From
	case r.Deny && r.Op != OpHide && r.Op != OpDeny:
		value = "false"
	case r.Value != nil:
		value = quoteTOML(*r.Value)
	}
	return op, strings.TrimPrefix(object, "tcp://"), value
}
