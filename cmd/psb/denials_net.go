package main

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"psb/policy"
)

// A refusal on the network may come to psb twice: as a name that no rule allows, which its name server refused and which has no port, and with
// the port, as the shim says or as the broker was asked. It is told once.

// nameOnly is a host name that nobody said a port for.
func nameOnly(a policy.Access) bool {
	return a.Op == policy.OpConnect && !strings.Contains(a.Object, ":")
}

func ofNet(op policy.Op) bool {
	return op == policy.OpConnect || op == policy.OpPrivate || op == policy.OpListen
}

// verdictOn is the policy's word on an access, a name without a port among them. A server is refused where it is to be reached nowhere.
func verdictOn(p *policy.Policy, a policy.Access) policy.Verdict {
	if nameOnly(a) {
		return p.JudgeName(a.Object)
	}
	v := p.Decide(a)
	if at, udp, ok := address(a.Object); ok && a.Op == policy.OpListen && v.Blocker == nil {
		v.Allowed = len(p.PublishAt(at, udp)) > 0
	}
	return v
}

// saidAddress is the object that a note of the shim means, "" for one of which nothing can be made: what is no port leaves the name alone. A
// stand-in for a name says nothing.
func saidAddress(host, port string) string {
	host = hostName(host)
	if addr, err := netip.ParseAddr(host); host == "" || host == "unix" || err == nil && standsForName(addr) {
		return ""
	}
	if n, ok := map[string]string{"http": "80", "https": "443"}[port]; ok {
		port = n
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		if strings.Contains(host, ":") {
			return ""
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

func standsForName(addr netip.Addr) bool {
	return netip.MustParsePrefix("198.18.0.0/15").Contains(addr.Unmap())
}

func hostName(s string) string { return strings.ToLower(strings.TrimSuffix(s, ".")) }

// hostOf is the host in an object of the network, "" for a socket of a file.
func hostOf(object string) string {
	if strings.HasPrefix(object, "unix:") {
		return ""
	}
	host, _, err := net.SplitHostPort(strings.TrimPrefix(object, "udp://"))
	if err != nil {
		host = object
	}
	return hostName(host)
}

// folded gives each refusal once, what the kernel was asked before what was only said. What the program says of a connect is no refusal by
// itself where a broker would have told: it may have met the box's own server.
func folded(list []*denial, brokered bool) []*denial {
	kernel := map[policy.Access]*denial{}
	hosts := map[string]bool{} // that the kernel refused
	for _, d := range list {
		if d.Source == "kernel" {
			kernel[d.Access] = d
			if d.Access.Op == policy.OpConnect {
				hosts[hostOf(d.Object)] = true
			}
		}
	}
	ported := map[string]bool{} // hosts that came with a port
	for _, d := range list {
		if d.Access.Op == policy.OpConnect && !nameOnly(d.Access) {
			ported[hostOf(d.Object)] = true
		}
	}
	var out []*denial
	for _, d := range list {
		host := hostOf(d.Object)
		switch same := kernel[d.Access]; {
		case d.Source != "kernel" && same != nil: // said and done
			if same.Where == "" {
				same.Where = d.Where
			}
		case nameOnly(d.Access) && (ported[host] || d.Source == "kernel" && expanded(host, hosts)):
		case d.Source != "kernel" && d.Access.Op == policy.OpConnect && kernel[policy.Access{Op: policy.OpConnect, Object: host}] != nil:
			d.Source = "kernel" // its name was refused
			out = append(out, d)
		case d.Source != "kernel" && d.Access.Op == policy.OpConnect && (brokered || hosts[host]):
		default:
			out = append(out, d)
		}
	}
	return out
}

// searched: a name that a resolver asked for on its way to one that is ruled, by the host's search list.
func searched(j *job, name string) bool {
	for _, line := range j.facts.host.Resolver {
		words := strings.Fields(line)
		for _, domain := range words[1:] {
			base, ok := strings.CutSuffix(name, "."+hostName(domain))
			if ok && words[0] != "options" && j.policy.RulesName(base) {
				return true
			}
		}
	}
	return false
}

// expanded: a name that a resolver made by putting the search list behind another one.
func expanded(host string, hosts map[string]bool) bool {
	for i, c := range host {
		if c == '.' && hosts[host[:i]] {
			return true
		}
	}
	return false
}

// netNotes says what a line on the network alone does not.
func (d *denial) netNotes() []string {
	switch {
	case nameOnly(d.Access) && d.Blocker == "":
		return []string{"no rule names it"}
	case d.Access.Op == policy.OpPrivate:
		return []string{"it leads into the own networks"}
	}
	return nil
}

// netHint says what to do about a refusal on the network: what deserves a thought gets no command ready to paste.
func netHint(j *job, a policy.Access) string {
	host := hostOf(a.Object)
	addr, _ := netip.ParseAddr(host)
	sock, isSocket := strings.CutPrefix(a.Object, "unix:")
	switch {
	case !j.plan.Brokered:
		return "no broker reaches it for this box: psb doctor"
	case isSocket && policy.SocketPower(sock, j.macros) != "":
		return "that socket " + policy.SocketPower(sock, j.macros) + ": think before a rule opens it"
	case isSocket && policy.Sensitive(sock, j.macros):
		return secretHint
	case isSocket:
		return addHint(j, a)
	case policy.Metadata(addr) || policy.MetadataName(host):
		return "that is where a cloud hands out its machines' credentials: think before a rule opens it"
	case a.Op == policy.OpListen:
		return listenHint(j, a)
	case policy.Sensitive(a.Object, j.macros):
		return "that looks like a machine's metadata or its nearest network: think before a rule opens it"
	case a.Op == policy.OpPrivate:
		return "who rules the name decides where it leads; if that is you: " + addHint(j, a)
	case addr.IsLoopback() || host == "localhost":
		return "that is a server of this machine; if the program should use it: " + addHint(j, a)
	case addr.IsValid() && policy.Inward(addr):
		return "that is an address of the own networks; if the program should use it: " + addHint(j, a)
	case nameOnly(a):
		a.Object += ":PORT"
	}
	return addHint(j, a)
}

// listenHint offers the place where this machine alone reaches the server. A port that was given to the program will be another one in the
// next run.
func listenHint(j *job, a policy.Access) string {
	at, udp, ok := address(a.Object)
	if !ok {
		return addHint(j, a)
	}
	addr, port := at.Addr(), at.Port()
	if addr.IsUnspecified() {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if port >= 32768 && port <= 60999 {
		port = 0
	}
	a.Object = netip.AddrPortFrom(addr, port).String()
	if udp {
		a.Object = "udp://" + a.Object
	}
	if !addr.IsLoopback() {
		return "others on the network could reach it; if they should: " + addHint(j, a)
	}
	return addHint(j, a)
}

// address takes an object that is one apart.
func address(object string) (at netip.AddrPort, udp, ok bool) {
	object, udp = strings.CutPrefix(object, "udp://")
	at, err := netip.ParseAddrPort(object)
	return at, udp, err == nil
}
