package names

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// edns adds an OPT record.
func edns(version byte, size uint16, name string) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) {
		m.Additionals = append(m.Additionals, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.Class(size), TTL: uint32(version)<<16 | 1<<15},
			Body:   &dnsmessage.OPTResource{Options: []dnsmessage.Option{{Code: 10, Data: []byte("a cookie")}}}})
	}
}

func TestMessages(t *testing.T) {
	plain := message("pypi.org.", dnsmessage.TypeA)
	changed := func(change ...func(*dnsmessage.Message)) []byte {
		return message("pypi.org.", dnsmessage.TypeA, change...)
	}
	patched := func(at int, b byte) []byte {
		m := bytes.Clone(plain)
		m[at] = b
		return m
	}
	const three = "198.18.1.0 198.18.1.1 198.18.1.2"
	for _, row := range []struct {
		what    string
		message []byte
		want    string // "" for no answer
	}{
		{"plain", plain, "code 0 rd ra, 1 question, " + three},
		{"nothing", nil, ""},
		{"eleven bytes", plain[:11], ""},
		{"an answer", changed(func(m *dnsmessage.Message) { m.Response = true }), ""},
		{"a header alone", plain[:12], "code 1 rd ra, 0 question, "},
		{"cut in the name", plain[:15], "code 1 rd ra, 0 question, "},
		{"cut in the type", plain[:23], "code 1 rd ra, 0 question, "},
		{"bytes behind it", append(bytes.Clone(plain), "and more"...), "code 0 rd ra, 1 question, " + three},
		{"no question", changed(func(m *dnsmessage.Message) { m.Questions = nil }), "code 1 rd ra, 0 question, "},
		{"two questions", changed(func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }), "code 1 rd ra, 0 question, "},
		{"65535 questions", patched(4, 255), "code 1 rd ra, 0 question, "},
		{"65280 answers", patched(6, 255), "code 1 rd ra, 0 question, "},
		{"65280 authorities", patched(8, 255), "code 1 rd ra, 0 question, "},
		{"65280 additionals", patched(10, 255), "code 1 rd ra, 0 question, "},
		{"a name that points at itself", append(patched(12, 0xc0)[:13], 12, 0, 1, 0, 1), "code 1 rd ra, 0 question, "},
		{"a dot in a label", patched(14, '.'), "code 1 rd ra, 0 question, "},
		{"an update", changed(func(m *dnsmessage.Message) { m.OpCode = 5 }), "code 4 op 5 rd ra, 0 question, "},
		{"an inverse query", changed(func(m *dnsmessage.Message) { m.OpCode = 1 }), "code 4 op 1 rd ra, 0 question, "},
		{"without recursion", changed(func(m *dnsmessage.Message) { m.RecursionDesired = false }), "code 0 ra, 1 question, " + three},
		{"checking disabled", changed(func(m *dnsmessage.Message) { m.CheckingDisabled = true }), "code 0 rd ra cd, 1 question, " + three},
		{"authentic data asked for", changed(func(m *dnsmessage.Message) { m.AuthenticData = true }), "code 0 rd ra, 1 question, " + three},
		{"chaos", changed(func(m *dnsmessage.Message) { m.Questions[0].Class = dnsmessage.ClassCHAOS }), "code 5 rd ra, 1 question, "},
		{"any class", changed(func(m *dnsmessage.Message) { m.Questions[0].Class = dnsmessage.ClassANY }), "code 5 rd ra, 1 question, "},
		{"multicast that wants one answer", changed(func(m *dnsmessage.Message) { m.Questions[0].Class = 1<<15 | 1 }), "code 5 rd ra, 1 question, "},
		{"edns", changed(edns(0, 4096, ".")), "code 0 rd ra, 1 question, " + three + ", edns 1232 do"},
		{"edns that takes nothing", changed(edns(0, 0, ".")), "code 0 rd ra, 1 question, " + three + ", edns 1232 do"},
		{"edns 1", changed(edns(1, 4096, ".")), "code 16 rd ra, 1 question, , edns 1232 do"},
		{"edns twice", changed(edns(0, 4096, "."), edns(0, 4096, ".")), "code 1 rd ra, 0 question, , edns 1232 do"},
		{"edns with a name", changed(edns(0, 4096, "x.")), "code 1 rd ra, 0 question, "},
		{"a cut edns", changed(edns(0, 4096, "."))[:30], "code 1 rd ra, 0 question, "},
	} {
		answer := newHost().server().Answer(t.Context(), row.message, mostPacket)
		got := ""
		if answer != nil {
			got = inWords(parse(t, answer))
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

func inWords(m dnsmessage.Message) string {
	if !m.Response || m.ID != 0xbeef || m.AuthenticData || m.Authoritative {
		return "a wrong header: " + m.Header.GoString()
	}
	code, opt := m.RCode, ""
	for _, r := range m.Additionals {
		code = r.Header.ExtendedRCode(code)
		opt += fmt.Sprintf(", edns %d", r.Header.Class)
		if r.Header.DNSSECAllowed() {
			opt += " do"
		}
	}
	words := fmt.Sprintf("code %d", code)
	for _, flag := range []struct {
		on   bool
		name string
	}{{m.OpCode != 0, fmt.Sprintf(" op %d", m.OpCode)}, {m.Truncated, " tc"}, {m.RecursionDesired, " rd"}, {m.RecursionAvailable, " ra"}, {m.CheckingDisabled, " cd"}} {
		if flag.on {
			words += flag.name
		}
	}
	return fmt.Sprintf("%s, %d question, %s%s", words, len(m.Questions), said(m), opt)
}

// What does not fit is cut off at a whole section, and says so.
func TestCutOff(t *testing.T) {
	s := newHost().server()
	query := message("pypi.org.", dnsmessage.TypeA, edns(0, 4096, "."))
	whole := len(s.Answer(t.Context(), query, mostStream)) // 12 header, 14 question, 3 × 16 records, 11 OPT
	for _, row := range []struct {
		most int
		want string
	}{
		{whole, "code 0 rd ra, 1 question, 198.18.1.0 198.18.1.1 198.18.1.2, edns 1232 do"},
		{whole - 1, "code 0 tc rd ra, 1 question, , edns 1232 do"},
		{whole - 3*16, "code 0 tc rd ra, 1 question, , edns 1232 do"},
		{whole - 3*16 - 1, "code 0 tc rd ra, 0 question, "},
		{12, "code 0 tc rd ra, 0 question, "},
	} {
		b := s.Answer(t.Context(), query, row.most)
		if got := inWords(parse(t, b)); got != row.want || len(b) > row.most {
			t.Errorf("%d bytes: %q in %d, want %q", row.most, got, len(b), row.want)
		}
	}
	if b := s.Answer(t.Context(), query, 11); b != nil {
		t.Errorf("11 bytes: %x", b)
	}
}

// The longest answers there are fit into the smallest datagram, so no size that a program offers need be believed.
func TestLongestFits(t *testing.T) {
	h := newHost()
	long := strings.Repeat(strings.Repeat("a", 49)+".", 4) + strings.Repeat("b", 45) + ".example"
	h.knows[long] = h.knows["many.example"]
	s := h.server()
	for _, row := range []struct {
		name string
		kind dnsmessage.Type
		want int // records
	}{{long + ".", dnsmessage.TypeA, mostEach}, {"0.1.18.198.in-addr.arpa.", dnsmessage.TypePTR, 1}} {
		m := parse(t, s.Answer(t.Context(), message(row.name, row.kind, edns(0, 512, ".")), mostPacket))
		if m.Truncated || len(m.Answers) != row.want || len(m.Additionals) != 1 {
			t.Errorf("%s: %s", row.name, m.GoString())
		}
	}
}
