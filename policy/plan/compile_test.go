package plan

import (
	"slices"
	"strings"
	"testing"

	"psb/landlock"
	"psb/namespaces"
	"psb/policy"
)

// strong is a host that has everything; tests take layers away.
func strong() Host {
	return Host{Kernel: "6.18", Arch: "amd64", Identity: Identity{UID: 1000, GID: 1000, User: "u", Group: "u", Home: "/h", Shell: "/bin/sh"}, UserNS: true,
		Landlock: landlock.Support{ABI: 7}, Seccomp: true, Notify: true, Limits: map[string]string{}, MemoryTotal: 4 << 30, Linked: func(string) []string { return nil }}
}

func compiled(t *testing.T, r Request) *Plan {
	t.Helper()
	if r.Policy == nil {
		r.Policy = &policy.Policy{}
	}
	if r.Command.Dir == "" {
		r.Command = Command{Exec: "/p/tool", Argv: []string{"tool"}, Dir: "/p"}
	}
	p, err := Compile(r, project)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gapNames(gaps []Gap) string {
	var names []string
	for _, g := range gaps {
		names = append(names, g.Name)
	}
	return strings.Join(names, " ")
}

func TestLadder(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*Host, *Request)
		provider Provider
		open     string
	}{
		{"all there", func(*Host, *Request) {}, Namespaces, ""},
		{"no user namespace", func(h *Host, _ *Request) { h.UserNS = false }, LandlockOnly, "namespaces"},
		{"root without user namespaces", func(h *Host, _ *Request) { h.UserNS, h.Root, h.PlainNS = false, true, true }, Namespaces, ""},
		{"lite asked for", func(_ *Host, r *Request) { r.Provider = "landlock" }, LandlockOnly, "namespaces"},
		{"namespaces asked for, none there", func(h *Host, r *Request) { h.UserNS, r.Provider = false, "namespaces" }, Namespaces, "namespaces"},
		{"no landlock", func(h *Host, _ *Request) { h.Landlock = landlock.Support{} }, Namespaces, "landlock"},
		{"no seccomp", func(h *Host, _ *Request) { h.Seccomp, h.Notify = false, false }, Namespaces, "seccomp"},
		{"no listener", func(h *Host, _ *Request) { h.Notify = false }, Namespaces, "notify"},
		{"nothing at all", func(h *Host, _ *Request) { *h = Host{Limits: map[string]string{}, Linked: h.Linked} }, LandlockOnly, "namespaces landlock seccomp"},
		{"cgroups required", func(h *Host, r *Request) { h.Limits["pids"] = "delegation"; r.Require = []string{"cgroups"} }, Namespaces, "cgroups"},
		{"unknown layer required", func(_ *Host, r *Request) { r.Require = []string{"magic"} }, Namespaces, "magic"},
		{"accepted by name", func(h *Host, r *Request) { h.UserNS, r.Accept = false, []string{"namespaces"} }, LandlockOnly, ""},
		{"another name accepts nothing", func(h *Host, r *Request) { h.UserNS, r.Accept = false, []string{"landlock"} }, LandlockOnly, "namespaces"},
		{"no walls, by name", func(_ *Host, r *Request) { r.Provider = "none" }, None, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Request{Host: strong()}
			tc.change(&r.Host, &r)
			p := compiled(t, r)
			if p.Provider != tc.provider || gapNames(Open(p.Gaps)) != tc.open {
				t.Errorf("provider %s, open gaps %q; want %s, %q", p.Provider, gapNames(Open(p.Gaps)), tc.provider, tc.open)
			}
		})
	}
}

