package learn

import (
	"fmt"
	"slices"

	"psb/policy"
)

// Propose generalises what was seen and leaves out what a policy already gives, and what a line of it refuses: learning adds, it never argues.
// Precondition: p comes from Expand.
func Propose(s *Set, k Knowledge, p *policy.Policy) ([]Grant, *Report) {
	known := k.Writes
	k.Writes = func(dir string) bool {
		return known != nil && known(dir) || writes(p, dir)
	}
	grants, report := Generalise(s, k)
	report.Added = slices.DeleteFunc(Missing(grants, func(a policy.Access) bool { return p.Decide(a).Allowed }), func(g Grant) bool {
		b := p.Decide(g.Access).Blocker
		if b != nil {
			report.Left = append(report.Left, string(g.Access.Op)+" "+g.Text+": "+at(b.Origin)+" refuses it")
		}
		return b != nil
	})
	return report.Added, report
}

// at says where a rule stands.
func at(o policy.Origin) string {
	if o.File == "" {
		return o.From
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

func writes(p *policy.Policy, dir string) bool {
	if dir != "/" {
		dir += "/"
	}
	return p.Decide(policy.Access{Op: policy.OpCreate, Object: dir}).Allowed
}
