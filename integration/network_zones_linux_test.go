package integration

import (
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func addresses(list ...string) []netip.Addr {
	all := make([]netip.Addr, len(list))
	for i, a := range list {
		all[i] = netip.MustParseAddr(a)
	}
	return all
}

// fixed always gives the same addresses.
func fixed(list ...string) zone {
	all := addresses(list...)
	return func(query, int) answer { return answer{addresses: all, ttl: 60} }
}

// rotating begins each time with the next address, as a name server that shares out load does, and says that it lasts no time.
func rotating(list ...string) zone {
	all := addresses(list...)
	return func(_ query, nth int) answer {
		at := nth % len(all)
		return answer{addresses: append(append([]netip.Addr{}, all[at:]...), all[:at]...)}
	}
}

// rebinding gives each question for an address the next one alone; the last stays. TTL 0: it must not be kept.
func rebinding(list ...string) zone {
	all := addresses(list...)
	return func(_ query, nth int) answer {
		return answer{addresses: all[min(nth, len(all)-1) : min(nth, len(all)-1)+1]}
	}
}

// always gives one answer.
func always(a answer) zone { return func(query, int) answer { return a } }

// held gives the answer when the test ends, or when release is called.
func held(t testing.TB, a answer) (z zone, release func()) {
	t.Helper()
	wait := make(chan struct{})
	closed := false
	release = func() {
		if !closed {
			closed = true
			close(wait)
		}
	}
	t.Cleanup(release)
	a.wait = wait
	return always(a), release
}

// late answers the questions from the nth on; those before get nothing.
func late(from int, a answer) zone {
	return func(_ query, nth int) answer {
		if nth < from {
			return answer{silent: true}
		}
		return a
	}
}

// twisted answers with a packet that a careful client must not take.
func twisted(change func(question, b []byte) []byte, list ...string) zone {
	return always(answer{addresses: addresses(list...), ttl: 60, twist: change})
}

// lies are packets that answer something else, or nothing at all.
var lies = map[string]func(question, b []byte) []byte{
	"another question's number": func(_, b []byte) []byte { b[0] ^= 0xff; return b },
	"another name": func(_, b []byte) []byte {
		if len(b) > 13 {
			b[13] ^= 1 // the first letter of the name asked for
		}
		return b
	},
	"the question":      func(q, _ []byte) []byte { return q },
	"half a packet":     func(_, b []byte) []byte { return b[:len(b)*2/3] },
	"a few bytes":       func(_, b []byte) []byte { return b[:7] },
	"nothing but noise": func(_, b []byte) []byte { return append(b[:2:2], make([]byte, 300)...) },
	"a name without end": func(_, b []byte) []byte {
		return append(b[:12:12], 0xc0, 12, 0, 1, 0, 1, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)
	},
	"counts beyond its end":   func(_, b []byte) []byte { b[6], b[7] = 0xff, 0xff; return b },
	"an answer for nobody":    func(_, b []byte) []byte { b[4], b[5] = 0, 0; return append(b[:12:12], b[12:]...) },
	"a failure of the server": func(_, b []byte) []byte { b[3] = b[3]&0xf0 | byte(dnsmessage.RCodeServerFailure); return b },
	"a refusal":               func(_, b []byte) []byte { b[3] = b[3]&0xf0 | byte(dnsmessage.RCodeRefused); return b },
}

// crowd is an answer of many addresses, more than fits a datagram.
func crowd(n int, first string) answer {
	a := netip.MustParseAddr(first)
	out := answer{ttl: 60}
	for range n {
		out.addresses = append(out.addresses, a)
		a = a.Next()
	}
	return out
}
