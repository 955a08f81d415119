package policy

import (
	"strings"
	"testing"
)

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		text, want string
		size       int
	}{
		{"443", "443", 1}, {"80,443", "80,443", 2}, {"443,80", "80,443", 2}, {"80,443,8000-8100", "80,443,8000-8100", 103}, {"8000-8100,80,8050", "80,8000-8100", 102},
		{"80,81", "80-81", 2}, {"80,80", "80", 1}, {"1-100,50-200", "1-200", 200}, {"*", "*", 65535}, {"1-65535", "*", 65535}, {"0", "0", 28232}, {"5-5", "5", 1},
	} {
		p, err := parsePorts(c.text)
		if err != nil || p.String() != c.want || p.size() != c.size {
			t.Errorf("%s: %s, %d, %v", c.text, p, p.size(), err)
		}
	}
	for _, c := range []struct {
		rule, asked string
		want        bool
	}{
		{"80,443", "443", true}, {"80,443", "81", false}, {"80,443", "80,443", true}, {"80-90", "85,443", false}, {"80-90", "81-89", true}, {"1-50,51-90", "40-60", true},
		{"0", "0", true}, {"0", "32768", true}, {"0", "60999", true}, {"0", "32767", false}, {"0", "61000", false}, {"0", "40000-41000,0", false},
		{"*", "0", true}, {"1024-65535", "0", true}, {"32768-60999", "0", true}, {"32769-60999", "0", false}, {"443", "0", false},
	} {
		rule, _ := parsePorts(c.rule)
		asked, err := parsePorts(c.asked)
		if got := err == nil && rule.hold(asked); got != c.want {
			t.Errorf("%s holds %s: %v", c.rule, c.asked, got)
		}
	}
}

func FuzzPorts(f *testing.F) {
	f.Add("80,443,8000-8100", "443-8005", 443)
	f.Fuzz(func(t *testing.T, a, b string, port int) {
		p, err := parsePorts(a)
		q, err2 := parsePorts(b)
		if err != nil || err2 != nil || p.anyFree() || q.anyFree() || strings.Count(a+b, ",") > 50 {
			return
		}
		has := func(p ports) bool {
			in := false
			for _, r := range p {
				in = in || r.lo <= port && port <= r.hi
			}
			return in
		}
		if left := p.minus(q); has(left) != (has(p) && !has(q)) {
			t.Fatalf("%s minus %s is %s, port %d", a, b, left, port)
		}
		if again, err := parsePorts(p.String()); err != nil || again.String() != p.String() || again.size() != p.size() || has(again) != has(p) {
			t.Fatalf("%s is written %s: %v", a, p, err)
		}
		if p.hold(q) && has(q) && !has(p) {
			t.Fatalf("%s holds %s, port %d apart", a, b, port)
		}
	})
}
