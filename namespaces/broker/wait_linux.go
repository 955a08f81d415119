// Does to the process: waits for a connect that the program waits in; no thread is held meanwhile.
// Undone: nothing to undo.
// Preconditions: the call waits at the listener.
// Called by: connect_linux.go, outside_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestNetworkWaits, TestNetworkFullQueue.

package broker

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"psb/seccomp"
)

var errWaits = errors.New("still waits")

// wait goes on with a connect inside that the program waits in, until it ends, a signal comes or the socket's own time is over.
func (b *Broker) wait(k *call, last error) error {
	return b.waitUntil(k, last, func() error {
		if k.domain != unix.AF_UNIX && !settledAt(k.socket) {
			return errWaits // to connect again would wait: the flag is borrowed of sockets alone that do not connect yet
		}
		_, err := b.attempt(k)
		if k.unfinished(err) {
			return errWaits
		}
		return err
	})
}

// settledAt: a socket that was connecting is connected, or will not be.
func settledAt(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, _ := unix.Poll(p, 0)
	return n == 1
}

// waitUntil asks again and again, as long as look says errWaits and the program waits.
func (b *Broker) waitUntil(k *call, last error, look func() error) error {
	w, err := b.waiter(k)
	if err != nil {
		return err
	}
	defer w.end()
	for pause := time.Millisecond; ; pause = min(2*pause, 64*time.Millisecond) {
		b.leave(k)
		time.Sleep(pause)
		if !b.enter(k) {
			return seccomp.ErrGone
		}
		if err := w.over(last); err != nil {
			return err
		}
		if err := look(); err != errWaits {
			return err
		}
	}
}

// waiter is one connect that waits.
type waiter struct {
	b     *Broker
	k     *call
	until time.Time // of SO_SNDTIMEO; zero for none
}

func (b *Broker) waiter(k *call) (*waiter, error) {
	select {
	case b.waiting <- struct{}{}:
	default:
		return nil, unix.EAGAIN
	}
	w := &waiter{b: b, k: k}
	if t, err := unix.GetsockoptTimeval(k.socket, unix.SOL_SOCKET, unix.SO_SNDTIMEO); err == nil && (t.Sec != 0 || t.Usec != 0) {
		w.until = time.Now().Add(time.Duration(t.Nano()))
	}
	return w, nil
}

func (w *waiter) end() { <-w.b.waiting }

// over says why the program waits no longer: it is gone, a signal waits for it, its time is over (then with the last error).
func (w *waiter) over(last error) error {
	who, err := callerOf(w.k.r.TID)
	switch {
	case !w.k.r.Valid() || w.b.ctx.Err() != nil:
		return seccomp.ErrGone
	case err == nil && who.signals:
		return unix.EINTR
	case !w.until.IsZero() && time.Now().After(w.until):
		return last
	}
	return nil
}

// connected waits until a socket of psb's own that is connecting has been connected, or why not.
func (b *Broker) connected(k *call, fd int) error {
	w, err := b.waiter(k)
	if err != nil {
		return err
	}
	defer w.end()
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(dup), "connecting") // non-blocking: Go's poller waits for it
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	b.leave(k)
	defer b.enter(k)
	for {
		if err := f.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			return err
		}
		ready := false
		err := raw.Write(func(fd uintptr) bool {
			ready = settledAt(int(fd))
			return ready
		})
		if ready {
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && code != 0 {
				err = unix.Errno(code)
			}
			return err
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := w.over(unix.EINPROGRESS); err != nil {
			return err
		}
	}
}
