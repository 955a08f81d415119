// What it does to the process: puts a filter on the calling OS thread and those it makes from then on.
// Undone: never; the thread wears it to its end.
// Preconditions: goroutine locked to its thread, no_new_privs set on it (or CAP_SYS_ADMIN).
// Called by: tests and Probe. A box's filter is installed by the C stage with the same bytes.
// Proven by: TestKernelPrograms, TestKernelRefusals, TestNotifyRoundTrip.

package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	flagNewListener  = 1 << 3 // Linux 5.0
	flagWaitKillable = 1 << 5 // Linux 5.19
)

// Install puts p on the calling thread. With listener it returns the descriptor from which notifications are received
// (close-on-exec), otherwise -1. A thread that has a listener already gives EBUSY.
//
// Where the kernel knows how (5.19), a received call waits killably only, so that a signal handler does not make the program repeat a
// call the supervisor has already answered.
func Install(p Program, listener bool) (int, error) {
	if err := p.Validate(); err != nil {
		return -1, err
	}
	if native, err := Native(); err != nil || p.Arch != native {
		return -1, fmt.Errorf("seccomp: a filter for %v cannot be worn here", p.Arch)
	}
	if !listener {
		if _, e := sysSetFilter(p.Bytes, 0); e != 0 {
			return -1, fmt.Errorf("seccomp set filter: %w", e)
		}
		return -1, nil
	}
	flags := uintptr(flagNewListener)
	if waitKillable() {
		flags |= flagWaitKillable
	}
	fd, e := sysSetFilter(p.Bytes, flags)
	if e != 0 {
		return -1, fmt.Errorf("seccomp set filter with a listener: %w", e)
	}
	return fd, nil
}

// waitKillable: a known flag makes the kernel look at the missing program (EFAULT), an unknown one stops it before (EINVAL).
func waitKillable() bool {
	_, e := sysSetFilter(nil, flagNewListener|flagWaitKillable)
	return e == unix.EFAULT
}
