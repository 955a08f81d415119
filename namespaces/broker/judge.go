package broker

import (
	"net/netip"
	"strconv"

	"psb/policy"
)

// Judge says what the box may reach. *policy.Policy is one; a learning run has another.
type Judge interface {
	// Decide is policy.Decide: connect, private and deny are asked for.
	Decide(a policy.Access) policy.Verdict
	// RulesName: some rule could let the box reach the host name.
	RulesName(name string) bool
	// PublishAt: where on the host a server that binds asked inside is to be reached; none for inside only.
	PublishAt(asked netip.AddrPort, udp bool) []netip.AddrPort
}

// NameServer is the address of the name server inside, for the box's /etc/resolv.conf.
const NameServer = "127.0.0.53"

// nameServer is where names are answered inside.
var nameServer = netip.AddrPortFrom(netip.MustParseAddr(NameServer), 53)

// target is what an address of the box means: a host name's port, or an address.
type target struct {
	name string // "" for an address
	addr netip.Addr
	port uint16
	udp  bool
}

// object is the policy's word for it.
func (t target) object() string {
	host := t.name
	if host == "" {
		host = t.addr.String()
		if t.addr.Is6() {
			host = "[" + host + "]"
		}
	}
	s := host + ":" + strconv.Itoa(int(t.port))
	if t.udp {
		s = "udp://" + s
	}
	return s
}

func (t target) at(addr netip.Addr) target { return target{addr: addr, port: t.port, udp: t.udp} }

func (t target) access(op policy.Op) policy.Access { return policy.Access{Op: op, Object: t.object()} }

// mayTry asks whether the target is ruled at all, before any name is looked up.
func mayTry(j Judge, t target) bool { return j.Decide(t.access(policy.OpConnect)).Allowed }

// unasked is a judge's word without anybody being asked: about addresses that the program did not ask for.
func unasked(j Judge) Judge {
	if a, ok := j.(interface{ Unasked() Judge }); ok {
		return a.Unasked()
	}
	return j
}

// mayReach asks whether the target may be reached at the address its name has now. refused is what a rule would have to say.
func mayReach(j Judge, t target, real netip.Addr) (refused policy.Access, ok bool) {
	connect := t.access(policy.OpConnect)
	if !j.Decide(connect).Allowed {
		return connect, false
	}
	if t.name == "" {
		return policy.Access{}, true
	}
	literal := unasked(j).Decide(t.at(real).access(policy.OpConnect))
	switch {
	case literal.Blocker != nil:
		return t.at(real).access(policy.OpConnect), false
	case literal.Allowed, !policy.Inward(real):
		return policy.Access{}, true
	case policy.Metadata(real) || real.IsMulticast() || real.IsUnspecified():
		return t.at(real).access(policy.OpConnect), false
	}
	private := t.access(policy.OpPrivate)
	return private, j.Decide(private).Allowed
}
