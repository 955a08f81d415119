// Does to the process: connects a socket to an address given as bytes; takes other ids for one thread.
// Undone: a connect is not; the ids go with their thread, which must not be used again.
// Preconditions: for the ids, a goroutine locked to its thread that is never unlocked.
// Called by: connect_linux.go, connect_path_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestUnixSocketsOfTheHost.

package broker

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connectBytes is connect(2) with the address as the program wrote it: what it means is the kernel's to say.
func connectBytes(fd int, address []byte) error {
	for {
		_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(address))), uintptr(len(address)))
		runtime.KeepAlive(address)
		switch e {
		case 0:
			return nil
		case unix.EINTR: // a signal of psb's own
			continue
		}
		return e
	}
}

// wearIDs gives the calling thread alone the effective ids and the groups of a process, and with root's id goes what root may. The real and
// the saved id stay: nobody of those ids may signal or trace the thread.
func wearIDs(uid, gid uint32, groups []uint32) error {
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); e != 0 && e != unix.EPERM {
		return e // EPERM: where groups cannot be set the box kept psb's, too
	}
	const same = ^uintptr(0)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, same, uintptr(gid), same); e != 0 {
		return e
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(uid), same); e != 0 {
		return e
	}
	return nil
}

// carryLinger copies SO_LINGER.
func carryLinger(from, to int) {
	var l unix.Linger
	size := uint32(unsafe.Sizeof(l))
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(from), unix.SOL_SOCKET, unix.SO_LINGER, uintptr(unsafe.Pointer(&l)), uintptr(unsafe.Pointer(&size)), 0)
	if e == 0 && l.Onoff != 0 {
		_ = unix.SetsockoptLinger(to, unix.SOL_SOCKET, unix.SO_LINGER, &l)
	}
}

// bindBytes is bind(2) with the address as the program wrote it.
func bindBytes(fd int, address []byte) error {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(address))), uintptr(len(address)))
	runtime.KeepAlive(address)
	if e != 0 {
		return e
	}
	return nil
}
