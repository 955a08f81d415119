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

// host is a host's resolver that knows some names, and what it was asked and told.
type host struct {
	mu      sync.Mutex
	knows   map[string][]netip.Addr
	asked   []string
	refused []string
}

// newHost gives one that knows pypi.org with three addresses, many.example with twelve, and six.example with an IPv6 address alone.
func newHost() *host {
	h := &host{knows: map[string][]netip.Addr{"six.example": addresses("2001:db8::6"), "pypi.org": addresses("192.0.2.1", "2001:db8::1", "192.0.2.2")}}
	for i := range 12 {
		h.knows["many.example"] = append(h.knows["many.example"], netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}))
	}
	return h
}

func addresses(list ...string) (addrs []netip.Addr) {
	for _, a := range list {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs
}

func (h *host) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, name)
	if name == "broken.example" {
		return nil, errors.New("the line is cut")
	}
	if addrs, ok := h.knows[name]; ok {
		return slices.Clone(addrs), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (h *host) hear(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = append(h.refused, name)
}

// told gives what was refused, and what the host was asked for, in their order.
func (h *host) told() (refused, asked []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.refused), slices.Clone(h.asked)
}

// server is one for which pypi.org and all of .example have rules.
func (h *host) server() *Server {
	return New(Config{
		Ruled:    func(name string) bool { return name == "pypi.org" || within(name, "example") },
		Refused:  h.hear,
		Lookup:   h.lookup,
		Hostname: "Box.",
	})
}

// message is a query as a resolver sends it.
func message(name string, kind dnsmessage.Type, change ...func(*dnsmessage.Message)) []byte {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 0xbeef, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	for _, f := range change {
		f(&m)
	}
	b, err := m.Pack()
	if err != nil {
		panic(fmt.Sprintf("%q: %v", name, err))
	}
	return b
}

func parse(t *testing.T, b []byte) (m dnsmessage.Message) {
	t.Helper()
	if err := m.Unpack(b); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	return m
}

// said is the answer section in words.
func said(m dnsmessage.Message) string {
	var words []string
	for _, r := range m.Answers {
		switch body := r.Body.(type) {
		case *dnsmessage.AResource:
			words = append(words, netip.AddrFrom4(body.A).String())
		case *dnsmessage.AAAAResource:
			words = append(words, netip.AddrFrom16(body.AAAA).String())
		case *dnsmessage.PTRResource:
			words = append(words, body.PTR.String())
		default:
			words = append(words, r.GoString())
		}
	}
	return strings.Join(words, " ")
}

const (
	success = dnsmessage.RCodeSuccess
	missing = dnsmessage.RCodeNameError
	failure = dnsmessage.RCodeServerFailure
	refuses = dnsmessage.RCodeRefused
)

