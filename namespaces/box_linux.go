// Does to the process: talks to the stages, takes a listener's descriptor out of the program.
// Undone: Kill and Wait end the box; the process itself is not changed.
// Preconditions: Start gave the box; Linux 5.12.
// Called by: cmd/psb.
// Proved by: TestExitStatus, TestStopped, TestKillAnyStage.

package namespaces

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StageError is why a box did not start: the stage it failed in and the cause.
type StageError struct {
	Stage string // as in plan.Order, or decode
	Cause string
	Errno syscall.Errno // 0 when no call failed
}

func (e *StageError) Error() string {
	if e.Errno == 0 {
		return e.Stage + ": " + e.Cause
	}
	return fmt.Sprintf("%s: %s: %v", e.Stage, e.Cause, e.Errno)
}

// Unwrap gives the error number.
func (e *StageError) Unwrap() error { return e.Errno }

// Changed reports that a host object of the plan was another one by the time the root was built.
func (e *StageError) Changed() bool { return e.Errno == syscall.ESTALE }

// Exit is how the program ended, from wait(2) inside the box.
type Exit struct {
	Status       syscall.WaitStatus
	User, System time.Duration // of the program and the children it waited for
	MaxRSS       uint64        // bytes, the largest of them
}

// Job is a change of the program's state that a shell wants to know of.
type Job struct {
	Stopped bool           // else continued
	Signal  syscall.Signal // that stopped it
}

// Box is one confined process tree.
type Box struct {
	keeper  int // pid
	start   int
	program int // host pid, known after Ready
	pids    bool
	stages  [5]int64
	jobs    chan Job
	made    chan madeSocket
	paused  chan struct{}
	rest    pause      // since the last Pause
	asking  sync.Mutex // one socket at a time

	mu      sync.Mutex // guards what Kill, Signal and Wait share
	control int
	network [2]*os.File // see Network
	upper   *os.File    // see Upper
	first   int         // pidfd of the box's first process, -1 until the keeper sent it
	reaped  bool
	closed  bool

	ended chan struct{}
	done  chan struct{}
	exit  Exit
	err   error
}

// watch reads the control end until the box is gone, then reaps the keeper.
func (b *Box) watch() {
	ended := false
	for {
		m, aside, err := receive(b.control)
		if err != nil {
			break
		}
		switch kindOf(&m) {
		case msgBox:
			b.know(descriptor(aside))
		case msgError:
			if b.err == nil {
				b.err = stageError(&m)
			}
		case msgSocket:
			s := madeSocket{descriptor(aside), syscall.Errno(number(&m))}
			select {
			case b.made <- s:
			default: // nobody asked
				s.close()
			}
		case msgPaused:
			select {
			case b.paused <- struct{}{}:
			default: // whoever asked has given up
			}
		case msgStopped:
			b.tell(Job{Stopped: true, Signal: syscall.Signal(number(&m))})
		case msgContinued:
			b.tell(Job{})
		case msgExit:
			_ = send(b.control, msgAlive, 0, 0) // after a Kill it cannot be said, and need not
			micro := func(at int) time.Duration {
				return time.Duration(binary.NativeEndian.Uint64(m[at:])) * time.Microsecond
			}
			if b.exit = (Exit{syscall.WaitStatus(number(&m)), micro(16), micro(24), binary.NativeEndian.Uint64(m[32:]) * 1024}); !ended && b.pids {
				close(b.ended)
			}
			ended = true
		}
	}
	b.reapKeeper()
	b.outlast()
	if !ended && b.err == nil {
		b.err = &StageError{Stage: "box", Cause: "it was ended from outside"}
	}
	close(b.jobs)
	close(b.done)
}

// know remembers the box's first process.
func (b *Box) know(pidfd int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first < 0 {
		b.first = pidfd
	} else if pidfd >= 0 {
		unix.Close(pidfd)
	}
}

// tell never waits for whoever reads Jobs: of changes nobody read the oldest are forgotten.
func (b *Box) tell(j Job) {
	for {
		select {
		case b.jobs <- j:
			return
		default:
		}
		select {
		case <-b.jobs:
		default:
		}
	}
}