func TestLimitNobodyHolds(t *testing.T) {
	h := strong()
	h.Limits["memory"] = "a delegated control group"
	if p := compiled(t, Request{Host: h}); gapNames(Open(p.Gaps)) != "" || gapNames(p.Gaps) == "" {
		t.Errorf("a default is noted, it stops nothing: %v", p.Gaps)
	}
	asked := &policy.Policy{Limits: map[string]policy.Limit{"memory": {Name: "memory", Bytes: 1 << 20, Origin: policy.Origin{File: "p", Line: 3}}}}
	if p := compiled(t, Request{Host: h, Policy: asked}); gapNames(Open(p.Gaps)) != "limits.memory" {
		t.Errorf("a limit asked for stops the run: %v", p.Gaps)
	}
}

func TestMemoryLimitSpeaksOfSwap(t *testing.T) {
	h := strong()
	h.Limits["memory_swap"] = "swapaccount=1"
	if p := compiled(t, Request{Host: h}); gapNames(p.Gaps) != "landlock.unix" {
		t.Errorf("a default limits no swap: %v", p.Gaps)
	}
	asked := &policy.Policy{Limits: map[string]policy.Limit{"memory": {Name: "memory", Bytes: 1 << 20, Origin: policy.Origin{File: "p", Line: 3}}}}
	if p := compiled(t, Request{Host: h, Policy: asked}); gapNames(Open(p.Gaps)) != "limits.memory_swap" {
		t.Errorf("a memory limit without a swap limit is no limit: %v", p.Gaps)
	}
}

func TestNetworkNeedsABroker(t *testing.T) {
	pol := &policy.Policy{Rules: []policy.Rule{rule("connect", "pypi.org:443"), rule("listen", "127.0.0.1:5000"), {Op: "deny", Deny: true}}}
	p := compiled(t, Request{Host: strong(), Policy: pol})
	if len(Open(p.Gaps)) != 0 || !p.Brokered || p.Datagrams || p.Files.HandledNet != landlock.TCP {
		t.Errorf("brokered %v, datagrams %v, ports %v, gaps %v", p.Brokered, p.Datagrams, p.Files.HandledNet, p.Gaps)
	}
	deaf := strong()
	deaf.Notify = false
	if p := compiled(t, Request{Host: deaf, Policy: pol}); gapNames(Open(p.Gaps)) != "net notify" && gapNames(Open(p.Gaps)) != "notify net" || p.Files.HandledNet != 0 {
		t.Errorf("without a listener: %v", p.Gaps)
	}
	only := &policy.Policy{Rules: []policy.Rule{{Op: "deny", Deny: true, Pattern: policy.Pattern{Text: "*:*", Object: "*:*"}}}}
	if p := compiled(t, Request{Host: deaf, Policy: only}); strings.Contains(gapNames(p.Gaps), "net") {
		t.Errorf("a deny needs nobody: %v", p.Gaps)
	}
	udp := &policy.Policy{Rules: []policy.Rule{rule("connect", "udp://192.0.2.1:53")}}
	if p := compiled(t, Request{Host: strong(), Policy: udp}); !p.Datagrams {
		t.Error("datagrams are not relayed")
	}
}

func TestResolverLines(t *testing.T) {
	conf := "# made by somebody\nnameserver 192.0.2.1\nsearch corp.example  lab.example\noptions ndots:2 trust-ad edns0\nsearch a$(b)\noptions\n"
	if got := strings.Join(ResolverLines(conf), ""); got != "search corp.example lab.example\noptions ndots:2 edns0\n" {
		t.Errorf("%q", got)
	}
}