func TestAnswer(t *testing.T) {
	const a, aaaa, ptr = dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypePTR
	one := strings.Repeat("0.", 31) + "ip6.arpa."
	long := strings.Repeat(strings.Repeat("a", 49)+".", 4)
	for _, row := range []struct {
		name    string
		kind    dnsmessage.Type
		code    dnsmessage.RCode
		says    string
		asked   string // of the host
		refused string
	}{
		{"pypi.org.", a, success, "198.18.1.0 198.18.1.1 198.18.1.2", "pypi.org", ""},
		{"PyPI.ORG.", a, success, "198.18.1.0 198.18.1.1 198.18.1.2", "pypi.org", ""},
		{"pypi.org.", aaaa, success, "", "pypi.org", ""},
		{"six.example.", a, success, "198.18.1.0", "six.example", ""},
		{"six.example.", aaaa, success, "", "six.example", ""},
		{"many.example.", a, success, "198.18.1.0 198.18.1.1 198.18.1.2 198.18.1.3 198.18.1.4 198.18.1.5 198.18.1.6 198.18.1.7", "many.example", ""},
		{"none.example.", a, missing, "", "none.example", ""},
		{"none.example.", aaaa, missing, "", "none.example", ""},
		{"broken.example.", a, failure, "", "broken.example", ""},
		{"broken.example.", aaaa, failure, "", "broken.example", ""},

		// What else is asked of a name with a rule stays in the box.
		{"pypi.org.", dnsmessage.TypeMX, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeTXT, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeSRV, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeHTTPS, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeSVCB, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeNS, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeSOA, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeCNAME, success, "", "", ""},
		{"pypi.org.", dnsmessage.TypeALL, success, "", "", ""},
		{"pypi.org.", ptr, success, "", "", ""},
		{"pypi.org.", 257, success, "", "", ""}, // CAA
		{"pypi.org.", dnsmessage.TypeAXFR, refuses, "", "", ""},
		{"evil.test.", dnsmessage.TypeAXFR, refuses, "", "", ""},

		{"evil.test.", a, missing, "", "", "evil.test"},
		{"Evil.TEST.", aaaa, missing, "", "", "evil.test"},
		{"evil.test.", dnsmessage.TypeTXT, missing, "", "", "evil.test"},
		{"evil.test.", dnsmessage.TypeHTTPS, missing, "", "", "evil.test"},
		{"_ldap._tcp.evil.test.", dnsmessage.TypeSRV, missing, "", "", "_ldap._tcp.evil.test"},
		{"pypi.org.corp.test.", a, missing, "", "", "pypi.org.corp.test"},
		{"notpypi.org.", a, missing, "", "", "notpypi.org"},
		{"org.", a, missing, "", "", "org"},
		{"_http._tcp.local.", ptr, missing, "", "", ""},

		{"localhost.", a, success, "127.0.0.1", "", ""},
		{"localhost.", aaaa, success, "::1", "", ""},
		{"LocalHost.", a, success, "127.0.0.1", "", ""},
		{"app.localhost.", a, success, "127.0.0.1", "", ""},
		{"app.localhost.", aaaa, success, "::1", "", ""},
		{"localhost.", dnsmessage.TypeMX, success, "", "", ""},
		{"notlocalhost.", a, missing, "", "", "notlocalhost"},
		{"box.", a, success, "127.0.0.1", "", ""},
		{"BOX.", aaaa, success, "", "", ""},
		{"x.box.", a, missing, "", "", "x.box"},

		{"1.0.0.127.in-addr.arpa.", ptr, success, "localhost.", "", ""},
		{"1.0.0.127.in-addr.arpa.", a, success, "", "", ""},
		{"1." + one, ptr, success, "localhost.", "", ""},
		{"2." + one, ptr, missing, "", "", ""},
		{one, ptr, missing, "", "", ""},
		{"0.1.18.198.in-addr.arpa.", ptr, missing, "", "", ""}, // not given out yet
		{"8.8.8.8.in-addr.arpa.", ptr, missing, "", "", ""},
		{"8.8.8.8.in-addr.arpa.", dnsmessage.TypeTXT, missing, "", "", ""},
		{"1.0.0.0.127.in-addr.arpa.", ptr, missing, "", "", ""},
		{"1.0.0.127.x.in-addr.arpa.", ptr, missing, "", "", ""},
		{"01.0.0.127.in-addr.arpa.", ptr, missing, "", "", ""},
		{"256.0.0.127.in-addr.arpa.", ptr, missing, "", "", ""},
		{"in-addr.arpa.", dnsmessage.TypeSOA, missing, "", "", ""},
		{"ip6.arpa.", dnsmessage.TypeNS, missing, "", "", ""},
		{"ipv4only.arpa.", aaaa, missing, "", "", ""},
		{"_dns.resolver.arpa.", dnsmessage.TypeSVCB, missing, "", "", ""},
		{"home.arpa.", a, missing, "", "", "home.arpa"},
		{".", dnsmessage.TypeNS, success, "", "", ""},

		// No host names, whatever the rules say.
		{"127.0.0.1.", a, missing, "", "", ""},
		{"127.1.", a, missing, "", "", ""},
		{"2130706433.", a, missing, "", "", ""},
		{"0x7f.0x1.", a, missing, "", "", ""},
		{"1.2.3.09.", a, missing, "", "", ""},
		{"a.99999999999999999999.", a, missing, "", "", ""},
		{"a b.example.", a, missing, "", "", ""},
		{"\x1b[2J.example.", a, missing, "", "", ""},
		{"a\x00.example.", a, missing, "", "", ""},
		{"b\xc3\xbccher.example.", a, missing, "", "", ""},
		{"*.example.", a, missing, "", "", ""},
		{"a/b.example.", a, missing, "", "", ""},
		{long + strings.Repeat("b", 45) + ".example.", a, missing, "", long + strings.Repeat("b", 45) + ".example", ""}, // 253
	} {
		t.Run(fmt.Sprintf("%q %v", row.name, row.kind), func(t *testing.T) {
			h := newHost()
			query := message(row.name, row.kind)
			m := parse(t, h.server().Answer(t.Context(), query, mostPacket))
			want := dnsmessage.Header{ID: 0xbeef, Response: true, RecursionDesired: true, RecursionAvailable: true, RCode: row.code}
			if m.Header != want {
				t.Errorf("header %v, want %v", m.GoString(), want.GoString())
			}
			if got := said(m); got != row.says {
				t.Errorf("says %q, want %q", got, row.says)
			}
			if len(m.Questions) != 1 || m.Questions[0] != parse(t, query).Questions[0] || len(m.Authorities)+len(m.Additionals) > 0 {
				t.Errorf("the rest is %s", m.GoString())
			}
			for _, r := range m.Answers {
				if r.Header.Name.String() != row.name || r.Header.TTL != ttl || r.Header.Class != dnsmessage.ClassINET {
					t.Errorf("record %s", r.GoString())
				}
			}
			if got := strings.Join(h.asked, " "); got != row.asked {
				t.Errorf("the host was asked for %q, want %q", got, row.asked)
			}
			if got := strings.Join(h.refused, " "); got != row.refused {
				t.Errorf("refused %q, want %q", got, row.refused)
			}
		})
	}
}

