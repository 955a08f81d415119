// Does to the process: connects the program's own sockets for it, to what belongs to the box; a blocking one gets O_NONBLOCK for a moment.
// Undone: a connect is not; the flag is set back.
// Preconditions: the call waits at the listener; Linux 5.6.
// Called by: broker_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestUnixSocketsOfTheHost, TestNetworkLoopback.

package broker

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// connect answers connect(2).
func (b *Broker) connect(k *call) error {
	if err := k.takeSocket(&b.callers); err != nil {
		return err
	}
	if err := k.takeAddress(k.r.Args[1], k.r.Args[2]); err != nil {
		return err
	}
	if !b.net.has(k.socket) {
		return b.reconnect(k)
	}
	return b.connectOwn(k)
}

// connectOwn goes on with a socket of the box's network.
func (b *Broker) connectOwn(k *call) error {
	if err := fits(k.domain, k.address.Family); err != nil {
		return err
	}
	switch k.address.Family {
	case seccomp.FamilyInet, seccomp.FamilyInet6:
		if k.protocol() == unix.IPPROTO_TCP {
			return b.connectStream(k, k.address.Addr)
		}
		return b.connectDatagram(k, k.address.Addr)
	case seccomp.FamilyUnix:
		return b.later(k, func() error { return b.connectUnix(k) })
	}
	return b.inside(k, nil)
}

func (k *call) protocol() int {
	p, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil {
		return -1
	}
	return p
}

// own tells addresses that mean the box itself.
func own(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsUnspecified()
}

// connectStream connects inside, to the host by a rule on loopback, or outside.
func (b *Broker) connectStream(k *call, to netip.AddrPort) error {
	if !own(to.Addr()) {
		t, which := b.means(to, false)
		return b.outside(k, t, which)
	}
	if err := b.nameServerFor(to, false); err != nil {
		return err
	}
	t := loopbackTarget(to, false)
	if !b.listened.has(to.Port()) && mayTry(b.cfg.Judge, t) { // nothing in the box has ever listened there
		if _, published := b.published.here(to, b.listensStill); !published {
			return b.outside(k, t, 0)
		}
	}
	return b.inside(k, func(err error) error {
		if err != unix.ECONNREFUSED {
			return err
		}
		if at, ok := b.published.here(to, b.listensStill); ok {
			return b.handIn(k, at, policy.Access{})
		}
		if !mayTry(b.cfg.Judge, t) {
			return err // nobody is there, in the box
		}
		return b.outside(k, t, 0)
	})
}

// loopbackTarget is the host's loopback under the address the program used; the unspecified address stands for it.
func loopbackTarget(to netip.AddrPort, udp bool) target {
	addr := to.Addr().Unmap()
	if addr.IsUnspecified() {
		if addr.Is4() {
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		} else {
			addr = netip.IPv6Loopback()
		}
	}
	return target{addr: addr, port: to.Port(), udp: udp}
}

// connectDatagram gives a datagram socket its peer, inside: what it sends goes through a socket of psb's there, or nowhere.
func (b *Broker) connectDatagram(k *call, to netip.AddrPort) error {
	if err := b.openDoor(to, k.protocol(), false); err != nil {
		return err
	}
	return b.inside(k, nil)
}

// inside connects the program's own socket, and waits if the program would. then, if there is one, has the last word.
func (b *Broker) inside(k *call, then func(error) error) error {
	if then == nil {
		then = func(err error) error { return err }
	}
	blocking, err := b.attempt(k)
	if blocking && k.unfinished(err) {
		return b.later(k, func() error { return then(b.wait(k, err)) })
	}
	return then(err)
}

// attempt connects without waiting, and tells whether the program would have waited.
func (b *Broker) attempt(k *call) (blocking bool, err error) {
	connect := func() error { return watched(k.socket, func() error { return connectBytes(k.socket, k.to) }) }
	if k.domain == unix.AF_UNIX {
		plain := connect
		connect = func() error { return k.who.as(plain) } // the peer is told who connects
		if err := k.takeCaller(); err != nil {
			return false, err
		}
	}
	if !b.busy.take(k.socket) {
		return false, unix.EALREADY // another call of the program is at it
	}
	defer b.busy.leave(k.socket)
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return false, err
	}
	if flags&unix.O_NONBLOCK != 0 || !k.mayWait() {
		return false, k.settled(connect)
	}
	if _, err := unix.FcntlInt(uintptr(k.socket), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return false, err
	}
	err = k.settled(connect)
	if _, back := unix.FcntlInt(uintptr(k.socket), unix.F_SETFL, flags); back != nil && err == nil {
		err = back
	}
	return true, err
}

// watched ends a connect that waits all the same: the program shares the socket, and may have set it to wait in between. Of a unix socket
// nothing ends it, so those have a thread of their own.
func watched(fd int, connect func() error) error {
	over := make(chan struct{})
	t := time.AfterFunc(time.Second, func() {
		defer close(over)
		_ = unix.Shutdown(fd, unix.SHUT_RDWR)
	})
	err := connect()
	if !t.Stop() {
		<-over
	}
	return err
}

// settled asks again where a connect inside may have ended before its call returned: the kernel says "in progress" first even then.
func (k *call) settled(connect func() error) error {
	err := connect()
	if err == unix.EINPROGRESS && k.domain != unix.AF_UNIX {
		if err = connect(); err == unix.EALREADY {
			err = unix.EINPROGRESS
		}
	}
	return err
}

// mayWait: a socket whose connect can wait is one nobody reads from yet, so that the borrowed flag is seen by nobody.
func (k *call) mayWait() bool {
	if k.address.Family == seccomp.FamilyUnspec {
		return false
	}
	if k.domain != unix.AF_UNIX {
		info, err := unix.GetsockoptTCPInfo(k.socket, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err == nil && info.State == tcpClose
	}
	if kind := k.kind(); kind != unix.SOCK_STREAM && kind != unix.SOCK_SEQPACKET {
		return false
	}
	if listens, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens != 0 {
		return false
	}
	_, err := unix.Getpeername(k.socket)
	return err == unix.ENOTCONN
}

// tcpClose is TCP_CLOSE of <net/tcp_states.h>: neither connected nor connecting nor listening.
const tcpClose = 7

// unfinished: a connect that would still wait.
func (k *call) unfinished(err error) bool {
	switch err {
	case unix.EAGAIN: // the server's queue is full
		return k.domain == unix.AF_UNIX
	case unix.EINPROGRESS, unix.EALREADY:
		return k.domain != unix.AF_UNIX
	}
	return false
}
