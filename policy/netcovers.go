package policy

import (
	"net/netip"
	"slices"
	"strings"
)

// covers says whether a rule on n matches all that is asked, one thing or a pattern.
func (n netPattern) covers(asked netPattern, op Op) bool {
	if n.unix != "" || asked.unix != "" {
		return n.unix != "" && n.unix == asked.unix
	}
	return n.udp == asked.udp && n.ports.hold(asked.ports) && n.coversHost(asked, op)
}

// coversHost leaves the ports aside. A rule that allows connections takes "*" for public addresses; one that denies, or
// that listens, takes it for all; private takes it for none.
func (n netPattern) coversHost(asked netPattern, op Op) bool {
	addr := asked.prefix.Addr()
	switch {
	case n.any && op == OpPrivate:
		return false
	case n.any && op == OpConnect:
		switch {
		case asked.any:
			return true
		case asked.suffix != "":
			return publicName("x" + asked.suffix)
		case asked.name != "":
			return publicName(asked.name)
		}
		return asked.prefix.IsSingleIP() && Public(addr)
	case n.any:
		return true
	case asked.any:
		return false
	case n.suffix != "":
		return strings.HasSuffix(asked.name, n.suffix) || strings.HasSuffix(asked.suffix, n.suffix)
	case n.name == "localhost":
		return asked.name == "localhost" || asked.prefix.IsValid() && asked.prefix.IsSingleIP() && slices.Contains(localhost, addr)
	case n.name != "":
		return n.name == asked.name
	case asked.name == "localhost":
		return n.prefix.Contains(localhost[0])
	case asked.name != "" || asked.suffix != "":
		return false
	}
	return n.prefix.Bits() <= asked.prefix.Bits() && n.prefix.Contains(addr)
}

// localhost are the addresses that the name stands for.
var localhost = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}

// narrow ranks a match: the larger the narrower.
func (n netPattern) narrow() int {
	host := 1000
	switch {
	case n.any:
		host = 0
	case n.suffix != "":
		host = len(n.suffix)
	case n.prefix.IsValid():
		host = 300 + n.prefix.Bits()
	}
	return host*100000 + 65536 - n.ports.size()
}
