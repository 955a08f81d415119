// Does to the process: nothing; it writes addresses as system calls take them, and asks the kernel for the number of an interface.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: socket_linux.go, flow.go.
// Proved by: TestAddresses, TestSentTo, TestPublishOnEveryAddress.

package relay

import (
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

func family(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// sockaddr writes an address for the network that a socket belongs to, which numbers the interface of a link-local one.
func sockaddr(fd int, a netip.AddrPort) (unix.Sockaddr, error) {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, nil
	}
	sa := &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	zone := a.Addr().Zone()
	if zone == "" {
		return sa, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		sa.ZoneId = uint32(n)
		return sa, nil
	}
	name, err := unix.NewIfreq(zone)
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, name)
	}
	if err != nil {
		return nil, err
	}
	sa.ZoneId = name.Uint32()
	return sa, nil
}

// addrPort reads an address; the zone of a link-local one is the interface's number. What is none gives one that is not valid.
func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		a := netip.AddrFrom16(sa.Addr)
		if sa.ZoneId != 0 {
			a = a.WithZone(strconv.FormatUint(uint64(sa.ZoneId), 10))
		}
		return netip.AddrPortFrom(a, uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// way is where a datagram goes, and from which address of psb's; the zero way is a connected socket's. One goroutine uses it at a time: the
// kernel's form of the address is written into it.
type way struct {
	to   unix.Sockaddr
	info []byte
}

// wayTo is the way back to who sent a datagram to local, which is not valid where the socket has but one address.
func wayTo(from netip.AddrPort, local netip.Addr) way {
	sa, _ := sockaddr(-1, from) // the zone is a number: the kernel gave it
	switch {
	case local.IsMulticast(): // nothing can leave from there
	case local.Is4():
		return way{sa, unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: local.As4()})}
	case local.Is6(): // the interface of a link-local one is the one in from
		return way{sa, unix.PktInfo6(&unix.Inet6Pktinfo{Addr: local.As16()})}
	}
	return way{to: sa}
}

// sentTo finds the address that a datagram was sent to in what came with it, struct in_pktinfo or in6_pktinfo.
func sentTo(info []byte) netip.Addr {
	if len(info) == 0 {
		return netip.Addr{}
	}
	list, err := unix.ParseSocketControlMessage(info)
	if err != nil {
		return netip.Addr{}
	}
	for _, m := range list {
		switch {
		case m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= 12:
			return netip.AddrFrom4([4]byte(m.Data[4:8])) // ipi_spec_dst: the own address, also where the datagram was a broadcast
		case m.Header.Level == unix.SOL_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= 20:
			return netip.AddrFrom16([16]byte(m.Data[:16]))
		}
	}
	return netip.Addr{}
}
