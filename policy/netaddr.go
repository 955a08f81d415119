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
	ports  ports
}

// parseNet reads "host:port", which "tcp://host:port" means too, "udp://host:port" or "unix:path". The host is a name,
// "*", "*.name", an address or a network; the port a number, a range, a list of both, or "*".
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
			rest = after
		case "http", "https":
			host, _, _ := strings.Cut(after, "/")
			if !strings.Contains(host, ":") {
				host += map[string]string{"http": ":80", "https": ":443"}[scheme]
			}
			return fail("a rule names host and port, no URL: write %q", host)
		default:
			return fail("unknown scheme %q, valid: tcp udp", scheme)
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
	if n.ports, err = parsePorts(port); err != nil {
		return fail("%s", err)
	}
	if err := n.setHost(host, bits); err != nil {
		return fail("%s", err)
	}
	return n, nil
}

func (n *netPattern) setHost(host, bits string) error {
	host = hostName(host)
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
	return n.unix != "" || n.ports.single() && (n.name != "" || n.prefix.IsValid() && n.prefix.IsSingleIP())
}

// anyFree says whether the port is 0, "any free one", which only listen can ask for.
func (n netPattern) anyFree() bool { return n.unix == "" && n.ports.anyFree() }

// parts takes the ports apart, so that each number or range can be judged by itself.
func (n netPattern) parts() []netPattern {
	var out []netPattern
	for _, r := range n.ports {
		part := n
		part.ports = ports{r}
		out = append(out, part)
	}
	return out
}

// canonical writes the pattern in its one form: two texts that mean the same have the same.
func (n netPattern) canonical() string {
	if n.unix != "" {
		return "unix:" + n.unix
	}
	s := n.name
	switch {
	case n.any:
		s = "*"
	case n.suffix != "":
		s = "*" + n.suffix
	case n.prefix.IsValid():
		s = n.prefix.Addr().String()
		if n.prefix.Addr().Is6() {
			s = "[" + s + "]"
		}
		if !n.prefix.IsSingleIP() {
			s += "/" + strconv.Itoa(n.prefix.Bits())
		}
	}
	s += ":" + n.ports.String()
	if n.udp {
		s = "udp://" + s
	}
	return s
}
