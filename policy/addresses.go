package policy

import (
	"net/netip"
	"slices"
	"strings"
)

// Public says whether an address is one that "*" in [net] stands for: reachable on the public Internet, and no
// private, link-local, loopback, multicast, documentation, translation or cloud metadata address. The broker asks
// it again for the address that a name resolved to.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	return !among(addr, notPublic) && (addr.Is4() || globalUnicast.Contains(addr))
}

// PublicNetworks are what Public says yes to: networks, and what is taken out of them.
func PublicNetworks() (networks, except []netip.Prefix) {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), globalUnicast}, slices.Clone(notPublic)
}

var globalUnicast = netip.MustParsePrefix("2000::/3")

// notPublic follows the IANA special-purpose registries, plus one metadata address that lies in public space.
var notPublic = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"168.63.129.16/32",                                                  // Azure's metadata and DNS
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16") // Teredo and 6to4 carry an IPv4 address inside

// Inward says whether an address is one of the own machine or its networks, or carries such a one inside: what a name
// on the Internet must not lead to, unless the right private says that it may. Documentation addresses are nobody's
// network and not inward, though not Public either. A zone counts for nothing; no address is inward, so that what
// cannot be judged is refused.
func Inward(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return !addr.IsValid() || among(addr, inward) || slices.ContainsFunc(carried(addr), Inward)
}

var inward = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.88.99.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // Azure's, on every virtual machine
	"::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	"64:ff9b:1::/48", // NAT64 of the own network
	"2001::/32")      // Teredo ends in the own machine

// Metadata says whether an address, or one it carries inside, is where a cloud tells a machine about itself and hands
// out its credentials. No rule on a name reaches it, with private or without, and learning never grants it.
func Metadata(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.Contains(metadata, addr) || slices.ContainsFunc(carried(addr), Metadata)
}

var metadata = addresses(
	"169.254.169.254", "fd00:ec2::254", // AWS and most others; AWS by IPv6
	"169.254.170.2", "169.254.170.23", "fd00:ec2::23", // AWS: credentials of containers and pods
	"fd20:ce::254",                      // Google by IPv6
	"168.63.129.16",                     // Azure
	"100.100.100.200",                   // Alibaba
	"169.254.0.23",                      // Tencent
	"192.0.0.192", "fd00:c1::a9fe:a9fe", // Oracle
	"169.254.42.42", "fd00:42::42", // Scaleway
	"fe80::a9fe:a9fe") // OpenStack by IPv6

// MetadataName says whether a host name is by custom that of a cloud's metadata.
func MetadataName(name string) bool {
	return slices.Contains([]string{"metadata", "metadata.google.internal", "metadata.goog", "metadata.tencentyun.com", "metadata.packet.net",
		"metadata.platformequinix.com", "instance-data", "instance-data.ec2.internal"}, hostName(name))
}

// hostName is a name in its one form: lower case, without a final dot.
func hostName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// carried gives the IPv4 addresses that an IPv6 one has inside, for those who translate or tunnel.
func carried(addr netip.Addr) []netip.Addr {
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	inside := func(at ...int) netip.Addr { return netip.AddrFrom4([4]byte{b[at[0]], b[at[1]], b[at[2]], b[at[3]]}) }
	last := inside(12, 13, 14, 15)
	switch {
	case among(addr, endsIn4):
		return []netip.Addr{last}
	case netip.MustParsePrefix("64:ff9b:1::/48").Contains(addr): // RFC 6052: it depends on the length of the network's prefix
		return []netip.Addr{last, inside(6, 7, 9, 10), inside(7, 9, 10, 11), inside(9, 10, 11, 12)}
	case netip.MustParsePrefix("2002::/16").Contains(addr): // 6to4
		return []netip.Addr{inside(2, 3, 4, 5)}
	case netip.MustParsePrefix("2001::/32").Contains(addr): // Teredo: server and, with its bits turned, client
		client := last.As4()
		for i := range client {
			client[i] ^= 0xff
		}
		return []netip.Addr{inside(4, 5, 6, 7), netip.AddrFrom4(client)}
	}
	return nil
}

// endsIn4 are IPv4-compatible, IPv4-translated and NAT64 addresses; IPv4-mapped ones are unmapped before.
var endsIn4 = prefixes("::/96", "::ffff:0:0:0/96", "64:ff9b::/96")

// publicName says whether a name may be taken for a public host. Names that by custom mean the own machine or the
// own network must be named themselves.
func publicName(name string) bool {
	if !strings.Contains(name, ".") {
		return false
	}
	for _, s := range []string{".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet", ".corp", ".home", ".localdomain"} {
		if strings.HasSuffix(name, s) {
			return false
		}
	}
	return true
}

func among(addr netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range texts {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func addresses(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range texts {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}
