package broker

import (
	"net/netip"
	"testing"

	"psb/policy"
)

// parsed is a policy of [net] lines.
func parsed(t *testing.T, lines string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("", []byte("version = 1\n[net]\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Expand(policy.Macros{Project: "/p", Home: "/h", Cwd: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestMayReach: what a name may lead to, whoever rules its zone.
func TestMayReach(t *testing.T) {
	const public, documentation, lan, loop, meta = "1.1.1.1", "203.0.113.5", "10.1.2.3", "127.0.0.1", "169.254.169.254"
	for _, x := range []struct {
		lines, name, real string
		want              string // "" for yes, else what a rule would have to say
	}{
		{`"a.test:80" = "connect"`, "a.test", public, ""},
		{`"a.test:80" = "connect"`, "a.test", documentation, ""},
		{`"a.test:80" = "connect"`, "a.test", lan, "private a.test:80"},
		{`"a.test:80" = "connect"`, "a.test", loop, "private a.test:80"},
		{`"a.test:80" = "connect"`, "a.test", "::ffff:10.1.2.3", "private a.test:80"},
		{`"a.test:80" = "connect"`, "a.test", "fe80::1", "private a.test:80"},
		{`"a.test:80" = "connect"`, "a.test", meta, "connect 169.254.169.254:80"},
		{`"a.test:80" = "connect"`, "a.test", "0.0.0.0", "connect 0.0.0.0:80"},
		{`"a.test:80" = "connect"`, "a.test", "224.0.0.1", "connect 224.0.0.1:80"},
		{`"a.test:80" = ["connect", "private"]`, "a.test", lan, ""},
		{`"a.test:80" = ["connect", "private"]`, "a.test", loop, ""},
		{`"a.test:80" = ["connect", "private"]`, "a.test", meta, "connect 169.254.169.254:80"},
		{`"a.test:80" = ["connect", "private"]`, "b.test", lan, "connect b.test:80"},
		{`"a.test:81" = "connect"`, "a.test", public, "connect a.test:80"},
		{"\"a.test:80\" = \"connect\"\n\"10.0.0.0/8:80\" = \"connect\"", "a.test", lan, ""},
		{"\"a.test:80\" = \"connect\"\n\"10.0.0.0/8:443\" = \"connect\"", "a.test", lan, "private a.test:80"},
		{"\"a.test:80\" = \"connect\"\n\"169.254.169.254:80\" = \"connect\"", "a.test", meta, ""},
		{"\"a.test:80\" = \"connect\"\n\"1.1.1.0/24:*\" = \"deny\"", "a.test", public, "connect 1.1.1.1:80"},
		{"\"*.test:80\" = \"connect\"\n\"a.test:80\" = \"deny\"", "a.test", public, "connect a.test:80"},
		{`"*:80" = "connect"`, "a.example", public, ""},
		{`"*:80" = "connect"`, "a.example", lan, "private a.example:80"},
		{`"10.0.0.0/8:80" = "connect"`, "", lan, ""},
		{`"10.0.0.0/8:80" = "connect"`, "", public, "connect 1.1.1.1:80"},
		{`"10.0.0.0/8:80" = "connect"`, "a.test", lan, "connect a.test:80"}, // an address rule names no host
	} {
		real := netip.MustParseAddr(x.real)
		to := target{name: x.name, port: 80}
		if x.name == "" {
			to.addr = real
		}
		refused, ok := mayReach(parsed(t, x.lines), to, real.Unmap())
		got := ""
		if !ok {
			got = string(refused.Op) + " " + refused.Object
		}
		if got != x.want {
			t.Errorf("%s\n%s at %s: refused %q, want %q", x.lines, x.name, x.real, got, x.want)
		}
	}
}

func TestLoopbackTarget(t *testing.T) {
	for from, want := range map[string]string{"127.0.0.1:1": "127.0.0.1:1", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "[::ffff:127.0.0.1]:1": "127.0.0.1:1",
		"[::ffff:0.0.0.0]:1": "127.0.0.1:1", "127.9.9.9:1": "127.9.9.9:1"} {
		if got := loopbackTarget(netip.MustParseAddrPort(from), false).object(); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
	if got := loopbackTarget(netip.MustParseAddrPort("[::]:5"), true).object(); got != "udp://[::1]:5" {
		t.Error(got)
	}
}
