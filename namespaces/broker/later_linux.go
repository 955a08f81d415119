// Does to the process: holds a copy of a socket that is connecting until it is known what came of it, to tell the learner.
// Undone: the copy is closed then, or at the box's end.
// Preconditions: the socket is non-blocking.
// Called by: outside_linux.go.
// Proved by: TestLearnNetwork.

package broker

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"psb/policy"
)

// didLater tells what comes of a connect that goes on after its call. Nobody is told where nobody listens, and only then is a copy kept: a
// copy keeps a connection open that the program has closed.
func (b *Broker) didLater(k *call, a policy.Access, fd int) {
	if b.cfg.Did == nil {
		return
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(dup), "connecting")
	b.calls.Add(1)
	go func() {
		defer b.calls.Done()
		defer f.Close()
		raw, err := f.SyscallConn()
		if err != nil {
			return
		}
		_ = f.SetWriteDeadline(time.Now().Add(30 * time.Second))
		stop := context.AfterFunc(b.ctx, func() { _ = f.SetWriteDeadline(time.Now()) })
		defer stop()
		code := int(unix.ETIMEDOUT)
		_ = raw.Write(func(fd uintptr) bool {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			if n, _ := unix.Poll(p, 0); n != 1 {
				return false
			}
			code = 0
			if _, err := unix.Getpeername(int(fd)); err != nil {
				code = int(unix.ECONNREFUSED) // SO_ERROR is the program's to read
			}
			return true
		})
		if code == 0 {
			b.did(k, a, nil)
		} else {
			b.did(k, a, unix.Errno(code))
		}
	}()
}
