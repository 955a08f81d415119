package names

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// serve answers on loopback until the test ends, and fails it where the server does not end well.
func serve(t testing.TB, s *Server) (udp net.PacketConn, tcp net.Listener) {
	t.Helper()
	udp, tcp = loopbackSockets(t)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.ServePacket(ctx, udp); err != nil {
			t.Errorf("ServePacket: %v", err)
		}
	})
	running.Go(func() {
		if err := s.ServeStream(ctx, tcp); err != nil {
			t.Errorf("ServeStream: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return udp, tcp
}

// resolver is Go's own, asking a server of ours.
func resolver(udp net.PacketConn, tcp net.Listener) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if strings.HasPrefix(network, "tcp") {
			return (&net.Dialer{}).DialContext(ctx, network, tcp.Addr().String())
		}
		return (&net.Dialer{}).DialContext(ctx, network, udp.LocalAddr().String())
	}}
}

func TestGoResolver(t *testing.T) {
	h := newHost()
	s := h.server()
	r := resolver(serve(t, s))
	for _, row := range []struct {
		name, want string
	}{
		{"pypi.org.", "[198.18.1.0 198.18.1.1 198.18.1.2] <nil>"},
		{"six.example.", "[198.18.1.3] <nil>"},
		{"pypi.org.", "[198.18.1.0 198.18.1.1 198.18.1.2] <nil>"},
		{"none.example.", "[] no such name"},
		{"broken.example.", "[] not known"},
		{"evil.test.", "[] no such name"},
	} {
		addrs, err := r.LookupNetIP(t.Context(), "ip", row.name)
		for i := range addrs {
			addrs[i] = addrs[i].Unmap()
		}
		slices.SortFunc(addrs, netip.Addr.Compare) // the resolver has its own order
		if got := fmt.Sprint(addrs, " ", kind(err)); got != row.want {
			t.Errorf("%s: %s (%v), want %s", row.name, got, err, row.want)
		}
	}
	if names, err := r.LookupAddr(t.Context(), "198.18.1.3"); err != nil || !slices.Equal(names, []string{"six.example."}) {
		t.Errorf("198.18.1.3 has the names %q, %v", names, err)
	}
	if names, err := r.LookupAddr(t.Context(), "192.0.2.1"); kind(err) != "no such name" {
		t.Errorf("192.0.2.1 has the names %q, %v", names, err)
	}
	if list, err := r.LookupMX(t.Context(), "pypi.org."); kind(err) != "no such name" || len(list) > 0 {
		t.Errorf("mail: %v, %v", list, err)
	}
	if list, err := r.LookupTXT(t.Context(), "evil.test."); kind(err) != "no such name" || len(list) > 0 {
		t.Errorf("text: %v, %v", list, err)
	}
	refused, _ := h.told()
	if slices.Sort(refused); !slices.Equal(slices.Compact(refused), []string{"evil.test"}) {
		t.Errorf("refused %q", refused)
	}
}

func kind(err error) string {
	switch {
	case err == nil:
		return "<nil>"
	case notFound(err):
		return "no such name"
	}
	return "not known"
}

// A datagram that is cut off makes an independent resolver come by TCP.
func TestCutOffLeadsToTCP(t *testing.T) {
	s := newHost().server()
	udp, tcp := loopbackSockets(t)
	var running sync.WaitGroup
	running.Go(func() {
		b := make([]byte, mostQuery)
		for {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo(s.Answer(context.Background(), b[:n], 60), from)
		}
	})
	running.Go(func() {
		if err := s.ServeStream(context.Background(), tcp); err != nil {
			t.Error(err)
		}
	})
	addrs, err := resolver(udp, tcp).LookupNetIP(t.Context(), "ip4", "many.example.")
	if err != nil || len(addrs) != mostEach {
		t.Errorf("%v, %v", addrs, err)
	}
	udp.Close()
	tcp.Close() // which ServeStream must see for itself
	running.Wait()
}

