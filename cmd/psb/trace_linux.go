// Does to the process: gives one thread away to the tracer, pinned with the program to one processor.
// Undone: the thread ends with the run.
// Preconditions: the box was started with Spec.Hold.
// Called by: learn.go through watcher.
// Proved by: the scripts named learn_*.

package main

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"time"

	"psb/learn"
	"psb/learn/ptrace"
	"psb/namespaces"
	"psb/namespaces/broker"
	"psb/policy"
	"psb/seccomp"
)

// recorder is the watcher of a learning run: the tracer's events fold into a set; floor calls never run.
type recorder struct {
	j        *job
	set      *learn.Set
	split    *learn.Split // of a run of tests, and then its All is set; nil for others
	record   *recording   // nil where none is asked for
	result   ptrace.Result
	err      error
	done     chan struct{}
	judge    seccomp.Filter
	judged   map[int]judged // by call number, as the calls come
	walls    walls
	open     string // a folder whose files mayRead has found readable, all of them
	known    learn.Knowledge
	events   int
	prepare  func()        // fills in known, and what rests on it
	ready    chan struct{} // closed when judge and known are there
	listens  bool          // a broker answers the calls that reach the network
	ended    bool          // what is told after that is of a program that is gone
	mu       sync.Mutex    // the tracer's events and the broker's fold into one set
	broker   *broker.Broker
	over     chan struct{} // closed when nobody asks the broker any more
	attended bool
	audit    *auditor // nil in a learning run
}

func newRecorder(j *job) *recorder {
	r := &recorder{j: j, set: learn.NewSet(), done: make(chan struct{}), judged: map[int]judged{}, walls: wallsOf(j.plan), ready: make(chan struct{})}
	r.prepare = func() { r.known = j.knowledge() }
	return r
}

func (r *recorder) filter() (seccomp.Program, bool, error) {
	o, err := r.j.enforceOptions()
	if err != nil {
		return seccomp.Program{}, false, err
	}
	o.Listener = true // the judge must tell what is meant from what is a probe
	o.Extra = nil     // learning sees what the program asks, not what the policy says
	go func() {       // beside the start of the box
		defer close(r.ready)
		r.judge = seccomp.Enforce(o)
		r.prepare()
	}()
	r.listens = o.Broker
	p, err := buildFilter(r.j, seccomp.Learn(o))
	return p, r.listens, err
}

func (r *recorder) attend(box *namespaces.Box, program int) error {
	r.attended = true
	if r.audit != nil {
		upper, err := box.Upper()
		if err != nil {
			return err
		}
		r.audit.upper = upper
	}
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
	if err := <-released; err != nil || !r.listens {
		return err
	}
	return r.listen(box)
}

// listen gives the calls that reach the network to a broker, which tells what came of them.
func (r *recorder) listen(box *namespaces.Box) error {
	l, err := listenerOf(box.Listener())
	if err != nil {
		return err
	}
	var judge broker.Judge = learningJudge{r.j.policy, r.j.plan.Command.Sockets}
	if r.audit != nil {
		judge = auditingJudge{learningJudge{r.j.policy, nil}, r.audit}
	}
	r.broker, err = r.j.newBroker(box, judge, r.refusedAccess, r.did)
	if err != nil || r.broker == nil {
		l.Close()
		return err
	}
	r.over = make(chan struct{})
	go func() {
		defer close(r.over)
		if err := seccomp.Supervise(context.Background(), l, r.broker.Serve); err != nil {
			box.Kill() // nobody answers any more: nothing may hang
		}
	}()
	return nil
}

// did records what the broker did, or refused.
func (r *recorder) did(tid int, a policy.Access, errno string) {
	r.audit.hears(a)
	e := learn.Accessed{TID: tid, Access: a, Errno: learn.Errno(errno)}
	if a.Op == policy.OpWrite {
		e.How = learn.New
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.take(e)
	}
}

// take keeps one event. The caller holds mu.
func (r *recorder) take(e learn.Event) {
	<-r.ready
	if r.split != nil {
		r.split.Add(e)
	} else {
		r.set.Add(e)
	}
	if r.record != nil {
		r.record.tell(e)
	}
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
		<-r.ready
		<-r.done
	}
	if r.over != nil {
		select {
		case <-r.over:
		case <-time.After(3 * time.Second):
		}
	}
	if r.broker != nil {
		r.broker.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
