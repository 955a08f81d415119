package names

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// upstream is a server of the host that does what says gives for each question; several messages are sent one after the other.
type upstream struct {
	udp  net.PacketConn
	tcp  net.Listener
	says func(network string, q dnsmessage.Message) [][]byte

	mu    sync.Mutex
	asked []string
	heard chan struct{} // a place for one: something was asked
}

func newUpstream(t *testing.T, says func(network string, q dnsmessage.Message) [][]byte) *upstream {
	t.Helper()
	u := &upstream{says: says, heard: make(chan struct{}, 1)}
	u.udp, u.tcp = loopbackSockets(t)
	var running sync.WaitGroup
	running.Go(func() {
		b := make([]byte, 65535)
		for {
			n, from, err := u.udp.ReadFrom(b)
			if err != nil {
				return
			}
			for _, answer := range u.answers("udp", b[:n]) {
				_, _ = u.udp.WriteTo(answer, from)
			}
		}
	})
	running.Go(func() {
		for {
			conn, err := u.tcp.Accept()
			if err != nil {
				return
			}
			if q, err := receive(conn); err == nil {
				for _, answer := range u.answers("tcp", q) {
					_ = send(conn, answer)
				}
			}
			conn.Close()
		}
	})
	t.Cleanup(func() {
		u.udp.Close()
		u.tcp.Close()
		running.Wait()
	})
	return u
}

func (u *upstream) answers(network string, b []byte) [][]byte {
	var q dnsmessage.Message
	if q.Unpack(b) != nil || len(q.Questions) != 1 {
		return nil
	}
	u.mu.Lock()
	u.asked = append(u.asked, q.Questions[0].Name.String())
	u.mu.Unlock()
	select {
	case u.heard <- struct{}{}:
	default:
	}
	return u.says(network, q)
}

func (u *upstream) lookup() Lookup {
	return lookupBy(func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := u.udp.LocalAddr().String()
		if strings.HasPrefix(network, "tcp") {
			address = u.tcp.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	})
}

// loopbackSockets gives a UDP and a TCP socket on one port.
func loopbackSockets(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	var err error
	for range 100 {
		var tcp net.Listener
		if tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			break
		}
		var udp net.PacketConn
		if udp, err = net.ListenPacket("udp", tcp.Addr().String()); err == nil {
			return udp, tcp
		}
		tcp.Close() // another has that port for UDP
	}
	t.Fatal(err)
	return nil, nil
}

// respond gives an answer to q with a code and addresses.
func respond(q dnsmessage.Message, code dnsmessage.RCode, change func(*dnsmessage.Message), addrs ...netip.Addr) []byte {
	q.Response, q.RecursionAvailable, q.RCode, q.Additionals = true, true, code, nil
	q.Answers, q.Questions = records(q.Questions[0], addrs...), slices.Clone(q.Questions)
	if change != nil {
		change(&q)
	}
	b, err := q.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

func TestHostLookup(t *testing.T) {
	right := addresses("192.0.2.7", "2001:db8::7")
	good := func(q dnsmessage.Message) []byte { return respond(q, success, nil, right...) }
	var huge []netip.Addr
	for i := range 4000 {
		huge = append(huge, netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}))
	}
	fine := func(addrs []netip.Addr, err error) bool {
		return err == nil && len(addrs) == 2 && slices.Contains(addrs, right[0]) && slices.Contains(addrs, right[1])
	}
	unknown := func(addrs []netip.Addr, err error) bool { return err != nil && !notFound(err) && addrs == nil }
	for _, row := range []struct {
		what string
		says func(network string, q dnsmessage.Message) [][]byte
		want func([]netip.Addr, error) bool
	}{
		{"honest", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{good(q)} }, fine},
		{"no such name", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, missing, nil)} },
			func(_ []netip.Addr, err error) bool { return notFound(err) }},
		{"no addresses", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, success, nil)} },
			func(_ []netip.Addr, err error) bool { return notFound(err) }},
		{"failing", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, failure, nil)} }, unknown},
		{"refusing", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, refuses, nil)} }, unknown},
		{"failing for IPv6 alone", func(_ string, q dnsmessage.Message) [][]byte {
			if q.Questions[0].Type == dnsmessage.TypeAAAA {
				return [][]byte{respond(q, failure, nil)}
			}
			return [][]byte{good(q)}
		}, func(addrs []netip.Addr, err error) bool { return err == nil && slices.Equal(addrs, right[:1]) }},
		{"lies before the truth", func(_ string, q dnsmessage.Message) [][]byte {
			lie := addresses("10.6.6.6", "2001:db8::666")
			return [][]byte{
				respond(q, success, func(m *dnsmessage.Message) { m.ID++ }, lie...),
				respond(q, success, func(m *dnsmessage.Message) { m.Questions[0].Name = dnsmessage.MustNewName("other.test.") }, lie...),
				respond(q, success, func(m *dnsmessage.Message) { m.Response = false }, lie...),
				[]byte("\x00garbage"), {}, make([]byte, 1232),
				good(q),
			}
		}, fine},
		{"cut off by UDP", func(network string, q dnsmessage.Message) [][]byte {
			if network == "udp" {
				return [][]byte{respond(q, success, func(m *dnsmessage.Message) { m.Truncated = true })}
			}
			return [][]byte{good(q)}
		}, fine},
		{"huge", func(network string, q dnsmessage.Message) [][]byte {
			if network == "udp" {
				return [][]byte{respond(q, success, func(m *dnsmessage.Message) { m.Truncated = true })}
			}
			return [][]byte{respond(q, success, nil, huge...)}
		}, func(addrs []netip.Addr, err error) bool {
			return err == nil && slices.Equal(addrs, huge[:mostAddresses])
		}},
		{"huge in a datagram", func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, success, nil, huge...)} }, nil},
		{"cut off by TCP too", func(_ string, q dnsmessage.Message) [][]byte {
			return [][]byte{respond(q, success, func(m *dnsmessage.Message) { m.Truncated = true })}
		}, nil},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			addrs, err := newLookups(newUpstream(t, row.says).lookup()).addresses(t.Context(), "pypi.test")
			if row.want != nil && !row.want(addrs, err) || row.want == nil && len(addrs) > mostAddresses {
				t.Errorf("%v, %#v", addrs, err)
			}
			d, ok := errors.AsType[*net.DNSError](err)
			if err != nil && (!ok || d.IsTemporary == d.IsNotFound) {
				t.Errorf("%#v says neither that there is no such name nor that it is not known, or both", err)
			}
		})
	}
}

