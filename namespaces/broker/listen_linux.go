// Does to the process: makes the program's sockets listen; where a rule says so, one of the host's network is put over the program's.
// Undone: closing the socket, which is the program's, ends it.
// Preconditions: Linux 5.9 (SECCOMP_IOCTL_NOTIF_ADDFD).
// Called by: broker_linux.go.
// Proved by: TestNetworkServer, TestNetworkAttackHandedSocket.

package broker

import (
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"psb/policy"
)

// listen answers listen(2).
func (b *Broker) listen(k *call) error {
	if err := k.takeSocket(&b.callers); err != nil {
		return err
	}
	if err := k.stillWaits(); err != nil {
		return err
	}
	backlog := int(int32(k.r.Args[1]))
	if !b.net.has(k.socket) {
		if accepts, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && accepts != 0 {
			return unix.Listen(k.socket, backlog) // another length of its queue
		}
		return unix.EINVAL // as of a socket that is connected: one of the host's never listens but where psb made it
	}
	if k.domain == unix.AF_UNIX {
		if err := k.takeCaller(); err != nil {
			return err
		}
		return k.who.as(func() error { return unix.Listen(k.socket, backlog) }) // who connects is told who listens
	}
	inet := k.domain == unix.AF_INET || k.domain == unix.AF_INET6
	if !inet || k.protocol() != unix.IPPROTO_TCP {
		return unix.Listen(k.socket, backlog)
	}
	asked := localOf(k.socket)
	defer func() { b.listened.add(localOf(k.socket).Port()) }() // whatever it was bound to before
	chosen, marked := b.free.of(k.socket)
	free := asked.Port() == 0 || marked && chosen == asked.Port() // any free port
	places := b.cfg.Judge.PublishAt(asked, false)
	if free {
		places = b.cfg.Judge.PublishAt(netip.AddrPortFrom(asked.Addr(), 0), false)
	}
	told := asked
	if free {
		told = netip.AddrPortFrom(asked.Addr(), 0)
		if b.cfg.Did != nil {
			places = nil // who asked for any port while learning told nobody outside
		}
	}
	var err error
	if len(places) == 0 {
		err = unix.Listen(k.socket, backlog)
	} else {
		err = b.publish(k, asked, places, backlog)
	}
	if err == nil {
		b.did(k, target{addr: told.Addr(), port: told.Port()}.access(policy.OpListen), nil)
	}
	return err
}

// publish listens on the host.
func (b *Broker) publish(k *call, asked netip.AddrPort, places []netip.AddrPort, backlog int) error {
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	fd, err := b.hostListener(k, asked, places[0], backlog)
	if err == unix.EADDRINUSE {
		if shared := b.sharedListener(k, asked); shared >= 0 { // another process of the box listens with the same socket
			defer unix.Close(shared)
			return b.place(k, shared, flags)
		}
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	at := localOf(fd)
	cookie, ok := cookieOf(fd)
	if !ok {
		return unix.EACCES
	}
	inside, _ := cookieOf(k.socket)
	l := listener{at: at, cookie: cookie, inside: inside, tid: k.r.TID, number: k.number}
	b.published.add(asked, l)
	b.published.add(netip.AddrPortFrom(asked.Addr(), at.Port()), l)
	for _, also := range places[1:] {
		if err := b.lead(k, netip.AddrPortFrom(also.Addr(), at.Port()), l, backlog); err != nil {
			return err
		}
	}
	return b.place(k, fd, flags)
}

// hostListener makes a listening socket of the host's network. Where any free port will do, the one the program has inside is tried first:
// it may have told somebody.
func (b *Broker) hostListener(k *call, asked, at netip.AddrPort, backlog int) (int, error) {
	domain := unix.AF_INET
	if at.Addr().Is6() {
		domain = unix.AF_INET6
	}
	ports := []uint16{at.Port()}
	if at.Port() == 0 && asked.Port() >= 32768 { // nothing that has a number by custom
		ports = []uint16{asked.Port(), 0}
	}
	var err error
	for _, port := range ports {
		var fd int
		if fd, err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP); err != nil {
			return -1, err
		}
		carryOver(k.socket, fd, k.domain, domain, b.usualBuffers(), ofListeners()...)
		to := netip.AddrPortFrom(at.Addr(), port)
		b.onlyRuledFamily(fd, to)
		if err = b.bindHost(k, fd, asked, to); err == nil {
			err = unix.Listen(fd, backlog)
		}
		if err == nil {
			return fd, nil
		}
		unix.Close(fd)
	}
	return -1, err
}

