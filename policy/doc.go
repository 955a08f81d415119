// Package policy says what a program may do, where each rule was written, and which rule would allow an access
// that was refused.
//
//	p, err := policy.Load(policy.ReadFile, "/srv/app/.py-sandboxes", macros) // parse, join includes
//	p, err = p.Expand(macros)                                                 // names become absolute
//	v := p.Decide(policy.Access{Op: policy.OpRead, Object: "/srv/app/data/eu.csv"})
//	if !v.Allowed {
//		fmt.Println("add:", v.Fix)
//	}
//
// One judge, Decide, serves the launcher, the broker, denials and tests; one function, RuleFor, serves learning
// and hints. Edit adds rules to a file and leaves every other byte as it is; Merge joins files, Format writes their one form, Compare tells by
// what two differ, graded by RiskOf, the one judgement of what deserves a look.
//
// It does not look at the machine: it neither resolves links, nor asks what exists, nor knows what a kernel can
// enforce. The only files it touches are policy files, by ReadFile and Update.
package policy
