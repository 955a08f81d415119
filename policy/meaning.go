package policy

import (
	"fmt"
	"slices"
)

// sameMeaning says whether two policies from Parse say the same, reasons included, in whatever order.
func sameMeaning(p, q *Policy) bool {
	return slices.Equal(sayings(p), sayings(q))
}

// sayings lists all that one file says, sorted.
func sayings(p *Policy) []string {
	out := []string{fmt.Sprintf("%d %v %q %q %v", max(p.Version, 1), p.Locked, p.Learn, p.SyscallBase, p.Shim),
		fmt.Sprintf("sandbox %q %q %q %q %v", p.Sandbox.Python, p.Sandbox.Provider, p.Sandbox.Require, p.Sandbox.AllowGaps, p.Sandbox.Require == nil)}
	for i, inc := range p.Includes { // a later one wins
		out = append(out, fmt.Sprintf("include %d %q %v", i, inc.Text, inc.Optional))
	}
	for name := range p.Tables {
		out = append(out, "table "+name)
	}
	for _, l := range p.Limits {
		l.Origin = Origin{}
		out = append(out, fmt.Sprintf("limit %+v", l))
	}
	for name, e := range p.Eval {
		out = append(out, fmt.Sprintf("eval %s %q", name, e.Values)) // maps print sorted; the names of lists are rules
	}
	for _, r := range p.Rules {
		value := "-"
		if r.Value != nil {
			value = fmt.Sprintf("%q", *r.Value)
		}
		text := r.Pattern.Text
		if n, err := parseNet(text); isNetOp(r.Op) && err == nil {
			text = n.canonical()
		}
		why := r.Why
		if r.Op == OpEval { // one comment may stand for all names of a line, and each gets a line of its own
			why = ""
		}
		out = append(out, fmt.Sprintf("rule %s %q %v %q %v %s %q", r.Op, text, r.Pattern.Tree, r.Pattern.From, r.Deny, value, why))
	}
	slices.Sort(out)
	return out
}
