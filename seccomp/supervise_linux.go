// What it does to the process: answers every call a filter hands over until the box ends; one goroutine with a thread of its own.
// Undone: when it returns the listener is closed, and calls that still come fail with ENOSYS (refused, not run).
// Preconditions: those of Listener.
// Called by: cmd/psb.
// Proven by: TestNotifyRoundTrip, TestNotifyEnds.

package seccomp

import (
	"context"
	"errors"
	"io"
	"runtime"
)

// Supervise hands each call to judge, one after the other, and answers as it says. It returns nil when no process wears the
// filter any more, ctx's error when that ends first, or the listener's error; it closes l.
//
// judge must not block on anything the program controls: every other asked call waits meanwhile. What takes time it answers with Later, and
// with Request.Answer once it is done. A judge that panics takes the process down, and with it the listener: refused.
func Supervise(ctx context.Context, l *Listener, judge func(*Request) Answer) error {
	runtime.LockOSThread() // who is woken need not be found a thread first
	defer runtime.UnlockOSThread()
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		r, err := l.Receive()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		}
		a := judge(r)
		if a.Later {
			continue
		}
		if err := l.Respond(r.ID, a); err != nil && !errors.Is(err, ErrGone) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
	}
}
