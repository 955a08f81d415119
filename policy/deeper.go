package policy

import "path"

// Where lines of [files] lie inside each other they add up, but for changing: there the deepest line that speaks of the place decides, because
// it is a mount of its own in the box. See docs/policy.md, "Lines inside each other".

// deeper finds the line that takes changing away from what a wider line, by, allows: the deepest one that speaks of the place, where it lies
// deeper than by. Of two of one line the first counts. nil where nothing does, and for every other right.
func deeper(rules []Rule, q question, by *Rule) *Rule {
	var found *Rule
	for i := range rules {
		r := &rules[i]
		if q.speaks(r) && len(r.Pattern.Object) > len(by.Pattern.Object) && (found == nil || len(r.Pattern.Object) > len(found.Pattern.Object)) {
			found = r
		}
	}
	return found
}

// speaks says whether a line is about changing the place that is asked about: it gives it, or shows the place without giving it. list is about
// the names of a folder, never about what stands in it.
func (q question) speaks(r *Rule) bool {
	pat := r.Pattern
	if r.Deny || pat.Object == "" {
		return false
	}
	place, folder := q.obj, q.tree
	switch {
	case q.op == OpCreate && !q.tree:
		place, folder = path.Dir(place), true
	case q.op != OpCreate && q.op != OpWrite:
		return false
	}
	switch r.Op {
	case OpCreate:
		return within(place, pat.Object)
	case OpRead, OpWrite, OpExec, OpDevice:
		return pat.Object == place && (pat.Tree || !folder) || pat.Tree && below(place, pat.Object)
	}
	return false
}

// Narrowings are the lines that take changing away from a wider one: without them the program could do more. Precondition: p comes from Expand.
func (p *Policy) Narrowings() []*Rule { return narrowings(p.Rules) }

func narrowings(rules []Rule) []*Rule {
	var out []*Rule
	for i := range rules {
		r := &rules[i]
		if _, ok := takesAway(rules, r); ok {
			out = append(out, r)
		}
	}
	return out
}

// takesAway says whether r keeps its place from being changed, which the wider line by would allow.
func takesAway(rules []Rule, r *Rule) (by *Rule, ok bool) {
	if r.Deny || r.Op != OpRead && r.Op != OpExec && r.Op != OpCreate {
		return nil, false
	}
	asked := question{op: OpWrite, obj: r.Pattern.Object, tree: r.Pattern.Tree}
	for i := range rules {
		o := &rules[i]
		switch _, gives := asked.allowedBy(o); {
		case o.Pattern.Object == r.Pattern.Object && o.Pattern.Tree == r.Pattern.Tree && gives:
			return nil, false // the same place may be changed
		case gives && (by == nil || len(o.Pattern.Object) > len(by.Pattern.Object)):
			by = o
		}
	}
	if by == nil {
		return nil, false
	}
	d := deeper(rules, asked, by)
	return by, d != nil && d.Pattern.Object == r.Pattern.Object
}

// keepWritable adds write to new exec lines where they would take away what a wider line gives: adding never leaves less.
func (e *editor) keepWritable(rules []Rule) {
	for _, r := range rules {
		sym := r
		if r.Op != OpExec || symbols().rule(&sym) != nil {
			continue
		}
		object := lineObject(&sym)
		v := e.decide(OpWrite, object)
		if own := e.of(OpExec, object); v.Narrower != nil && len(own) > 0 && v.Narrower.Origin == (Origin{}) && v.Narrower.Pattern.Object == sym.Pattern.Object {
			sym.Op, r.Op = OpWrite, OpWrite
			own[0].put(r)
			e.policy.Rules = append(e.policy.Rules, sym)
		}
	}
}
