package policy

import "testing"

// netPolicy is a policy of these lines of [net], expanded.
func netPolicy(t *testing.T, lines string) *Policy {
	t.Helper()
	p, err := mustParse(t, "[net]\n"+lines+"\n").Expand(testMacros)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJudgeName(t *testing.T) {
	for _, c := range []struct{ lines, name, want string }{
		{``, "pypi.org", "no"},
		{`"pypi.org:443" = "connect"`, "pypi.org", "pypi.org:443"},
		{`"pypi.org:443" = "connect"`, "PyPI.org.", "pypi.org:443"},
		{`"pypi.org:443" = "connect"`, "files.pypi.org", "no"},
		{`"*.pypi.org:443" = "connect"`, "files.pypi.org", "*.pypi.org:443"},
		{`"*.pypi.org:443" = "connect"`, "pypi.org", "no"},
		{`"*.pypi.org:443" = "connect"`, "notpypi.org", "no"},
		{`"udp://ntp.org:123" = "connect"`, "ntp.org", "udp://ntp.org:123"},
		{`"db:5432" = ["connect", "private"]`, "db", "db:5432"},
		{`"db:5432" = "listen"`, "db", "no"},
		{`"*:443" = "connect"`, "pypi.org", "*:443"},
		{`"*:443" = "connect"`, "db", "no"},
		{`"*:443" = "connect"`, "x.internal", "no"},
		{"\"*:443\" = \"connect\"\n\"pypi.org:80,443\" = \"connect\"", "pypi.org", "pypi.org:80,443"},
		{`"10.0.0.0/8:*" = "connect"`, "db", "no"},
		{`"127.0.0.1:80" = "connect"`, "localhost", "127.0.0.1:80"},
		{`"*:*" = "connect"`, "10.1.2.3", "no"},
		{`"*:*" = "connect"`, "::1", "no"},
		{`"*:*" = "connect"`, "0x7f.1", "no"},
		{`"*:*" = "connect"`, "", "no"},
		{`"*:*" = "connect"`, "a b.org", "no"},
		{`"unix:/run/x" = "connect"`, "run", "no"},
		// deny
		{"\"*:443\" = \"connect\"\n\"*.evil.org:*\" = \"deny\"", "a.evil.org", "blocked *.evil.org:*"},
		{"\"*:443\" = \"connect\"\n\"*.evil.org:25\" = \"deny\"", "a.evil.org", "*:443"},
		{"\"*:443\" = \"connect\"\n\"*.evil.org:443\" = \"deny\"", "a.evil.org", "blocked *.evil.org:443"},
		{"\"a.org:80-90\" = \"connect\"\n\"a.org:70-85\" = \"deny\"\n\"a.org:84,86-99\" = \"deny\"", "a.org", "blocked a.org:84,86-99"},
		{"\"a.org:80-90\" = \"connect\"\n\"a.org:70-85\" = \"deny\"\n\"a.org:87-99\" = \"deny\"", "a.org", "a.org:80-90"},
		{"\"udp://a.org:53\" = \"connect\"\n\"a.org:*\" = \"deny\"", "a.org", "udp://a.org:53"},
		{"\"a.org:53\" = \"connect\"\n\"udp://a.org:*\" = \"deny\"", "a.org", "a.org:53"},
		{"\"a.org:*\" = \"deny\"", "a.org", "blocked a.org:*"},
		{"\"a.org:25\" = \"deny\"", "a.org", "no"},
		{"\"*:443\" = \"connect\"\n\"*:*\" = \"deny\"", "a.org", "blocked *:*"},
	} {
		p := netPolicy(t, c.lines)
		v, got := p.JudgeName(c.name), "no"
		switch {
		case v.Allowed && v.By != nil && v.Blocker == nil:
			got = v.By.Pattern.Text
		case v.Allowed || v.By != nil:
			got = "inconsistent"
		case v.Blocker != nil:
			got = "blocked " + v.Blocker.Pattern.Text
		}
		if got != c.want || p.RulesName(c.name) != v.Allowed {
			t.Errorf("%s\n%s: %s, want %s", c.lines, c.name, got, c.want)
		}
	}
}

func TestHasNet(t *testing.T) {
	for _, c := range []struct {
		lines    string
		net, udp bool
	}{
		{``, false, false}, {`"a:1" = "deny"`, false, false}, {`"udp://a:1" = "deny"`, false, false}, {`"a:1" = "connect"`, true, false}, {`"127.0.0.1:1" = "listen"`, true, false},
		{`"unix:/x" = "connect"`, true, false}, {`"udp://a:1" = "connect"`, true, true}, {`"udp://127.0.0.1:1" = "listen"`, true, true}, {`"a:1" = ["connect", "private"]`, true, false},
	} {
		if p := netPolicy(t, c.lines); p.HasNet() != c.net || p.HasUDP() != c.udp {
			t.Errorf("%s: %v %v", c.lines, p.HasNet(), p.HasUDP())
		}
	}
}
