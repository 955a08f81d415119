package ptrace

// One processor for tracer and traced: a stop then costs 7 µs instead of up to 90.
//
// Does to the process: narrows the affinity of the calling thread and of the program, whose children inherit it.
// Can it be undone: the caller's is put back at the end of Run; the program keeps its.
// Preconditions: the calling goroutine is locked to its thread.
// Called by: tracer_linux.go.
// Proved by: TestPin.

import "golang.org/x/sys/unix"

// pin puts the calling thread and pid on one processor both may use, the one that runs this when it may: two learning runs at the same
// time are then on two. restore undoes the caller's part. A machine that refuses is not an error: the run is only slower.
func pin(pid int) (restore func()) {
	var own, theirs, one unix.CPUSet
	restore = func() {}
	if unix.SchedGetaffinity(0, &own) != nil || unix.SchedGetaffinity(pid, &theirs) != nil {
		return restore
	}
	for at := range len(own)*64 + 1 {
		cpu := at - 1
		if at == 0 {
			cpu = currentCPU()
		}
		if own.IsSet(cpu) && theirs.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if one.Count() == 0 || unix.SchedSetaffinity(pid, &one) != nil {
		return restore
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		_ = unix.SchedSetaffinity(pid, &theirs)
		return restore
	}
	return func() { _ = unix.SchedSetaffinity(0, &own) }
}
