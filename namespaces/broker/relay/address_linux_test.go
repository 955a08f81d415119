package relay

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAddresses(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	must(t, err)
	defer unix.Close(fd)
	for _, text := range []string{"198.18.1.0:123", "[2001:db8::1]:53", "[fe80::1%7]:65535", "[::1]:1"} {
		sa, err := sockaddr(fd, addr(text))
		if err != nil || addrPort(sa) != addr(text) {
			t.Errorf("%s: %v, %v", text, addrPort(sa), err)
		}
	}
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Skip(err)
	}
	sa, err := sockaddr(fd, addr("[fe80::1%lo]:5"))
	if err != nil || sa.(*unix.SockaddrInet6).ZoneId != uint32(lo.Index) {
		t.Errorf("the zone lo: %+v, %v", sa, err)
	}
	for _, zone := range []string{"nosuchthing", "of-a-name-longer-than-any", "4294967296"} {
		if sa, err := sockaddr(fd, addr("[fe80::1%"+zone+"]:5")); err == nil {
			t.Errorf("the zone %s is %+v", zone, sa)
		}
	}
	if a := addrPort(&unix.SockaddrUnix{Name: "/x"}); a.IsValid() {
		t.Errorf("a path is %v", a)
	}
}

func TestSentTo(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")
	for a, least := range map[netip.Addr]int{v4: unix.CmsgLen(12), v6: unix.CmsgLen(20)} { // after these comes padding
		info := wayTo(addr("127.0.0.1:1"), a).info
		if got := sentTo(info); got != a {
			t.Errorf("%v is read as %v", a, got)
		}
		for n := range least {
			if got := sentTo(info[:n]); got.IsValid() {
				t.Errorf("%d bytes of %v are read as %v", n, a, got)
			}
		}
	}
	if w := wayTo(addr("[fe80::2%3]:1"), netip.MustParseAddr("ff02::fb")); w.info != nil {
		t.Errorf("an answer would leave from a multicast address: % x", w.info)
	}
}
