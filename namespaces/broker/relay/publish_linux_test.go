package relay

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// freePort is an address of the host that nobody has.
func freePort(t testing.TB, ip string) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(ip)})
	need(t, "address "+ip, err)
	defer c.Close()
	return plain(c.LocalAddr().(*net.UDPAddr).AddrPort())
}

// outsidePeer is connected, so that it hears what comes from that address only.
func outsidePeer(t testing.TB, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func askFrom(t testing.TB, c *net.UDPConn, text string) string {
	t.Helper()
	_, err := c.Write([]byte(text))
	must(t, err)
	return hear(t, c, netip.AddrPort{})
}

var inside = addr("127.0.0.1:5353")

func TestPublish(t *testing.T) {
	b := newBox(t)
	outside := freePort(t, "127.0.0.1")
	r := start(t, b, Config{Where: (&stands{}).where})
	must(t, r.Publish(outside, inside))
	s := serve(t, "box", b.programAt(t, addr("0.0.0.0:5353"), false).UDPConn)
	const peers = 50
	var all []*net.UDPConn
	for i := range peers {
		c := outsidePeer(t, outside)
		all = append(all, c)
		if got := askFrom(t, c, fmt.Sprint("a", i)); got != fmt.Sprint("box:a", i) {
			t.Fatalf("peer %d hears %q", i, got)
		}
	}
	must(t, r.Publish(outside, inside)) // once more
	for i, c := range all {
		if got := askFrom(t, c, fmt.Sprint("b", i)); got != fmt.Sprint("box:b", i) {
			t.Fatalf("peer %d hears %q", i, got)
		}
	}
	if s.peers() != peers {
		t.Errorf("the server saw %d peers, there are %d", s.peers(), peers)
	}
	// The server ends and another one begins: the same peers reach it.
	s.stop()
	for _, c := range all {
		_, err := c.Write([]byte("into the void"))
		must(t, err)
	}
	until(t, "the end of the flows to a server that is gone", func() bool { _, flows := r.count(); return flows == 0 })
	serve(t, "new", b.programAt(t, inside, false).UDPConn)
	for i, c := range all {
		if got := askFrom(t, c, fmt.Sprint("c", i)); got != fmt.Sprint("new:c", i) {
			t.Fatalf("peer %d hears %q of the new server", i, got)
		}
	}
}

func TestPublishTakenAddress(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	r := start(t, b, Config{Where: (&stands{}).where, MostDoors: 2})
	if err := r.Publish(s.at, inside); err != unix.EADDRINUSE {
		t.Errorf("an address of the host's: %v", err)
	}
	for _, bad := range [][2]netip.AddrPort{{{}, inside}, {s.at, {}}, {addr("127.0.0.1:0"), inside}, {s.at, addr("127.0.0.1:0")}} {
		if err := r.Publish(bad[0], bad[1]); !errors.Is(err, errAddress) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := r.Publish(addr("192.0.2.1:5353"), inside); err != unix.EADDRNOTAVAIL {
		t.Errorf("an address that is not the host's: %v", err)
	}
	outside := freePort(t, "127.0.0.1")
	must(t, r.Publish(outside, inside))
	if err := r.Publish(outside, addr("127.0.0.1:5354")); err != unix.EADDRINUSE {
		t.Errorf("an address that stands for another server: %v", err)
	}
	must(t, r.Publish(freePort(t, "127.0.0.1"), inside))
	if err := r.Publish(freePort(t, "127.0.0.1"), inside); err != errFull {
		t.Errorf("one too many: %v", err)
	}
	r.Withdraw(outside)
	r.Withdraw(outside)
	must(t, r.Publish(outside, addr("127.0.0.1:5354")))
	r.Close()
	echo(t, "host", outside.String()) // free again
}

// TestPublishOnEveryAddress: a connected peer hears nothing that does not come from the address it sent to.
func TestPublishOnEveryAddress(t *testing.T) {
	b := newBox(t)
	r := start(t, b, Config{Where: (&stands{}).where})
	serve(t, "box", b.programAt(t, inside, false).UDPConn)
	port := freePort(t, "0.0.0.0").Port()
	must(t, r.Publish(netip.AddrPortFrom(netip.IPv4Unspecified(), port), inside))
	for _, ip := range []string{"127.0.0.1", "127.0.0.5", "127.8.8.8"} {
		if got := askFrom(t, outsidePeer(t, netip.AddrPortFrom(netip.MustParseAddr(ip), port)), "x"); got != "box:x" {
			t.Errorf("at %s: %q", ip, got)
		}
	}
	// One socket that asks two addresses is two peers.
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer c.Close()
	for _, ip := range []string{"127.0.0.1", "127.0.0.5", "127.0.0.1"} {
		to := netip.AddrPortFrom(netip.MustParseAddr(ip), port)
		_, err := c.WriteToUDPAddrPort([]byte("y"), to)
		must(t, err)
		if got := hear(t, c, to); got != "box:y" {
			t.Errorf("at %s: %q", ip, got)
		}
	}
}

func TestPublishIPv6(t *testing.T) {
	b := newBox(t)
	outside := freePort(t, "::1") // skips where the host has none
	r := start(t, b, Config{Where: (&stands{}).where})
	serve(t, "box", b.programAt(t, inside, false).UDPConn)
	must(t, r.Publish(outside, inside))
	if got := askFrom(t, outsidePeer(t, outside), "x"); got != "box:x" {
		t.Errorf("at ::1: %q", got)
	}
	every := netip.AddrPortFrom(netip.IPv6Unspecified(), freePort(t, "::").Port())
	must(t, r.Publish(every, inside))
	must(t, r.Publish(netip.AddrPortFrom(netip.IPv4Unspecified(), every.Port()), inside)) // each family for itself
	for _, ip := range []string{"::1", "127.0.0.5"} {
		if got := askFrom(t, outsidePeer(t, netip.AddrPortFrom(netip.MustParseAddr(ip), every.Port())), "y"); got != "box:y" {
			t.Errorf("at %s of all: %q", ip, got)
		}
	}
}

// TestPublishLeavesTheProgramsFlows: many peers outside push out each other, and no flow of the program's.
func TestPublishLeavesTheProgramsFlows(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	r := start(t, b, Config{Where: w.where, MostFlows: 3})
	outside := freePort(t, "127.0.0.1")
	served := serve(t, "box", b.programAt(t, inside, false).UDPConn)
	must(t, r.Open(ntp))
	must(t, r.Publish(outside, inside))
	p := b.program(t)
	p.ask(ntp, "x")
	for range 10 {
		askFrom(t, outsidePeer(t, outside), "x")
	}
	p.ask(ntp, "x")
	if _, flows := r.count(); w.times() != 1 || flows != 4 || served.peers() != 10 {
		t.Errorf("Where was asked %d times, %d flows, %d peers", w.times(), flows, served.peers())
	}
}
