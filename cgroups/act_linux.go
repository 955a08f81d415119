// Does to the process: nothing; it says what Create would do, and where to read.
// Undone: nothing to undo.
// Preconditions: as Create's.
// Called by: cmd/psb, for a launch that is kept.
// Proved by: TestActs.

package cgroups

import (
	"fmt"
	"slices"
	"strings"
)

// Act is one step of making a group, as data: for a start that does not work the group out again.
type Act struct {
	Kind        ActKind
	Path, Value string
}

// ActKind names a step.
type ActKind int

// Steps.
const (
	Mkdir    ActKind = iota // a folder of the group: must not be there
	MkdirAny                // psb's own leaf: may be there
	Write                   // Value into the control file Path
)

// Acts are the steps by which [Create] makes the group with the same arguments, in order.
func Acts(s Support, name string, l Limits) ([]Act, error) {
	g := &Group{name: name}
	if err := g.plan(s, l); err != nil {
		return nil, fmt.Errorf("plan cgroup %q: %w", name, err)
	}
	var out []Act
	for _, p := range g.parts {
		if p.version == 2 {
			out = append(out, handDownActs(s, p)...)
		}
		out = append(out, Act{Kind: Mkdir, Path: p.dir})
		files := l.FilesV1()
		if p.version == 2 {
			files = l.FilesV2()
		}
		for _, f := range files {
			swap := strings.Contains(f.Name, "swap") || strings.Contains(f.Name, "memsw")
			if slices.Contains(p.controllers, f.Controller) && (s.HasSwap || !swap) {
				out = append(out, Act{Write, p.dir + "/" + f.Name, f.Value})
			}
		}
	}
	return out, nil
}

func handDownActs(s Support, p part) []Act {
	var out []Act
	if s.leave == p.parent {
		out = append(out, Act{Kind: MkdirAny, Path: p.parent + "/" + leaf}, Act{Write, p.parent + "/" + leaf + "/cgroup.procs", "0"})
	}
	for _, name := range p.controllers {
		if s.Controllers[name].enable {
			out = append(out, Act{Write, p.parent + "/cgroup.subtree_control", "+" + name})
		}
	}
	return out
}

// Refusals is the group's control file that says "max N" of the processes that the limit refused; "" where there is none.
func Refusals(s Support, name string, l Limits) string {
	g := &Group{name: name}
	if l.PIDs == 0 || g.plan(s, l) != nil {
		return ""
	}
	for _, p := range g.parts {
		if slices.Contains(p.controllers, pids) {
			return p.dir + "/pids.events"
		}
	}
	return ""
}