// A server that never gives an answer is left as soon as no one waits any more.
func TestHostLookupDead(t *testing.T) {
	for what, says := range map[string]func(string, dnsmessage.Message) [][]byte{
		"silent": func(string, dnsmessage.Message) [][]byte { return nil },
		"lying": func(_ string, q dnsmessage.Message) [][]byte {
			q.ID++
			return [][]byte{respond(q, success, nil, addresses("10.6.6.6")...)}
		},
		"babbling": func(string, dnsmessage.Message) [][]byte {
			return slices.Repeat([][]byte{[]byte("\xbe\xef\x84\x00\x00\x01\xff\xff\xff\xff\xff\xff\xc0\x0c")}, 50)
		},
	} {
		t.Run(what, func(t *testing.T) {
			u := newUpstream(t, says)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-u.heard
				cancel()
			}()
			addrs, err := u.lookup()(ctx, "pypi.test")
			if err == nil || notFound(err) || ctx.Err() == nil {
				t.Errorf("%v, %#v", addrs, err)
			}
		})
	}
}

// A name with a dot is first of all itself, whatever the host's search list says; and where it is not known whether it exists, nothing else is
// asked for.
func TestWholeFirst(t *testing.T) {
	for _, row := range []struct {
		name, exists, broken string
		want, asked          string
	}{
		{"pypi.org", "pypi.org.", "", "[192.0.2.7] <nil>", "pypi.org."},
		{"db.prod", "db.prod", "", "[192.0.2.7] <nil>", "db.prod. db.prod"},
		{"db", "db", "", "[192.0.2.7] <nil>", "db"},
		{"pypi.org", "pypi.org", "pypi.org.", "[] lookup pypi.org.: broken", "pypi.org."},
		{"pypi.org", "", "pypi.org", "[] lookup pypi.org: broken", "pypi.org. pypi.org"},
		{"pypi.org", "", "", "[] lookup pypi.org: no such host", "pypi.org. pypi.org"},
	} {
		var asked []string
		addrs, err := wholeFirst(func(_ context.Context, name string) ([]netip.Addr, error) {
			switch asked = append(asked, name); name {
			case row.exists:
				return addresses("192.0.2.7"), nil
			case row.broken:
				return nil, &net.DNSError{Err: "broken", Name: name, IsTemporary: true}
			}
			return nil, noSuchHost(name)
		})(t.Context(), row.name)
		if got := fmt.Sprint(addrs, " ", err); got != row.want || strings.Join(asked, " ") != row.asked {
			t.Errorf("%s: %s after %q, want %s after %q", row.name, got, asked, row.want, row.asked)
		}
	}
}

// The real resolver keeps to it: the dot at the end is what makes it ask for nothing else.
func TestHostLookupWhole(t *testing.T) {
	u := newUpstream(t, func(_ string, q dnsmessage.Message) [][]byte { return [][]byte{respond(q, failure, nil)} })
	if _, err := u.lookup()(t.Context(), "pypi.test"); err == nil || notFound(err) {
		t.Errorf("%#v", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if asked := slices.Compact(u.asked); !slices.Equal(asked, []string{"pypi.test."}) {
		t.Errorf("asked for %q", u.asked)
	}
}
