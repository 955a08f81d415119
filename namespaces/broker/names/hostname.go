package names

import (
	"net/netip"
	"strconv"
	"strings"
)

// hostName gives the form in which names are compared: lower case, no final dot. ok is false for what no policy can name: bytes other than
// letters, digits, - and _, and a number at the end, which a C library would read as an address ("127.1", "0x7f.1").
func hostName(text string) (name string, ok bool) {
	name = strings.TrimSuffix(text, ".")
	if name == "" || len(name) > 253 {
		return "", false
	}
	for _, c := range []byte(name) {
		if c != '-' && c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return "", false
		}
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", false
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last[0] >= '0' && last[0] <= '9' {
		if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
			return "", false
		}
	}
	return strings.ToLower(name), true
}

// loopback says whether the name means the box itself (RFC 6761, 6.3).
func loopback(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// within reports whether name is domain or lies below it.
func within(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// reverse says whether a name is one of those that addresses have, and which address; the address is not valid for the rest of that tree.
// Of the IPv6 addresses it knows ::1, the only one that the box has a name for.
func reverse(name string) (addr netip.Addr, ok bool) {
	if within(name, "ip6.arpa") {
		if name == "1."+strings.Repeat("0.", 31)+"ip6.arpa" {
			addr = netip.IPv6Loopback()
		}
		return addr, true
	}
	if !within(name, "in-addr.arpa") {
		return addr, false
	}
	if labels := strings.Split(name, "."); len(labels) == 6 {
		// An error leaves an address that is not valid.
		addr, _ = netip.ParseAddr(labels[3] + "." + labels[2] + "." + labels[1] + "." + labels[0])
	}
	return addr, true
}

// probe says whether a name is one that resolvers ask of their own accord, to find out where they are (RFC 7050, 9462).
func probe(name string) bool {
	return within(name, "resolver.arpa") || within(name, "ipv4only.arpa")
}
