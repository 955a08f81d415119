package broker

import (
	"bytes"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

func tcp(t *testing.T, domain int) int {
	t.Helper()
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// TestGiven: a socket is known again by itself, not by its number, and old ones are forgotten.
func TestGiven(t *testing.T) {
	var g given
	first := tcp(t, unix.AF_INET)
	h := handed{asked: netip.MustParseAddrPort("198.18.1.0:80"), real: netip.MustParseAddrPort("192.0.2.1:80")}
	g.add(first, h)
	dup, err := unix.Dup(first)
	must(t, err)
	defer unix.Close(dup)
	if got, ok := g.of(dup); !ok || got != h {
		t.Errorf("a duplicate: %v %v", got, ok)
	}
	if _, ok := g.of(tcp(t, unix.AF_INET)); ok {
		t.Error("another socket is taken for it")
	}
	g.failed(dup)
	if got, _ := g.of(first); !got.failed {
		t.Error("its failure is not known")
	}
	for range mostGiven {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		g.add(fd, h)
		unix.Close(fd)
	}
	if _, ok := g.of(first); ok || len(g.by) > mostGiven || len(g.order) > mostGiven {
		t.Errorf("%d are remembered", len(g.by))
	}
}

// TestOptionsCarryOver: how a connection behaves comes along, where it goes does not, and what was not set stays the kernel's to choose.
func TestOptionsCarryOver(t *testing.T) {
	from, to, plain := tcp(t, unix.AF_INET), tcp(t, unix.AF_INET), tcp(t, unix.AF_INET)
	set := []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1}, {unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}, {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 77},
		{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 4321}, {unix.IPPROTO_IP, unix.IP_TOS, 8},
	}
	for _, o := range set {
		must(t, unix.SetsockoptInt(from, o.level, o.name, o.value))
	}
	must(t, unix.SetsockoptInt(from, unix.SOL_SOCKET, unix.SO_RCVBUF, 50000))
	must(t, unix.SetsockoptInt(from, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 1))
	must(t, unix.SetsockoptLinger(from, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: 9}))
	carryOver(from, to, unix.AF_INET, unix.AF_INET, buffersOf(plain))
	for _, o := range set {
		if got, err := unix.GetsockoptInt(to, o.level, o.name); err != nil || got != o.value {
			t.Errorf("option %d/%d: %d, want %d", o.level, o.name, got, o.value)
		}
	}
	get := func(fd, level, name int) int { v, err := unix.GetsockoptInt(fd, level, name); must(t, err); return v }
	if a, b := get(from, unix.SOL_SOCKET, unix.SO_RCVBUF), get(to, unix.SOL_SOCKET, unix.SO_RCVBUF); a != b {
		t.Errorf("receive buffer %d, want %d", b, a)
	}
	if a, b := get(plain, unix.SOL_SOCKET, unix.SO_SNDBUF), get(to, unix.SOL_SOCKET, unix.SO_SNDBUF); a != b {
		t.Errorf("send buffer %d, want the kernel's %d", b, a)
	}
	if get(to, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT) != 0 {
		t.Error("a send of this socket would connect")
	}
	if get(to, unix.SOL_SOCKET, unix.SO_LINGER) == 0 {
		t.Error("linger is lost")
	}
	six := tcp(t, unix.AF_INET6)
	carryOver(from, six, unix.AF_INET, unix.AF_INET6, buffersOf(plain))
	if get(six, unix.IPPROTO_TCP, unix.TCP_NODELAY) != 1 {
		t.Error("from IPv4 to IPv6 nothing comes along")
	}
}

// TestPublishedOnlyWhileItListens: an address inside leads to the host only as long as the very socket that was handed in listens there.
func TestPublishedOnlyWhileItListens(t *testing.T) {
	b := &Broker{}
	fd := tcp(t, unix.AF_INET)
	must(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	must(t, unix.Listen(fd, 1))
	cookie, ok := cookieOf(fd)
	if !ok {
		t.Skip("no SO_COOKIE")
	}
	at := localOf(fd)
	b.published.add(netip.AddrPortFrom(netip.IPv4Unspecified(), 5000), listener{at: at, cookie: cookie})
	asked := netip.MustParseAddrPort("127.0.0.1:5000")
	if got, ok := b.published.here(asked, b.listensStill); !ok || got != at {
		t.Fatalf("%v %v, want %v", got, ok, at)
	}
	unix.Close(fd)
	other := tcp(t, unix.AF_INET) // somebody else at the same port
	must(t, unix.SetsockoptInt(other, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
	must(t, unix.Bind(other, sockaddrOf(at)))
	must(t, unix.Listen(other, 1))
	if got, ok := b.published.here(asked, b.listensStill); ok {
		t.Errorf("leads to %v, which is somebody else's", got)
	}
}

func TestLocalDefault(t *testing.T) {
	b := localDefault(unix.AF_INET, 7, []byte{198, 18, 0, 1})
	if len(b)%4 != 0 || int(b[0]) != len(b) || b[unix.NLMSG_HDRLEN] != unix.AF_INET || !bytes.Contains(b, []byte{198, 18, 0, 1}) {
		t.Errorf("% x", b)
	}
}

// TestMarks: a mark is the socket's, not the number's, and only one holds a socket.
func TestMarks(t *testing.T) {
	var m marks
	a, b := tcp(t, unix.AF_INET), tcp(t, unix.AF_INET)
	m.set(a, 40000)
	dup, err := unix.Dup(a)
	must(t, err)
	defer unix.Close(dup)
	if n, ok := m.of(dup); !ok || n != 40000 {
		t.Errorf("a duplicate: %d %v", n, ok)
	}
	if _, ok := m.of(b); ok {
		t.Error("another socket has it")
	}
	m.leave(dup)
	if _, ok := m.of(a); ok {
		t.Error("it stays")
	}
	if !m.take(b) || m.take(b) {
		t.Error("taken twice, or not at all")
	}
	m.leave(b)
	if !m.take(b) {
		t.Error("not given back")
	}
}

// TestWatchedConnectEnds: a connect that waits although it must not is ended.
func TestWatchedConnectEnds(t *testing.T) {
	l := tcp(t, unix.AF_INET)
	must(t, unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	must(t, unix.Listen(l, 0))
	to := sockaddrOf(localOf(l))
	for range 8 { // until the queue is full
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		must(t, err)
		t.Cleanup(func() { unix.Close(fd) })
		_ = unix.Connect(fd, to)
	}
	fd := tcp(t, unix.AF_INET)
	if err := watched(fd, func() error { return unix.Connect(fd, to) }); err == nil {
		t.Error("it connected: the queue was not full")
	}
}
