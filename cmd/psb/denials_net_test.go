package main

import (
	"path/filepath"
	"strings"
	"testing"

	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
)

// toldDenials are the lines of what was refused: "kernel OP OBJECT", or a note of the shim, "resolve HOST PORT".
func toldDenials(t *testing.T, net string, brokered bool, asked ...string) []string {
	t.Helper()
	dir := t.TempDir()
	w := &world{cwd: dir, id: plan.Identity{Home: "/home/somebody"}}
	m := macros(w.id, dir, "", "", "", w.lookup)
	m.Cwd, m.Run = dir, "/run/user/7"
	p, err := policy.Parse(policyName, []byte("version = 1\n[net]\n"+net))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Expand(m); err != nil {
		t.Fatal(err)
	}
	j := &job{w: w, where: whereabouts{project: dir, policy: filepath.Join(dir, policyName)}, macros: m, policy: p,
		plan: &plan.Plan{Provider: plan.Namespaces, Brokered: brokered, Command: plan.Command{Dir: dir}}}
	var r refused
	for _, words := range asked {
		f := strings.Split(words, " ")
		if f[0] != "kernel" {
			r.note(pythonshim.Note{Event: f[0], Args: f[1:3], At: "app.py:7"})
			continue
		}
		r.add(policy.Access{Op: policy.Op(f[1]), Object: strings.Join(f[2:], " ")}, "", "kernel")
	}
	var b strings.Builder
	tell(voice{&b}, dir, r.denials(j))
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if l != "" {
			lines = append(lines, strings.TrimPrefix(l, "psb: "))
		}
	}
	return lines
}

