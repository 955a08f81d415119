package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The box is a copy of this test binary in namespaces of its own, where every address leads to the loopback. It makes sockets and hands them
// out: a socket stays in the network it was made in, so that the tests play the program themselves.
const boxMark = "psb-relay-box"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == boxMark {
		os.Exit(beBox(3))
	}
	os.Exit(m.Run())
}

// beBox answers each byte, 4 or 6, with a socket or with what went wrong, until the other end is closed. Its first message says whether
// it has IPv6, or why it cannot be.
func beBox(control int) int {
	err := loopbackUp()
	if err == nil {
		err = routeAll(unix.AF_INET)
	}
	hello := "ready"
	if err != nil {
		hello = err.Error()
	} else if err := routeAll(unix.AF_INET6); err != nil {
		hello = "no IPv6: " + err.Error()
	}
	if _, err := unix.Write(control, []byte(hello)); err != nil {
		return 1
	}
	b := make([]byte, 1)
	for {
		if n, err := unix.Read(control, b); n != 1 || err != nil {
			return 0
		}
		domain := unix.AF_INET
		if b[0] == 6 {
			domain = unix.AF_INET6
		}
		fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			err = unix.Sendmsg(control, []byte(err.Error()), nil, nil, 0)
		} else {
			err = unix.Sendmsg(control, []byte("ok"), unix.UnixRights(fd), nil, 0)
			unix.Close(fd)
		}
		if err != nil {
			return 1
		}
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// routeAll is `ip route add local default dev lo`.
func routeAll(family byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	e := binary.NativeEndian
	b := e.AppendUint32(nil, 36) // struct nlmsghdr
	b = e.AppendUint16(b, unix.RTM_NEWROUTE)
	b = e.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	b = e.AppendUint32(b, 1)
	b = e.AppendUint32(b, 0)
	b = append(b, family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL) // struct rtmsg
	b = e.AppendUint32(b, 0)
	b = e.AppendUint16(b, 8)
	b = e.AppendUint16(b, unix.RTA_OIF)
	b = e.AppendUint32(b, 1) // the loopback is the first interface of every network
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < 20 || e.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return fmt.Errorf("rtnetlink: % x", answer[:n])
	}
	if errno := -int32(e.Uint32(answer[16:])); errno != 0 {
		return fmt.Errorf("rtnetlink: %w", unix.Errno(errno))
	}
	return nil
}

// box is the other end.
type box struct {
	mu   sync.Mutex
	file *os.File
	noV6 error
}

// need skips where the host lacks something, or fails when PSB_MUST names it.
func need(t testing.TB, name string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), name) {
		t.Fatalf("PSB_MUST names %s: %v", name, err)
	}
	t.Skipf("no %s: %v", name, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newBox(t testing.TB) *box {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	ours, theirs := os.NewFile(uintptr(ends[0]), "box"), os.NewFile(uintptr(ends[1]), "box")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe", boxMark)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}}
	if err := cmd.Start(); err != nil {
		ours.Close()
		need(t, "userns", err)
	}
	t.Cleanup(func() {
		ours.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the box: %v", err)
		}
	})
	theirs.Close()
	hello := make([]byte, 256)
	n, err := ours.Read(hello)
	must(t, err)
	b := &box{file: ours}
	switch text := string(hello[:n]); {
	case strings.HasPrefix(text, "no IPv6"):
		b.noV6 = errors.New(text)
	case text != "ready":
		need(t, "userns", errors.New(text))
	}
	return b
}

// socket is the Inside of the tests.
func (b *box) socket(v6 bool) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ask := []byte{4}
	if v6 {
		ask[0] = 6
	}
	if _, err := b.file.Write(ask); err != nil {
		return -1, err
	}
	fd := -1
	raw, err := b.file.SyscallConn()
	if err != nil {
		return -1, err
	}
	text, info := make([]byte, 256), make([]byte, 64)
	failed := raw.Read(func(control uintptr) bool {
		var n, used int
		if n, used, _, _, err = unix.Recvmsg(int(control), text, info, unix.MSG_CMSG_CLOEXEC); err != nil {
			return err != unix.EAGAIN
		}
		list, _ := unix.ParseSocketControlMessage(info[:used])
		if len(list) == 1 {
			if fds, _ := unix.ParseUnixRights(&list[0]); len(fds) == 1 {
				fd = fds[0]
				return true
			}
		}
		err = errors.New(string(text[:n]))
		return true
	})
	return fd, errors.Join(failed, err)
}

// program is a socket of the program's.
type program struct {
	t testing.TB
	*net.UDPConn
}

