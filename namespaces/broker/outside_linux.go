// Does to the process: connects sockets of the host's network and puts them over descriptors of the program.
// Undone: what was put in stays the program's; psb's own copy is closed.
// Preconditions: Linux 5.9 (SECCOMP_IOCTL_NOTIF_ADDFD); the policy allows the target.
// Called by: connect_linux.go.
// Proved by: TestNetworkPrograms, TestNetworkAttackHandedSocket.

package broker

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// outside connects to a target on the host's side and hands the connection in.
func (b *Broker) outside(k *call, t target, which int) error {
	if !mayTry(b.cfg.Judge, t) {
		return b.refuse(t.access(policy.OpConnect))
	}
	if t.name == "" {
		return b.handIn(k, netip.AddrPortFrom(t.addr, t.port), t.access(policy.OpConnect))
	}
	return b.later(k, func() error {
		b.leave(k) // a name server may take its time
		to, err := b.resolve(b.ctx, t, which)
		if !b.enter(k) {
			return seccomp.ErrGone
		}
		if err != nil {
			return err
		}
		err = b.handIn(k, to, t.access(policy.OpConnect))
		if policy.Inward(to.Addr()) && (err == nil || err == unix.EINPROGRESS) {
			b.did(k, t.access(policy.OpPrivate), nil)
		}
		return err
	})
}

// handIn connects a socket of the host's network to an address and puts it over the program's. What came of it is told under a, if that is
// anything.
func (b *Broker) handIn(k *call, to netip.AddrPort, a policy.Access) error {
	domain := unix.AF_INET
	if to.Addr().Is6() {
		domain = unix.AF_INET6
	}
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
	if err != nil {
		return err
	}
	k.host = fd
	carryOver(k.socket, fd, k.domain, domain, b.usualBuffers())
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	address := sockaddrOf(to)
	for {
		if err = unix.Connect(fd, address); err != unix.EINTR {
			break
		}
	}
	if err == unix.EINPROGRESS { // where it has ended already the second call says how
		if err = unix.Connect(fd, address); err == unix.EALREADY {
			err = unix.EINPROGRESS
		}
	}
	if err != unix.EINPROGRESS || flags&unix.O_NONBLOCK != 0 {
		return b.put(k, fd, flags, to, a, err)
	}
	return b.later(k, func() error {
		err := b.connected(k, fd)
		if err == unix.EINPROGRESS || err == unix.EINTR || err == seccomp.ErrGone { // its own time was over
			return err
		}
		return b.put(k, fd, flags, to, a, err)
	})
}

// put gives the program a socket that psb has connected, or is connecting for one that does not wait.
func (b *Broker) put(k *call, fd, flags int, to netip.AddrPort, a policy.Access, err error) error {
	if a.Op != "" {
		if err == unix.EINPROGRESS {
			b.didLater(k, a, fd)
		} else {
			b.did(k, a, err)
		}
	}
	if err != nil && err != unix.EINPROGRESS {
		return err
	}
	if placed := b.place(k, fd, flags); placed != nil {
		return placed
	}
	if err == unix.EINPROGRESS {
		b.given.add(fd, handed{asked: k.address.Addr, real: to})
	}
	return err
}

// place puts a socket over the program's descriptor, with the flags that one has.
func (b *Broker) place(k *call, fd, flags int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&(unix.O_NONBLOCK|unix.O_ASYNC)); err != nil {
		return err
	}
	return k.r.Place(fd, k.number, closesOnExec(k.r.TID, k.number))
}

func sockaddrOf(a netip.AddrPort) unix.Sockaddr {
	if addr := a.Addr().Unmap(); addr.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: addr.As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// reconnect answers a connect on a socket of the host's network, one that was handed in or accepted before. psb calls no connect on it: the
// program shares it, and decides whether the call would wait.
func (b *Broker) reconnect(k *call) error {
	inet := k.address.Family == seccomp.FamilyInet || k.address.Family == seccomp.FamilyInet6
	was, ok := b.given.of(k.socket)
	same := ok && inet && !was.failed && k.address.Addr == was.asked
	if _, err := unix.Getpeername(k.socket); err == nil && inet {
		b.given.drop(k.socket)
		if same {
			return nil // it is asked how the connect went, and went well
		}
		return unix.EISCONN
	}
	if !ok || !inet {
		if k.address.Family == seccomp.FamilyUnspec {
			return unix.EACCES // dissolved it would be free to go anywhere
		}
		return b.refuse(policy.Access{Op: policy.OpConnect, Object: k.address.String()})
	}
	if same {
		err := progress(k.socket)
		if err == errWaits {
			return b.stillConnecting(k)
		}
		b.given.failed(k.socket)
		if err != nil {
			return err
		} // the program knows already that it failed, and tries again
	}
	// From the box's network, as a new socket: the first attempt failed, or this one is to lead elsewhere.
	if b.cfg.Lite {
		return b.connectStreamLite(k, k.address.Addr)
	}
	fresh, err := b.cfg.Socket(k.domain, unix.SOCK_STREAM)
	if err != nil {
		return unix.EACCES
	}
	carryOver(k.socket, fresh, k.domain, k.domain, buffersOf(fresh))
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err == nil {
		err = b.place(k, fresh, flags)
	}
	closeProgram(k.socket)
	k.socket = fresh
	if err != nil {
		return err
	}
	return b.connectOwn(k)
}

// progress says how a connect is getting on that was begun before: errWaits, the error it ended with, or nil where that has been read.
func progress(fd int) error {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	if n, _ := unix.Poll(p, 0); n == 0 {
		return errWaits
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		return unix.Errno(code)
	}
	return nil
}

// stillConnecting answers who asks again while a connect is under way: at once, or when it has ended.
func (b *Broker) stillConnecting(k *call) error {
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if flags&unix.O_NONBLOCK != 0 {
		return unix.EALREADY
	}
	return b.later(k, func() error {
		return b.waitUntil(k, unix.EINPROGRESS, func() error {
			err := progress(k.socket)
			if err == errWaits {
				return err
			}
			if _, none := unix.Getpeername(k.socket); none == nil {
				return nil
			}
			b.given.failed(k.socket)
			if err == nil {
				err = unix.ECONNABORTED
			}
			return err
		})
	})
}