// onlyRuledFamily keeps a socket for every IPv6 address from being one for every IPv4 address as well, where no rule says so.
func (b *Broker) onlyRuledFamily(fd int, at netip.AddrPort) {
	four := netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())
	if at.Addr() == netip.IPv6Unspecified() && !slices.Contains(b.cfg.Judge.PublishAt(four, false), four) {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
}

// bindHost binds a socket of the host's network. A port is shared (SO_REUSEPORT) with servers of this box alone: the first of them shares it
// with nobody, so that no visitor of somebody else's is taken.
func (b *Broker) bindHost(k *call, fd int, asked, to netip.AddrPort) error {
	shares, sockopt := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_REUSEPORT)
	if sockopt != nil || shares == 0 {
		return unix.Bind(fd, sockaddrOf(to))
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // connections that wait out their time are in nobody's way; a server is
	err := unix.Bind(fd, sockaddrOf(to))
	l, known := b.published.of(asked)
	if err == unix.EADDRINUSE && known && b.listensStill(l) {
		if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err == nil {
			err = unix.Bind(fd, sockaddrOf(to))
		}
		return err
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}
	return err
}

// localOf is the address a socket is bound to.
func localOf(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// portSet remembers ports. The zero portSet is empty.
type portSet struct {
	mu   sync.Mutex
	bits [1 << 16 / 64]uint64
}

func (s *portSet) add(port uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bits[port/64] |= 1 << (port % 64)
}

func (s *portSet) has(port uint16) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bits[port/64]&(1<<(port%64)) != 0
}

// listener is a socket of the host's network that was handed in.
type listener struct {
	at     netip.AddrPort
	cookie uint64
	inside uint64 // cookie of the socket it stands for
	tid    int    // where it was put
	number int32
}

// sharedListener takes the socket that was handed in for the same socket inside, from the process that got it: servers bind once, fork, and
// listen in each child. -1 when there is none any more.
func (b *Broker) sharedListener(k *call, asked netip.AddrPort) int {
	inside, ok := cookieOf(k.socket)
	l, known := b.published.of(asked)
	if !ok || !known || l.inside != inside {
		return -1
	}
	pidfd, err := pidfdOf(l.tid)
	if err != nil {
		return -1
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, int(l.number), 0)
	if err != nil {
		return -1
	}
	if cookie, ok := cookieOf(fd); !ok || cookie != l.cookie {
		unix.Close(fd)
		return -1
	}
	return fd
}

// published remembers which servers inside listen on the host instead. The zero published is empty.
type published struct {
	mu sync.Mutex
	by map[netip.AddrPort]listener
}

// mostPublished bounds what is remembered; beyond it a server is reached from the host only.
const mostPublished = 1024

func (p *published) add(asked netip.AddrPort, l listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[netip.AddrPort]listener{}
	}
	if len(p.by) < mostPublished {
		p.by[asked] = l
	}
}

func (p *published) of(asked netip.AddrPort) (listener, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.by[asked]
	return l, ok
}

// here finds the server inside that an address inside means, if it still listens.
func (p *published) here(to netip.AddrPort, still func(listener) bool) (at netip.AddrPort, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	addr := to.Addr().Unmap()
	for _, a := range []netip.Addr{addr, netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
		l, known := p.by[netip.AddrPortFrom(a, to.Port())]
		if !known {
			continue
		}
		if !still(l) {
			delete(p.by, netip.AddrPortFrom(a, to.Port()))
			continue
		}
		if l.at.Addr().IsUnspecified() {
			return netip.AddrPortFrom(loopbackTarget(netip.AddrPortFrom(l.at.Addr(), 0), false).addr, l.at.Port()), true
		}
		return l.at, true
	}
	return netip.AddrPort{}, false
}
