package seccomp

import (
	"errors"
	"fmt"
	"strings"
)

// Filter is a seccomp filter as data. The rules of one call are tried in the order they stand in Calls; the first whose
// conditions all hold answers. A call that no rule answers gets Default. A call of another interface (i386, x32, AArch32)
// kills the process, whatever the rules say: its numbers mean other calls.
type Filter struct {
	Arch    Arch
	Default Action
	Calls   []Call
}

// Call is one rule: what happens to the call Name when every condition of When holds.
type Call struct {
	Name string
	When []Cond
	Do   Action
	Why  string // for reports and reviewers
}

// Cond holds when argument Arg (0 to 5), cut to the bits of Mask, equals Value.
//
// The mask is not an ornament: the kernel hands the filter 64 bits and cuts an int to 32 afterwards, so a plain compare with
// TIOCSTI is passed by TIOCSTI|1<<32.
type Cond struct {
	Arg   int
	Mask  uint64
	Value uint64
}

const low32 = 0xffffffff

// is compares an int-sized argument.
func is(arg int, value uint32) Cond { return Cond{Arg: arg, Mask: low32, Value: uint64(value)} }

// has holds when every one of bits is set in the argument.
func has(arg int, bits uint32) Cond { return Cond{Arg: arg, Mask: uint64(bits), Value: uint64(bits)} }

// lacks holds when none of bits is set in the argument.
func lacks(arg int, bits uint32) Cond { return Cond{Arg: arg, Mask: uint64(bits)} }

// null holds when a pointer argument is NULL.
func null(arg int) Cond { return Cond{Arg: arg, Mask: ^uint64(0)} }

// Decide is the filter's judge: the action for a call of the filter's own interface and the reason of the rule that gave it.
// A compiled program gives the same kinds, see Program.Simulate.
func (f Filter) Decide(name string, args [6]uint64) (Action, string) {
	for _, c := range f.Calls {
		if c.Name == name && c.holds(args) {
			return c.Do, c.Why
		}
	}
	return f.Default, "not in the list"
}

func (c Call) holds(args [6]uint64) bool {
	for _, w := range c.When {
		if args[w.Arg]&w.Mask != w.Value {
			return false
		}
	}
	return true
}

// Validate reports every rule that cannot be compiled or can never answer. The constructors of this package make valid
// filters.
func (f Filter) Validate() error {
	var errs []error
	if f.Arch != AMD64 && f.Arch != ARM64 {
		errs = append(errs, fmt.Errorf("seccomp: no filter for %v", f.Arch))
	}
	if f.Default.Kind() == KindInvalid {
		errs = append(errs, errors.New("seccomp: filter without a default action"))
	}
	closed := map[string]bool{}
	for _, c := range f.Calls {
		if c.Name == "" {
			errs = append(errs, errors.New("seccomp: rule without a call"))
		}
		if c.Do.Kind() == KindInvalid {
			errs = append(errs, fmt.Errorf("seccomp: %s: rule without an action", c.Name))
		}
		if closed[c.Name] {
			errs = append(errs, fmt.Errorf("seccomp: %s: rule after one that always answers", c.Name))
		}
		for _, w := range c.When {
			if w.Arg < 0 || w.Arg > 5 || w.Mask == 0 || w.Value&^w.Mask != 0 {
				errs = append(errs, fmt.Errorf("seccomp: %s: condition on argument %d never or always holds", c.Name, w.Arg))
			}
		}
		closed[c.Name] = closed[c.Name] || len(c.When) == 0
	}
	return errors.Join(errs...)
}

// String lists the filter, one rule a line, the same bytes for the same filter.
func (f Filter) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, otherwise %v\n", f.Arch, f.Default)
	for _, c := range f.Calls {
		fmt.Fprintf(&b, "%s", c.Name)
		for _, w := range c.When {
			fmt.Fprintf(&b, " arg%d&%#x==%#x", w.Arg, w.Mask, w.Value)
		}
		fmt.Fprintf(&b, ": %v\n", c.Do)
	}
	return b.String()
}

// Notifies tells whether some rule of f asks a supervisor. Only then may, and must, it be installed with a listener.
func (f Filter) Notifies() bool {
	for _, c := range f.Calls {
		if c.Do.Kind() == KindNotify {
			return true
		}
	}
	return f.Default.Kind() == KindNotify
}
