// Does to the process: reads what the program prints and passes it on; ends the box when it prints more than it may.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: launch_linux.go, prepared_linux.go.
// Proved by: TestOutputKeepsItsPlace, TestAttacks, the scripts named run_limit_*.

package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// output counts what the program prints when [limits] output asks for it; otherwise psb is not in the way at all.
type output struct {
	most    uint64
	streams []*printed
	own     []*os.File // of where it goes
	ends    []*os.File
	done    sync.WaitGroup

	mu   sync.Mutex
	sum  uint64 // bytes passed on
	over bool
}

// printed is one of the two that are counted together.
type printed struct {
	from, to *os.File
	cut      bool // the limit was reached here: no more of it is passed on
}

func newOutput(j *job) *output { return &output{most: j.plan.Limits["output"].Bytes} }

// pipes gives the program's own 0, 1, 2.
func (o *output) pipes(stdio [3]*os.File) ([3]*os.File, error) {
	if o.most == 0 {
		return stdio, nil
	}
	for i := 1; i <= 2; i++ {
		r, w, err := os.Pipe()
		if err != nil {
			return stdio, fmt.Errorf("pipe for output: %w", err)
		}
		// Under a number above 2: on 1 and 2 the runtime takes a reader that went away for the end of psb itself, and its program, which may
		// want to go on, would be killed.
		to := stdio[i]
		if fd, err := unix.FcntlInt(to.Fd(), unix.F_DUPFD_CLOEXEC, 3); err == nil {
			to = os.NewFile(uintptr(fd), to.Name())
			o.own = append(o.own, to)
		}
		o.streams, o.ends = append(o.streams, &printed{from: r, to: to}), append(o.ends, w)
		stdio[i] = w
	}
	return stdio, nil
}

// begin closes psb's own copies of the program's ends and copies what comes.
func (o *output) begin(kill func()) {
	for _, w := range o.ends {
		w.Close()
	}
	for _, s := range o.streams {
		o.done.Go(func() { o.copy(s, kill) })
	}
}

func (o *output) copy(s *printed, kill func()) {
	buf := make([]byte, 64<<10)
	for {
		n, reached, err := o.take(s, buf)
		if reached {
			kill()
		}
		if _, werr := s.to.Write(buf[:n]); werr != nil || err != nil {
			if err != io.EOF {
				s.from.Close() // the program gets SIGPIPE, as it would have
			}
			return
		}
	}
}

// take reads what came. n bytes of it go on; reached: with them the limit is, for the first time. It counts in the act of reading, so that all the
// other stream was given before is counted or still in its pipe, where count sees it.
func (o *output) take(s *printed, buf []byte) (n int, reached bool, err error) {
	way, err := s.from.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var wrong error
	err = way.Read(func(fd uintptr) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		for n, wrong = unix.Read(int(fd), buf); wrong == unix.EINTR; n, wrong = unix.Read(int(fd), buf) {
		}
		switch {
		case wrong == unix.EAGAIN:
			return false
		case wrong != nil:
			n = 0
		case n == 0:
			wrong = io.EOF
		default:
			n, reached = o.count(s, n)
		}
		return true
	})
	if err == nil {
		err = wrong
	}
	return n, reached, err
}

// count says how many of n bytes of a stream go on. What waits in the other's pipe may have been printed before them: it keeps up to half of what is
// left, so that a flood on one does not swallow what was said on the other.
func (o *output) count(s *printed, n int) (pass int, reached bool) {
	if s.cut {
		return 0, false
	}
	rest := o.most - o.sum
	kept := min(o.waiting(s), rest/2)
	if uint64(n) <= rest-kept {
		o.sum += uint64(n)
		return n, false
	}
	pass, reached = int(rest-kept), !o.over
	o.sum += uint64(pass)
	s.cut, o.over = true, true
	return pass, reached
}

// waiting is how many bytes are in the pipe of the other stream.
func (o *output) waiting(s *printed) (n uint64) {
	for _, other := range o.streams {
		if other == s || other.cut {
			continue
		}
		way, err := other.from.SyscallConn()
		if err != nil {
			continue // closed
		}
		_ = way.Control(func(fd uintptr) { // closed: nothing waits
			if k, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
				n += uint64(k)
			}
		})
	}
	return n
}

func (o *output) end() {
	o.done.Wait()
	for _, s := range o.streams {
		s.from.Close()
	}
	closeAll(o.own)
}

func (o *output) exceeded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}