// programAt gives a socket bound to an address, and with what options (level and name); the zero address: not bound.
func (b *box) programAt(t testing.TB, at netip.AddrPort, v6 bool, options ...[2]int) program {
	t.Helper()
	p, err := b.tryProgram(t, at, v6, options...)
	must(t, err)
	return p
}

func (b *box) tryProgram(t testing.TB, at netip.AddrPort, v6 bool, options ...[2]int) (program, error) {
	t.Helper()
	fd, err := b.socket(v6)
	must(t, err)
	f := os.NewFile(uintptr(fd), "program")
	defer f.Close()
	for _, o := range options {
		must(t, unix.SetsockoptInt(fd, o[0], o[1], 1))
	}
	if at.IsValid() {
		sa, err := sockaddr(fd, at)
		must(t, err)
		if err := unix.Bind(fd, sa); err != nil {
			return program{}, err
		}
	}
	c, err := net.FilePacketConn(f)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return program{t, c.(*net.UDPConn)}, nil
}

func (b *box) program(t testing.TB) program {
	t.Helper()
	return b.programAt(t, netip.AddrPort{}, false)
}

// connectedTo is a program that connected its socket.
func (b *box) connectedTo(t testing.TB, to netip.AddrPort) program {
	t.Helper()
	fd, err := b.socket(to.Addr().Is6())
	must(t, err)
	f := os.NewFile(uintptr(fd), "program")
	defer f.Close()
	sa, err := sockaddr(fd, to)
	must(t, err)
	must(t, unix.Connect(fd, sa))
	c, err := net.FileConn(f)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return program{t, c.(*net.UDPConn)}
}

func (p program) send(to netip.AddrPort, text string) {
	p.t.Helper()
	_, err := p.WriteToUDPAddrPort([]byte(text), to)
	must(p.t, err)
}

// hear waits for a datagram from an address.
func (p program) hear(from netip.AddrPort) string {
	p.t.Helper()
	return hear(p.t, p.UDPConn, from)
}

// ask is a round trip.
func (p program) ask(to netip.AddrPort, text string) string {
	p.t.Helper()
	p.send(to, text)
	return p.hear(to)
}

const patience = 20 * time.Second // of what must come; nothing waits so long unless it fails

func deadline() time.Time { return time.Now().Add(patience) }

func hear(t testing.TB, c *net.UDPConn, from netip.AddrPort) string {
	t.Helper()
	must(t, c.SetReadDeadline(deadline()))
	b := make([]byte, 1<<16)
	n, got, err := c.ReadFromUDPAddrPort(b)
	must(t, err)
	if from.IsValid() && plain(got) != plain(from) {
		t.Fatalf("%q comes from %v, not from %v", b[:min(n, 40)], got, from)
	}
	return string(b[:n])
}

// server answers what comes with its name, a colon and the same.
type server struct {
	at   netip.AddrPort
	stop func()
	mu   sync.Mutex
	from map[netip.AddrPort]int // how many datagrams came from whom
	got  []string
}

// echo serves on the host.
func echo(t testing.TB, name, at string) *server {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	must(t, err)
	return serve(t, name, c)
}

func serve(t testing.TB, name string, c *net.UDPConn) *server {
	s := &server{at: plain(c.LocalAddr().(*net.UDPAddr).AddrPort()), from: map[netip.AddrPort]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.from[from]++
			s.got = append(s.got, string(b[:min(n, 64)]))
			s.mu.Unlock()
			_, _ = c.WriteToUDPAddrPort(append([]byte(name+":"), b[:n]...)[:min(n+len(name)+1, 65507)], from)
		}
	}()
	s.stop = sync.OnceFunc(func() { c.Close(); <-done })
	t.Cleanup(s.stop)
	return s
}

func (s *server) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *server) peers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.from)
}

// stands is a Where for addresses that stand for one each, and counts how often it was asked.
type stands struct {
	mu    sync.Mutex
	is    map[netip.AddrPort]netip.AddrPort
	asked int
}

var errRefused = errors.New("refused")

func (s *stands) where(_ context.Context, to netip.AddrPort) ([]netip.AddrPort, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	real, ok := s.is[to]
	if !ok {
		return nil, errRefused
	}
	return []netip.AddrPort{real}, nil
}

func (s *stands) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// start gives a relay for the box that ends with the test.
func start(t testing.TB, b *box, cfg Config) *Relay {
	t.Helper()
	if cfg.Inside == nil {
		cfg.Inside = b.socket
	}
	r := New(cfg)
	t.Cleanup(r.Close)
	return r
}

func (r *Relay) count() (doors, flows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doors.len() + len(r.published), r.outward.len() + r.inward.len()
}

// until waits for what must come true.
func until(t testing.TB, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !true(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
