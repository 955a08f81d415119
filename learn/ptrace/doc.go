// Package ptrace watches a held process and everything it starts, and tells what they ask of the kernel as learn.Events.
//
//	runtime.LockOSThread() // and never unlock: the thread ends with its goroutine
//	result, err := ptrace.Run(ctx, ptrace.Target{PID: pid, Pin: true}, box.Release, set.Add)
//
// The held program must install, after release, a seccomp filter that answers SECCOMP_RET_TRACE for the calls of
// interest (Calls lists those this package understands) and ALLOW for the rest, and then exec. Only those calls stop.
//
// It does not start, confine or reap the program, decide what is allowed, or keep what it saw. Linux 5.6 or newer.
package ptrace
