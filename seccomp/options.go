package seccomp

import (
	"cmp"
	"maps"
	"slices"
)

// Options says what a filter is for.
type Options struct {
	Arch        Arch
	NoteFD      int32           // descriptor to which the Python shim writes its notes; 0 or more = no shim
	Listener    bool            // a supervisor will hold the listener; otherwise Notify becomes its errno
	Broker      bool            // a broker connects and listens on the box's behalf: sockets that it hands in belong to the host's network
	Datagrams   bool            // with Broker: it relays datagrams, and is asked wherever they may go
	Lite        bool            // no namespaces: Landlock and this filter are all there is
	IDs         *IDs            // the program's own; nil leaves changes of ids to the kernel
	LandlockABI int             // of the ruleset the box wears; 0 = none. Below 4 and 6 the filter holds what Landlock cannot
	Extra       map[string]bool // [syscalls]: true adds a call beyond the base set, false refuses one. See Problems
}

// IDs are a user and a group id inside the box.
type IDs struct{ UID, GID uint32 }

// Problem is one line of [syscalls] that cannot be done. The filter is the stricter one: a floor call stays refused, a call
// psb needs stays allowed.
type Problem struct {
	Name string
	Why  string
}

// needed by the last steps before the program runs and by every C library's exit.
const needed = `execve read write close close_range exit exit_group rt_sigreturn mmap munmap mprotect brk futex`

// Problems lists what o.Extra asks and no filter gives, sorted by name.
func (o Options) Problems() []Problem {
	var out []Problem
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		class, why := ClassOf(name)
		switch {
		case class == Unknown:
			out = append(out, Problem{name, "no such kernel call"})
		case o.Extra[name] && class == Floor:
			out = append(out, Problem{name, "never granted: " + why})
		case !o.Extra[name] && contains(needed, name):
			out = append(out, Problem{name, "psb needs it to start the program"})
		}
	}
	return out
}

func contains(names, name string) (found bool) {
	group{names: names}.each(func(n string) { found = found || n == name })
	return found
}

// Enforce is the filter of an enforced run: base, narrowed and extended by o, everything else ENOSYS; floor calls and
// connect ask the supervisor.
func Enforce(o Options) Filter {
	f := Filter{Arch: o.Arch, Default: Fail(ENOSYS)}
	guarded := guards(o)
	for _, g := range base {
		g.each(func(name string) {
			switch allowed, set := o.Extra[name]; {
			case set && !allowed && !contains(needed, name):
				f.Calls = append(f.Calls, Call{Name: name, Do: Notify(EPERM), Why: "refused by the policy"})
			case guarded[name] != nil:
				f.Calls = append(f.Calls, guarded[name]...)
			default:
				f.Calls = append(f.Calls, Call{Name: name, Do: Allow, Why: g.why})
			}
		})
	}
	for _, r := range floor {
		do := Notify(r.errno)
		if r.quiet {
			do = Fail(r.errno)
		}
		group{names: r.names}.each(func(name string) {
			f.Calls = append(f.Calls, Call{Name: name, Do: do, Why: r.why})
		})
	}
	for _, g := range rest {
		g.each(func(name string) {
			switch allowed, set := o.Extra[name]; {
			case set && allowed:
				f.Calls = append(f.Calls, Call{Name: name, Do: Allow, Why: "added by the policy"})
			case set:
				f.Calls = append(f.Calls, Call{Name: name, Do: Notify(EPERM), Why: "refused by the policy"})
			}
		})
	}
	if !o.Listener {
		for i, c := range f.Calls {
			if c.Do.Kind() == KindNotify {
				f.Calls[i].Do = Fail(c.Do.Errno())
			}
		}
	}
	slices.SortStableFunc(f.Calls, func(a, b Call) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// brokered are the calls that only the broker answers, in a learning run, too: it has to make them.
const brokered = `connect listen bind sendto sendmsg sendmmsg`

// Learn is the filter of a learning run: the calls of the baseline run, quiet refusals stay as they are, a note and
// everything else stop the tracer, which asks Enforce(o).Decide what to do. Foreign interfaces are killed here, too.
//
// A child that escapes the tracer (CLONE_UNTRACED) gets ENOSYS for everything outside the baseline.
func Learn(o Options) Filter {
	loud := o
	loud.Listener = true // so that what is meant and what is a probe can be told apart below
	f := Enforce(loud)
	f.Default = Trace
	fast := map[string]bool{}
	for _, g := range baseline {
		g.each(func(name string) { fast[name] = true })
	}
	calls := make([]Call, 0, len(f.Calls)+1)
	for _, c := range f.Calls {
		if c.Name == "sendto" && c.Do == Allow && !o.Broker {
			// An address makes it a connect of its own.
			calls = append(calls, Call{Name: c.Name, When: []Cond{null(4)}, Do: Allow, Why: "to the peer already connected"})
			c.Do = Trace
		}
		if c.Name == "prlimit64" && (len(calls) == 0 || calls[len(calls)-1].Name != c.Name) {
			calls = append(calls, Call{Name: c.Name, When: []Cond{null(2)}, Do: Allow, Why: "a question every program asks as it starts"})
		}
		switch {
		case o.Broker && o.Listener && c.Do.Kind() == KindNotify && contains(brokered, c.Name): // notify goes before trace, see seccomp(2)
		case c.Do.Kind() == KindNotify, c.Do == Allow && !fast[c.Name]:
			c.Do = Trace
		}
		calls = append(calls, c)
	}
	f.Calls = calls
	return f
}

// Explain is Enforce(o) in which those of the calls named that are allowed stop a tracer before they run (SECCOMP_RET_TRACE, seccomp(2)): it
// watches how they end. Nothing else changes; without a tracer they fail with ENOSYS.
func Explain(o Options, names []string) Filter { return instead(Enforce(o), Trace, names) }

// Ask is Enforce(o) in which open and openat, where they are allowed, ask the supervisor first. It may let them go on: what they name is the
// kernel's to judge, as without this.
func Ask(o Options) Filter { return instead(Enforce(o), Notify(EACCES), []string{"open", "openat"}) }

// instead has calls that were allowed do something else.
func instead(f Filter, do Action, names []string) Filter {
	for i, c := range f.Calls {
		if c.Do == Allow && slices.Contains(names, c.Name) {
			f.Calls[i].Do = do
		}
	}
	return f
}
