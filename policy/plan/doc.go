// Package plan compiles a policy, the probed host and a command into a launch as a value.
//
//	p, err := plan.Compile(request, look)
//	p.Text(os.Stdout)            // psb explain
//	plan.Open(p.Gaps)            // what stops the run
//
// The launcher walks the same Order that Text prints. Compile asks the host only through Look, so that tests give it a tree of their
// own; it starts nothing and changes nothing.
//
// It does not probe, mount, restrict, or decide what a rule means (package policy).
package plan
