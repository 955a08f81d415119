// Does to the process: passes signals on to the box; stops psb when its program was stopped.
// Undone: psb goes on when the shell continues the job.
// Preconditions: the box was started.
// Called by: launch_linux.go.
// Proved by: TestTerminalGroup, TestTerminalJobs, TestTerminalSignalledWhileStarting.

package main

import (
	"os"
	"sync/atomic"
	"syscall"

	"psb/namespaces"
)

// forwarder stands between psb's signals and the box.
type forwarder struct {
	box     *namespaces.Box
	started atomic.Bool  // the program runs
	fatal   atomic.Int32 // the signal that ended psb's start
}

// run goes on until the box is gone. Before the program runs, a signal that would have ended it ends the start: it cannot be kept for a
// program that did not get it.
func (f *forwarder) run(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			sig := s.(syscall.Signal)
			if !f.started.Load() && (sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT) {
				f.fatal.CompareAndSwap(0, int32(sig))
				f.box.Kill()
				continue
			}
			f.box.Signal(sig)
		case job, on := <-f.box.Jobs():
			if !on {
				return
			}
			for newer := true; newer; { // a shell may have continued it meanwhile: only the newest word counts
				select {
				case next, on := <-f.box.Jobs():
					if !on {
						return
					}
					job = next
				default:
					newer = false
				}
			}
			if job.Stopped {
				_ = stopSelf() // never fails on oneself
			}
		}
	}
}

func (f *forwarder) ended() syscall.Signal { return syscall.Signal(f.fatal.Load()) }
