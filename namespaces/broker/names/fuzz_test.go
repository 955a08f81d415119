package names

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// FuzzAnswer gives messages that no resolver wrote. Whatever they are, the answer is a message to the asker, no longer than was said, with
// nothing in it but stand-ins and loopback; and the host is asked for nothing that has no rule.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"pypi.org.", "PyPI.org.", "none.org.", "evil.test.", "localhost.", "box.", ".", "1.0.0.127.in-addr.arpa.", "0.1.18.198.in-addr.arpa."} {
		for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypePTR, dnsmessage.TypeMX} {
			f.Add(message(name, kind), uint16(mostPacket))
			f.Add(message(name, kind, edns(0, 1232, ".")), uint16(60))
		}
	}
	f.Add(message("pypi.org.", dnsmessage.TypeA, edns(1, 0, ".")), uint16(mostPacket))
	f.Add(message("pypi.org.", dnsmessage.TypeSOA, func(m *dnsmessage.Message) { m.OpCode = 4 }), uint16(12))
	f.Add([]byte{0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1}, uint16(mostPacket))
	ruled := func(name string) bool { return within(name, "org") }
	f.Fuzz(func(t *testing.T, query []byte, most uint16) {
		s := New(Config{
			Ruled: func(name string) bool {
				if plain, ok := hostName(name); !ok || plain != name {
					t.Errorf("a rule was sought for %q", name)
				}
				return ruled(name)
			},
			Refused: func(name string) {
				if plain, ok := hostName(name); !ok || plain != name || ruled(name) {
					t.Errorf("refused %q", name)
				}
			},
			Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
				if !ruled(name) {
					t.Errorf("the host was asked for %q", name)
				}
				if strings.HasPrefix(name, "p") {
					return addresses("192.0.2.1", "192.0.2.2"), nil
				}
				return nil, &net.DNSError{IsNotFound: true}
			},
			Hostname: "box",
		})
		before := slices.Clone(query)
		answer := s.Answer(t.Context(), query, int(most))
		if !slices.Equal(before, query) {
			t.Error("the question was changed")
		}
		if answer == nil {
			if len(query) >= 12 && query[2]&0x80 == 0 && most >= mostPacket {
				t.Error("a question without an answer")
			}
			return
		}
		if len(answer) > int(most) {
			t.Errorf("%d bytes, %d are taken", len(answer), most)
		}
		m := parse(t, answer)
		if !m.Response || m.ID != uint16(query[0])<<8|uint16(query[1]) || most >= mostPacket && m.Truncated {
			t.Errorf("%s", m.GoString())
		}
		for _, r := range m.Answers {
			switch body := r.Body.(type) {
			case *dnsmessage.AResource:
				if a := netip.AddrFrom4(body.A); !a.IsLoopback() && !netip.MustParsePrefix("198.18.0.0/15").Contains(a) {
					t.Errorf("the address %v", a)
				}
			case *dnsmessage.AAAAResource:
				if a := netip.AddrFrom16(body.AAAA); !a.IsLoopback() {
					t.Errorf("the address %v", a)
				}
			case *dnsmessage.PTRResource:
				if body.PTR.String() != "localhost." {
					t.Errorf("the name %q", body.PTR.String())
				}
			default:
				t.Errorf("a record %s", r.GoString())
			}
		}
	})
}
