package ptrace

// Raw ptrace(2) and process_vm_readv(2), with the structures x/sys does not have.
//
// Does to the process: stops, resumes and reads the traced threads; keeps SIGCHLD from coming for each stop.
// Can it be undone: quietStops gives its undoing; a seized thread stays traced until it or the tracing thread ends; it is killed when the latter does.
// Preconditions: the calling goroutine is locked to its thread; every call comes from that one thread.
// Called by: tracer_linux.go, memory_linux.go, pin_linux.go.
// Proved by: TestPrograms, TestUnreadableMemory, TestGroupStop.

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const getSyscallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO, Linux 5.3

// kinds of stop in syscallInfo.Op
const infoSeccomp = 3

// syscallInfo is struct ptrace_syscall_info: its entry and seccomp members. At an exit stop NR is the result.
type syscallInfo struct {
	Op      uint8
	_       [3]uint8
	Arch    uint32
	IP, SP  uint64
	NR      uint64
	Args    [6]uint64
	RetData uint32
	_       uint32
}

func ptraceCall(request, tid int, addr, data uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

// syscallInfoOf describes the call a stopped thread is in.
func syscallInfoOf(tid int) (info syscallInfo, err error) {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if e != 0 {
		return info, e
	}
	return info, nil
}

// signalAction is the kernel's struct sigaction.
type signalAction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// quietStops adds SA_NOCLDSTOP to what the process does on SIGCHLD: wait4 tells of each stop, and a handler that runs for each costs as
// much as the stop. restore takes it away. See sigaction(2).
func quietStops() (restore func()) {
	const noChildStop = 1 // SA_NOCLDSTOP
	set := func(action, old *signalAction) bool {
		_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), unsafe.Sizeof(action.mask), 0, 0)
		return e == 0
	}
	var action signalAction
	if !set(nil, &action) || action.flags&noChildStop != 0 {
		return func() {}
	}
	action.flags |= noChildStop
	set(&action, nil)
	return func() {
		action.flags &^= noChildStop
		set(&action, nil)
	}
}

// currentCPU is the processor the calling thread runs on, at this moment. See getcpu(2).
func currentCPU() int {
	var cpu uint32
	_, _, _ = unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0) // cannot fail with a valid pointer
	return int(cpu)
}

// readMemory copies from one place in a process, up to the first page that cannot be read.
func readMemory(tid int, addr uint64, buf []byte) int {
	const page = 4096 // the kernel fails a whole element that crosses into an unreadable page: one page an element
	done := 0
	for done < len(buf) {
		var local [2]unix.Iovec
		var remote [2]unix.RemoteIovec
		n, parts := 0, uintptr(0)
		for i := range local {
			at := done + n
			size := min(len(buf)-at, page-int((addr+uint64(at))%page))
			if size == 0 {
				break
			}
			local[i].Base = &buf[at]
			local[i].SetLen(size)
			remote[i] = unix.RemoteIovec{Base: uintptr(addr) + uintptr(at), Len: size}
			n += size
			parts++
		}
		got, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid), uintptr(unsafe.Pointer(&local)), parts, uintptr(unsafe.Pointer(&remote)), parts, 0)
		if e != 0 || int(got) <= 0 {
			return done
		}
		done += int(got)
		if int(got) < n {
			return done
		}
	}
	return done
}
