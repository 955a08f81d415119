package integration

import (
	"slices"
	"strings"
	"testing"
)

// learnNet learns a program of testdata/network in a fresh scene and gives the lines of [net], the whole policy and what psb said.
func (s trial) learnNet(t *testing.T, program string, args ...string) (net []string, policy string, r result) {
	t.Helper()
	s.takes(t, program)
	r = s.run(t, call{argv: s.argv(t, []string{"--learn"}, append([]string{program}, args...)...)})
	policy, _ = s.policy(t)
	return netLines(policy), policy, r
}

// lessonsOfNet are programs with the lines of [net] that learning them has to write.
var lessonsOfNet = []struct {
	name    string
	program string
	args    []string
	net     []string
}{
	{name: "ports of the moment", program: "ephemeral.py", net: []string{`"0.0.0.0:8765" = "listen"`}},
	{name: "destinations that got nothing", program: "phantom.py", net: []string{`"udp://198.51.100.9:80" = "connect"`}},
	{name: "two names of one address", program: "wanders.py", args: []string{"a.test:8080", "b.test:9090", "a.test:8080"},
		net: []string{`"a.test:8080" = "connect"`, `"b.test:9090" = "connect"`}},
	{name: "two names of one address and one port", program: "wanders.py", args: []string{"a.test:8080", "b.test:8080"},
		net: []string{`"a.test:8080" = "connect"`, `"b.test:8080" = "connect"`}},
	{name: "an address that a name has, too", program: "wanders.py", args: []string{"a.test:8080", "203.0.113.6:8080"},
		net: []string{`"203.0.113.6:8080" = "connect"`, `"a.test:8080" = "connect"`}},
	{name: "a name in capitals", program: "wanders.py", args: []string{"A.Test:8080", "a.test.:8080"}, net: []string{`"a.test:8080" = "connect"`}},
	{name: "names of the own network", program: "wanders.py", args: []string{"office.test:8080", "loop.test:8080"},
		net: []string{`"loop.test:8080" = ["connect", "private"]`, `"office.test:8080" = ["connect", "private"]`}},
	{name: "a name that is not there", program: "wanders.py", args: []string{"gone.test:8080"}},
	{name: "metadata", program: "wanders.py", args: []string{"169.254.169.254:8080", "meta.test:8080"}},
}

// TestLearnNetwork: what learning writes of the network is names, ports that stay and nothing else.
func TestLearnNetwork(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("rr.test", fixed("203.0.113.5", "203.0.113.6", "198.51.100.7", "2001:db8::1", "2001:db8::2"))
		w.names.set("a.test", fixed("203.0.113.5"))
		w.names.set("b.test", fixed("203.0.113.5"))
		w.names.set("office.test", fixed("10.9.8.7"))
		w.names.set("loop.test", fixed("127.0.0.1"))
		w.names.set("meta.test", fixed("169.254.169.254"))
		for _, place := range []string{"203.0.113.5:8080", "203.0.113.5:9090", "203.0.113.6:8080", "10.9.8.7:8080", "127.0.0.1:8080"} {
			w.gate(t, "tcp", place)
		}
		metadata := w.gate(t, "tcp", "169.254.169.254:8080")
		w.mailbox(t, "198.51.100.9:80")
		for _, l := range lessonsOfNet {
			t.Run(l.name, func(t *testing.T) {
				for _, who := range people() {
					s := trial{scene: newScene(t, who)}
					_, err := s.choose(t, "system", nil)
					ledger.Need(t, "python3", err)
					s.takes(t, l.program)
					control := s.run(t, call{argv: s.argv(t, nil, append([]string{l.program}, l.args...)...)})
					if control.code != 0 {
						t.Fatalf("control: %v", control)
					}
					before := len(metadata.visits(t))
					if controlOnly() {
						continue
					}
					s.boxed = true
					got, policy, r := s.learnNet(t, l.program, l.args...)
					if r.code != 0 || !strings.Contains(strings.Join(l.args, " "), "169.254") && r.out != control.out {
						t.Errorf("%s: while learning: %v\ncontrol: %v", who.name, r, control)
					}
					if !slices.Equal(sorted(lines(got)), sorted(lines(l.net))) {
						t.Errorf("%s: learned %q, want %q: %v", who.name, got, l.net, r)
					}
					if n := len(metadata.visits(t)); n > before {
						t.Errorf("%s: the metadata address was reached", who.name)
					}
					if _, again, _ := s.learnNet(t, l.program, l.args...); again != policy {
						t.Errorf("%s: learned again\n%s\nfirst\n%s", who.name, again, policy)
					}
				}
			})
		}
	})
}

