package relay

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// quiet is a peer on the host that says only what the test has it say.
func quiet(t testing.TB) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestUseIsEitherWay: what a client sends and what it is sent both keep its flow and its door.
func TestUseIsEitherWay(t *testing.T) {
	b, peer := newBox(t), quiet(t)
	real := peer.LocalAddr().(*net.UDPAddr).AddrPort()
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: real, dns: real}}).where})
	oldest := func(want netip.AddrPort, after string) {
		t.Helper()
		r.mu.Lock()
		defer r.mu.Unlock()
		d, _, _ := r.doors.oldest()
		f, _, _ := r.outward.oldest()
		if d.at != want || f.door != d {
			t.Errorf("after %s: the oldest door is %v, the oldest flow one of %v; want %v", after, d.at, f.door.at, want)
		}
	}
	p := b.program(t)
	var flow []netip.AddrPort
	for _, door := range []netip.AddrPort{ntp, dns} {
		must(t, r.Open(door))
		p.send(door, "x")
		must(t, peer.SetReadDeadline(deadline()))
		_, from, err := peer.ReadFromUDPAddrPort(make([]byte, 9))
		must(t, err)
		flow = append(flow, from)
	}
	oldest(ntp, "both")
	p.send(ntp, "x")
	hear(t, peer, flow[0])
	oldest(dns, "a datagram out")
	_, err := peer.WriteToUDPAddrPort([]byte("y"), flow[1])
	must(t, err)
	p.hear(dns)
	oldest(ntp, "an answer")
	must(t, r.Open(ntp))
	if d, _, _ := r.doors.oldest(); d.at != dns {
		t.Errorf("after Open the oldest door is %v", d.at)
	}
}

// TestWhereIsToldOfTheEnd: the question of a flow that had to make room is given up.
func TestWhereIsToldOfTheEnd(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	first, ended := make(chan struct{}), make(chan error, 1)
	var asked atomic.Int32
	r := start(t, b, Config{MostFlows: 1, Where: func(ctx context.Context, _ netip.AddrPort) ([]netip.AddrPort, error) {
		if asked.Add(1) == 1 {
			close(first)
			<-ctx.Done()
			ended <- ctx.Err()
		}
		return []netip.AddrPort{s.at}, nil // too late
	}})
	must(t, r.Open(ntp))
	b.program(t).send(ntp, "given up")
	<-first
	if got := b.program(t).ask(ntp, "x"); got != "s:x" {
		t.Errorf("it hears %q", got)
	}
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
	r.Close()
	if got := s.heard(); len(got) != 1 {
		t.Errorf("the server heard %q", got)
	}
	if n := r.waiting.Load(); n != 0 {
		t.Errorf("%d bytes wait", n)
	}
}

// TestSendErrors: a datagram that is too large is lost alone; a peer that refuses, and a closed socket, are the flow's end.
func TestSendErrors(t *testing.T) {
	s, err := dial(freePort(t, "127.0.0.1"))
	must(t, err)
	defer s.close()
	r := New(Config{})
	defer r.Close()
	f := newFlow(client{door: &door{relay: r}})
	for _, step := range []struct {
		what string
		size int
		ok   bool
	}{{"too large", 65508, true}, {"the first to nobody", 1, true}, {"the next", 1, false}, {"another first", 1, true}} {
		if ok := f.send(s, make([]byte, step.size)); ok != step.ok {
			t.Errorf("%s: %v", step.what, ok)
		}
	}
	f.queue = [][]byte{{1}, {2}, {3}, {4}}
	r.waiting.Store(4)
	if f.flush(s) {
		t.Error("what waits goes to nobody")
	}
	if n := r.waiting.Load(); n != 0 {
		t.Errorf("%d bytes wait for a flow that has ended", n)
	}
	s.close()
	if f.send(s, nil) {
		t.Error("a closed socket sends")
	}
	for err, want := range map[error]bool{unix.EAGAIN: true, unix.ENOBUFS: true, unix.ENOMEM: true, unix.EPERM: true, unix.EMSGSIZE: true,
		unix.ECONNREFUSED: false, unix.EHOSTUNREACH: false, unix.ENETUNREACH: false, unix.EINVAL: false} {
		if passing(err) != want {
			t.Errorf("%v passes: %v", err, !want)
		}
	}
}
