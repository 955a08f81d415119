// Does to the process: gives one thread away to the tracer, pinned with the program to one processor.
// Undone: the thread ends with the run.
// Preconditions: the box was started with Spec.Hold.
// Called by: learn.go through watcher.
// Proved by: the scripts named learn_*.

package main

import (
	"context"
	"runtime"
	"syscall"

	"psb/landlock"
	"psb/learn"
	"psb/learn/ptrace"
	"psb/namespaces"
	"psb/seccomp"
)

// recorder is the watcher of a learning run: the tracer's events fold into a set; floor calls never run.
type recorder struct {
	j        *job
	set      *learn.Set
	result   ptrace.Result
	err      error
	done     chan struct{}
	judge    seccomp.Filter
	judged   map[int]judged               // by call number, as the calls come
	readable map[string]landlock.PathRule // the rules of the box, by where they stand
	known    learn.Knowledge
	attended bool
}

func newRecorder(j *job) *recorder {
	r := &recorder{j: j, set: learn.NewSet(), done: make(chan struct{}), judged: map[int]judged{}, readable: map[string]landlock.PathRule{}, known: j.knowledge()}
	for _, rule := range j.plan.Files.Paths {
		if had, twice := r.readable[rule.Path]; twice {
			rule.Access, rule.File = rule.Access|had.Access, rule.File && had.File
		}
		r.readable[rule.Path] = rule
	}
	return r
}

func (r *recorder) filter() (seccomp.Program, bool, error) {
	o, err := r.j.enforceOptions()
	if err != nil {
		return seccomp.Program{}, false, err
	}
	o.Listener = true // the judge must tell what is meant from what is a probe
	o.Extra = nil     // learning sees what the program asks, not what the policy says
	r.judge = seccomp.Enforce(o)
	p, err := buildFilter(r.j, seccomp.Learn(o))
	return p, false, err
}

func (r *recorder) attend(box *namespaces.Box, program int) error {
	r.attended = true
	released := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: ptrace belongs to this thread, and the thread ends here
		defer close(r.done)
		r.result, r.err = ptrace.Run(context.Background(), ptrace.Target{PID: program, Pin: !r.j.opts.parallel,
			Name: func(nr int) string { return r.call(nr).name }, Judge: r.refusal, Readable: r.mayRead}, func() error {
			err := box.Release()
			released <- err
			return err
		}, r.add)
		select {
		case released <- r.err: // the seizure failed
		default:
		}
	}()
	return <-released
}

// refusal keeps the floor: what even a learning run must not do gets its error, everything else runs and is recorded.
func (r *recorder) refusal(nr int, args [6]uint64) syscall.Errno {
	c := r.call(nr)
	if c.name == "connect" || c.name == "write" {
		return 0
	}
	switch action, _ := c.rules.Decide(c.name, args); action.Kind() {
	case seccomp.KindErrno, seccomp.KindKill:
		if c.class == seccomp.Rest || c.class == seccomp.Unknown {
			return 0
		}
		return syscall.Errno(max(action.Errno(), 1))
	case seccomp.KindNotify:
		if c.class == seccomp.Base && action.Errno() == 0 {
			return 0
		}
		return syscall.Errno(max(action.Errno(), 1))
	}
	return 0
}

func (r *recorder) end() {
	if r.attended {
		<-r.done
	}
}
