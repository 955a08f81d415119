package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	ntp   = addr("198.18.1.0:123")
	dns   = addr("1.1.1.1:53")
	other = addr("198.18.2.0:40001")
)

func TestEcho(t *testing.T) {
	b, s := newBox(t), echo(t, "ntp", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	var sent []netip.AddrPort
	var mu sync.Mutex
	r := start(t, b, Config{Where: w.where, Sent: func(to netip.AddrPort) { mu.Lock(); sent = append(sent, to); mu.Unlock() }})
	must(t, r.Open(ntp))
	const clients = 40
	var all []program
	for i := range clients {
		p := b.program(t)
		all = append(all, p)
		if got := p.ask(ntp, fmt.Sprint("a", i)); got != fmt.Sprint("ntp:a", i) {
			t.Fatalf("client %d hears %q", i, got)
		}
	}
	for i, p := range all { // everyone by the same flow as before, and nobody hears another's
		must(t, r.Open(ntp))
		if got := p.ask(ntp, fmt.Sprint("b", i)); got != fmt.Sprint("ntp:b", i) {
			t.Fatalf("client %d hears %q", i, got)
		}
	}
	if s.peers() != clients || w.times() != clients {
		t.Errorf("%d clients: %d sockets on the host, Where was asked %d times", clients, s.peers(), w.times())
	}
	if got := all[0].ask(ntp, ""); got != "ntp:" {
		t.Errorf("the empty datagram comes back as %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != clients || sent[0] != ntp {
		t.Errorf("Sent heard %v", sent)
	}
}

func TestTwoDoors(t *testing.T) {
	b, s1, s2 := newBox(t), echo(t, "ntp", "127.0.0.1:0"), echo(t, "dns", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s1.at, dns: s2.at}}
	r := start(t, b, Config{Where: w.where})
	must(t, r.Open(ntp))
	must(t, r.Open(dns))
	for _, p := range []program{b.program(t), b.programAt(t, addr("127.0.0.1:7000"), false), b.programAt(t, addr("0.0.0.0:7001"), false)} {
		if x, y := p.ask(ntp, "x"), p.ask(dns, "y"); x != "ntp:x" || y != "dns:y" {
			t.Errorf("%v hears %q and %q", p.LocalAddr(), x, y)
		}
	}
	// An address of the box without a door is nobody.
	p := b.connectedTo(t, other)
	_, err := p.Write([]byte("x"))
	must(t, err)
	must(t, p.SetReadDeadline(deadline()))
	if _, err := p.Read(make([]byte, 9)); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("without a door: %v", err)
	}
}

func TestConnectedClient(t *testing.T) {
	b, s := newBox(t), echo(t, "dns", "127.0.0.1:0")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{dns: s.at}}).where})
	must(t, r.Open(dns))
	p := b.connectedTo(t, dns)
	for range 3 {
		_, err := p.Write([]byte("q"))
		must(t, err)
		if got := p.hear(dns); got != "dns:q" {
			t.Errorf("it hears %q", got)
		}
	}
}

func TestIPv6(t *testing.T) {
	b := newBox(t)
	if b.noV6 != nil {
		t.Skip(b.noV6)
	}
	s := echo(t, "six", "127.0.0.1:0")
	real := s.at
	if c, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback}); err == nil {
		real = serve(t, "six", c).at
	}
	six := addr("[2001:db8::5]:53")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{six: real, ntp: s.at}}).where})
	must(t, r.Open(six))
	if got := b.programAt(t, netip.AddrPort{}, true).ask(six, "x"); got != "six:x" {
		t.Errorf("it hears %q", got)
	}
	p := b.connectedTo(t, six)
	_, err := p.Write([]byte("y"))
	must(t, err)
	if got := p.hear(six); got != "six:y" {
		t.Errorf("a connected one hears %q", got)
	}
	// An IPv6 socket reaches IPv4 addresses in their mapped form.
	mapped := addr("[::ffff:198.18.1.0]:123")
	must(t, r.Open(mapped))
	if got := b.programAt(t, netip.AddrPort{}, true).ask(mapped, "z"); got != "six:z" {
		t.Errorf("a mapped one hears %q", got)
	}
	if doors, _ := r.count(); doors != 2 {
		t.Errorf("%d doors", doors)
	}
}

func TestLargestDatagram(t *testing.T) {
	b, s := newBox(t), echo(t, "", "127.0.0.1:0")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}).where})
	must(t, r.Open(ntp))
	text := strings.Repeat("0123456789", 6551)[:65507]
	want := (":" + text)[:65507]
	p := b.program(t)
	for range 3 { // before the flow stands, and after
		if got := p.ask(ntp, text); got != want {
			t.Fatalf("%d bytes come back as %d", len(text), len(got))
		}
	}
}