// reapKeeper waits for the keeper, without making its number free while Kill might use it.
func (b *Box) reapKeeper() {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, b.keeper, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reaped = true
	for {
		if _, err := unix.Wait4(b.keeper, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// outlast waits for the first process, whose end is the last of the box's. The keeper has waited for it already, unless it was killed.
func (b *Box) outlast() {
	b.mu.Lock()
	first := b.first
	b.mu.Unlock()
	if first < 0 {
		return
	}
	if b.pids { // without a pid namespace it has to end the others before itself
		_ = unix.PidfdSendSignal(first, unix.SIGKILL, nil, 0) // ESRCH: it is gone
	}
	untilGone(first)
}

func untilGone(pidfd int) {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(p, -1); err != unix.EINTR {
			return
		}
	}
}

// Ready waits until the program's process exists, held before its filter, and gives its host pid. The error is the stage that failed.
func (b *Box) Ready() (pid int, err error) {
	m, aside, err := receive(b.start)
	if err == nil && kindOf(&m) == msgNet {
		b.keepNetwork(passed(aside))
		m, aside, err = receive(b.start)
	}
	if err == nil && kindOf(&m) == msgUpper {
		b.keepUpper(descriptor(aside))
		m, aside, err = receive(b.start)
	}
	if err == io.EOF { // every stage closed its end: one of them failed
		<-b.done
		return 0, b.err
	}
	if err != nil {
		return 0, err
	}
	if kindOf(&m) == msgError {
		return 0, stageError(&m)
	}
	if kindOf(&m) != msgReady {
		return 0, fmt.Errorf("BUG: message %d instead of ready", kindOf(&m))
	}
	if pid, err = sender(aside); err != nil {
		return 0, err
	}
	b.program = pid
	for i := range b.stages {
		b.stages[i] = int64(binary.NativeEndian.Uint64(m[40+8*(i+1):])) // the first is psb's own
	}
	return pid, nil
}

// Stages says, after Ready, when the stages were where, in nanoseconds of CLOCK_MONOTONIC: the keeper began; it cloned the first process; that
// had its ids; had built the root and was in its groups; had its walls.
func (b *Box) Stages() [5]int64 { return b.stages }

// Proceed tells a keeper started with Spec.Await that the groups are there. It must come before Ready.
func (b *Box) Proceed() error {
	if err := send(b.start, msgGo, 0, 0); err != nil {
		return fmt.Errorf("tell the keeper to proceed: %w", err)
	}
	return nil
}

// Release lets the program install its filter and start. With Spec.Listener, Listener must follow.
func (b *Box) Release() error {
	if err := send(b.start, msgGo, 0, 0); err != nil {
		return fmt.Errorf("release the program: %w", err)
	}
	return nil
}

// Listener takes the seccomp listener over, after Release: pidfd_getfd(2), Linux 5.6. The caller closes it.
func (b *Box) Listener() (*os.File, error) {
	m, _, err := receive(b.start)
	if err != nil {
		return nil, fmt.Errorf("the program ended before its filter was installed: %w", err)
	}
	if kindOf(&m) == msgError {
		return nil, stageError(&m)
	}
	if kindOf(&m) != msgListener {
		return nil, fmt.Errorf("BUG: message %d instead of a listener", kindOf(&m))
	}
	pidfd, err := unix.PidfdOpen(b.program, 0)
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, int(number(&m)), 0)
	if err != nil {
		return nil, fmt.Errorf("pidfd_getfd: %w", err)
	}
	if err := send(b.start, msgTaken, 0, 0); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("take the listener: %w", err)
	}
	return os.NewFile(uintptr(fd), "seccomp listener"), nil
}

// Started waits for the execve(2): nil when the program runs, else the stage that failed. To be called after Release and Listener.
func (b *Box) Started() error {
	m, _, err := receive(b.start)
	if err == io.EOF {
		return nil // the end closed itself at the execve, or the process is gone and Wait says how
	}
	if err != nil {
		return err
	}
	if kindOf(&m) == msgError {
		return stageError(&m)
	}
	return fmt.Errorf("BUG: message %d instead of a start", kindOf(&m))
}

// Jobs tells when the program is stopped and continued; it is closed at the box's end. A program that ends right after it was continued
// is not told of as continued. Nobody has to read it: of what is not read the oldest is forgotten.
func (b *Box) Jobs() <-chan Job { return b.jobs }

// Ended is closed when the program has ended and everything else in the box but the first process, which runs psb's own code only and is about to
// end. A box that was killed, or has no pid namespace, has no such moment: Done says that it is gone.
func (b *Box) Ended() <-chan struct{} { return b.ended }

// Exit is how the program ended, from Ended on.
func (b *Box) Exit() Exit { return b.exit }

// Last waits, from Ended on, until the first process has ended, too: the box's mounts, network and processes are gone, and its groups can be removed. To
// be called before Wait, which also waits for psb's process outside.
func (b *Box) Last() {
	b.mu.Lock()
	first := b.first
	b.mu.Unlock()
	if first < 0 {
		<-b.done
		return
	}
	untilGone(first)
}

// Done is closed when nothing of the box is left.
func (b *Box) Done() <-chan struct{} { return b.done }

// Signal sends a signal to the program, as psb got it, unless its process group got it as a whole (whole, or as the stages find). After its end it
// does nothing. Where the box is stopped and a dozen signals are waiting already, one more is dropped.
func (b *Box) Signal(s syscall.Signal, whole bool) {
	group := 0
	if whole {
		group = 1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		_ = sendTwo(b.control, msgSignal, int(s), group, unix.MSG_DONTWAIT)
	}
}

// Kill ends the whole tree. It may be called at any time, more than once. The groups of Spec.CgroupDirs stay: psb is there to read them.
func (b *Box) Kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	// The stages take the half-closed end as the order: it cannot be lost, queued or refused. The start end stays: a held program would
	// see it first, end by itself, and be reported as if it had run.
	_ = unix.Shutdown(b.control, unix.SHUT_WR)
	if !b.reaped {
		_ = unix.Kill(b.keeper, unix.SIGCONT) // somebody may have stopped the whole process group
	}
}

// Wait gives the program's end once nothing of the box is left. The error says that no end was reported: a stage failed, or the box was
// killed. Ready, Listener and Started must have returned: Wait closes what they read from.
func (b *Box) Wait() (Exit, error) {
	<-b.done
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		unix.Close(b.control)
		unix.Close(b.start)
		for _, f := range b.network {
			f.Close() // nil is fine
		}
		b.upper.Close()
		if b.first >= 0 {
			unix.Close(b.first)
		}
	}
	return b.exit, b.err
}

// Keeper is the keeper's pid, for tests and reports.
func (b *Box) Keeper() int { return b.keeper }

// Program is the program's host pid, 0 before Ready.
func (b *Box) Program() int { return b.program }
