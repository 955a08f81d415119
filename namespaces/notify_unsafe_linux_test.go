package namespaces

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// answerOne receives one notification and answers it with an error number: struct seccomp_notif is 80 bytes, its response 24.
func answerOne(fd int, errno unix.Errno) error {
	var call [10]uint64
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), 0xc0502100, uintptr(unsafe.Pointer(&call)))
		if e == unix.EINTR || e == unix.ENOENT {
			continue
		}
		if e != 0 {
			return fmt.Errorf("SECCOMP_IOCTL_NOTIF_RECV: %w", e)
		}
		break
	}
	if nr := uint32(call[2]); nr != uint32(unix.SYS_MKDIRAT) {
		return fmt.Errorf("call %d, want mkdirat", nr)
	}
	answer := [3]uint64{call[0], 0, uint64(uint32(-int32(errno)))}
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), 0xc0182101, uintptr(unsafe.Pointer(&answer))); e != 0 {
		return fmt.Errorf("SECCOMP_IOCTL_NOTIF_SEND: %w", e)
	}
	return nil
}