// TestFirstWithARoute: an address that cannot be reached at all costs nothing but a look at the next one.
func TestFirstWithARoute(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	r := start(t, b, Config{Where: func(context.Context, netip.AddrPort) ([]netip.AddrPort, error) {
		return []netip.AddrPort{{}, addr("255.255.255.255:9"), netip.AddrPortFrom(netip.AddrFrom16(s.at.Addr().As16()), s.at.Port())}, nil
	}})
	must(t, r.Open(ntp))
	if got := b.program(t).ask(ntp, "x"); got != "s:x" {
		t.Errorf("it hears %q", got)
	}
}

func TestRefusedIsDropped(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	allowed := false // of Where's goroutine only: one flow at a time
	asked := make(chan struct{}, 1)
	var sent []netip.AddrPort
	r := start(t, b, Config{Sent: func(to netip.AddrPort) { sent = append(sent, to) }, Where: func(context.Context, netip.AddrPort) ([]netip.AddrPort, error) {
		asked <- struct{}{}
		if !allowed {
			allowed = true
			return []netip.AddrPort{s.at}, errRefused // the error counts, whatever stands beside it
		}
		return []netip.AddrPort{s.at}, nil
	}})
	must(t, r.Open(ntp))
	p := b.program(t)
	p.send(ntp, "secret")
	<-asked
	until(t, "the end of the refused flow", func() bool { _, flows := r.count(); return flows == 0 })
	if got := p.ask(ntp, "x"); got != "s:x" {
		t.Errorf("it hears %q", got)
	}
	if got := s.heard(); len(got) != 1 || got[0] != "x" {
		t.Errorf("the server heard %q", got)
	}
	r.Close()
	if len(sent) != 1 {
		t.Errorf("Sent heard %v", sent)
	}
}

func TestAnswersOfThePeerOnly(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}).where})
	must(t, r.Open(ntp))
	p := b.program(t)
	p.ask(ntp, "x")
	s.mu.Lock()
	var flow netip.AddrPort // the host's socket, as its peer sees it
	for flow = range s.from {
	}
	s.mu.Unlock()
	stranger, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer stranger.Close()
	_, err = stranger.WriteToUDPAddrPort([]byte("forged"), flow)
	must(t, err)
	if got := p.ask(ntp, "y"); got != "s:y" { // on one path, and the forged one was there before
		t.Errorf("it hears %q", got)
	}
}

