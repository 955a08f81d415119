// Does to the process: answers the calls the box's filter hands over; reads the memory of its processes once for each.
// Undone: nothing to undo.
// Preconditions: the program's filter was installed with a listener.
// Called by: launch_linux.go through watcher.
// Proved by: the scripts named run_denied_*, the attack suite.

package main

import (
	"context"
	"sync"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// supervisor is the watcher of an enforced run: every call it is asked about is refused or harmless, and it remembers which.
type supervisor struct {
	j       *job
	done    chan struct{}
	rules   seccomp.Filter
	listens bool
	mu      sync.Mutex
	seen    refused
}

func newSupervisor(j *job) *supervisor { return &supervisor{j: j} }

func (s *supervisor) filter() (seccomp.Program, bool, error) {
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
	own, err := unix.FcntlInt(fd.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	fd.Close()
	if err != nil {
		return err
	}
	l, err := seccomp.NewListener(own)
	if err != nil {
		return err
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if err := seccomp.Supervise(ctx, l, s.judge); err != nil {
			box.Kill() // nobody answers any more: nothing may hang, nothing may pass
		}
	}()
	return nil
}

func (s *supervisor) end() {
	if s.done != nil {
		<-s.done
	}
}

// judge answers one call. Nothing continues that rests on memory the program can change, but for connects in the box's own network
// namespace, where no address leads out.
func (s *supervisor) judge(r *seccomp.Request) seccomp.Answer {
	switch r.Name {
	case "write":
		s.note(r)
		return seccomp.Answer{Errno: seccomp.EBADF}
	case "connect":
		return s.connect(r)
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
		s.seen.note(note)
		s.mu.Unlock()
	}
}

func (s *supervisor) connect(r *seccomp.Request) seccomp.Answer {
	a, err := r.Sockaddr(r.Args[1], r.Args[2])
	if err != nil {
		return seccomp.Answer{Errno: seccomp.EINVAL}
	}
	inBox := s.j.plan.Provider == plan.Namespaces
	switch a.Family {
	case seccomp.FamilyInet, seccomp.FamilyInet6:
		if ip := a.Addr.Addr().Unmap(); inBox && (ip.IsLoopback() || ip.IsUnspecified()) {
			return seccomp.Answer{Continue: true}
		}
	case seccomp.FamilyUnix, seccomp.FamilyUnspec:
		if inBox {
			return seccomp.Answer{Continue: true} // names and sockets of the box's own root and network
		}
	}
	s.mu.Lock()
	s.seen.connect(a.String())
	s.mu.Unlock()
	return seccomp.Answer{Errno: seccomp.EACCES}
}
