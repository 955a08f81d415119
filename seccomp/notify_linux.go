// What it does to the process: waits on a listener, holding a thread, and answers calls of the process behind it.
// Undone: an answer is final; closing the listener makes every waiting and later call fail with ENOSYS.
// Preconditions: Linux 5.5; the descriptor of a filter installed with SECCOMP_FILTER_FLAG_NEW_LISTENER; one receiver only.
// Called by: Supervise, and whoever needs the loop in another form.
// Proven by: TestNotifyRoundTrip, TestNotifyEnds, TestNotifyKilled.

package seccomp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Listener receives the calls that a filter hands over. One goroutine receives; the other methods are for any.
type Listener struct {
	fd     int
	wake   int          // an eventfd that ends a blocked Receive
	size   int          // bytes of a request, as this kernel says
	mu     sync.RWMutex // held for reading while fd is used: a number that was closed may be another file's
	closed atomic.Bool
}

// NewListener takes over fd, which must be a seccomp listener; it belongs to the Listener from then on, also after an error.
func NewListener(fd int) (*Listener, error) {
	fail := func(what string, err error) (*Listener, error) {
		unix.Close(fd)
		return nil, fmt.Errorf("seccomp listener: %s: %w", what, err)
	}
	req, resp, _, e := sysNotifSizes()
	switch {
	case e != 0:
		return fail("get_notif_sizes", e)
	case req < 80 || resp < 24:
		return fail("get_notif_sizes", fmt.Errorf("requests of %d and answers of %d bytes", req, resp))
	}
	// Which answer an ID gets tells a listener from any other descriptor: ENOENT, never ENOTTY.
	if e := sysIDValid(fd, 0); e != unix.ENOENT {
		return fail("not a listener", e)
	}
	_ = sysSyncWakeUp(fd) // an older kernel only takes longer
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return fail("eventfd", err)
	}
	return &Listener{fd: fd, wake: wake, size: int(req)}, nil
}

// Close ends a blocked Receive with os.ErrClosed.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return os.ErrClosed
	}
	_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	l.mu.Lock()
	defer l.mu.Unlock()
	unix.Close(l.wake)
	return unix.Close(l.fd)
}

// use holds the descriptor open while f uses it.
func (l *Listener) use(f func(fd int)) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed.Load() {
		return os.ErrClosed
	}
	f(l.fd)
	return nil
}

// Receive waits for the next call. io.EOF: no process wears the filter any more (Linux 5.9; before, close the listener when
// the box has ended). A call whose process died before it could be read is skipped.
//
// It waits in poll(2), on a thread, and not in Go's poller: who calls waits for the answer, and a goroutine that the poller wakes costs as much
// again as the answer.
func (l *Listener) Receive() (*Request, error) {
	for {
		var n sysNotif
		var ready int16
		var e unix.Errno
		err := l.use(func(fd int) {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(l.wake), Events: unix.POLLIN}}
			if _, err := unix.Poll(p, -1); err != nil {
				e = unix.EINTR
				return
			}
			// RECV blocks in the kernel, so only what poll has seen is received. With one receiver a request can vanish meanwhile, but RECV then
			// says so.
			if ready = p[0].Revents; ready&unix.POLLIN != 0 {
				n, e = sysRecv(fd, l.size)
			}
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("seccomp listener: %w", err)
		case e == unix.ENOENT || e == unix.EINTR:
			continue
		case e != 0:
			return nil, fmt.Errorf("seccomp notif_recv: %w", e)
		case ready&unix.POLLIN != 0:
			return l.request(n), nil
		case ready&unix.POLLHUP != 0:
			return nil, io.EOF
		case ready&(unix.POLLERR|unix.POLLNVAL) != 0:
			return nil, fmt.Errorf("seccomp listener: poll says %#x", ready)
		}
	}
}

// IDValid tells whether the call still waits: its process lives and was not interrupted. Everything read of that process before
// a true answer belongs to it; after a false one it may belong to another process with the same number.
func (l *Listener) IDValid(id uint64) bool {
	e := unix.EBADF
	if err := l.use(func(fd int) { e = sysIDValid(fd, id) }); err != nil {
		return false
	}
	return e == 0
}

// Answer is what the program sees of its call. The zero Answer refuses with EPERM.
type Answer struct {
	// Continue lets the kernel run the call. The arguments in registers are those judged; memory they point to may have
	// changed since, so Continue must never rest on a string or an address that was read. Linux 5.5.
	Continue bool
	Done     bool  // the call was made on the program's behalf and gave 0; not with Continue
	Later    bool  // not an answer: who judged gives one with Request.Answer
	Errno    Errno // the refusal, when nothing above is set; 0 = EPERM
}

// Respond answers one call. ErrGone: nobody waits for it any more.
func (l *Listener) Respond(id uint64, a Answer) error {
	r := sysResp{ID: id}
	switch {
	case a.Continue:
		r.Flags = flagContinue
	case a.Done:
	case a.Errno == 0:
		r.Error = -int32(EPERM)
	default:
		r.Error = -int32(a.Errno)
	}
	return l.tell("notif_send", func(fd int) unix.Errno { return sysSend(fd, &r) })
}

// Place puts a copy of psb's descriptor from over the descriptor at of the process whose call waits, as dup3(2) would: what stood there is
// closed. Linux 5.9, see seccomp_unotify(2). The call must be answered all the same. ErrGone: it no longer waits.
func (l *Listener) Place(id uint64, from int, at int32, closeOnExec bool) error {
	a := sysAddFD{ID: id, Flags: addFDSet, SrcFD: uint32(from), NewFD: uint32(at)}
	if closeOnExec {
		a.NewFlags = unix.O_CLOEXEC
	}
	return l.tell("notif_addfd", func(fd int) unix.Errno { return sysPutFD(fd, &a) })
}

// Give answers one call with a copy of psb's descriptor from: the call returns its number in the process, the lowest that is free, as open(2)
// would. Linux 5.9; before 5.14 a process that dies between the two steps keeps neither. ErrGone: the call no longer waits.
func (l *Listener) Give(id uint64, from int, closeOnExec bool) error {
	a := sysAddFD{ID: id, Flags: addFDSend, SrcFD: uint32(from)}
	if closeOnExec {
		a.NewFlags = unix.O_CLOEXEC
	}
	err := l.tell("notif_addfd", func(fd int) unix.Errno { _, e := sysGiveFD(fd, &a); return e })
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	a.Flags = 0
	r := sysResp{ID: id}
	err = l.tell("notif_addfd", func(fd int) (e unix.Errno) {
		var number int
		number, e = sysGiveFD(fd, &a)
		r.Val = int64(number)
		return e
	})
	if err != nil {
		return err
	}
	return l.tell("notif_send", func(fd int) unix.Errno { return sysSend(fd, &r) })
}

// tell asks the kernel for something that concerns a waiting call, until it is no signal of psb's own that comes between.
func (l *Listener) tell(what string, ask func(fd int) unix.Errno) error {
	for {
		var e unix.Errno
		if err := l.use(func(fd int) { e = ask(fd) }); err != nil {
			return fmt.Errorf("seccomp listener: %w", err)
		}
		switch e {
		case 0:
			return nil
		case unix.EINTR:
			continue
		case unix.ENOENT, unix.EINPROGRESS:
			return ErrGone
		}
		return fmt.Errorf("seccomp %s: %w", what, e)
	}
}

// ErrGone says that the process behind a request died, or was interrupted, or was answered already.
var ErrGone = errors.New("seccomp: the call no longer waits")