// TestSlowWhere: who waits for a name keeps nobody, and a few datagrams of its own, in their order.
func TestSlowWhere(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	asked, answer := make(chan struct{}, 4), make(chan struct{})
	r := start(t, b, Config{Where: func(ctx context.Context, to netip.AddrPort) ([]netip.AddrPort, error) {
		if to == ntp {
			asked <- struct{}{}
			select {
			case <-answer:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return []netip.AddrPort{s.at}, nil
	}})
	must(t, r.Open(ntp))
	must(t, r.Open(dns))
	slow := b.program(t)
	for i := range mostQueued + 4 {
		slow.send(ntp, fmt.Sprint(i))
	}
	<-asked
	behind := b.program(t) // at the same door, whose datagrams are taken in turn
	behind.send(ntp, "behind")
	<-asked
	if got := b.program(t).ask(dns, "x"); got != "s:x" {
		t.Errorf("another door: %q", got)
	}
	if got := s.heard(); len(got) != 1 {
		t.Errorf("before Where has answered the server heard %q", got)
	}
	close(answer)
	for i := range mostQueued {
		if got := slow.hear(ntp); got != fmt.Sprint("s:", i) {
			t.Fatalf("answer %d is %q", i, got)
		}
	}
	if got := slow.ask(ntp, "last"); got != "s:last" {
		t.Errorf("after what had waited: %q", got)
	}
	if got := behind.hear(ntp); got != "s:behind" {
		t.Errorf("who was behind hears %q", got)
	}
	if n := r.waiting.Load(); n != 0 {
		t.Errorf("%d bytes still wait", n)
	}
}

// TestWaitingIsBounded: what waits for Where is bounded for all flows together, too; and Close does not wait for an answer.
func TestWaitingIsBounded(t *testing.T) {
	b := newBox(t)
	asked := make(chan struct{}, 1)
	r := start(t, b, Config{Where: func(ctx context.Context, _ netip.AddrPort) ([]netip.AddrPort, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	must(t, r.Open(ntp))
	text := strings.Repeat("x", 60000)
	for range 2 * mostWaiting / len(text) {
		b.program(t).send(ntp, text)
		<-asked
	}
	b.program(t).send(ntp, "")
	<-asked
	if n := r.waiting.Load(); n > mostWaiting || n < mostWaiting-int64(len(text)) {
		t.Errorf("%d bytes wait, at most %d may", n, mostWaiting)
	}
	r.Close()
	if n := r.waiting.Load(); n != 0 {
		t.Errorf("%d bytes wait after Close", n)
	}
}

func TestLeastRecentlyUsedFlowEnds(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	r := start(t, b, Config{Where: w.where, MostFlows: 2})
	must(t, r.Open(ntp))
	one, two, three := b.program(t), b.program(t), b.program(t)
	for _, step := range []struct {
		p     program
		asked int
	}{{one, 1}, {two, 2}, {one, 2}, {three, 3}, {one, 3}, {two, 4}, {three, 5}} {
		step.p.ask(ntp, "x")
		if got := w.times(); got != step.asked {
			t.Fatalf("Where was asked %d times, want %d", got, step.asked)
		}
		if _, flows := r.count(); flows > 2 {
			t.Fatalf("%d flows", flows)
		}
	}
}

func TestIdleFlowEnds(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	r := start(t, b, Config{Where: w.where, Idle: 20 * time.Millisecond})
	must(t, r.Open(ntp))
	p := b.program(t)
	for i := range 3 {
		p.ask(ntp, "x")
		until(t, "the end of an idle flow", func() bool { _, flows := r.count(); return flows == 0 })
		if got := w.times(); got != i+1 {
			t.Fatalf("Where was asked %d times, want %d", got, i+1)
		}
	}
	if doors, _ := r.count(); doors != 1 {
		t.Errorf("%d doors: one does not end by being idle, a connected program would not be let in again", doors)
	}
}

// TestSweepTakesTheIdleOnly puts the clock of one flow back, and sweeps.
func TestSweepTakesTheIdleOnly(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	r := start(t, b, Config{Where: w.where, Idle: time.Hour})
	must(t, r.Open(ntp))
	old, fresh := b.program(t), b.program(t)
	old.ask(ntp, "x")
	fresh.ask(ntp, "x")
	r.mu.Lock()
	r.outward.order.Back().Value.(*used[client, *flow]).last = time.Now().Add(-2 * time.Hour)
	if !r.timer.Stop() {
		t.Error("nothing was to sweep")
	}
	r.mu.Unlock()
	r.sweep()
	r.mu.Lock()
	if r.timer == nil {
		t.Error("nothing will sweep again")
	}
	r.mu.Unlock()
	fresh.ask(ntp, "y")
	if got := w.times(); got != 2 {
		t.Errorf("Where was asked %d times for flows that were used", got)
	}
	old.ask(ntp, "y")
	if got := w.times(); got != 3 {
		t.Errorf("Where was asked %d times, want 3", got)
	}
}

func TestDeadDestination(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	s.stop()
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}
	r := start(t, b, Config{Where: w.where})
	must(t, r.Open(ntp))
	p := b.program(t)
	for i := range 3 {
		p.send(ntp, "x")
		until(t, "the question where to", func() bool { return w.times() == i+1 })
		until(t, "the end of a refused flow", func() bool { _, flows := r.count(); return flows == 0 })
	}
	echo(t, "again", s.at.String())
	if got := p.ask(ntp, "x"); got != "again:x" {
		t.Errorf("once somebody is there: %q", got)
	}
}

func TestOwnAddress(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	local := addr("127.0.0.1:5353")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{local: s.at}}).where})
	reuse := [2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR}
	for _, at := range []string{"127.0.0.1:5353", "0.0.0.0:5353"} {
		own := b.programAt(t, addr(at), false, reuse)
		if err := r.Open(local); err != ErrOwn {
			t.Errorf("%s is the program's: %v", at, err)
		}
		b.program(t).send(local, "x")
		if got := own.hear(netip.AddrPort{}); got != "x" {
			t.Errorf("the program's own server hears %q", got)
		}
		must(t, own.Close())
	}
	must(t, r.Open(local))
	if got := b.program(t).ask(local, "x"); got != "host:x" {
		t.Errorf("nobody has it inside: %q", got)
	}
	if _, err := b.tryProgram(t, local, false); err != unix.EADDRINUSE {
		t.Errorf("a door's address can be bound: %v", err)
	}
}

