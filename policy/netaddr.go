package policy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// netPattern is one address of [net] taken apart: what a rule matches, or one thing asked for.
type netPattern struct {
	udp    bool
	unix   string // socket path, or "@name" for an abstract one; nothing else is set then
	any    bool   // "*"
	suffix string // "*.pypi.org" as ".pypi.org"
	name   string // lower case, without a final dot
	prefix netip.Prefix
	lo, hi int // ports
}

// parseNet reads "host:port", "udp://host:port" or "unix:path". The host is a name, "*", "*.name", an address or a
// network; the port a number, a range or "*".
func parseNet(text string) (netPattern, error) {
	var n netPattern
	fail := func(format string, args ...any) (netPattern, error) {
		return netPattern{}, fmt.Errorf("%q: %s", text, fmt.Sprintf(format, args...))
	}
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		switch {
		case path == "" || path == "@" || strings.ContainsRune(path, 0):
			return fail("a unix socket needs a path")
		case strings.HasSuffix(path, "/"):
			return fail("name one socket, not a folder")
		}
		n.unix = path
		return n, nil
	}
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		switch scheme {
		case "udp":
			n.udp, rest = true, after
		case "tcp":
			return fail("tcp is meant without a scheme: write %q", after)
		case "http", "https":
			host, _, _ := strings.Cut(after, "/")
			if !strings.Contains(host, ":") {
				host += map[string]string{"http": ":80", "https": ":443"}[scheme]
			}
			return fail("a rule names host and port, no URL: write %q", host)
		default:
			return fail("unknown scheme %q, valid: udp", scheme)
		}
	}
	host, bits, port := "", "", ""
	if after, ok := strings.CutPrefix(rest, "["); ok {
		end := strings.IndexByte(after, ']')
		if end < 0 {
			return fail("a [ without its ]")
		}
		host, after = after[:end], after[end+1:]
		if !strings.Contains(host, ":") {
			return fail("brackets are for IPv6 addresses")
		}
		if after, ok = strings.CutPrefix(after, "/"); ok {
			bits, after, ok = strings.Cut(after, ":")
			bits = "/" + bits
			port = after
		} else {
			port, ok = strings.CutPrefix(after, ":")
		}
		if !ok {
			return fail("add a port, such as %q", rest+":443")
		}
	} else {
		i := strings.LastIndexByte(rest, ':')
		if i < 0 {
			return fail("add a port, such as %q", rest+":443")
		}
		host, port = rest[:i], rest[i+1:]
		if strings.Contains(host, ":") {
			return fail("an IPv6 address needs brackets, such as %q", "[::1]:443")
		}
		if j := strings.IndexByte(host, '/'); j >= 0 {
			host, bits = host[:j], host[j:]
		}
	}
	var err error
	if n.lo, n.hi, err = parsePorts(port); err != nil {
		return fail("%s", err)
	}
	if err := n.setHost(host, bits); err != nil {
		return fail("%s", err)
	}
	return n, nil
}

func parsePorts(s string) (lo, hi int, err error) {
	if s == "*" {
		return 1, 65535, nil
	}
	one := func(s string) (int, error) {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || s != strconv.FormatUint(n, 10) {
			return 0, fmt.Errorf("%q is no port: write a number up to 65535, a range such as 1-1024, or *", s)
		}
		return int(n), nil
	}
	a, b, isRange := strings.Cut(s, "-")
	if lo, err = one(a); err != nil {
		return 0, 0, err
	}
	if !isRange {
		return lo, lo, nil
	}
	if hi, err = one(b); err != nil {
		return 0, 0, err
	}
	if lo > hi || lo == 0 {
		return 0, 0, fmt.Errorf("port range %q is empty or starts at 0", s)
	}
	return lo, hi, nil
}

