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
	"time"

	"psb/namespaces"
)

// forwarder stands between psb's signals and the box.
type forwarder struct {
	box     *namespaces.Box
	atShell bool         // a shell may see psb stop with its program; else a program that stops itself would stop what bounds it
	heard   func()       // called for each signal that ends most programs, before it is passed on; may be nil
	started atomic.Bool  // the program runs
	fatal   atomic.Int32 // the signal that ended psb's start
}

// ownStop is how long a program in front of a terminal is given to stop by itself before psb passes a stop signal on.
const ownStop = 50 * time.Millisecond

// run goes on until the box is gone. Before the program runs, a signal that would have ended it ends the start: it cannot be kept for a
// program that did not get it. A stop signal is passed on only when the program has not stopped by its own copy meanwhile: passed on late,
// after the shell has continued the job, it would stop it again.
func (f *forwarder) run(signals <-chan os.Signal) {
	var held syscall.Signal
	var whole bool // held was the terminal's
	late := time.NewTimer(time.Hour)
	for {
		select {
		case s := <-signals:
			switch sig := s.(syscall.Signal); {
			case stops(sig):
				held, whole = sig, ofTerminal(sig)
				late.Reset(ownStop)
			case !f.started.Load() && ends(sig):
				f.fatal.CompareAndSwap(0, int32(sig))
				f.box.Kill()
			default:
				if f.heard != nil && ends(sig) {
					f.heard()
				}
				f.box.Signal(sig, ofTerminal(sig))
			}
		case <-late.C:
			if held != 0 {
				f.box.Signal(held, whole)
			}
			held = 0
		case job, on := <-f.box.Jobs():
			if !on {
				return
			}
			if held = 0; !f.newest(job) {
				continue
			}
			if f.atShell {
				_ = stopSelf() // never fails on oneself
				f.drain(signals)
			}
		}
	}
}

func stops(sig syscall.Signal) bool {
	return sig == syscall.SIGTSTP || sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
}

func ends(sig syscall.Signal) bool {
	return sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
}

// newest reports whether the program's newest state is stopped: a shell may have continued it meanwhile.
func (f *forwarder) newest(job namespaces.Job) bool {
	for {
		select {
		case next, on := <-f.box.Jobs():
			if !on {
				return false
			}
			job = next
		default:
			return job.Stopped
		}
	}
}

// drain drops stop signals from before the stop and passes on the rest.
func (f *forwarder) drain(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			if sig := s.(syscall.Signal); !stops(sig) {
				f.box.Signal(sig, ofTerminal(sig))
			}
		default:
			return
		}
	}
}

func (f *forwarder) ended() syscall.Signal { return syscall.Signal(f.fatal.Load()) }
