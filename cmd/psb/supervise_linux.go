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
	connect *connector // nil: the box has no network of its own, and connects to nothing
	mu      sync.Mutex
	over    bool
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
	return s.listen(box, fd)
}

// listen answers what the listener brings, until nobody is left behind it.
func (s *supervisor) listen(box *namespaces.Box, fd *os.File) error {
	own, err := unix.FcntlInt(fd.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	fd.Close()
	if err != nil {
		return err
	}
	l, err := seccomp.NewListener(own)
	if err != nil {
		return err
	}
	if f := box.Network(); f != nil && s.j.plan.Provider == plan.Namespaces {
		net, err := newBoxNetwork(f)
		if err != nil {
			f.Close()
			l.Close()
			return err
		}
		s.connect = newConnector(net, s.refusedConnect)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true // a connect of a program that is gone adds nothing any more
	if s.connect != nil {
		s.connect.net.close()
	}
}

// judge answers one call. Nothing is continued: what is allowed psb does itself.
func (s *supervisor) judge(r *seccomp.Request) seccomp.Answer {
	switch r.Name {
	case "write":
		s.note(r)
		return seccomp.Answer{Errno: seccomp.EBADF}
	case "connect":
		if allowed, set := s.j.plan.Syscalls["connect"]; !set || allowed {
			return s.connects(r)
		}
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

// connects hands a connect over, or refuses it where the program shares the host's network.
func (s *supervisor) connects(r *seccomp.Request) seccomp.Answer {
	if s.connect != nil {
		go s.connect.serve(r)
		return seccomp.Answer{Later: true}
	}
	a, err := r.Sockaddr(r.Args[1], r.Args[2])
	if err != nil {
		return seccomp.Answer{Errno: seccomp.EINVAL}
	}
	s.refusedConnect(a.String())
	return seccomp.Answer{Errno: seccomp.EACCES}
}

func (s *supervisor) refusedConnect(to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.seen.connect(to)
	}
}
