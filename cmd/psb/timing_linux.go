// Does to the process: builds a box as a run would, up to the held program, and ends it; reads the clock.
// Undone: the box is gone when it returns.
// Preconditions: none.
// Called by: explain.go.
// Proved by: the script explain_timing.

package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/policy/plan"
)

// stopwatch goes through the start of a run and stops before its program.
type stopwatch struct {
	*supervisor
	names []string
	at    []int64
}

var errMeasured = errors.New("measured")

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail with this clock
	return t.Nano()
}

func (s *stopwatch) mark(name string, at int64) {
	s.names, s.at = append(s.names, name), append(s.at, at)
}

func (s *stopwatch) attend(box *namespaces.Box, _ int) error {
	ready := monotonic()
	stages := box.Stages()
	s.mark("filter, ruleset, control groups planned", stages[0])
	s.mark("keeper: groups made, id maps", stages[1])
	s.mark("namespaces cloned", stages[2])
	s.mark("root built, control groups joined", stages[3])
	s.mark("limits, capabilities, Landlock", stages[4])
	s.mark("program held, psb told", ready)
	return errMeasured
}

// timing is `psb explain --timing`: an ordinary start, worked out anew, up to the program. A start that finds its launch kept does without
// everything before the keeper.
func timing(w *world, line *runLine, mode plan.Mode) (int, error) {
	if mode == plan.Learn {
		return exitRefused, &usageError{"--timing measures a run, not a learning one", "psb explain --timing SCRIPT"}
	}
	s := &stopwatch{}
	s.mark("", namespaces.CalledAt())
	s.mark("runtime started", monotonic())
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(w.seen), again: true}
	if err := j.readPolicy(takesPolicy(line.form)); err != nil {
		return refusedStatus(err), err
	}
	s.mark("kernel probed, policy read", monotonic())
	if err := j.findPython(); err != nil {
		return exitRefused, err
	}
	s.mark("interpreter found", monotonic())
	j.setMacros()
	if err := j.expand(); err != nil {
		return exitRefused, err
	}
	if err := j.planFor(mode, j.pythonCommand(line)); err != nil {
		return exitRefused, err
	}
	s.mark("plan compiled", monotonic())
	s.supervisor = newSupervisor(j)
	if _, err := launch(j, s); !errors.Is(err, errMeasured) {
		return refusedStatus(err), err
	}
	for i, name := range s.names[1:] {
		if _, err := fmt.Fprintf(w.stdio[1], "%8.2f ms  %s\n", float64(s.at[i+1]-s.at[i])/1e6, name); err != nil {
			return exitRefused, err
		}
	}
	_, err := fmt.Fprintf(w.stdio[1], "%8.2f ms  in all\n", float64(s.at[len(s.at)-1]-s.at[0])/1e6)
	return 0, err
}
