// Does to the process: opens sockets of psb's own in the box's network, at addresses that datagrams may go to; runs the name server there.
// Undone: they are closed at the box's end.
// Preconditions: the box's program runs.
// Called by: connect_linux.go, send_linux.go.
// Proved by: TestNetworkDatagrams, TestNetworkNames.

package broker

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"psb/namespaces/broker/relay"
	"psb/policy"
)

// openDoor lets datagrams to an address get out, if they may. sends: the program sends now; else it only gives its socket a peer, which
// resolvers do to sort addresses, and only a literal address without a rule is refused.
func (b *Broker) openDoor(to netip.AddrPort, protocol int, sends bool) error {
	if err := b.nameServerFor(to, true); err != nil || to == nameServer {
		return err
	}
	if protocol != unix.IPPROTO_UDP {
		return nil // an echo inside
	}
	t, _ := b.means(to, true)
	mine := own(to.Addr())
	if mine {
		t = loopbackTarget(to, true)
	}
	if !mayTry(b.cfg.Judge, t) {
		if mine || t.name != "" && !sends {
			return nil // the box itself; or an address that is only compared
		}
		return b.refuse(t.access(policy.OpConnect))
	}
	if to.Port() == 0 {
		return nil
	}
	if err := b.route(); err != nil {
		return unix.ENETUNREACH
	}
	door := to
	if mine {
		door = netip.AddrPortFrom(t.addr, to.Port())
	}
	if err := b.relay.Open(netip.AddrPortFrom(door.Addr().Unmap(), door.Port())); err != nil && !errors.Is(err, relay.ErrOwn) {
		return unix.ENOBUFS
	}
	return nil
}

// datagramInside makes a socket of the box's network for the relay.
func (b *Broker) datagramInside(v6 bool) (int, error) {
	domain := unix.AF_INET
	if v6 {
		domain = unix.AF_INET6
	}
	return b.cfg.Socket(domain, unix.SOCK_DGRAM)
}

// where says to the relay what an address inside leads to.
func (b *Broker) where(ctx context.Context, to netip.AddrPort) ([]netip.AddrPort, error) {
	t, which := b.means(to, true)
	if !mayTry(b.cfg.Judge, t) {
		return nil, b.refuse(t.access(policy.OpConnect))
	}
	real, err := b.resolve(ctx, t, which)
	if err != nil {
		return nil, err
	}
	if t.name != "" && policy.Inward(real.Addr()) && b.cfg.Did != nil {
		b.cfg.Did(0, t.access(policy.OpPrivate), "")
	}
	return []netip.AddrPort{real}, nil
}

// sent hears of the first datagram of a flow: only that is a use of the network.
func (b *Broker) sent(to netip.AddrPort) {
	if b.cfg.Did != nil {
		t, _ := b.means(to, true)
		b.cfg.Did(0, t.access(policy.OpConnect), "")
	}
}

// nameServerFor starts the name server when the program first turns to it.
func (b *Broker) nameServerFor(to netip.AddrPort, udp bool) error {
	if netip.AddrPortFrom(to.Addr().Unmap(), to.Port()) != nameServer {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answers || b.closed {
		return nil
	}
	packets, err := b.cfg.Socket(unix.AF_INET, unix.SOCK_DGRAM)
	if err != nil {
		return unix.ECONNREFUSED
	}
	streams, err := b.cfg.Socket(unix.AF_INET, unix.SOCK_STREAM)
	if err != nil {
		unix.Close(packets)
		return unix.ECONNREFUSED
	}
	b.answers = true
	for _, fd := range []int{packets, streams} {
		if err := unix.Bind(fd, sockaddrOf(nameServer)); err != nil { // the box has a server of its own there
			unix.Close(packets)
			unix.Close(streams)
			return nil
		}
	}
	if err := unix.Listen(streams, 16); err != nil {
		unix.Close(packets)
		unix.Close(streams)
		return nil
	}
	pf, sf := os.NewFile(uintptr(packets), "name server"), os.NewFile(uintptr(streams), "name server")
	defer pf.Close()
	defer sf.Close()
	if conn, err := net.FilePacketConn(pf); err == nil {
		b.closes = append(b.closes, func() { conn.Close() })
		go func() { _ = b.names.ServePacket(b.ctx, conn) }()
	}
	if l, err := net.FileListener(sf); err == nil {
		b.closes = append(b.closes, func() { l.Close() })
		go func() { _ = b.names.ServeStream(b.ctx, l) }()
	}
	return nil
}
