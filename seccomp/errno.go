package seccomp

import "strconv"

// Errno is an error number as the program sees it, in Linux's generic numbering (amd64 and arm64 share it). Its range is
// 1 to 4095; 0 means none.
type Errno uint16

// The error numbers that filters answer with.
const (
	EPERM           Errno = 1
	EBADF           Errno = 9
	EACCES          Errno = 13
	EBUSY           Errno = 16
	EINVAL          Errno = 22
	ENOSYS          Errno = 38
	ENOPROTOOPT     Errno = 92
	EPROTONOSUPPORT Errno = 93
	EOPNOTSUPP      Errno = 95
	EAFNOSUPPORT    Errno = 97
	ECONNREFUSED    Errno = 111
)

// String gives the symbolic name, or "errno 7" for one that no filter of this package uses.
func (e Errno) String() string {
	switch e {
	case EPERM:
		return "EPERM"
	case EBADF:
		return "EBADF"
	case EACCES:
		return "EACCES"
	case EBUSY:
		return "EBUSY"
	case EINVAL:
		return "EINVAL"
	case ENOSYS:
		return "ENOSYS"
	case ENOPROTOOPT:
		return "ENOPROTOOPT"
	case EPROTONOSUPPORT:
		return "EPROTONOSUPPORT"
	case EOPNOTSUPP:
		return "EOPNOTSUPP"
	case EAFNOSUPPORT:
		return "EAFNOSUPPORT"
	case ECONNREFUSED:
		return "ECONNREFUSED"
	}
	return "errno " + strconv.Itoa(int(e))
}
