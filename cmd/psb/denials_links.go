package main

import (
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// A name that leads over a link of the host is told as the program said it: a rule for that name shows the link and what it leads to, one for
// the other end alone would leave the program's name absent. Where the box has the link already, or a rule could not go through it because the
// program may change the link's folder, the other end is what a rule has to name.

// byLink gives an access on o under the name that the program used, where that is the one to rule.
func (j *job) byLink(a policy.Access, name string, o plan.Object) (asked policy.Access, ok bool) {
	if name == o.Path || len(o.Links) == 0 || strings.TrimSuffix(a.Object, "/") != o.Path {
		return a, false
	}
	asked = policy.Access{Op: a.Op, Object: name + a.Object[len(o.Path):]}
	for _, l := range o.Links {
		if j.policy.Decide(policy.Access{Op: policy.OpCreate, Object: l.At}).Allowed {
			return a, false
		}
	}
	return asked, slices.ContainsFunc(o.Links, func(l plan.Link) bool { return !j.shows(l) })
}

// shows reports a link that the box has: shown by itself, or in a folder of the host.
func (j *job) shows(l plan.Link) bool {
	return slices.ContainsFunc(j.plan.Places, func(p *plan.Place) bool {
		return p.Link != "" && p.Path == l.At || p.Source.Kind == plan.Dir && !p.Hidden && below(l.At, p.Path) && p.Rights&(plan.Read|plan.Write|plan.Create) != 0
	})
}
