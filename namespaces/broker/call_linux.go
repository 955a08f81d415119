// Does to the process: takes a duplicate of the socket a call names and a copy of its address, once.
// Undone: the duplicate is closed when the call is answered.
// Preconditions: the call waits at the listener; ptrace access to its process; Linux 5.6.
// Called by: broker_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestFits, the attack suite.

package broker

import (
	"errors"

	"golang.org/x/sys/unix"

	"psb/seccomp"
)

// call is one call: the socket and the address are the program's, taken once.
type call struct {
	r       *seccomp.Request
	alone   bool // has a goroutine of its own, and may wait
	turn    bool // holds one of the broker's turns
	who     caller
	socket  int // a duplicate
	host    int // a socket of the host's network that is connecting for it
	number  int32
	domain  int
	raw     []byte // the address as given
	address seccomp.Sockaddr
	pin     int    // of a unix socket by path
	to      []byte // what the socket is connected to: raw, or the pin
	hosts   string // a socket of the host, by the name that a rule would have
}

func (k *call) close() {
	for _, fd := range []int{k.socket, k.host} {
		closeProgram(fd)
	}
	if k.pin >= 0 {
		unix.Close(k.pin)
	}
}

// closeProgram closes a duplicate of a socket that the program has, too. It may be the last one by now, and the program may have told it to
// linger (SO_LINGER): then somebody else waits.
func closeProgram(fd int) {
	if fd < 0 {
		return
	}
	if lingers, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_LINGER); err == nil && lingers != 0 {
		go unix.Close(fd)
		return
	}
	unix.Close(fd)
}

// takeSocket duplicates the socket of argument 0. Whose it is is known once the call is seen to wait still: takeAddress looks, and
// stillWaits.
func (k *call) takeSocket(from *callers) (err error) {
	k.number = int32(k.r.Args[0])
	if k.socket, err = from.socket(k.r.TID, k.number); err != nil {
		return k.orGone(err)
	}
	k.domain, err = unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return err // ENOTSOCK
}

// kind is the socket's type.
func (k *call) kind() int {
	kind, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return -1
	}
	return kind
}

// takeAddress copies the address that two arguments give.
func (k *call) takeAddress(at, length uint64) (err error) {
	n := int32(length)
	if n < 0 || n > seccomp.MaxSockaddr {
		return unix.EINVAL
	}
	if k.raw, err = k.r.Bytes(at, int(n)); err != nil {
		if errors.Is(err, seccomp.ErrGone) {
			return err
		}
		return unix.EFAULT
	}
	if k.address, err = seccomp.DecodeSockaddr(k.raw); err != nil {
		return unix.EINVAL
	}
	k.to = k.raw
	return nil
}

// stillWaits is for calls without an address.
func (k *call) stillWaits() error {
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	return nil
}

// takeCaller reads who calls, where that matters: it costs more than all the rest.
func (k *call) takeCaller() (err error) {
	if k.who.tid != 0 {
		return nil
	}
	if k.who, err = callerOf(k.r.TID); err != nil {
		return k.orGone(err)
	}
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	return nil
}

// fits compares an address with a socket: what is judged as one family must not be read by the kernel as another.
func fits(domain int, f seccomp.Family) error {
	switch domain {
	case unix.AF_UNIX:
		if f != seccomp.FamilyUnix && f != seccomp.FamilyUnspec {
			return unix.EINVAL
		}
	case unix.AF_INET:
		if f != seccomp.FamilyInet && f != seccomp.FamilyUnspec {
			return unix.EAFNOSUPPORT
		}
	case unix.AF_INET6:
		if f != seccomp.FamilyInet && f != seccomp.FamilyInet6 && f != seccomp.FamilyUnspec {
			return unix.EAFNOSUPPORT
		}
	default:
		return unix.EINVAL
	}
	return nil
}

// orGone: what was looked for by number may be missing because the caller is.
func (k *call) orGone(err error) error {
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	if err == unix.EPERM {
		return unix.EACCES
	}
	return err
}
