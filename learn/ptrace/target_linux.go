package ptrace

// What to trace and what came of it: the package's types.
//
// Does to the process: nothing, it is data.
// Can it be undone: nothing to undo.
// Preconditions: none.
// Called by: tracer_linux.go and its callers.
// Proved by: TestPrograms.

import "syscall"

// Target says what to trace.
type Target struct {
	PID int  // the held program, in this process's pid namespace
	Pin bool // run program and tracer on one processor: much faster stops, no parallelism

	// Name gives a call's name; nil: "call 123".
	Name func(nr int) string

	// Refuse maps calls that must not run even now to the error they return instead. The filter must trace them.
	Refuse map[int]syscall.Errno
	// Judge, when set, refuses by arguments, too: a result other than 0 is the error the call returns instead of running. Arguments
	// are registers: nothing the program can still change.
	Judge func(nr int, args [6]uint64) syscall.Errno

	// Looks has look-ups of programs that are not found told, too, as exec accesses with How Look: the filter must trace LookCalls.
	Looks bool

	// Readable says whether nothing but a mode could keep the program from reading what the kernel calls name, a folder where dir is true. Opens
	// that only read such things stop the program once instead of twice; nil: none does.
	Readable func(name string, dir bool) bool
}

// Result is what only the end of a run tells.
type Result struct {
	Peak  int // most processes alive at one time
	Stops int // traced calls
}
