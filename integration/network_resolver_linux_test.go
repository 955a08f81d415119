package integration

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// resolverAddress is where the world's resolv.conf sends look-ups: the address of systemd's stub, which is the box's own one inside.
const resolverAddress = "127.0.0.53"

// query is one question that came to the world's name server.
type query struct {
	name string // as it was asked, with its final dot
	kind dnsmessage.Type
	over string // udp or tcp
}

func (q query) String() string {
	return fmt.Sprintf("%s %s over %s", q.name, strings.TrimPrefix(q.kind.String(), "Type"), q.over)
}

// answer says what becomes of a question. The zero answer is a name without such records.
type answer struct {
	code      dnsmessage.RCode
	addresses []netip.Addr // those of the other family are left out
	texts     []string
	alias     string // the addresses are this other name's, which the answer says first
	ttl       uint32
	cut       bool // over UDP only the head comes, with the bit that says so
	silent    bool
	wait      <-chan struct{}                 // the answer is held back until it is closed
	twist     func(question, b []byte) []byte // changes the packet at the end
}

// zone answers the questions for one name; nth counts those of the same type that came before.
type zone func(q query, nth int) answer

// resolver is the world's name server. What it has no zone for does not exist. It remembers every question.
type resolver struct {
	mu    sync.Mutex
	zones map[string]zone // lower case, with the final dot; "*." stands for everything below
	seen  []query
	count map[query]int
}

// serveNames answers over UDP and TCP at port 53 of these addresses until the test ends.
func serveNames(t testing.TB, addresses ...string) *resolver {
	t.Helper()
	r := &resolver{zones: map[string]zone{}, count: map[query]int{}}
	for _, a := range addresses {
		packets, err := net.ListenPacket("udp", net.JoinHostPort(a, "53"))
		must(t, err)
		streams, err := net.Listen("tcp", net.JoinHostPort(a, "53"))
		must(t, err)
		t.Cleanup(func() { packets.Close(); streams.Close() })
		go r.serveUDP(packets)
		go r.serveTCP(streams)
	}
	return r
}

func (r *resolver) serveUDP(c net.PacketConn) {
	for {
		b := make([]byte, 4096)
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		go func() {
			if out := r.reply(b[:n], "udp"); out != nil {
				c.WriteTo(out, from)
			}
		}()
	}
}

func (r *resolver) serveTCP(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			for {
				head := make([]byte, 2)
				if _, err := io.ReadFull(c, head); err != nil {
					return
				}
				b := make([]byte, binary.BigEndian.Uint16(head))
				if _, err := io.ReadFull(c, b); err != nil {
					return
				}
				out := r.reply(b, "tcp")
				if out == nil {
					return
				}
				c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...))
			}
		}()
	}
}

// reply gives the packet to send; nil is silence.
func (r *resolver) reply(packet []byte, over string) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(packet)
	if err != nil || head.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	a := r.judge(query{q.Name.String(), q.Type, over})
	if a.wait != nil {
		<-a.wait
	}
	if a.silent {
		return nil
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired,
		RecursionAvailable: true, RCode: a.code, Truncated: a.cut && over == "udp"})
	b.EnableCompression()
	b.StartQuestions()
	b.Question(q)
	b.StartAnswers()
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: a.ttl}
	if a.alias != "" {
		other := dnsmessage.MustNewName(a.alias + ".")
		b.CNAMEResource(h, dnsmessage.CNAMEResource{CNAME: other})
		h.Name = other
	}
	if !a.cut || over == "tcp" {
		for _, addr := range a.addresses {
			switch {
			case q.Type == dnsmessage.TypeA && addr.Is4():
				b.AResource(h, dnsmessage.AResource{A: addr.As4()})
			case q.Type == dnsmessage.TypeAAAA && addr.Is6():
				b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: addr.As16()})
			}
		}
		if q.Type == dnsmessage.TypeTXT && len(a.texts) > 0 {
			b.TXTResource(h, dnsmessage.TXTResource{TXT: a.texts})
		}
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	if a.twist != nil {
		out = a.twist(packet, out)
	}
	return out
}

func (r *resolver) judge(q query) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, q)
	name := strings.ToLower(q.name)
	same := query{name: name, kind: q.kind}
	nth := r.count[same]
	r.count[same]++
	z := r.zones[name]
	for rest := name; z == nil; {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			return answer{code: dnsmessage.RCodeNameError}
		}
		z, rest = r.zones["*."+after], after
	}
	return z(q, nth)
}

// set gives a name its answers, and forgets what was asked for it.
func (r *resolver) set(name string, z zone) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name = strings.ToLower(name) + "."
	r.zones[name] = z
	for q := range r.count {
		if q.name == name {
			delete(r.count, q)
		}
	}
}

// forget empties the memory of questions.
func (r *resolver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = nil
}

// asked are the questions so far.
func (r *resolver) asked() []query {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// onlyFor fails for every question that is about another name than these, in another spelling, or for anything but addresses: each could
// carry something out.
func (r *resolver) onlyFor(t testing.TB, names ...string) {
	t.Helper()
	for _, q := range r.asked() {
		if !slices.Contains(names, strings.TrimSuffix(q.name, ".")) || q.kind != dnsmessage.TypeA && q.kind != dnsmessage.TypeAAAA {
			t.Errorf("a question left the box: %v", q)
		}
	}
}
