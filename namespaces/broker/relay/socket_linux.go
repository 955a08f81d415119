// Does to the process: opens UDP sockets on the host; binds and connects those that the box made for psb in its own network.
// Undone: by closing them; Relay.Close leaves none.
// Preconditions: psb owns the box's user namespace (ports below 1024 inside); a descriptor is to be had for each flow and door.
// Called by: relay.go, door.go, flow.go.
// Proved by: TestEcho, TestConnectedClient, TestIPv6, TestLargestDatagram, TestOwnAddress, TestPublish*, TestNothingIsLeft.

package relay

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// doorBuffer is the receive buffer asked for a door, in bytes: many clients share it. The kernel gives at most twice its net.core.rmem_max.
const doorBuffer = 1 << 20

// socket is a UDP socket of psb's in one network or the other. Go's poller waits for it, and no thread does.
type socket struct {
	file *os.File
	raw  syscall.RawConn
}

// datagram is one that came. It fits the largest that UDP has.
type datagram struct {
	data  []byte // a part of space
	from  netip.AddrPort
	local netip.Addr // where it was sent to; not valid unless the socket was asked to tell
	space [1<<16 - 1]byte
	info  [128]byte
}

// newSocket takes over a descriptor, which it closes where it fails. Those from inside are looked at: the box must not have psb wait in a
// system call, or bind what is no UDP socket.
func newSocket(fd int, addr netip.Addr) (*socket, error) {
	for _, o := range []struct{ option, want int }{
		{unix.SO_DOMAIN, family(addr)}, {unix.SO_TYPE, unix.SOCK_DGRAM}, {unix.SO_PROTOCOL, unix.IPPROTO_UDP},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, o.option)
		if err == nil && got != o.want {
			err = fmt.Errorf("not the socket asked for (%d: %d)", o.option, got)
		}
		if err != nil {
			unix.Close(fd)
			return nil, err
		}
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	s := &socket{file: os.NewFile(uintptr(fd), "udp")}
	var err error
	if s.raw, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

// bindInside makes a door of a socket of the box's. The error is ErrOwn where a socket of the box has the address.
func bindInside(fd int, at netip.AddrPort) (*socket, error) {
	s, err := newSocket(fd, at.Addr())
	if err != nil {
		return nil, err
	}
	// The address is nobody's, the route to it is the loopback's: IPv6 lets nobody bind to such a one without being asked to.
	free := [2]int{unix.SOL_IP, unix.IP_FREEBIND}
	if at.Addr().Is6() {
		free = [2]int{unix.SOL_IPV6, unix.IPV6_FREEBIND}
	}
	err = s.bind(at, free)
	if err == unix.EADDRINUSE {
		return nil, ErrOwn
	}
	if err != nil {
		return nil, err
	}
	// After the bind, which must find out whose the address is: the program's own sockets may come beside this one, and never the reverse.
	err = s.set([2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// bindOutside makes a door on the host. An error is the kernel's number.
func bindOutside(at netip.AddrPort) (*socket, error) {
	fd, err := unix.Socket(family(at.Addr()), unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return nil, err
	}
	s, err := newSocket(fd, at.Addr())
	if err != nil {
		return nil, err
	}
	var set [][2]int
	if at.Addr().Is6() {
		set = append(set, [2]int{unix.SOL_IPV6, unix.IPV6_V6ONLY})
	}
	if at.Addr().IsUnspecified() { // the answer must leave from the address that the peer knows
		info := [2]int{unix.SOL_IP, unix.IP_PKTINFO}
		if at.Addr().Is6() {
			info = [2]int{unix.SOL_IPV6, unix.IPV6_RECVPKTINFO}
		}
		set = append(set, info)
	}
	if err := s.bind(at, set...); err != nil {
		return nil, err
	}
	return s, nil
}

// bind sets options, gives the socket a door's room and binds it; it closes the socket where that fails.
func (s *socket) bind(at netip.AddrPort, options ...[2]int) error {
	err := s.set(options...)
	if err == nil {
		err = s.with(func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, doorBuffer); err != nil {
				return err
			}
			sa, err := sockaddr(fd, at)
			if err != nil {
				return err
			}
			return unix.Bind(fd, sa)
		})
	}
	if err != nil {
		s.close()
	}
	return err
}

// set turns options, each a level and a name, on.
func (s *socket) set(options ...[2]int) error {
	return s.with(func(fd int) error {
		for _, o := range options {
			if err := unix.SetsockoptInt(fd, o[0], o[1], 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// dial gives a socket of the host that talks to one peer. The error says that there is no way to it.
func dial(to netip.AddrPort) (*socket, error) {
	if !to.IsValid() {
		return nil, errAddress
	}
	fd, err := unix.Socket(family(to.Addr()), unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return nil, err
	}
	return connected(fd, to)
}

// connected takes over a socket, on whichever side, and sets its one peer.
func connected(fd int, to netip.AddrPort) (*socket, error) {
	s, err := newSocket(fd, to.Addr())
	if err != nil {
		return nil, err
	}
	err = s.with(func(fd int) error {
		sa, err := sockaddr(fd, to)
		if err != nil {
			return err
		}
		return unix.Connect(fd, sa)
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close frees the descriptor, and with it the address, before it returns. It may come more than once, but not from inside with or each's take.
func (s *socket) close() { _ = s.file.Close() }

// with runs f while the descriptor cannot be closed; f must not wait. The error is f's, or os.ErrClosed.
func (s *socket) with(f func(fd int) error) error {
	var err error
	if closed := s.raw.Control(func(fd uintptr) { err = f(int(fd)) }); closed != nil {
		return closed
	}
	return err
}

// each hands every datagram that comes to use, which must not keep it. It returns when the socket is closed or has an error, which for a
// connected one may be what its peer answered by ICMP.
func (s *socket) each(buffers *sync.Pool, use func(*datagram)) error {
	var g *datagram
	var err error
	take := func(fd uintptr) bool {
		g = buffers.Get().(*datagram)
		if err = g.receive(int(fd)); err == nil {
			return true
		}
		buffers.Put(g)
		return err != unix.EAGAIN
	}
	for {
		if closed := s.raw.Read(take); closed != nil {
			return closed
		}
		if err != nil {
			return err
		}
		use(g)
		buffers.Put(g)
	}
}

func (g *datagram) receive(fd int) error {
	for {
		n, info, _, from, err := unix.Recvmsg(fd, g.space[:], g.info[:], unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		g.data, g.from, g.local = g.space[:n], addrPort(from), sentTo(g.info[:info])
		return nil
	}
}

// send gives a datagram to the kernel, which takes it at once or not at all (EAGAIN).
func (s *socket) send(b []byte, w way) error {
	return s.with(func(fd int) error {
		_, err := unix.SendmsgN(fd, b, w.info, w.to, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return err
	})
}

// passing tells whether an error of send concerns that datagram only: no room, too large, a filter of the host's.
func passing(err error) bool {
	for _, e := range []error{unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EMSGSIZE, unix.EPERM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