func TestEnvironment(t *testing.T) {
	text := "set"
	env := func(name string, deny bool, value *string) policy.Rule {
		return policy.Rule{Op: policy.OpEnv, Deny: deny, Value: value, Pattern: policy.Pattern{Text: name, Object: name}}
	}
	p := &policy.Policy{Rules: []policy.Rule{env("TOKEN", false, nil), env("APP_*", false, nil), env("APP_KEY", true, nil), env("MADE", false, &text),
		env("LC_ALL", true, nil), env("ABSENT", false, nil)}}
	got := environment(p, []string{"PATH=/bin", "HOME=/h", "TOKEN=t", "APP_A=1", "APP_KEY=k", "LC_ALL=C", "LC_TIME=C", "OTHER=o", "TMPDIR=/scratch", "broken"})
	want := []string{"APP_A=1", "HOME=/h", "LC_TIME=C", "MADE=set", "PATH=/bin", "TMPDIR=/tmp", "TOKEN=t"}
	if !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestHidden(t *testing.T) {
	hide := func(object string) policy.Rule {
		r := rule(policy.OpHide, object)
		r.Deny = true
		return r
	}
	got, c := acts(t, rule("read", "/p/"))
	if got != "bind /p ro\n" {
		t.Fatalf("acts %q", got)
	}
	c.policy.Rules = append(c.policy.Rules, hide("/p/.env"), hide("/p/gone"))
	c.hide()
	b := &rootBuilder{ps: c.places, look: project, idmap: c.idmap}
	b.build()
	var masked []string
	for _, op := range b.ops {
		if op.Source == maskFile || op.Source == maskDir {
			masked = append(masked, op.Target)
		}
	}
	if !slices.Equal(masked, []string{"/p/.env"}) {
		t.Errorf("masked %q", masked)
	}
}

func TestProjectBelowScratchIsNoScratch(t *testing.T) {
	tree := fakeTree{"/tmp/proj/app.py": "file", "/tmp/proj/data/a": "file"}
	c := &compiler{policy: &policy.Policy{Rules: []policy.Rule{rule("read", "/tmp/proj/data/a")}}, look: tree, places: places{}, absent: map[policy.Origin]bool{},
		host: Host{Linked: func(string) []string { return nil }}}
	c.places.privateSpaces(tree, 0)
	c.grant()
	b := &rootBuilder{ps: c.places, look: tree, idmap: c.idmap}
	b.build()
	sealed := false
	for _, op := range b.ops {
		sealed = sealed || op.Kind == namespaces.OpReadOnly && op.Target == "/tmp/proj"
	}
	if !sealed {
		t.Errorf("what stands beside a granted file in a private space can be written and is lost: %+v", b.ops)
	}
}

func TestShownProjectBelowScratchIsLeftAlone(t *testing.T) {
	tree := fakeTree{"/tmp/proj/app.py": "file", "/tmp/proj/data/a": "file"}
	c := &compiler{policy: &policy.Policy{Rules: []policy.Rule{rule("create", "/tmp/proj/"), rule("read", "/tmp/proj/data/a")}}, look: tree, places: places{}, absent: map[policy.Origin]bool{},
		host: Host{Linked: func(string) []string { return nil }}}
	c.places.privateSpaces(tree, 0)
	c.grant()
	b := &rootBuilder{ps: c.places, look: tree, idmap: c.idmap}
	b.build()
	for _, op := range b.ops {
		if op.Kind == namespaces.OpTmpfs && op.Target == "/tmp/proj" {
			t.Errorf("the folder the program makes files in is covered by an empty one: %+v", b.ops)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	pol := &policy.Policy{Rules: []policy.Rule{rule("read", "/p/data/"), rule("create", "/p/out/"), rule("list", "/p/")}}
	var first strings.Builder
	if err := compiled(t, Request{Host: strong(), Policy: pol}).Text(&first); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var again strings.Builder
		if err := compiled(t, Request{Host: strong(), Policy: pol}).Text(&again); err != nil {
			t.Fatal(err)
		}
		if again.String() != first.String() {
			t.Fatal("two plans of the same input differ")
		}
	}
}

func TestEveryStageIsPrinted(t *testing.T) {
	var text strings.Builder
	if err := compiled(t, Request{Host: strong()}).Text(&text); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, s := range Order {
		i := strings.Index(text.String()[at:], "\n"+string(s.Stage)+" (")
		if i < 0 {
			t.Fatalf("stage %s is missing or out of order in\n%s", s.Stage, text.String())
		}
		at += i
	}
}
