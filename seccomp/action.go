package seccomp

import "fmt"

// Kind is what a filter does with a call, without the error number.
type Kind uint8

// Kinds of action, weakest first. The kernel's own precedence between stacked filters is the reverse order.
const (
	KindInvalid Kind = iota
	KindAllow        // the call runs
	KindTrace        // a ptrace(2) tracer is stopped on it; without a tracer the call fails with ENOSYS
	KindNotify       // the supervisor behind the listener answers; without a listener the call fails with ENOSYS
	KindErrno        // the call fails at once
	KindKill         // the whole process dies of SIGSYS
)

// Action is a filter's answer to one call, in the kernel's own encoding (SECCOMP_RET_*, see seccomp(2)): the upper half is
// the kind, the lower half an error number. The zero Action is invalid, never "allow" and never "kill".
//
// For Notify the lower half is the error number the supervisor should answer; it stays in this package's data and is not
// part of a compiled program. Trace carries no number either, and none may be believed: a program that adds a filter of its own
// decides what PTRACE_GETEVENTMSG shows.
type Action uint32

// Actions without a number.
const (
	Allow Action = 0x7fff0000
	Trace Action = 0x7ff00000
	Kill  Action = 0x80000000 // SECCOMP_RET_KILL_PROCESS, Linux 4.14
)

const (
	retErrno  = 0x00050000
	retNotify = 0x7fc00000 // Linux 5.0
	retKind   = 0xffff0000
)

// Fail is the action that makes a call fail with e.
func Fail(e Errno) Action { return retErrno | Action(e) }

// Notify is the action that asks the supervisor, who refuses with e unless it knows better. Where no listener can exist it
// becomes Fail(e).
func Notify(e Errno) Action { return retNotify | Action(e) }

// Kind returns the kind of a.
func (a Action) Kind() Kind {
	switch a & retKind {
	case Allow:
		return KindAllow
	case Trace:
		return KindTrace
	case retNotify:
		return KindNotify
	case retErrno:
		return KindErrno
	case Kill:
		return KindKill
	}
	return KindInvalid
}

// Errno returns the error number of a Fail or Notify action and 0 for the other kinds.
func (a Action) Errno() Errno {
	switch a.Kind() {
	case KindErrno, KindNotify:
		return Errno(a &^ retKind)
	}
	return 0
}

// compiled is a as it stands in a program: what only this package knows is left out.
func (a Action) compiled() Action {
	if a.Kind() == KindNotify {
		return retNotify
	}
	return a
}

// String gives "allow", "trace", "kill", "fail EPERM" or "notify EPERM".
func (a Action) String() string {
	switch a.Kind() {
	case KindAllow:
		return "allow"
	case KindTrace:
		return "trace"
	case KindKill:
		return "kill"
	case KindErrno:
		return "fail " + a.Errno().String()
	case KindNotify:
		if a.Errno() == 0 {
			return "notify"
		}
		return "notify " + a.Errno().String()
	}
	return fmt.Sprintf("invalid action %#x", uint32(a))
}
