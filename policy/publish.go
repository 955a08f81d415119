package policy

import (
	"net/netip"
	"slices"
)

// PublishAt says where on the host a server is to be reached that binds asked inside the box, sorted and unmapped; nothing
// means inside the box only.
//
// That is at the very address, where listen rules allow it. A server that binds every address, 0.0.0.0 or ::, where no rule
// says so, is to be reached at each single address that a listen rule names with the port: :: at those of both families,
// 0.0.0.0 at those of IPv4. The port is always the one asked for, also under a rule on port 0: who was given a number tells
// others that number. Where asked has port 0, so have the answers: the kernel chooses.
//
// Precondition: as Decide.
func (p *Policy) PublishAt(asked netip.AddrPort, udp bool) []netip.AddrPort {
	asked = netip.AddrPortFrom(asked.Addr().Unmap().WithZone(""), asked.Port())
	if !asked.IsValid() {
		return nil
	}
	if p.mayListen(asked, udp) {
		return []netip.AddrPort{asked}
	}
	if !asked.Addr().IsUnspecified() {
		return nil
	}
	var out []netip.AddrPort
	for i := range p.Rules {
		for _, addr := range listenAddresses(&p.Rules[i], udp) {
			at := netip.AddrPortFrom(addr, asked.Port())
			if (asked.Addr().Is6() || addr.Is4()) && p.mayListen(at, udp) {
				out = append(out, at)
			}
		}
	}
	return apart(out)
}

// Published gives every place that a listen rule names by a single address and a single port, sorted: where servers of
// datagrams, which no call announces, can be given their place at the start. A port in a list counts, one in a range does
// not, nor does port 0.
//
// Precondition: as Decide.
func (p *Policy) Published(udp bool) []netip.AddrPort {
	var out []netip.AddrPort
	for i := range p.Rules {
		r := &p.Rules[i]
		for _, addr := range listenAddresses(r, udp) {
			n, _ := parseNet(r.Pattern.Object)
			for _, run := range n.ports {
				at := netip.AddrPortFrom(addr, uint16(run.lo))
				if run.lo == run.hi && run.lo > 0 && p.mayListen(at, udp) {
					out = append(out, at)
				}
			}
		}
	}
	return apart(out)
}

func (p *Policy) mayListen(at netip.AddrPort, udp bool) bool {
	object := at.String()
	if udp {
		object = "udp://" + object
	}
	return p.Decide(Access{Op: OpListen, Object: object}).Allowed
}

// listenAddresses gives the single addresses that a listen rule names: one, or the two of localhost.
func listenAddresses(r *Rule, udp bool) []netip.Addr {
	n, err := parseNet(r.Pattern.Object)
	switch {
	case r.Op != OpListen || err != nil || n.udp != udp:
	case n.name == "localhost":
		return localhost
	case n.prefix.IsValid() && n.prefix.IsSingleIP():
		return []netip.Addr{n.prefix.Addr()}
	}
	return nil
}

// apart sorts places and leaves out those that another one holds: nothing can listen at 127.0.0.1 beside 0.0.0.0.
func apart(places []netip.AddrPort) []netip.AddrPort {
	slices.SortFunc(places, netip.AddrPort.Compare)
	places = slices.Compact(places)
	every := func(at netip.AddrPort) bool {
		all := netip.IPv4Unspecified()
		if at.Addr().Is6() {
			all = netip.IPv6Unspecified()
		}
		return at.Addr() != all && slices.Contains(places, netip.AddrPortFrom(all, at.Port()))
	}
	var out []netip.AddrPort
	for _, at := range places {
		if !every(at) {
			out = append(out, at)
		}
	}
	return out
}
