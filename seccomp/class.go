package seccomp

import (
	"fmt"
	"sync"
)

// Class says to which list a kernel call belongs.
type Class uint8

// Classes of calls. Base calls may still be refused for some arguments, see Filter.Decide.
const (
	Unknown Class = iota // no such call on amd64 or arm64 that this package knows
	Base                 // every program gets it
	Rest                 // ENOSYS unless [syscalls] adds it
	Floor                // refused always, by enforcement and by learning
)

// String gives "base", "rest", "floor" or "unknown".
func (c Class) String() string {
	switch c {
	case Base:
		return "base"
	case Rest:
		return "rest"
	case Floor:
		return "floor"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// ClassOf gives the list a call belongs to and the reason.
func ClassOf(name string) (Class, string) {
	l := listed()[name]
	return l.class, l.why
}

type listing struct {
	class Class
	why   string
}

// listed is every call by its name; a supervisor and a tracer ask for each call that stops.
var listed = sync.OnceValue(func() map[string]listing {
	all := map[string]listing{}
	take := func(names string, l listing) {
		group{names: names}.each(func(name string) {
			if _, had := all[name]; !had {
				all[name] = l
			}
		})
	}
	for _, g := range base {
		take(g.names, listing{Base, g.why})
	}
	for _, r := range floor {
		take(r.names, listing{Floor, r.why})
	}
	for _, g := range rest {
		take(g.names, listing{Rest, g.why})
	}
	return all
})

// Names lists every call this package knows, in the order of its lists.
func Names() []string {
	var out []string
	take := func(name string) { out = append(out, name) }
	for _, g := range base {
		g.each(take)
	}
	for _, r := range floor {
		group{names: r.names}.each(take)
	}
	for _, g := range rest {
		g.each(take)
	}
	return out
}

// ErrnoOf is the error number a program sees when the whole call is refused: the floor's own, EPERM for a base call that a
// policy refuses, ENOSYS for everything else. Refusals of single arguments have theirs, see Filter.Decide.
func ErrnoOf(name string) Errno {
	for _, r := range floor {
		if contains(r.names, name) {
			return r.errno
		}
	}
	if c, _ := ClassOf(name); c == Base {
		return EPERM
	}
	return ENOSYS
}
