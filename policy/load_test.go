package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// disk is a set of files for Load.
type disk map[string]string

func (d disk) read(name string) ([]byte, error) {
	if !strings.HasPrefix(name, "/") {
		name = "/p/" + strings.TrimPrefix(name, "./")
	}
	s, ok := d[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if s == "unreadable" {
		return nil, fs.ErrPermission
	}
	return []byte(s), nil
}

var testMacros = Macros{
	Cwd: "/p", Project: "/p", Home: "/home/u", Tmp: "/tmp", Cache: "/home/u/.cache", Config: "/home/u/.config", Data: "/home/u/.local/share", Run: "/run/user/7",
	Python: "/usr", Getenv: func(n string) (string, bool) {
		v, ok := map[string]string{"SET": "/srv/set", "ROOT": "/", "EMPTY": "", "REL": "rel/x", "MACRO": "/x/${HOME}/~", "STAR": "/w/a*b", "UP": "/srv/../home/u/", "HOST": "db.example.com"}[n]
		return v, ok
	},
}

func TestLoad(t *testing.T) {
	d := disk{
		"/p/top": `include = ["sub/a", "?none", "~/user", "sub/b"]
[limits]
pids = 3
[files]
"x" = "read"
`,
		"/p/sub/a":     "include = [\"../shared\"]\n[limits]\npids = 2\nwall = \"1s\"\n[files]\n\"x\" = \"read\"\n",
		"/p/sub/b":     "include = [\"../shared\"]\n[limits]\nwall = \"2s\"\n[python.eval]\ncall = [\"b\"]\n",
		"/p/shared":    "[limits]\npids = 1\nwall = \"9s\"\n[env]\n\"AWS_*\" = false\n[sandbox]\nrequire = [\"cgroups\"]\nprovider = \"landlock\"\n[python.eval]\ncall = [\"s\"]\n",
		"/home/u/user": "[sandbox]\nrequire = [\"seccomp\"]\nallow_gaps = [\"notify\"]\n",
	}
	p, err := Load(d.read, "./top", testMacros)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.Sources {
		names = append(names, s.Name+"="+s.Path)
	}
	if got, want := strings.Join(names, " "), "./top=/p/top sub/a=/p/sub/a shared=/p/shared /home/u/user=/home/u/user sub/b=/p/sub/b"; got != want {
		t.Errorf("sources %s, want %s", got, want)
	}
	if p.Limits["pids"].Count != 3 || p.Limits["wall"].Text != "2s" || p.Sandbox.Provider != "landlock" || fmt.Sprint(p.Sandbox.Require, p.Sandbox.AllowGaps) != "[cgroups seccomp] [notify]" || fmt.Sprint(p.Eval[""].Lists["call"]) != "[s b]" {
		t.Errorf("single values: %+v", p)
	}
	q, err := p.Expand(testMacros)
	if err != nil {
		t.Fatal(err)
	}
	// The same text means another file in another folder.
	if !q.Decide(Access{OpRead, "/p/x"}).Allowed || !q.Decide(Access{OpRead, "/p/sub/x"}).Allowed || q.Decide(Access{OpRead, "/p/sub/y"}).Allowed {
		t.Errorf("relative paths of includes: %s", ruleLines(q))
	}
	if v := q.Decide(Access{OpEnv, "AWS_KEY"}); v.Blocker == nil || v.Blocker.Origin != (Origin{File: "shared", Line: 5}) {
		t.Errorf("blocker %+v", v.Blocker)
	}
}

func TestLoadErrors(t *testing.T) {
	deep := disk{}
	for i := range 20 {
		deep[fmt.Sprintf("/p/f%d", i)] = fmt.Sprintf("include = [\"f%d\"]\n", i+1)
	}
	deep["/p/f20"] = ""
	for _, c := range []struct {
		name string
		d    disk
		want string
	}{
		{"missing", disk{"/p/top": "\ninclude = [\"team\"]\n"}, `top:2: include "team": no file /p/team (write "?team" if it may be absent)`},
		{"self", disk{"/p/top": "include = [\"top\"]\n"}, `top:1: include cycle: /p/top includes /p/top`},
		{"cycle", disk{"/p/top": "include = [\"a\"]\n", "/p/a": "include = [\"s/b\"]\n", "/p/s/b": "include = [\"../a\"]\n"}, `s/b:1: include cycle: /p/a includes /p/s/b includes /p/a`},
		{"unreadable", disk{"/p/top": "include = [\"?a\"]\n", "/p/a": "unreadable"}, `top:1: include "a": permission denied`},
		{"unset", disk{"/p/top": "include = [\"${NONE}/a\"]\n"}, `top:1: include "${NONE}/a": variable NONE is unset or empty (write ${NONE:-…} to give a default)`},
		{"every problem", disk{"/p/top": "include = [\"a\"]\nx = 1\n", "/p/a": "y = 1\n"}, `top:2: unknown key x, valid: version include locked learn`},
		{"in an include", disk{"/p/top": "include = [\"a\", \"b\"]\n", "/p/a": "y = 1\n", "/p/b": "[\n"}, "a:1: unknown key y, valid: version include locked learn\nb:1: syntax: expected '.' or ']' to end table name, but got '\\n' instead"},
		{"deep", deep, `f15:1: include "f16": more than 16 files deep`},
	} {
		top := "top"
		if c.name == "deep" {
			top = "f0"
		}
		_, err := Load(c.d.read, top, testMacros)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	if _, err := Load(disk{}.read, "top", testMacros); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing top: %v", err)
	}
	if _, err := Load(disk{}.read, "top", Macros{}); err == nil || err.Error() != `policy "top": a relative name needs a folder to start from` {
		t.Errorf("no folder: %v", err)
	}
}

// TestShimOffBesideItsTables: lines that nothing would hold are no policy, wherever the two stand; an includer that turns the shim on again is right.
func TestShimOffBesideItsTables(t *testing.T) {
	off := "[python]\nshim = false\n"
	for _, c := range []struct{ name, top, inc, want string }{
		{"an import", off + "[python.import]\n\"flask\" = true\n", "", "top:2: shim = false, and [python.import] at top:4 holds only with the shim: remove one of them"},
		{"a false alone", off + "[python.call]\n\"threads\" = false\n", "", "top:2: shim = false, and [python.call] at top:4 holds only with the shim: remove one of them"},
		{"a profile", off + "[python.eval.calc]\ncall = [\"len\"]\n", "", "top:2: shim = false, and [python.eval.calc] at top:3 holds only with the shim: remove one of them"},
		{"every table", off + "[python.call]\n\"threads\" = true\n[python.import]\n\"a\" = true\n", "",
			"top:2: shim = false, and [python.call] at top:4 holds only with the shim: remove one of them\ntop:2: shim = false, and [python.import] at top:6 holds only with the shim: remove one of them"},
		{"an empty table", off + "[python.import]\n", "", ""},
		{"in an include", "include = [\"inc\"]\n" + off, "[python.import]\n\"flask\" = true\n", "top:3: shim = false, and [python.import] at inc:2 holds only with the shim: remove one of them"},
		{"turned on again", "include = [\"inc\"]\n[python]\nshim = true\n[python.import]\n\"flask\" = true\n", off, ""},
	} {
		_, err := Load(disk{"/p/top": c.top, "/p/inc": c.inc}.read, "top", testMacros)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestLocked(t *testing.T) {
	team := "locked = true\ninclude = [\"base\"]\n[files]\n\"data/\" = \"read\"\n[limits]\npids = 10\n[sandbox]\nprovider = \"namespaces\"\n"
	base := "[env]\nHOME = true\n[limits]\nwall = \"10s\"\n"
	for _, c := range []struct{ name, top, want string }{
		{"narrows", "include = [\"team\"]\n[files]\n\"data/secret\" = \"hide\"\n[env]\nHOME = false\n[net]\n\"*:25\" = \"deny\"\n[limits]\npids = 5\nwall = \"9s\"\nmemory = \"1G\"\n[sandbox]\nrequire = [\"cgroups\"]\nprovider = \"namespaces\"\n", ""},
		{"adds a file", "include = [\"team\"]\n[files]\n\"data/x\" = \"read\"\n", `top:3: team:1 is locked: "data/x" adds a right; only false, hide, deny and lower limits may be added`},
		{"adds a value", "include = [\"team\"]\n[env]\nHOME = \"/x\"\n", `top:3: team:1 is locked: "HOME" adds a right; only false, hide, deny and lower limits may be added`},
		{"adds by a sibling", "include = [\"team\", \"more\"]\n", `more:2: team:1 is locked: "e" adds a right; only false, hide, deny and lower limits may be added`},
		{"raises", "include = [\"team\"]\n[limits]\npids = 11\nwall = \"11s\"\n", "top:3: team:1 is locked: pids may only be lower than 10\ntop:4: team:1 is locked: wall may only be lower than 10s"},
		{"turns the shim off", "include = [\"team\"]\n[python]\nshim = false\n", "top:3: team:1 is locked: the shim cannot be turned off"},
		{"weakens", "include = [\"team\"]\n[sandbox]\nprovider = \"landlock\"\nallow_gaps = [\"notify\"]\npython = \"/x/python\"\n[python.eval]\ncall = []\n",
			"top:3: team:1 is locked: provider cannot be changed\ntop:4: team:1 is locked: allow_gaps cannot be changed\ntop:5: team:1 is locked: python cannot be changed\ntop:6: team:1 is locked: a table of [python.eval] adds rights"},
	} {
		p, err := Load(disk{"/p/top": c.top, "/p/team": team, "/p/base": base, "/p/more": "[env]\ne = true\n"}.read, "top", testMacros)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if !p.Locked || p.LockedAt.File != "team" || p.Limits["pids"].Count != 5 {
				t.Errorf("%s: %+v", c.name, p)
			}
			continue
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
	// A locked file may itself include what it likes.
	if _, err := Load(disk{"/p/top": "locked = true\ninclude = [\"more\"]\n", "/p/more": "[env]\ne = true\n"}.read, "top", testMacros); err != nil {
		t.Error(err)
	}
}

func TestIncludesMustBeLoaded(t *testing.T) {
	p := mustParse(t, "include = [\"deny\"]\n")
	if _, err := p.Expand(testMacros); err == nil || !strings.Contains(err.Error(), `include "deny" was not read`) {
		t.Errorf("a policy without its includes was expanded: %v", err)
	}
}

func TestAllow(t *testing.T) {
	m := testMacros
	m.Cwd = "/w"
	r, err := ParseRule("read x", m.Cwd, m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&Policy{}).Allow("command line", r)
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Expand(m)
	if err != nil {
		t.Fatal(err)
	}
	if v := q.Decide(Access{OpRead, "/w/x"}); !v.Allowed || v.By.Origin != (Origin{From: "command line"}) {
		t.Errorf("%+v", v)
	}
	locked := mustParse(t, "locked = true\n")
	if _, err := locked.Allow("command line", r); err == nil || err.Error() != "p:1: the policy is locked, so read x cannot be added" {
		t.Error(err)
	}
	both, err := (&Policy{}).Allow("command line", ruleLine("private db.corp:1"))
	if err == nil {
		both, err = both.Expand(testMacros)
	}
	if err != nil || !both.Decide(Access{OpPrivate, "db.corp:1"}).Allowed || !both.Decide(Access{OpConnect, "db.corp:1"}).Allowed {
		t.Errorf("private and its connect: %v", err)
	}
	if _, err := locked.Allow("command line", ruleLine("never env X")); err != nil {
		t.Error(err)
	}
}
