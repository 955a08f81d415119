package names

import (
	"net"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func BenchmarkAnswer(b *testing.B) {
	s := newHost().server()
	query := message("pypi.org.", dnsmessage.TypeA)
	b.ReportAllocs()
	for b.Loop() {
		if s.Answer(b.Context(), query, mostPacket) == nil {
			b.Fatal("no answer")
		}
	}
}

// BenchmarkPacket and BenchmarkStream ask one question after the other, over loopback.
func BenchmarkPacket(b *testing.B) {
	udp, _ := serve(b, newHost().server())
	conn, err := net.Dial("udp", udp.LocalAddr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	query, answer := message("pypi.org.", dnsmessage.TypeA), make([]byte, mostPacket)
	for b.Loop() {
		if _, err := conn.Write(query); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.Read(answer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	_, tcp := serve(b, newHost().server())
	conn, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	query := message("pypi.org.", dnsmessage.TypeA)
	for b.Loop() {
		if err := send(conn, query); err != nil {
			b.Fatal(err)
		}
		if _, err := receive(conn); err != nil {
			b.Fatal(err)
		}
	}
}