// Many at the same time, by both ways, are told the same.
func TestSameForAll(t *testing.T) {
	h := newHost()
	udp, tcp := serve(t, h.server())
	var all sync.WaitGroup
	var mu sync.Mutex
	told := map[string]string{}
	for i := range 16 {
		all.Go(func() {
			for _, name := range []string{"pypi.org.", "six.example.", "many.example."} {
				r := resolver(udp, tcp)
				if i%2 == 1 {
					r.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
						return (&net.Dialer{}).DialContext(ctx, "tcp", tcp.Addr().String())
					}
				}
				addrs, err := r.LookupNetIP(t.Context(), "ip4", name)
				slices.SortFunc(addrs, netip.Addr.Compare)
				got := fmt.Sprint(addrs, err)
				mu.Lock()
				if before, ok := told[name]; ok && before != got {
					t.Errorf("%s: %s, and before %s", name, got, before)
				}
				told[name] = got
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if _, asked := h.told(); len(asked) != 3 {
		t.Errorf("the host was asked for %q", asked)
	}
}

// Another resolver's view of the same server.
func TestDig(t *testing.T) {
	dig, err := exec.LookPath("dig")
	if err != nil {
		t.Skipf("no second resolver to ask with: %v", err)
	}
	h := newHost()
	udp, _ := serve(t, h.server())
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	status := regexp.MustCompile(`status: (\w+)`)
	answers := regexp.MustCompile(`(?m)^[^;\s]\S*\s+\d+\s+IN\s+\w+\s+(\S+)$`)
	for _, row := range []struct {
		args string
		want string
		also string // in what dig prints
	}{
		{"pypi.org A", "NOERROR 198.18.1.0 198.18.1.1 198.18.1.2", "flags: qr rd ra;"},
		{"pYPi.oRG A", "NOERROR 198.18.1.0 198.18.1.1 198.18.1.2", "pYPi.oRG."},
		{"+tcp pypi.org A", "NOERROR 198.18.1.0 198.18.1.1 198.18.1.2", "(TCP)"},
		{"+tcp +keepopen pypi.org A pypi.org AAAA", "NOERROR 198.18.1.0 198.18.1.1 198.18.1.2 NOERROR", ""},
		{"+bufsize=512 +dnssec +cookie many.example A", "NOERROR 198.18.1.3 198.18.1.4 198.18.1.5 198.18.1.6 198.18.1.7 198.18.1.8 198.18.1.9 198.18.1.10", "flags: do; udp: 1232"},
		{"+noedns pypi.org AAAA", "NOERROR", "ADDITIONAL: 0"},
		{"pypi.org ANY", "NOERROR", ""},
		{"pypi.org HTTPS", "NOERROR", ""},
		{"none.example A", "NXDOMAIN", ""},
		{"broken.example A", "SERVFAIL", ""},
		{"evil.test MX", "NXDOMAIN", ""},
		{"localhost AAAA", "NOERROR ::1", ""},
		{"box A", "NOERROR 127.0.0.1", ""},
		{"-x 198.18.1.1", "NOERROR pypi.org.", ""},
		{"-x 127.0.0.1", "NOERROR localhost.", ""},
		{"-x ::1", "NOERROR localhost.", ""},
		{"-x 9.9.9.9", "NXDOMAIN", ""},
		{"CH TXT version.bind", "REFUSED", ""},
		{"+opcode=NOTIFY pypi.org SOA", "NOTIMP", ""},
		{"+edns=1 +noednsnegotiation pypi.org A", "BADVERS", "udp: 1232"},
		{"+ednsopt=100:0102 pypi.org A", "NOERROR 198.18.1.0 198.18.1.1 198.18.1.2", ""},
		{"+tcp pypi.org AXFR", "", "Transfer failed"},
	} {
		args := append([]string{"-r", "@127.0.0.1", "-p", port, "+tries=1", "+nosearch"}, strings.Fields(row.args)...)
		out, err := exec.CommandContext(t.Context(), dig, args...).CombinedOutput()
		var words []string
		for reply := range strings.SplitAfterSeq(string(out), ";; MSG SIZE") {
			for _, m := range slices.Concat(status.FindAllStringSubmatch(reply, -1), answers.FindAllStringSubmatch(reply, -1)) {
				words = append(words, m[1])
			}
		}
		if got := strings.Join(words, " "); err != nil || got != row.want || !strings.Contains(string(out), row.also) || strings.Contains(string(out), "WARNING: recursion") {
			t.Errorf("dig %s: %q (%v), want %q and %q in\n%s", row.args, got, err, row.want, row.also, out)
		}
	}
	if refused, _ := h.told(); !slices.Equal(refused, []string{"evil.test"}) {
		t.Errorf("refused %q", refused)
	}
}

// Both end by ctx and by the socket, and a socket that breaks is said to be broken.
func TestServeEnds(t *testing.T) {
	s := newHost().server()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	udp, tcp := loopbackSockets(t)
	if err := s.ServePacket(ctx, udp); err != nil {
		t.Errorf("ServePacket after the end: %v", err)
	}
	if err := s.ServeStream(ctx, tcp); err != nil {
		t.Errorf("ServeStream after the end: %v", err)
	}
	if err := s.ServePacket(t.Context(), udp); err != nil {
		t.Errorf("ServePacket of a closed socket: %v", err)
	}
	if err := s.ServeStream(t.Context(), tcp); err != nil {
		t.Errorf("ServeStream of a closed socket: %v", err)
	}
	if _, err := udp.WriteTo(message("a.", dnsmessage.TypeA), udp.LocalAddr()); err == nil {
		t.Error("ServePacket left its socket open")
	}
	if conn, err := net.Dial("tcp", tcp.Addr().String()); err == nil {
		conn.Close()
		t.Error("ServeStream left its socket open")
	}
}
