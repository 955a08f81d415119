package learn

import (
	"maps"
	"slices"
	"strings"

	"psb/policy"
)

// Uses gives the accesses for which a run needed rules: all that it made with success, and what learning would have proposed for them. Sorted.
func (r *Run) Uses() []policy.Access {
	used := r.Set.observed()
	grants, _ := Generalise(r.Set, r.Knowledge())
	for _, g := range grants {
		used[g.Access] = true
	}
	return slices.SortedFunc(maps.Keys(used), func(a, b policy.Access) int { return strings.Compare(a.String(), b.String()) })
}

// observed gives what a run did with success, in the words of the judge: a new or a removed name is a create, too.
func (s *Set) observed() map[policy.Access]bool {
	used := map[policy.Access]bool{}
	for _, f := range s.files {
		for _, object := range []string{f.object, f.target} {
			if object == "" || !f.known {
				continue
			}
			for _, op := range f.ops() {
				if op == policy.OpCreate { // of a folder: below
					continue
				}
				used[policy.Access{Op: op, Object: object}] = true
			}
			if f.made || f.removed {
				used[policy.Access{Op: policy.OpCreate, Object: object}] = true
			}
			if f.unnamed {
				used[policy.Access{Op: policy.OpCreate, Object: object + "/"}] = true
			}
		}
	}
	for a, f := range s.others {
		if f.known {
			used[a] = true
		}
	}
	for name := range s.calls {
		used[policy.Access{Op: policy.OpSyscall, Object: name}] = true
	}
	for a := range s.python {
		used[a] = true
	}
	for name := range s.env {
		used[policy.Access{Op: policy.OpEnv, Object: name}] = true
	}
	return used
}

// Usage counts which rules of one policy the judge named in recorded runs. The zero Usage has seen none.
type Usage struct {
	Runs  int
	used  map[ruleID]bool
	blind map[string]bool // tables that some record does not tell of
}

// ruleID is the same for one right of one line, wherever its paths lead.
type ruleID struct {
	origin policy.Origin
	op     policy.Op
	text   string
}

func idOf(r *policy.Rule) ruleID { return ruleID{r.Origin, r.Op, r.Pattern.Text} }

// Count takes a run in. Precondition: p is the policy as Expand gives it for that run's folders.
func (u *Usage) Count(p *policy.Policy, r *Run) {
	if u.used == nil {
		u.used, u.blind = map[ruleID]bool{}, map[string]bool{}
	}
	u.Runs++
	for _, t := range []string{"env", "files", "net", "syscalls", "python"} {
		u.blind[t] = u.blind[t] || !r.known.Tables[t]
	}
	for _, n := range p.Narrowings() { // without them the program could change more
		u.used[idOf(n)] = true
	}
	for _, a := range r.Uses() {
		if by := p.Decide(a).By; by != nil {
			u.used[idOf(by)] = true
		}
	}
}

// Unused gives the rights of p that nothing in the runs needed, in the order of p. What refuses (false, hide, deny, a read line inside a write
// line) is never among them, nor is
// what the records do not tell of.
func (u *Usage) Unused(p *policy.Policy) []policy.Rule {
	var out []policy.Rule
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Deny || u.Runs == 0 || u.blind[tableOf(r.Op)] || u.used[idOf(r)] {
			continue
		}
		out = append(out, *r)
	}
	return out
}

// tableOf names the table of the file that a right stands in, as Knowledge.Tables does: "python" is all of Python's layer.
func tableOf(op policy.Op) string {
	switch op {
	case policy.OpEnv:
		return "env"
	case policy.OpSyscall:
		return "syscalls"
	case policy.OpConnect, policy.OpPrivate, policy.OpListen:
		return "net"
	case policy.OpImport, policy.OpCall, policy.OpEval:
		return "python"
	}
	return "files"
}
