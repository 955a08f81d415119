package export

import (
	"slices"

	"psb/seccomp"
)

// cube is a set of calls by their arguments: of each argument the bits of mask are value.
type cube [6]struct{ mask, value uint64 }

// of is the set where every condition holds; ok is false when none can.
func of(when []seccomp.Cond) (c cube, ok bool) {
	for _, w := range when {
		a := &c[w.Arg]
		if both := a.mask & w.Mask; a.value&both != w.Value&both {
			return c, false
		}
		a.mask |= w.Mask
		a.value |= w.Value
	}
	return c, true
}

// meets says whether some call is in both.
func (c cube) meets(o cube) bool {
	for i := range c {
		if both := c[i].mask & o[i].mask; c[i].value&both != o[i].value&both {
			return false
		}
	}
	return true
}

// minus gives what of c is not in o, as sets that do not meet.
func (c cube) minus(o cube) []cube {
	if !c.meets(o) {
		return []cube{c}
	}
	var out []cube
	rest := c
	for i := range o {
		for bit := uint64(1); bit != 0; bit <<= 1 {
			if o[i].mask&bit == 0 || rest[i].mask&bit != 0 {
				continue
			}
			other := rest
			other[i].mask |= bit
			other[i].value |= ^o[i].value & bit
			out = append(out, other)
			rest[i].mask |= bit
			rest[i].value |= o[i].value & bit
		}
	}
	return out
}

// answer is what a filter says to one call.
type answer struct {
	name    string
	all     bool          // allowed whatever the arguments
	allowed []cube        // else allowed for these, which do not meet
	errno   seccomp.Errno // for the others
	partly  bool          // some arguments are allowed, some not
}

// answers turns rules that are tried in order into sets that need none: other tools' rules of one call have no order.
func answers(f seccomp.Filter) []answer {
	var out []answer
	rules := map[string][]seccomp.Call{}
	var order []string
	for _, c := range f.Calls {
		if rules[c.Name] == nil {
			order = append(order, c.Name)
		}
		rules[c.Name] = append(rules[c.Name], c)
	}
	slices.Sort(order)
	for _, name := range order {
		out = append(out, answerOf(name, rules[name], f.Default))
	}
	return out
}

func answerOf(name string, rules []seccomp.Call, otherwise seccomp.Action) answer {
	a := answer{name: name, errno: otherwise.Errno()}
	var before []cube // what earlier rules have answered
	for _, r := range rules {
		c, ok := of(r.When)
		if !ok {
			continue
		}
		left := []cube{c}
		for _, b := range before {
			var next []cube
			for _, l := range left {
				next = append(next, l.minus(b)...)
			}
			left = next
		}
		before = append(before, c)
		switch {
		case r.Do == seccomp.Allow:
			a.allowed = append(a.allowed, left...)
		case len(r.When) == 0 && len(a.allowed) == 0:
			a.errno = r.Do.Errno() // the whole call
		}
	}
	a.all = len(a.allowed) == 1 && a.allowed[0] == cube{}
	if a.all {
		a.allowed = nil
	}
	a.partly = len(a.allowed) > 0
	return a
}

// refused says that no arguments are allowed.
func (a answer) refused() bool { return !a.all && !a.partly }

// connecting is a filter that lets connect go on, for a target that judges where a connection goes.
func connecting(f seccomp.Filter) seccomp.Filter {
	f.Calls = slices.Clone(f.Calls)
	for i, c := range f.Calls {
		if c.Name == "connect" {
			f.Calls[i] = seccomp.Call{Name: c.Name, Do: seccomp.Allow, Why: "the target judges where it goes"}
		}
	}
	return f
}