// TestServerBesideADoor: a server on all addresses that shares its port leaves the doors what is theirs.
func TestServerBesideADoor(t *testing.T) {
	b, s := newBox(t), echo(t, "host", "127.0.0.1:0")
	door := addr("198.18.1.0:5353")
	r := start(t, b, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{door: s.at}}).where})
	must(t, r.Open(door))
	own := b.programAt(t, addr("0.0.0.0:5353"), false, [2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR})
	p := b.program(t)
	if got := p.ask(door, "x"); got != "host:x" {
		t.Errorf("the door gives %q", got)
	}
	p.send(addr("127.0.0.1:5353"), "y")
	if got := own.hear(netip.AddrPort{}); got != "y" {
		t.Errorf("the server hears %q", got)
	}
	must(t, r.Open(door))
	if err := r.Open(addr("198.18.2.0:5353")); err != ErrOwn {
		t.Errorf("another door at a port of the server's: %v", err)
	}
}

// TestNoLoop: a program at a door's own address would have psb answer itself.
func TestNoLoop(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at, dns: s.at}}
	r := start(t, b, Config{Where: w.where})
	must(t, r.Open(ntp))
	must(t, r.Open(dns))
	b.programAt(t, dns, false, [2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR}).send(ntp, "round and round")
	b.program(t).ask(ntp, "x")
	if got := s.heard(); w.times() != 1 || len(got) != 1 {
		t.Errorf("Where was asked %d times, the server heard %q", w.times(), got)
	}
}

func TestDoorsMakeRoom(t *testing.T) {
	b, s := newBox(t), echo(t, "s", "127.0.0.1:0")
	w := &stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at, dns: s.at, other: s.at}}
	r := start(t, b, Config{Where: w.where, MostDoors: 2})
	must(t, r.Open(ntp))
	must(t, r.Open(dns))
	p := b.connectedTo(t, dns)
	_, err := p.Write([]byte("x"))
	must(t, err)
	p.hear(dns)
	b.program(t).ask(ntp, "x") // used last
	must(t, r.Open(other))
	if doors, flows := r.count(); doors != 2 || flows != 1 {
		t.Errorf("%d doors and %d flows", doors, flows)
	}
	_, err = p.Write([]byte("x"))
	must(t, err)
	must(t, p.SetReadDeadline(deadline()))
	if _, err := p.Read(make([]byte, 9)); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("where the door made room: %v", err)
	}
	for range 20 { // the address is free as soon as another door is there
		must(t, r.Open(dns))
		must(t, r.Open(ntp))
		must(t, r.Open(other))
	}
	if got := b.program(t).ask(other, "x"); got != "s:x" {
		t.Errorf("the newest door gives %q", got)
	}
}

func TestOpenAtOnce(t *testing.T) {
	b := newBox(t)
	r := start(t, b, Config{Where: (&stands{}).where})
	errs := make(chan error)
	for range 20 {
		go func() { errs <- r.Open(ntp) }()
	}
	for range 20 {
		must(t, <-errs)
	}
	if doors, _ := r.count(); doors != 1 {
		t.Errorf("%d doors", doors)
	}
}

func TestOpenRefuses(t *testing.T) {
	b := newBox(t)
	before := descriptors(t)
	var give func(bool) (int, error)
	r := start(t, b, Config{Where: (&stands{}).where, Inside: func(v6 bool) (int, error) { return give(v6) }})
	for _, a := range []netip.AddrPort{{}, addr("0.0.0.0:53"), addr("[::]:53"), addr("[::ffff:0.0.0.0]:53"), addr("1.1.1.1:0")} {
		if err := r.Open(a); !errors.Is(err, errAddress) {
			t.Errorf("%v: %v", a, err)
		}
	}
	gone := errors.New("the box is gone")
	for _, c := range []struct {
		name string
		give func(bool) (int, error)
		is   error // nil: any
	}{
		{"no socket", func(bool) (int, error) { return -1, gone }, gone},
		{"a TCP socket", func(bool) (int, error) { return unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0) }, nil},
		{"a unix socket", func(bool) (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0) }, nil},
		{"another family", func(v6 bool) (int, error) { return b.socket(!v6) }, nil},
		{"a file", func(bool) (int, error) { return unix.Open("/dev/null", unix.O_CLOEXEC, 0) }, unix.ENOTSOCK},
	} {
		give = c.give
		if err := r.Open(ntp); err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	r.Close()
	r.Close()
	for name, err := range map[string]error{"Open": r.Open(ntp), "Publish": r.Publish(addr("127.0.0.1:1"), ntp)} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	r.Withdraw(addr("127.0.0.1:1"))
	same(t, before)
}