// TestLearnNetworkRotation: a name whose addresses are others each time is one name: two learns write the same bytes, and the enforced
// run does not care.
func TestLearnNetworkRotation(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		var all []string
		for _, a := range []string{"203.0.113.21", "203.0.113.22", "203.0.113.23", "203.0.113.24", "203.0.113.25", "203.0.113.26", "203.0.113.27"} {
			all = append(all, a)
			w.gate(t, "tcp", a+":8080")
		}
		for _, zone := range map[string]zone{"turning": rotating(all...), "one at a time": rebinding(slices.Concat(all, all, all, all, all, all)...)} {
			for _, who := range people() {
				var policies []string
				for range 2 {
					s := trial{scene: newScene(t, who)}
					_, err := s.choose(t, "system", nil)
					ledger.Need(t, "python3", err)
					w.names.set("rr.test", zone)
					s.takes(t, "rotates.py")
					if r := s.run(t, call{argv: s.argv(t, nil, "rotates.py", "rr.test", "8080")}); r.out != strings.Repeat("gate\n", 4) {
						t.Fatalf("control: %v", r)
					}
					if controlOnly() {
						continue
					}
					s.boxed = true
					got, policy, r := s.learnNet(t, "rotates.py", "rr.test", "8080")
					if want := []string{`"rr.test:8080" = "connect"`}; !slices.Equal(got, want) || r.out != strings.Repeat("gate\n", 4) {
						t.Errorf("%s learned %q: %v", who.name, got, r)
					}
					policies = append(policies, policy)
					if r := s.run(t, call{argv: s.argv(t, nil, "rotates.py", "rr.test", "8080")}); r.out != strings.Repeat("gate\n", 4) || strings.Contains(r.err, "psb: ") {
						t.Errorf("%s: enforced: %v", who.name, r)
					}
				}
				if len(policies) == 2 && policies[0] != policies[1] {
					t.Errorf("%s: two learns wrote\n%s\nand\n%s", who.name, policies[0], policies[1])
				}
			}
		}
	})
}

// TestNetworkDenials: a refused connect reaches the program as EACCES, a name without a rule as one that is not there; each is one line, with
// the name and with a hint, and so in the report. A connect that fails on the host is no denial.
func TestNetworkDenials(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.names.set("office.test", fixed("10.9.8.7"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		for _, who := range people() {
			s := trial{scene: newScene(t, who), boxed: true}
			s.takes(t, "wanders.py")
			s.net(t, "\"good.test:8080-8090\" = \"connect\"\n\"office.test:8080\" = \"connect\"\n\"203.0.113.9:*\" = \"deny\"\n")
			r := s.run(t, call{argv: s.words(t, "wanders.py", []string{"--report", "report.json"}, "good.test:8080", "good.test:8081", "good.test:9999", "good.test:9999", "bad.test:80", "203.0.113.6:80",
				"203.0.113.9:80", "office.test:8080", "[2001:db8::9]:80")})
			want := "good.test:8080 connected\ngood.test:8081 ECONNREFUSED\ngood.test:9999 EACCES\ngood.test:9999 EACCES\nbad.test:80 no such name\n203.0.113.6:80 EACCES\n" +
				"203.0.113.9:80 EACCES\noffice.test:8080 EACCES\n[2001:db8::9]:80 EACCES\n"
			if r.code != 0 || r.out != want {
				t.Errorf("%s: %v\nwant\n%s", who.name, r, want)
			}
			got := denials(r)
			for _, object := range []string{"connect 203.0.113.6:80", "connect 203.0.113.9:80", "connect good.test:9999", "private office.test:8080", "connect [2001:db8::9]:80"} {
				if !slices.Contains(got, object) {
					t.Errorf("%s: no denial of %s: %q", who.name, object, got)
				}
			}
			if !slices.ContainsFunc(got, func(o string) bool { return o == "connect bad.test" || strings.HasPrefix(o, "connect bad.test:") }) || slices.Contains(got, "connect good.test:8081") || len(got) != 6 {
				t.Errorf("%s: denials %q: %v", who.name, got, r)
			}
			_, hints := psbLines(r.err)
			for _, hint := range []string{"psb: hint: psb policy add connect good.test:9999", "psb: hint: psb policy add connect 203.0.113.6:80"} {
				if !slices.Contains(hints, hint) {
					t.Errorf("%s: no %q: %q", who.name, hint, hints)
				}
			}
			report := fileText(t, s.project+"/report.json")
			for _, object := range []string{`"good.test:9999"`, `"203.0.113.6:80"`, `"office.test:8080"`} {
				if !strings.Contains(report, object) {
					t.Errorf("%s: the report does not name %s: %s", who.name, object, report)
				}
			}
		}
	})
}
