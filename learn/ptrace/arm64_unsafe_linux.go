//go:build arm64

package ptrace

// The calls of arm64 that other machines do not have, and how a call is kept from running there.
//
// Does to the process: skip makes one call of a stopped thread return an error instead of running.
// Can it be undone: no.
// Preconditions: the thread stands in a seccomp stop of the calling thread.
// Called by: tracer_linux.go.
// Proved by: TestRefuse, TestPrograms (on such a machine).

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const nativeArch = unix.AUDIT_ARCH_AARCH64

const x32Bit = 0 // no second ABI behind this architecture

var archCalls = map[int]shape{
	// renameat is in every table of arm64, too
	unix.SYS_RENAMEAT: {kind: kindRename, dir: 0, path: 1, dir2: 2, path2: 3, flags: none},
}

var archLooks = map[int]shape{}

// skip makes the call return errno without running: the call's number and its result live in two register sets.
func skip(tid int, errno unix.Errno) error {
	const setRegSet, getRegSet = 0x4205, 0x4204
	const generalRegs, callNumber = 1, 0x404 // NT_PRSTATUS, NT_ARM_SYSTEM_CALL
	var regs unix.PtraceRegs
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&regs))}
	iov.SetLen(int(unsafe.Sizeof(regs)))
	if err := ptraceCall(getRegSet, tid, generalRegs, uintptr(unsafe.Pointer(&iov))); err != nil {
		return err
	}
	regs.Regs[0] = uint64(-int64(errno))
	if err := ptraceCall(setRegSet, tid, generalRegs, uintptr(unsafe.Pointer(&iov))); err != nil {
		return err
	}
	nr := int32(-1)
	iov.Base = (*byte)(unsafe.Pointer(&nr))
	iov.SetLen(4)
	return ptraceCall(setRegSet, tid, callNumber, uintptr(unsafe.Pointer(&iov)))
}
