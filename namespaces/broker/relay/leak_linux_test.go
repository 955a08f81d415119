package relay

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"testing"
)

// held is what a process has that a relay takes.
type held struct{ files, goroutines int }

func descriptors(t testing.TB) held {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return held{len(list), runtime.NumGoroutine()}
}

// same fails unless all that was taken since is given back. A goroutine that is done may still be on its way out.
func same(t testing.TB, before held) {
	t.Helper()
	if now := descriptors(t); now.files != before.files {
		t.Errorf("%d descriptors, %d before", now.files, before.files)
	}
	until(t, fmt.Sprintf("no more than %d goroutines", before.goroutines), func() bool { return runtime.NumGoroutine() <= before.goroutines })
}

// TestNothingIsLeft: 2 000 clients, one after the other, of doors and of a published server.
func TestNothingIsLeft(t *testing.T) {
	const most = 64
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	served := serve(t, "box", b.programAt(t, inside, false).UDPConn)
	outside := freePort(t, "127.0.0.1")
	before := descriptors(t)
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at, dns: s.at}}).where, MostFlows: most})
	must(t, r.Open(ntp))
	must(t, r.Open(dns))
	must(t, r.Publish(outside, inside))
	for i := range 2000 {
		p := b.program(t)
		p.ask([]netip.AddrPort{ntp, dns}[i%2], "x")
		p.Close()
		if i%10 == 0 {
			c := outsidePeer(t, outside)
			askFrom(t, c, "x")
			c.Close()
		}
	}
	if s.peers() < 1000 || served.peers() < 100 { // a number may come again
		t.Errorf("the servers saw %d and %d sockets", s.peers(), served.peers())
	}
	// Both kinds, the doors, and a few that are being closed.
	if now := descriptors(t); now.files > before.files+2*most+10 || now.files < before.files+2*most {
		t.Errorf("%d descriptors for at most twice %d flows, %d before", now.files, most, before.files)
	}
	r.Close()
	same(t, before)
}

// TestBurst: more than anything can hold is lost in part, and that is all.
func TestBurst(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	before := descriptors(t)
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}).where, MostFlows: 16})
	must(t, r.Open(ntp))
	var all []program
	for range 25 {
		all = append(all, b.program(t))
	}
	for i := range 10000 {
		all[i%len(all)].send(ntp, "burst")
	}
	p := b.program(t)
	p.send(ntp, "end")
	until(t, "the end of a burst", func() bool { // its datagram may be among the lost ones
		if got := s.heard(); len(got) > 0 && got[len(got)-1] == "end" {
			return true
		}
		p.send(ntp, "end")
		return false
	})
	for _, p := range append(all, p) {
		p.Close()
	}
	if n := r.waiting.Load(); n > mostWaiting {
		t.Errorf("%d bytes wait", n)
	}
	r.Close()
	if n := r.waiting.Load(); n != 0 {
		t.Errorf("%d bytes wait after Close", n)
	}
	same(t, before)
}

// TestCloseInTheMiddle closes while datagrams run and doors open.
func TestCloseInTheMiddle(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	p := b.program(t)
	before := descriptors(t)
	for range 20 {
		r := start(t, b, Config{Where: func(_ context.Context, to netip.AddrPort) ([]netip.AddrPort, error) {
			return []netip.AddrPort{s.at}, nil
		}})
		must(t, r.Open(ntp))
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			for i := uint16(1); r.Open(netip.AddrPortFrom(other.Addr(), i)) == nil; i++ {
				_, _ = p.WriteToUDPAddrPort([]byte("x"), netip.AddrPortFrom(other.Addr(), i))
			}
		}()
		for range 50 {
			_, _ = p.WriteToUDPAddrPort([]byte("x"), ntp)
		}
		r.Close()
		<-opened
		same(t, before)
	}
}
