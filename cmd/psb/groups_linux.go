// Does to the process: makes a control group for the box; removes groups of dead psbs.
// Undone: the group is removed at the end, by psb or, when it is gone, by the keeper.
// Preconditions: none; without a usable controller nothing is made.
// Called by: launch_linux.go.
// Proved by: TestKilled, the scripts named run_limit_*.

package main

import (
	"fmt"
	"math"
	"os"

	"psb/cgroups"
	"psb/policy/plan"
)

// plannedGroup is the control group before it exists: the keeper knows its folders first, so that they are removed whenever psb dies.
type plannedGroup struct {
	support     cgroups.Support
	name        string
	limits      cgroups.Limits
	dirs, procs []string
}

// plannedGroups plans the control group; without folders where none is usable.
func (j *job) plannedGroups() (plannedGroup, error) {
	s := j.facts.cgroups
	if !s.Usable() || j.plan.Provider == plan.None {
		return plannedGroup{}, nil
	}
	fitted, _ := j.groupLimits().Fit(s) // what is lost stands among the plan's gaps
	if err := fitted.Check(); err != nil {
		return plannedGroup{}, refuse("", "%s", err)
	}
	if j.number <= 1 {
		_, _ = cgroups.Sweep(s) // groups of dead psbs; the next start tries again
	}
	pid := os.Getpid()
	start, err := startTime(pid)
	if err != nil {
		return plannedGroup{}, err
	}
	g := plannedGroup{support: s, name: cgroups.Name(pid, start, j.number), limits: fitted}
	g.dirs, g.procs, err = cgroups.Planned(s, g.name, fitted)
	return g, err
}

// groupLimits are the limits that a control group could hold.
func (j *job) groupLimits() cgroups.Limits {
	l := j.plan.Limits
	want := cgroups.Limits{Memory: l["memory"].Bytes, PIDs: withReaper(l["pids"].Count), CPUs: l["cpus"].CPUs}
	if v, ok := l["memory_swap"]; ok {
		want.MemorySwap = v.Bytes
	} else if l["memory"].Origin.From == "default" {
		want.MemorySwap = math.MaxUint64
	}
	return want
}

func (g plannedGroup) create() (*cgroups.Group, error) {
	if len(g.dirs) == 0 {
		return nil, nil
	}
	group, err := cgroups.Create(g.support, g.name, g.limits)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return group, nil
}

// withReaper adds the box's own first process to a limit on processes that speaks of the program's.
func withReaper(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return n + 1
}
