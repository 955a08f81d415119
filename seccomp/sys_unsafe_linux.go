// What it does to the process: the raw seccomp(2) and prctl(2) calls; installs filters on the calling thread.
// Undone: a filter and no_new_privs stay until the thread ends; everything else here changes nothing.
// Preconditions: the goroutine is locked to its thread where a filter is installed.
// Called by: Install, Probe.
// Proven by: TestKernel*, TestProbe.

package seccomp

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysFprog is struct sock_fprog.
type sysFprog struct {
	len    uint16
	filter unsafe.Pointer
}

// sysSetFilter is seccomp(SECCOMP_SET_MODE_FILTER). code is a sock_filter array; nil asks only whether the flags are known.
func sysSetFilter(code []byte, flags uintptr) (int, unix.Errno) {
	if code == nil {
		r, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, 0)
		return int(r), e
	}
	prog := sysFprog{len: uint16(len(code) / 8), filter: unsafe.Pointer(unsafe.SliceData(code))}
	r, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	return int(r), e
}

// sysActionAvailable is seccomp(SECCOMP_GET_ACTION_AVAIL), Linux 4.14.
func sysActionAvailable(a Action) bool {
	v := uint32(a)
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&v)))
	return e == 0
}

// sysNotifSizes is seccomp(SECCOMP_GET_NOTIF_SIZES), Linux 5.0: bytes of request, response and seccomp_data.
func sysNotifSizes() (req, resp, data uint16, e unix.Errno) {
	var v [3]uint16
	_, _, e = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&v)))
	return v[0], v[1], v[2], e
}