// TestAnswerMeans goes there and back: a name, its addresses, their meaning and the name that they have.
func TestAnswerMeans(t *testing.T) {
	s := newHost().server()
	for _, name := range []string{"six.example", "pypi.org", "six.example"} {
		m := parse(t, s.Answer(t.Context(), message(name+".", dnsmessage.TypeA), mostPacket))
		if len(m.Answers) == 0 {
			t.Fatalf("%s: %s", name, m.GoString())
		}
		for i, r := range m.Answers {
			b := r.Body.(*dnsmessage.AResource).A
			for _, addr := range []netip.Addr{netip.AddrFrom4(b), netip.AddrFrom16(netip.AddrFrom4(b).As16())} {
				got, which, ok := s.Meaning(addr)
				if got != name || which != i || !ok {
					t.Errorf("%v means %q, %d, %t, want %q, %d", addr, got, which, ok, name, i)
				}
			}
			back := fmt.Sprintf("%d.%d.%d.%d.in-addr.arpa.", b[3], b[2], b[1], b[0])
			if got := said(parse(t, s.Answer(t.Context(), message(back, dnsmessage.TypePTR), mostPacket))); got != name+"." {
				t.Errorf("%s has the name %q, want %s", back, got, name)
			}
			m := parse(t, s.Answer(t.Context(), message(back, dnsmessage.TypeTXT), mostPacket))
			if m.RCode != success || len(m.Answers) > 0 {
				t.Errorf("%s has the text %s", back, m.GoString())
			}
		}
	}
}

// A name has as many stand-ins as the host has addresses now, and the ones that it had keep their meaning.
func TestAnswerGrowsAndShrinks(t *testing.T) {
	h := newHost()
	s := h.server()
	for _, row := range []struct {
		real int
		want string
	}{
		{1, "198.18.1.0"},
		{3, "198.18.1.0 198.18.1.2 198.18.1.3"},
		{2, "198.18.1.0 198.18.1.2"},
		{4, "198.18.1.0 198.18.1.2 198.18.1.3 198.18.1.4"},
	} {
		h.knows["x.example"] = addresses("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")[:row.real]
		s.hosts = newLookups(h.lookup) // what was kept is forgotten
		if got := said(parse(t, s.Answer(t.Context(), message("x.example.", dnsmessage.TypeA), mostPacket))); got != row.want {
			t.Errorf("%d addresses: %q, want %q", row.real, got, row.want)
		}
		s.Answer(t.Context(), message("six.example.", dnsmessage.TypeA), mostPacket) // takes the next one
	}
	for i, want := range []string{"x.example 0", "six.example 0", "x.example 1", "x.example 2", "x.example 3"} {
		name, which, _ := s.Meaning(netip.AddrFrom4([4]byte{198, 18, 1, byte(i)}))
		if got := fmt.Sprint(name, " ", which); got != want {
			t.Errorf("198.18.1.%d means %q, want %q", i, got, want)
		}
	}
}

// With no stand-ins left a new name is not known, and the others go on.
func TestAnswerExhausted(t *testing.T) {
	for _, limit := range []func(*standIns){func(s *standIns) { s.most = 3 }, func(s *standIns) { s.room = 1 }} {
		s := newHost().server()
		limit(s.standIns)
		for _, row := range []struct {
			name string
			kind dnsmessage.Type
			code dnsmessage.RCode
			says string
		}{
			{"pypi.org.", dnsmessage.TypeA, success, "198.18.1.0 198.18.1.1 198.18.1.2"},
			{"six.example.", dnsmessage.TypeA, failure, ""},
			{"six.example.", dnsmessage.TypeAAAA, success, ""},
			{"pypi.org.", dnsmessage.TypeA, success, "198.18.1.0 198.18.1.1 198.18.1.2"},
		} {
			m := parse(t, s.Answer(t.Context(), message(row.name, row.kind), mostPacket))
			if m.RCode != row.code || said(m) != row.says {
				t.Errorf("%s: %v %q, want %v %q", row.name, m.RCode, said(m), row.code, row.says)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	h := newHost()
	s := h.server()
	for _, row := range []struct {
		name string
		want string
	}{
		{"PyPI.org.", "[192.0.2.1 2001:db8::1 192.0.2.2] <nil>"},
		{"none.example", "[] lookup none.example: no such host"},
		{"127.0.0.1", "[] lookup 127.0.0.1: no such host"},
		{"", "[] lookup : no such host"},
		{"evil.test", "[] lookup evil.test: no such host"}, // asked for all the same: who calls has judged
	} {
		got, err := s.Addresses(t.Context(), row.name)
		if fmt.Sprint(got, err) != row.want {
			t.Errorf("%q: %v %v, want %s", row.name, got, err, row.want)
		}
		if err != nil && !notFound(err) {
			t.Errorf("%q: %#v does not say that there is no such host", row.name, err)
		}
	}
	if want := []string{"pypi.org", "none.example", "evil.test"}; !slices.Equal(h.asked, want) {
		t.Errorf("the host was asked for %q, want %q", h.asked, want)
	}
}

// A server that was told nothing knows no name, and asks no one.
func TestNothingConfigured(t *testing.T) {
	m := parse(t, New(Config{}).Answer(t.Context(), message("pypi.org.", dnsmessage.TypeA), mostPacket))
	if m.RCode != missing {
		t.Errorf("pypi.org: %v", m.RCode)
	}
}
