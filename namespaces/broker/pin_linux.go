// Does to the process: resolves a path of the program in the program's own root, as the program, and pins what it leads to.
// Undone: the pin is closed when the call is answered.
// Preconditions: Linux 5.6 (openat2).
// Called by: connect_linux.go.
// Proved by: TestPinResolves, TestUnixSocketsOfTheBox, TestUnixSocketsOfTheHost.

package broker

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pin resolves a path to the object it leads to now, O_PATH: nothing is opened, nothing is started by looking at it. Links of /proc that lead
// to what a process holds are not followed here, but for those of the program's own that caller.walk opened.
func (s walk) pin() (int, error) {
	const inRoot, below = unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS, unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS
	if s.base < 0 {
		return resolveIn(s.root, s.rest, 0, inRoot)
	}
	if s.rest == "" {
		return unix.FcntlInt(uintptr(s.base), unix.F_DUPFD_CLOEXEC, 3)
	}
	fd, err := resolveIn(s.base, s.rest, 0, below)
	if err != unix.EXDEV {
		return fd, err
	}
	// The way leaves the folder. It is gone again from the root, if the folder's name still leads to the folder.
	if !strings.HasPrefix(s.text, "/") {
		return -1, unix.EACCES
	}
	again, err := resolveIn(s.root, s.text, unix.O_DIRECTORY, inRoot|unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return -1, unix.EACCES
	}
	defer unix.Close(again)
	if !sameObject(again, s.base) {
		return -1, unix.EACCES
	}
	return resolveIn(s.root, s.text+"/"+s.rest, 0, inRoot)
}

func resolveIn(dir int, path string, flags, how uint64) (int, error) {
	for try := 0; ; try++ {
		fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: how})
		if err != unix.EAGAIN && err != unix.EINTR || try == 100 { // EAGAIN: something was renamed meanwhile
			return fd, err
		}
	}
}

// sameObject: the same file by the same mount.
func sameObject(a, b int) bool {
	var x, y unix.Statx_t
	const want = unix.STATX_INO | unix.STATX_MNT_ID
	if unix.Statx(a, "", unix.AT_EMPTY_PATH, want, &x) != nil || unix.Statx(b, "", unix.AT_EMPTY_PATH, want, &y) != nil {
		return false
	}
	return x.Ino == y.Ino && x.Dev_major == y.Dev_major && x.Dev_minor == y.Dev_minor && x.Mnt_id == y.Mnt_id
}

// toPinned is the address of a pinned socket: psb's own name for its descriptor, which leads nowhere else whatever is renamed.
func toPinned(pin int) []byte {
	return append(append([]byte{unix.AF_UNIX, 0}, "/proc/self/fd/"+strconv.Itoa(pin)...), 0)
}

// alive asks, without knocking, whether any process listens at a pinned socket: a datagram socket's connect fails with EPROTOTYPE at a stream
// socket, sets nothing but its own peer at a datagram socket, and says ECONNREFUSED where nobody is. nil means alive.
func alive(pin int) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	switch err := connectBytes(fd, toPinned(pin)); err {
	case unix.EPROTOTYPE, unix.EPERM: // EPERM: a datagram socket that listens to one peer only
		return nil
	default:
		return err
	}
}
