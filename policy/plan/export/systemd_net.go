package export

import (
	"fmt"
	"net/netip"
	"slices"

	"psb/policy"
)

// systemdNet is what a unit can say of [net]: addresses without their ports, ports without their addresses. Without a line it could hold, the
// service has an empty network of its own.
func (m *maker) systemdNet() []string {
	var allow, bind []string
	var denied []policy.NetParts
	rules := m.plan.NetRules()
	for _, r := range rules {
		if r.Deny {
			if n, err := policy.Net(r.Pattern.Object); err == nil {
				denied = append(denied, n)
			}
		}
	}
	for _, r := range rules {
		n, err := policy.Net(r.Pattern.Object)
		switch {
		case r.Deny || err != nil || r.Op == policy.OpPrivate:
		case n.Unix != "":
			m.lost(line("net", r), "bind the socket by hand: BindPaths= of its folder shows every other one in it")
		case n.Name == "localhost":
			allow = append(allow, "localhost")
			bind = append(bind, systemdPorts(r, n)...)
		case !n.Prefix.IsValid():
			m.lost(line("net", r), "systemd has no names of hosts")
		case slices.ContainsFunc(denied, func(d policy.NetParts) bool { return meets(d, n.Prefix) }):
			m.lost(line("net", r), "a deny line takes from it, and what IPAddressAllow= names no line can refuse")
		case r.Op == policy.OpConnect:
			allow = append(allow, n.Prefix.String())
			m.weaker(line("net", r), "IPAddressAllow= opens every port of the address, for datagrams too")
		case n.Prefix.Addr().IsLoopback():
			allow = append(allow, "localhost")
			bind = append(bind, systemdPorts(r, n)...)
			m.weaker(line("net", r), "IPAddressAllow=localhost opens every port of the host's loopback")
		default:
			m.lost(line("net", r), "who may come is IPAddressAllow='s to say: add it and SocketBindAllow= by hand")
		}
	}
	if len(allow) == 0 {
		m.lost("connections within the box", "connect is refused as a whole: SystemCallFilter= cannot see where one goes")
		return []string{"PrivateNetwork=yes"}
	}
	m.weaker("abstract unix sockets", "the service is in the host's network: those of the host can be connected to")
	out := []string{"IPAddressDeny=any"}
	slices.Sort(allow)
	for _, a := range slices.Compact(allow) {
		out = append(out, "IPAddressAllow="+a)
	}
	out = append(out, "SocketBindDeny=any")
	for _, b := range bind {
		out = append(out, "SocketBindAllow="+b)
	}
	return out
}

// systemdPorts are those of a listen line.
func systemdPorts(r policy.Rule, n policy.NetParts) (out []string) {
	if r.Op != policy.OpListen {
		return nil
	}
	kind := "tcp"
	if n.UDP {
		kind = "udp"
	}
	for _, p := range n.Ports {
		switch {
		case p.To == 0:
			out = append(out, kind+":32768-60999")
		case p.From == p.To:
			out = append(out, fmt.Sprintf("%s:%d", kind, p.From))
		default:
			out = append(out, fmt.Sprintf("%s:%d-%d", kind, p.From, p.To))
		}
	}
	return out
}

// meets says whether a deny line speaks of some address of a network, or may.
func meets(d policy.NetParts, p netip.Prefix) bool {
	return d.Any || d.Prefix.IsValid() && d.Prefix.Overlaps(p)
}
