// What it does to the process: the raw ioctls of a listener and reads of another process's memory.
// Undone: nothing changes here but the call answered in the other process, once.
// Preconditions: a listener descriptor; ptrace access to the process whose memory is read.
// Called by: Listener, Request.
// Proven by: TestNotifyRoundTrip, TestMemory.

package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ioctl numbers of <linux/seccomp.h>. The old number of ID_VALID, with the wrong direction, is the one every kernel takes.
const (
	ioctlRecv    = 0xc0502100
	ioctlSend    = 0xc0182101
	ioctlIDValid = 0x80082102
	ioctlAddFD   = 0x40182103 // Linux 5.9
	ioctlFlags   = 0x40082104 // Linux 6.6
)

// sysNotif is struct seccomp_notif.
type sysNotif struct {
	ID    uint64
	PID   uint32
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// sysResp is struct seccomp_notif_resp.
type sysResp struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// sysAddFD is struct seccomp_notif_addfd.
type sysAddFD struct {
	ID       uint64
	Flags    uint32
	SrcFD    uint32
	NewFD    uint32
	NewFlags uint32
}

const (
	addFDSet  = 1 // SECCOMP_ADDFD_FLAG_SETFD
	addFDSend = 2 // SECCOMP_ADDFD_FLAG_SEND, Linux 5.14
)

func sysPutFD(fd int, a *sysAddFD) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlAddFD, uintptr(unsafe.Pointer(a)))
	return e
}

// sysGiveFD gives the number that the descriptor has in the process.
func sysGiveFD(fd int, a *sysAddFD) (int, unix.Errno) {
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlAddFD, uintptr(unsafe.Pointer(a)))
	return int(n), e
}

const flagSyncWakeUp = 1 // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, Linux 6.6

// sysSyncWakeUp asks that caller and receiver, of whom only one works at a time, wake each other on one processor.
func sysSyncWakeUp(fd int) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlFlags, flagSyncWakeUp)
	return e
}

const flagContinue = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5

// sysRecv receives one request. size is what the kernel says a request takes; a later kernel's may be longer than ours.
func sysRecv(fd int, size int) (sysNotif, unix.Errno) {
	buf := make([]uint64, (max(size, int(unsafe.Sizeof(sysNotif{})))+7)/8) // zeroed, as the kernel demands
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlRecv, uintptr(unsafe.Pointer(&buf[0])))
	return *(*sysNotif)(unsafe.Pointer(&buf[0])), e
}

func sysSend(fd int, r *sysResp) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlSend, uintptr(unsafe.Pointer(r)))
	return e
}

func sysIDValid(fd int, id uint64) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctlIDValid, uintptr(unsafe.Pointer(&id)))
	return e
}

// sysReadMemory is process_vm_readv(2) of one range.
func sysReadMemory(pid int, addr uint64, into []byte) (int, error) {
	local := []unix.Iovec{{Base: unsafe.SliceData(into)}}
	local[0].SetLen(len(into))
	return unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(into)}}, 0)
}
