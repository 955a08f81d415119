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
	"runtime"
	"strconv"
	"strings"
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
	msgBox
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
	start   int
	program int // host pid, known after Ready
	pids    bool
	jobs    chan Job

	mu      sync.Mutex // guards what Kill, Signal and Wait share
	control int
	first   int // pidfd of the box's first process, -1 until the keeper sent it
	reaped  bool
	closed  bool

	done chan struct{}
	exit Exit
	err  error
}

// Start runs the keeper, which builds the box. The program is not started before Ready and Release. stdio are the program's own 0, 1, 2;
// one that is nil, or that is this process's own and was closed when it started, is closed in the program. A folder and a socket
// that is not connected are refused: both are ways out of the box.
func Start(spec *Spec, stdio [3]*os.File) (*Box, error) {
	blob, err := Encode(spec)
	if err != nil {
		return nil, err
	}
	files := make([]uintptr, 0, 7)
	for i, f := range stdio {
		fd := f.Fd() // of nil: -1, which syscall.ProcAttr takes as closed
		if closedAtStart(fd) {
			fd = ^uintptr(0)
		}
		if err := harmless(fd); err != nil {
			return nil, fmt.Errorf("descriptor %d: %w", i, err)
		}
		files = append(files, fd)
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
	b := &Box{control: control[0], start: start[0], first: -1, pids: spec.Unshare.PID, jobs: make(chan Job, 4), done: make(chan struct{})}
	files = append(files, uintptr(mem), uintptr(control[1]), uintptr(start[1]))
	if spec.Landlock != nil {
		files = append(files, uintptr(spec.Landlock.FD))
	}
	if err = unix.SetsockoptInt(b.start, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err == nil {
		b.keeper, err = syscall.ForkExec("/proc/self/exe", []string{StageName}, &syscall.ProcAttr{Env: []string{}, Files: files})
	}
	runtime.KeepAlive(stdio)
	if err != nil {
		unix.Close(b.control)
		unix.Close(b.start)
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	go b.watch()
	return b, nil
}

// harmless refuses descriptors that lead out of the box: a folder can be walked from, an unconnected socket can be connected.
func harmless(fd uintptr) error {
	var st unix.Stat_t
	if fd == ^uintptr(0) {
		return nil
	}
	if err := unix.Fstat(int(fd), &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return errors.New("it is a folder")
	case unix.S_IFSOCK:
		if _, err := unix.Getpeername(int(fd)); err != nil {
			return fmt.Errorf("it is a socket that is not connected: getpeername: %w", err)
		}
	}
	return nil
}

// sealed puts the encoded Spec where nobody can change it any more.
func sealed(blob []byte) (int, error) {
	// Linux 6.3; with sysctl vm.memfd_noexec=2 nothing else is given out.
	fd, err := unix.MemfdCreate("psb-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("psb-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
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

// receive reads one message; io.EOF when every other holder of the end is gone. aside is what came with it: the sender's credentials where
// the socket asks for them, descriptors.
func receive(fd int) (m [messageSize]byte, aside []unix.SocketControlMessage, err error) {
	var oob [128]byte
	for {
		n, oobn, flags, _, err := unix.Recvmsg(fd, m[:], oob[:], unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECONNRESET: // it went with messages of ours unread
			return m, nil, io.EOF
		case err != nil:
			return m, nil, fmt.Errorf("recvmsg: %w", err)
		case n == 0:
			return m, nil, io.EOF
		case n != messageSize || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
			return m, nil, fmt.Errorf("BUG: a message of %d bytes, flags %#x", n, flags)
		}
		aside, err := unix.ParseSocketControlMessage(oob[:oobn])
		return m, aside, err
	}
}

// sender is the pid, in our namespace, of the process that sent a message.
func sender(aside []unix.SocketControlMessage) (int, error) {
	for i := range aside {
		if cred, err := unix.ParseUnixCredentials(&aside[i]); err == nil && cred.Pid > 0 {
			return int(cred.Pid), nil
		}
	}
	return 0, errors.New("a message without its sender's id")
}

// descriptor is the one descriptor that came with a message, -1 when there is none.
func descriptor(aside []unix.SocketControlMessage) int {
	for i := range aside {
		fds, err := unix.ParseUnixRights(&aside[i])
		if err != nil || len(fds) == 0 {
			continue
		}
		for _, extra := range fds[1:] {
			unix.Close(extra)
		}
		return fds[0]
	}
	return -1
}

func send(fd int, kind, a, flags int) error {
	var m [messageSize]byte
	binary.NativeEndian.PutUint32(m[0:], uint32(kind))
	binary.NativeEndian.PutUint32(m[4:], uint32(a))
	for {
		if err := unix.Sendto(fd, m[:], unix.MSG_NOSIGNAL|flags, nil); err != unix.EINTR {
			return err
		}
	}
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
	stage, cause, _ := strings.Cut(visible(string(text)), ": ")
	return &StageError{Stage: stage, Cause: cause, Errno: syscall.Errno(number(m))}
}

// visible writes what a terminal would take as a command, and what is no text at all, as Go would in quotes: paths are anybody's.
func visible(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
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
		case msgStopped:
			b.tell(Job{Stopped: true, Signal: syscall.Signal(number(&m))})
		case msgContinued:
			b.tell(Job{})
		case msgExit:
			ended = true
			micro := func(at int) time.Duration {
				return time.Duration(binary.NativeEndian.Uint64(m[at:])) * time.Microsecond
			}
			b.exit = Exit{syscall.WaitStatus(number(&m)), micro(16), micro(24), binary.NativeEndian.Uint64(m[32:]) * 1024}
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
	p := []unix.PollFd{{Fd: int32(first), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(p, -1); err != unix.EINTR {
			return
		}
	}
}

// Ready waits until the program's process exists, held before its filter, and gives its host pid. The error is the stage that failed.
func (b *Box) Ready() (pid int, err error) {
	m, aside, err := receive(b.start)
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
	return pid, nil
}

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

// Done is closed when nothing of the box is left.
func (b *Box) Done() <-chan struct{} { return b.done }

// Signal sends a signal to the program, as psb got it. After its end it does nothing. Where the box is stopped and a dozen signals are
// waiting already, one more is dropped.
func (b *Box) Signal(s syscall.Signal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		_ = send(b.control, msgSignal, int(s), unix.MSG_DONTWAIT)
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
// killed.
func (b *Box) Wait() (Exit, error) {
	<-b.done
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		unix.Close(b.control)
		unix.Close(b.start)
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
