// Does to the process: answers the calls the box's filter hands over; reads the memory of its processes once for each.
// Undone: nothing to undo.
// Preconditions: the program's filter was installed with a listener.
// Called by: launch_linux.go through watcher.
// Proved by: the scripts named run_denied_*, the attack suite.

package main

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/namespaces/broker"
	"psb/policy"
	"psb/pythonshim"
	"psb/seccomp"
)

// supervisor is the watcher of an enforced run: every call it is asked about is refused or harmless, and it remembers which.
type supervisor struct {
	j       *job
	done    chan struct{}
	rules   seccomp.Filter
	listens bool
	broker  *broker.Broker // nil: the box has no network of its own, and connects to nothing
	// By default the policy judges, and judge answers; --ask puts somebody in between.
	judging   broker.Judge
	did       func(tid int, a policy.Access, errno string) // told what the broker did; may be nil
	answering func(*seccomp.Request) seccomp.Answer
	mu        sync.Mutex
	over      bool
	seen      refused
	program   int // what was started; of its children nothing is inspected
	inspected map[string]inspection
}

func newSupervisor(j *job) *supervisor { return &supervisor{j: j} }

func (s *supervisor) filter() (seccomp.Program, bool, error) {
	if f := s.j.filters; f != nil {
		s.rules, s.listens = f.rules, f.listens
		return f.program, f.listens, nil
	}
	o, err := s.j.enforceOptions()
	if err != nil {
		return seccomp.Program{}, false, err
	}
	s.rules = seccomp.Enforce(o)
	p, err := buildFilter(s.j, s.rules)
	s.listens = o.Listener && s.rules.Notifies()
	return p, s.listens, err
}

func (s *supervisor) attend(box *namespaces.Box, _ int) error {
	if err := box.Release(); err != nil {
		return err
	}
	if !s.listens {
		return nil
	}
	fd, err := box.Listener()
	if err != nil {
		return err
	}
	return s.listen(box, fd)
}

// listen answers what the listener brings, until nobody is left behind it.
func (s *supervisor) listen(box *namespaces.Box, fd *os.File) error {
	s.program = box.Program()
	l, err := listenerOf(fd, nil)
	if err != nil {
		return err
	}
	if s.judging == nil {
		s.judging, s.answering = s.j.enforcingJudge(), s.judge
	}
	if s.broker, err = s.j.newBroker(box, s.judging, s.refusedAccess, s.did); err != nil {
		l.Close()
		return err
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if err := seccomp.Supervise(ctx, l, s.answering); err != nil {
			box.Kill() // nobody answers any more: nothing may hang, nothing may pass
		}
	}()
	return nil
}

// listenerOf makes a listener of the descriptor that a box handed over.
func listenerOf(fd *os.File, err error) (*seccomp.Listener, error) {
	if err != nil {
		return nil, err
	}
	defer fd.Close()
	own, err := unix.FcntlInt(fd.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return seccomp.NewListener(own)
}

func (s *supervisor) end() {
	if s.done != nil {
		select {
		case <-s.done:
		case <-time.After(3 * time.Second): // one call holds it; the box is gone, and so will psb be
		}
	}
	if s.broker != nil {
		s.broker.Close() // without the lock: its calls tell what they refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true // a connect of a program that is gone adds nothing any more
}

// judge answers one call. What is allowed psb does itself; the broker alone lets calls go on, and only such as can do no harm.
func (s *supervisor) judge(r *seccomp.Request) seccomp.Answer {
	allowed, set := s.j.plan.Syscalls[r.Name]
	switch {
	case r.Name == "write":
		s.note(r)
		return seccomp.Answer{Errno: seccomp.EBADF}
	case set && !allowed: // the policy refuses the whole call
	case s.broker != nil && s.broker.Answers(r.Name):
		return s.broker.Serve(r)
	case r.Name == "connect":
		return s.refusedCall(r)
	}
	s.mu.Lock()
	s.seen.syscall(r.Name)
	s.mu.Unlock()
	action, _ := s.rules.Decide(r.Name, r.Args)
	return seccomp.Answer{Errno: action.Errno()} // none says 0, which is a refusal, too
}

// note reads a line of the shim: what the program says of itself, never more than a reported denial.
func (s *supervisor) note(r *seccomp.Request) {
	n := r.Args[2]
	if n > pythonshim.MaxNote {
		return
	}
	b, err := r.Bytes(r.Args[1], int(n))
	if err != nil {
		return
	}
	if note, err := pythonshim.ParseNote(b); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if note.Event == pythonshim.NoteInspect && r.TID == s.program {
			s.inspect(note)
		}
		s.seen.note(note)
	}
}

// refusedCall refuses a connect where the program shares the host's network.
func (s *supervisor) refusedCall(r *seccomp.Request) seccomp.Answer {
	a, err := r.Sockaddr(r.Args[1], r.Args[2])
	if err != nil {
		return seccomp.Answer{Errno: seccomp.EINVAL}
	}
	s.refusedAccess(policy.Access{Op: policy.OpConnect, Object: a.String()})
	return seccomp.Answer{Errno: seccomp.EACCES}
}

func (s *supervisor) refusedAccess(a policy.Access) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.seen.add(a, "", "kernel")
	}
}
