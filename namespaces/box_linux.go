// Does to the process: starts the keeper, talks to the stages, takes a listener's descriptor out of the program.
// Undone: Kill and Wait end the box; the process itself is not changed.
// Preconditions: Linux 5.12.
// Called by: cmd/psb.
// Proved by: box_linux_test.go.

package namespaces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Message kinds, see stage2_linux.h.
const (
	msgError = iota + 1
	msgReady
	msgListener
	msgStopped
	msgContinued
	msgExit
)

const (
	msgGo = iota + 16
	msgTaken
	msgSignal
)

const messageSize = 256

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
	control int
	start   int
	program int // host pid, known after Ready
	jobs    chan Job

	startErr chan error // what the start end said after Release, then its end
	done     chan struct{}
	exit     Exit
	err      error
	killed   sync.Once
}

// Start runs the keeper, which builds the box. The program is not started before Ready and Release. stdio are the program's own 0, 1, 2.
func Start(spec *Spec, stdio [3]*os.File) (*Box, error) {
	blob, err := Encode(spec)
	if err != nil {
		return nil, err
	}
	mem, err := sealed(blob)
	if err != nil {
		return nil, err
	}
	defer unix.Close(mem)
	control, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(control[1])
	start, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		unix.Close(control[0])
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(start[1])
	b := &Box{control: control[0], start: start[0], jobs: make(chan Job, 4), startErr: make(chan error, 1), done: make(chan struct{})}
	files := []uintptr{stdio[0].Fd(), stdio[1].Fd(), stdio[2].Fd(), uintptr(mem), uintptr(control[1]), uintptr(start[1])}
	if spec.Landlock != nil {
		files = append(files, uintptr(spec.Landlock.FD))
	}
	if err = unix.SetsockoptInt(b.start, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err == nil {
		b.keeper, err = syscall.ForkExec("/proc/self/exe", []string{StageName}, &syscall.ProcAttr{Env: []string{}, Files: files})
	}
	if err != nil {
		unix.Close(b.control)
		unix.Close(b.start)
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	go b.watch()
	return b, nil
}

// sealed puts the encoded Spec where nobody can change it any more.
func sealed(blob []byte) (int, error) {
	fd, err := unix.MemfdCreate("psb-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	for rest := blob; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("write the launch: %w", err)
		}
		rest = rest[n:]
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("seal the launch: %w", err)
	}
	return fd, nil
}

// receive reads one message; io.EOF when every other holder of the end is gone. pid is the sender's, in our namespace, where asked for.
func receive(fd int, withPID bool) (m [messageSize]byte, pid int, err error) {
	var oob [64]byte
	for {
		n, oobn, _, _, err := unix.Recvmsg(fd, m[:], oob[:], unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return m, 0, err
		case n == 0:
			return m, 0, io.EOF
		case n != messageSize:
			return m, 0, fmt.Errorf("BUG: a message of %d bytes", n)
		}
		if withPID {
			msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
			if err != nil || len(msgs) != 1 {
				return m, 0, errors.New("a message without its sender's id")
			}
			cred, err := unix.ParseUnixCredentials(&msgs[0])
			if err != nil {
				return m, 0, err
			}
			pid = int(cred.Pid)
		}
		return m, pid, nil
	}
}

func send(fd int, kind, a int) error {
	var m [messageSize]byte
	binary.NativeEndian.PutUint32(m[0:], uint32(kind))
	binary.NativeEndian.PutUint32(m[4:], uint32(a))
	return unix.Sendto(fd, m[:], unix.MSG_NOSIGNAL, nil)
}

func kindOf(m *[messageSize]byte) int   { return int(binary.NativeEndian.Uint32(m[0:])) }
func number(m *[messageSize]byte) int32 { return int32(binary.NativeEndian.Uint32(m[4:])) }

func stageError(m *[messageSize]byte) *StageError {
	text := m[40:]
	for i, c := range text {
		if c == 0 {
			text = text[:i]
			break
		}
	}
	e := &StageError{Cause: string(text), Errno: syscall.Errno(number(m))}
	for i := range text {
		if text[i] == ':' {
			e.Stage, e.Cause = string(text[:i]), string(text[i+1:])
			if len(e.Cause) > 0 && e.Cause[0] == ' ' {
				e.Cause = e.Cause[1:]
			}
			break
		}
	}
	return e
}

// watch reads the control end until the box is gone, then reaps the keeper.
func (b *Box) watch() {
	ended := false
	for {
		m, _, err := receive(b.control, false)
		if err != nil {
			break
		}
		switch kindOf(&m) {
		case msgError:
			if b.err == nil {
				b.err = stageError(&m)
			}
		case msgStopped:
			b.jobs <- Job{Stopped: true, Signal: syscall.Signal(number(&m))}
		case msgContinued:
			b.jobs <- Job{}
		case msgExit:
			ended = true
			micro := func(at int) time.Duration {
				return time.Duration(binary.NativeEndian.Uint64(m[at:])) * time.Microsecond
			}
			b.exit = Exit{syscall.WaitStatus(number(&m)), micro(16), micro(24), binary.NativeEndian.Uint64(m[32:]) * 1024}
		}
	}
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(b.keeper, &ws, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if !ended && b.err == nil {
		b.err = &StageError{Stage: "box", Cause: "it was ended from outside"}
	}
	close(b.jobs)
	close(b.done)
}

// Ready waits until the program's process exists, held before its filter, and gives its host pid. The error is the stage that failed.
func (b *Box) Ready() (pid int, err error) {
	m, pid, err := receive(b.start, true)
	if err != nil { // every stage closed its end: one of them failed
		<-b.done
		return 0, b.err
	}
	if kindOf(&m) == msgError {
		return 0, stageError(&m)
	}
	if kindOf(&m) != msgReady {
		return 0, fmt.Errorf("BUG: message %d instead of ready", kindOf(&m))
	}
	b.program = pid
	return pid, nil
}

// Release lets the program install its filter and start. With Spec.Listener, Listener must follow.
func (b *Box) Release() error {
	if err := send(b.start, msgGo, 0); err != nil {
		return fmt.Errorf("release the program: %w", err)
	}
	return nil
}

// Listener takes the seccomp listener over, after Release: pidfd_getfd(2), Linux 5.6. The caller closes it.
func (b *Box) Listener() (*os.File, error) {
	m, _, err := receive(b.start, false)
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
	if err := send(b.start, msgTaken, 0); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("take the listener: %w", err)
	}
	return os.NewFile(uintptr(fd), "seccomp listener"), nil
}

// Started waits for the execve(2): nil when the program runs, else the stage that failed. To be called after Release and Listener.
func (b *Box) Started() error {
	m, _, err := receive(b.start, false)
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

// Jobs tells when the program is stopped and continued; it is closed at the box's end.
func (b *Box) Jobs() <-chan Job { return b.jobs }

// Done is closed when nothing of the box is left.
func (b *Box) Done() <-chan struct{} { return b.done }

// Signal sends a signal to the program, as psb got it. After its end it does nothing.
func (b *Box) Signal(s syscall.Signal) { _ = send(b.control, msgSignal, int(s)) }

// Kill ends the whole tree. It may be called at any time, more than once.
func (b *Box) Kill() {
	b.killed.Do(func() {
		// The stages take the hang-up as the order: it cannot be lost, queued or refused.
		_ = unix.Shutdown(b.control, unix.SHUT_RDWR)
		_ = unix.Shutdown(b.start, unix.SHUT_RDWR)
	})
}

// Wait gives the program's end once nothing of the box is left. The error says that no end was reported: a stage failed, or the box was
// killed.
func (b *Box) Wait() (Exit, error) {
	<-b.done
	unix.Close(b.control)
	unix.Close(b.start)
	return b.exit, b.err
}

// Keeper is the keeper's pid, for tests and reports.
func (b *Box) Keeper() int { return b.keeper }

// Program is the program's host pid, 0 before Ready.
func (b *Box) Program() int { return b.program }