func (n *netPattern) setHost(host, bits string) error {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return fmt.Errorf("an address with a zone cannot be ruled")
		}
		if bits == "" {
			addr = addr.Unmap()
			n.prefix = netip.PrefixFrom(addr, addr.BitLen())
			return nil
		}
		width, err := strconv.ParseUint(bits[1:], 10, 8)
		if err != nil || bits[1:] != strconv.FormatUint(width, 10) || int(width) > addr.BitLen() {
			return fmt.Errorf("%s%s is no network", host, bits)
		}
		prefix := netip.PrefixFrom(addr, int(width))
		if prefix.Masked() != prefix {
			return fmt.Errorf("%s has bits set beyond its width, did you mean %q?", prefix, prefix.Masked())
		}
		if addr.Is4In6() {
			return fmt.Errorf("write the network in its IPv4 form")
		}
		n.prefix = prefix
		return nil
	}
	if bits != "" {
		return fmt.Errorf("%s%s is no network", host, bits)
	}
	name := host
	switch {
	case host == "*":
		n.any = true
		return nil
	case strings.HasPrefix(host, "*."):
		name = host[2:]
		n.suffix = host[1:]
	default:
		n.name = host
	}
	return checkHost(name)
}

// checkHost accepts names as DNS and hosts files have them. What a C library would read as an old form of an IPv4
// address ("127.1", "0x7f.1") is refused: it would pass as a name and connect to a number.
func checkHost(name string) error {
	if name == "" {
		return fmt.Errorf("the host is missing")
	}
	if len(name) > 253 {
		return fmt.Errorf("the host name is too long")
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return fmt.Errorf("%q is no host name", name)
		}
		for _, c := range l {
			switch {
			case c > 127:
				return fmt.Errorf("write %q in its xn-- form", name)
			case c == '*':
				return fmt.Errorf("a * stands alone or first, as in *.example.com")
			case c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9'):
				return fmt.Errorf("%q is no host name", name)
			}
		}
	}
	last := labels[len(labels)-1]
	if last[0] >= '0' && last[0] <= '9' {
		if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
			return fmt.Errorf("%q is no IPv4 address of four numbers", name)
		}
	}
	return nil
}

// single says whether the pattern names one thing, so that it can be asked for.
func (n netPattern) single() bool {
	return n.unix != "" || !n.any && n.suffix == "" && n.lo == n.hi && (n.name != "" || n.prefix.IsSingleIP())
}

// anyFree says whether the port is 0, "any free one", which only listen can ask for.
func (n netPattern) anyFree() bool { return n.unix == "" && n.lo == 0 }

// canonical writes one thing asked for.
func (n netPattern) canonical() string {
	if n.unix != "" {
		return "unix:" + n.unix
	}
	s := n.name
	if n.prefix.IsValid() {
		s = n.prefix.Addr().String()
		if n.prefix.Addr().Is6() {
			s = "[" + s + "]"
		}
	}
	s = fmt.Sprintf("%s:%d", s, n.lo)
	if n.udp {
		s = "udp://" + s
	}
	return s
}

// covers says whether a rule on n matches the single asked. A rule that allows connections takes "*" for public
// addresses; one that denies, or that listens, takes it for all.
func (n netPattern) covers(asked netPattern, op Op) bool {
	if n.unix != "" || asked.unix != "" {
		return n.unix != "" && n.unix == asked.unix
	}
	if n.udp != asked.udp || asked.lo < n.lo || asked.lo > n.hi {
		return false
	}
	addr := asked.prefix.Addr()
	switch {
	case n.any && op == OpConnect:
		if asked.name != "" {
			return publicName(asked.name)
		}
		return Public(addr)
	case n.any:
		return true
	case n.suffix != "":
		return strings.HasSuffix(asked.name, n.suffix)
	case n.name == "localhost":
		return asked.name == "localhost" || asked.name == "" && (addr == netip.MustParseAddr("127.0.0.1") || addr == netip.IPv6Loopback())
	case n.name != "":
		return n.name == asked.name
	case asked.name == "localhost":
		return n.prefix.Contains(netip.MustParseAddr("127.0.0.1"))
	case asked.name != "":
		return false
	}
	return n.prefix.Contains(addr)
}

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
	return host*100000 + 65535 - (n.hi - n.lo)
}

// Public says whether an address is one that "*" in [net] stands for: reachable on the public Internet, and no
// private, link-local, loopback, multicast, documentation, translation or cloud metadata address. The broker asks
// it again for the address that a name resolved to.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	for _, s := range notPublic {
		if netip.MustParsePrefix(s).Contains(addr) {
			return false
		}
	}
	return addr.Is4() || netip.MustParsePrefix("2000::/3").Contains(addr)
}

// notPublic follows the IANA special-purpose registries, plus one metadata address that lies in public space.
var notPublic = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"168.63.129.16/32",                                                  // Azure's metadata and DNS
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", // Teredo and 6to4 carry an IPv4 address inside
}

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
