package relay

import (
	"net/netip"
	"testing"
)

// BenchmarkRoundTrip is a question and its answer: through the relay, and between two sockets of the same loopback.
func BenchmarkRoundTrip(b *testing.B) {
	x, s := newBox(b), echo(b, "", "127.0.0.1:0")
	own := serve(b, "", x.programAt(b, inside, false).UDPConn)
	r := start(b, x, Config{Where: (&stands{is: map[netip.AddrPort]netip.AddrPort{ntp: s.at}}).where})
	must(b, r.Open(ntp))
	for name, to := range map[string]netip.AddrPort{"relayed": ntp, "direct": own.at} {
		b.Run(name, func(b *testing.B) {
			p := x.program(b)
			p.ask(to, "x")
			text, back := make([]byte, 100), make([]byte, 200)
			b.ReportAllocs()
			for b.Loop() {
				_, err := p.WriteToUDPAddrPort(text, to)
				must(b, err)
				_, _, err = p.ReadFromUDPAddrPort(back)
				must(b, err)
			}
		})
	}
}
