package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// Family is the kind of a socket address.
type Family uint16

// Families that addresses are decoded for, with Linux's numbers.
const (
	FamilyUnspec Family = 0 // connect(2) with it dissolves an association
	FamilyUnix   Family = 1
	FamilyInet   Family = 2
	FamilyInet6  Family = 10
)

// Sockaddr is a decoded socket address. Which fields count depends on Family; those of other families are zero.
type Sockaddr struct {
	Family   Family
	Addr     netip.AddrPort // inet, inet6; the zone of a link-local address is the interface's number
	Path     string         // unix: the name as the kernel takes it, without the abstract mark; "" is unnamed
	Abstract bool           // unix: the name lives in the network namespace, not in the file tree
}

// String gives "127.0.0.1:80", "unix:/run/x", "unix:@name" (abstract), or the family's name.
func (s Sockaddr) String() string {
	switch s.Family {
	case FamilyInet, FamilyInet6:
		return s.Addr.String()
	case FamilyUnix:
		if s.Abstract {
			return "unix:@" + s.Path
		}
		return "unix:" + s.Path
	case FamilyUnspec:
		return "unspecified"
	}
	return "family " + strconv.Itoa(int(s.Family))
}

// MaxSockaddr is the longest address the kernel takes (sizeof struct sockaddr_storage).
const MaxSockaddr = 128

var errShort = errors.New("too short")

// DecodeSockaddr reads struct sockaddr as it lies in memory, little-endian in its family and big-endian in ports. b has
// exactly the length the program passed: for unix sockets the length decides the name (unix(7)). An address the kernel would refuse
// as too short, and a family other than those named above, is an error. The result shares no memory with b.
func DecodeSockaddr(b []byte) (Sockaddr, error) {
	if len(b) < 2 {
		return Sockaddr{}, fmt.Errorf("socket address of %d bytes: %w", len(b), errShort)
	}
	if len(b) > MaxSockaddr {
		return Sockaddr{}, fmt.Errorf("socket address of %d bytes: too long", len(b))
	}
	s := Sockaddr{Family: Family(binary.LittleEndian.Uint16(b))}
	switch s.Family {
	case FamilyUnspec:
		return s, nil
	case FamilyInet:
		if len(b) < 16 {
			return Sockaddr{}, fmt.Errorf("inet address of %d bytes: %w", len(b), errShort)
		}
		s.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:]))
		return s, nil
	case FamilyInet6:
		if len(b) < 24 { // SIN6_LEN_RFC2133: the kernel takes one without a scope
			return Sockaddr{}, fmt.Errorf("inet6 address of %d bytes: %w", len(b), errShort)
		}
		ip := netip.AddrFrom16([16]byte(b[8:24]))
		if len(b) >= 28 {
			if scope := binary.LittleEndian.Uint32(b[24:]); scope != 0 && !ip.Is4In6() {
				ip = ip.WithZone(strconv.FormatUint(uint64(scope), 10))
			}
		}
		s.Addr = netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[2:]))
		return s, nil
	case FamilyUnix:
		return decodeUnix(s, b[2:])
	}
	return Sockaddr{}, fmt.Errorf("socket address of family %d: not decoded", s.Family)
}

func decodeUnix(s Sockaddr, name []byte) (Sockaddr, error) {
	const sunPath = 108
	switch {
	case len(name) > sunPath:
		return Sockaddr{}, fmt.Errorf("unix address with a name of %d bytes: too long", len(name))
	case len(name) == 0:
		return s, nil
	case name[0] == 0: // abstract: every byte counts, NULs too
		s.Abstract = true
		s.Path = string(name[1:])
		return s, nil
	}
	for i, c := range name {
		if c == 0 {
			name = name[:i]
			break
		}
	}
	s.Path = string(name)
	return s, nil
}