func TestNetDenials(t *testing.T) {
	for _, tc := range []struct {
		about, net string
		asked      []string
		want       []string
	}{
		{"a name and a port", "", []string{"kernel connect pypi.org:443", "kernel connect pypi.org:443"},
			[]string{"denied: connect pypi.org:443 (2 times)", "hint: psb policy add connect pypi.org:443"}},
		{"the policy allows it", "'pypi.org:443' = 'connect'", []string{"kernel connect pypi.org:443", "kernel connect pypi.org"}, nil},
		{"a name alone", "", []string{"kernel connect pypi.org"}, []string{"denied: connect pypi.org (no rule names it)", "hint: psb policy add connect pypi.org:PORT"}},
		{"a name looked up twice", "", []string{"kernel connect pypi.org", "kernel connect pypi.org"},
			[]string{"denied: connect pypi.org (no rule names it, 2 look-ups)", "hint: psb policy add connect pypi.org:PORT"}},
		{"a name alone, with a port from the shim", "", []string{"kernel connect pypi.org", "resolve pypi.org 443"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"the note comes first", "", []string{"resolve PyPI.org. https", "kernel connect pypi.org", "kernel connect pypi.org"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"a note of a connect", "", []string{"kernel connect pypi.org", "connect pypi.org 443"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"a look-up that was caught", "", []string{"lookup pypi.org 443", "kernel connect pypi.org", "kernel connect pypi.org"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"a look-up that was caught, and told", "", []string{"lookup pypi.org 443", "kernel connect pypi.org", "resolve pypi.org 443"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"a look-up for two ports", "", []string{"kernel connect pypi.org", "lookup PyPI.org. https", "lookup pypi.org 80", "lookup pypi.org 80"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443", "denied: connect pypi.org:80 (app.py:7)", "hint: psb policy add connect pypi.org:80"}},
		{"look-ups that were granted, or for no port", "'pypi.org:443' = 'connect'", []string{"lookup pypi.org 443", "lookup example.org 22", "lookup unix /x"}, nil},
		{"a look-up for no port", "", []string{"lookup pypi.org None", "lookup pypi.org 0", "kernel connect pypi.org"},
			[]string{"denied: connect pypi.org (no rule names it)", "hint: psb policy add connect pypi.org:PORT"}},
		{"a note with no port", "", []string{"kernel connect pypi.org", "resolve pypi.org None"},
			[]string{"denied: connect pypi.org (app.py:7, no rule names it)", "hint: psb policy add connect pypi.org:PORT"}},
		{"two ports", "", []string{"kernel connect pypi.org", "resolve pypi.org 443", "resolve pypi.org 80"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443", "denied: connect pypi.org:80 (app.py:7)", "hint: psb policy add connect pypi.org:80"}},
		{"said and done", "'pypi.org:80' = 'connect'", []string{"resolve pypi.org 443", "kernel connect pypi.org:443"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"said only", "", []string{"resolve pypi.org 443", "connect 127.0.0.1 8000", "connect 198.18.0.5 443", "connect unix /run/x", "resolve localhost 80"}, nil},
		{"the search list", "", []string{"kernel connect pypi.org", "kernel connect pypi.org.corp.example", "kernel connect pypi.org.example"},
			[]string{"denied: connect pypi.org (no rule names it)", "hint: psb policy add connect pypi.org:PORT"}},
		{"the search list and a note", "", []string{"kernel connect pypi.org.corp.example", "kernel connect pypi.org", "resolve pypi.org 443"},
			[]string{"denied: connect pypi.org:443 (app.py:7)", "hint: psb policy add connect pypi.org:443"}},
		{"no search list", "", []string{"kernel connect files.pypi.org", "kernel connect notpypi.org", "kernel connect pypi.org"},
			[]string{"denied: connect files.pypi.org (no rule names it)", "hint: psb policy add connect files.pypi.org:PORT", "denied: connect notpypi.org (no rule names it)",
				"hint: psb policy add connect notpypi.org:PORT", "denied: connect pypi.org (no rule names it)", "hint: psb policy add connect pypi.org:PORT"}},
		{"a name denied", "'*:443' = 'connect'\n'*.evil.org:*' = 'deny'", []string{"kernel connect a.evil.org"},
			[]string{"denied: connect a.evil.org", `hint: .py-sandboxes:4 denies it ("*.evil.org:*")`}},
		{"an address denied", "'*.org:443' = 'connect'\n'10.9.0.0/16:*' = 'deny'", []string{"kernel connect 10.9.1.1:443"},
			[]string{"denied: connect 10.9.1.1:443", `hint: .py-sandboxes:4 denies it ("10.9.0.0/16:*")`}},
		{"private", "'db.corp.example:5432' = 'connect'", []string{"kernel private db.corp.example:5432"},
			[]string{"denied: private db.corp.example:5432 (it leads into the own networks)",
				"hint: who rules the name decides where it leads; if that is you: psb policy add private db.corp.example:5432"}},
		{"private allowed", "'db.corp.example:5432' = ['connect', 'private']", []string{"kernel private db.corp.example:5432"}, nil},
		{"metadata", "", []string{"kernel connect 169.254.169.254:80", "kernel connect [64:ff9b::a9fe:a9fe]:80", "kernel private metadata.google.internal:80"},
			[]string{"denied: connect 169.254.169.254:80", "hint: that is where a cloud hands out its machines' credentials: think before a rule opens it",
				"denied: connect [64:ff9b::a9fe:a9fe]:80", "hint: that is where a cloud hands out its machines' credentials: think before a rule opens it",
				"denied: private metadata.google.internal:80 (it leads into the own networks)", "hint: that is where a cloud hands out its machines' credentials: think before a rule opens it"}},
		{"link-local", "", []string{"kernel connect 169.254.7.7:80"},
			[]string{"denied: connect 169.254.7.7:80", "hint: that looks like a machine's metadata or its nearest network: think before a rule opens it"}},
		{"inward", "", []string{"kernel connect 127.0.0.1:5432", "kernel connect udp://10.1.2.3:53", "kernel connect udp://1.1.1.1:53", "kernel connect [2606:4700::1]:443"},
			[]string{"denied: connect 127.0.0.1:5432", "hint: that is a server of this machine; if the program should use it: psb policy add connect 127.0.0.1:5432",
				"denied: connect udp://10.1.2.3:53", "hint: that is an address of the own networks; if the program should use it: psb policy add connect udp://10.1.2.3:53",
				"denied: connect udp://1.1.1.1:53", "hint: psb policy add connect udp://1.1.1.1:53",
				"denied: connect [2606:4700::1]:443", "hint: psb policy add connect '[2606:4700::1]:443'"}},
		{"servers", "'127.0.0.1:7000' = 'listen'", []string{"kernel listen 127.0.0.1:5000", "kernel listen 0.0.0.0:8000", "kernel listen [::]:8001", "kernel listen 127.0.0.1:45000", "kernel listen 192.168.1.5:80",
			"kernel listen udp://0.0.0.0:5353", "kernel listen 0.0.0.0:7000"},
			[]string{"denied: listen 127.0.0.1:5000", "hint: psb policy add listen 127.0.0.1:5000", "denied: listen 0.0.0.0:8000", "hint: psb policy add listen 127.0.0.1:8000",
				"denied: listen [::]:8001", "hint: psb policy add listen 127.0.0.1:8001", "denied: listen 127.0.0.1:45000", "hint: psb policy add listen 127.0.0.1:0",
				"denied: listen 192.168.1.5:80", "hint: others on the network could reach it; if they should: psb policy add listen 192.168.1.5:80",
				"denied: listen udp://0.0.0.0:5353", "hint: psb policy add listen udp://127.0.0.1:5353"}},
		{"sockets", "'unix:/run/allowed' = 'connect'", []string{"kernel connect unix:/run/postgresql/.s.PGSQL.5432", "kernel connect unix:/run/docker.sock", "kernel connect unix:/run/user/7/bus",
			"kernel connect unix:/home/somebody/.ssh/a", "kernel connect unix:/run/a ${b}", "kernel connect unix:/run/allowed"},
			[]string{"denied: connect unix:/run/postgresql/.s.PGSQL.5432", "hint: psb policy add connect unix:/run/postgresql/.s.PGSQL.5432",
				"denied: connect unix:/run/docker.sock", "hint: that socket gives away the whole machine: it starts programs outside the box, as root: think before a rule opens it",
				"denied: connect unix:/run/user/7/bus", "hint: that socket commands services outside the box: think before a rule opens it",
				"denied: connect unix:/home/somebody/.ssh/a", "hint: that socket signs and decrypts with your keys: think before a rule opens it",
				"denied: connect unix:/run/a ${b}", "hint: psb policy add connect 'unix:/run/a $${b}'"}},
	} {
		if got := toldDenials(t, tc.net, true, tc.asked...); strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", tc.about, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
	for asked, want := range map[string]string{
		"kernel connect 192.0.2.1:80": "denied: connect 192.0.2.1:80|hint: no broker reaches it for this box: psb doctor",
		"resolve pypi.org 443":        "denied: connect pypi.org:443 (app.py:7)|hint: no broker reaches it for this box: psb doctor",
	} {
		if got := strings.Join(toldDenials(t, "", false, asked), "|"); got != want {
			t.Errorf("without a broker: %s", got)
		}
	}
}

// The hints that are commands make rules that the same refusal is allowed by.
func TestNetHintsAllow(t *testing.T) {
	for _, words := range []string{"connect pypi.org:443", "private db.corp.example:5432", "listen 0.0.0.0:8000", "listen 127.0.0.1:45000", "listen udp://[::]:5353", "connect 127.0.0.1:80", "connect unix:/run/a ${b}"} {
		lines := toldDenials(t, "", true, "kernel "+words)
		if len(lines) != 2 {
			t.Fatalf("%s: %q", words, lines)
		}
		_, command, ok := strings.Cut(lines[1], "psb policy add ")
		rule, err := policy.ParseRule(strings.ReplaceAll(command, "'", ""), "/p", policy.Macros{Cwd: "/p", Project: "/p"})
		if !ok || err != nil {
			t.Errorf("%s: %q, %v", words, lines, err)
			continue
		}
		text, _, err := policy.Edit(nil, []policy.Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		if after := toldDenials(t, strings.TrimPrefix(strings.TrimSpace(string(text)), "[net]"), true, "kernel "+words); len(after) > 0 {
			t.Errorf("%s: after\n%s\nstill %q", words, text, after)
		}
	}
}

func TestSearchedNamesAreNoDenials(t *testing.T) {
	p, err := policy.Parse(policyName, []byte("version = 1\n[net]\n\"db:5432\" = \"connect\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := &job{policy: p}
	if j.policy, err = p.Expand(policy.Macros{Project: "/p", Cwd: "/p"}); err != nil {
		t.Fatal(err)
	}
	j.facts.host.Resolver = []string{"search corp.test Lab.test.\n", "options ndots:2\n"}
	for name, want := range map[string]bool{"db.corp.test": true, "db.lab.test": true, "db.other.test": false, "web.corp.test": false, "db": false} {
		if got := searched(j, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
