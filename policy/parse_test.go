package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// webApp is the file that learning writes for a small web app: the format's own example.
const webApp = `# Rights of app.py, learned by psb; one rule a line, edit freely. Format: psb policy help
# Read the lines marked ! first, then commit this file.
version = 1

[env]  # true: the host's value, "text": this value, false: never
RATES_API_KEY = true  # ! a secret; app
RATES_URL = true  # app

[files]  # read, write (also reads), exec, hide: name/ is everything below; create, list: that folder only
"/usr/bin/uname" = "exec"  # ! runs a program; platform.processor
"out/" = "create"  # report.build, pandas
"out/summary.csv" = "write"  # report.build, pandas
"./" = "list"  # python's import of report
"data/sales.csv" = "read"  # report.build, pandas
"static/" = "read"  # flask; 2 of 5 files seen

[net]  # connect, listen, deny
"rates.example.com:443" = "connect"  # app.rate, requests
"127.0.0.1:5000" = "listen"  # app.run, werkzeug

[python.import]  # what the program itself imports from outside the standard library
"flask" = true  # app
`

func mustParse(t *testing.T, src string) *Policy {
	t.Helper()
	p, err := Parse("p", []byte(src))
	if err != nil {
		t.Fatalf("Parse(%q):\n%v", src, err)
	}
	return p
}

func ruleLines(p *Policy) string {
	var b strings.Builder
	for _, r := range p.Rules {
		fmt.Fprintf(&b, "%d %s", r.Origin.Line, r)
		if r.Deny {
			b.WriteString(" never")
		}
		if r.Value != nil {
			fmt.Fprintf(&b, " =%q", *r.Value)
		}
		if r.Pattern.Tree {
			b.WriteString(" tree")
		}
		if r.Pattern.From != "" {
			b.WriteString(" from " + r.Pattern.From)
		}
		if r.Why != "" {
			b.WriteString(" # " + r.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestParseExample(t *testing.T) {
	p := mustParse(t, webApp)
	want := `6 env RATES_API_KEY # ! a secret; app
7 env RATES_URL # app
10 exec /usr/bin/uname # ! runs a program; platform.processor
11 create out/ tree # report.build, pandas
12 write out/summary.csv # report.build, pandas
13 list ./ tree # python's import of report
14 read data/sales.csv # report.build, pandas
15 read static/ tree # flask; 2 of 5 files seen
18 connect rates.example.com:443 # app.rate, requests
19 listen 127.0.0.1:5000 # app.run, werkzeug
22 import flask # app
`
	if got := ruleLines(p); got != want {
		t.Errorf("rules:\n%s\nwant:\n%s", got, want)
	}
	for name, line := range map[string]int{"env": 5, "files": 9, "net": 17, "python.import": 21} {
		if p.Tables[name] != (Origin{File: "p", Line: line}) {
			t.Errorf("table %s at %v, want line %d", name, p.Tables[name], line)
		}
	}
	if !p.Shim || p.Locked || p.Version != 1 {
		t.Errorf("shim %v locked %v version %d", p.Shim, p.Locked, p.Version)
	}
}

func TestParseEverything(t *testing.T) {
	p := mustParse(t, `version = 1
include = ["team.py-sandboxes", "?~/.config/psb/user.py-sandboxes"]
learn = "learned.py-sandboxes"

[sandbox]
python = "python3.11"
provider = "namespaces"
require = ["namespaces", "cgroups"]
allow_gaps = ["limits.memory", "kill-tree"]

[env]
"LC_*" = true
CACHE = "${CACHE:-/tmp/c}"
"*_API_KEY" = "${*_API_KEY}"
"AWS_*" = false

[files]
"bin/tool" = ["read", "exec"] # both
"/data/" = { from = "./datasets/", right = "read" }
"**/.env" = "hide"
"/dev/dri/" = "device"
"multi" = [
  "read", # a comment with ] inside
  "exec",
]

[net]
"*.pypi.org:443" = "connect"
"10.0.0.0/8:5432" = "connect"
"[2001:db8::]/32:1-1024" = ["connect", "listen"]
"udp://1.1.1.1:53" = "connect"
"unix:/run/postgresql/.s.PGSQL.5432" = "connect"
"*:25" = "deny"

[syscalls]
base = "python"
mlock = true
ptrace = false

[limits]
memory = "512M"
memory_swap = 0
cpus = 1.5
cpu_time = "60s"
wall = "5m"
pids = 64
file_size = "1G"
disk = "2K"
open_files = 256
output = 1048576

[python]
shim = false

[python.import]
"google.protobuf" = true
numpy.linalg = true
"ctypes" = false
"*" = true

[python.call]
"threads" = true
subprocess.Popen = true
"process-exec" = false

[python.eval]
syntax = ["compare", "!Lambda"]
namespace = "closed"
timeout = "2s"

[python.eval.strict]
call = ["len"]
max_nodes = 100
max_alloc = "1M"
`)
	want := `12 env LC_*
13 env CACHE ="${CACHE:-/tmp/c}"
14 env *_API_KEY ="${*_API_KEY}"
15 env AWS_* never
18 read bin/tool # both
18 exec bin/tool # both
19 read /data/ tree from ./datasets/
20 hide **/.env never
21 device /dev/dri/ tree
22 read multi
22 exec multi
28 connect *.pypi.org:443
29 connect 10.0.0.0/8:5432
30 connect [2001:db8::]/32:1-1024
30 listen [2001:db8::]/32:1-1024
31 connect udp://1.1.1.1:53
32 connect unix:/run/postgresql/.s.PGSQL.5432
33 deny *:25 never
37 syscall mlock
38 syscall ptrace never
56 import google.protobuf
57 import numpy.linalg
58 import ctypes never
59 import *
62 call threads
63 call subprocess.Popen
64 call process-exec never
67 eval syntax:compare
67 eval syntax:Lambda never
72 eval strict/call:len
`
	if got := ruleLines(p); got != want {
		t.Errorf("rules:\n%s\nwant:\n%s", got, want)
	}
	if l := p.Limits; l["memory"].Bytes != 512<<20 || l["cpus"].CPUs != 1.5 || l["cpu_time"].Time.String() != "1m0s" || l["wall"].Time.String() != "5m0s" ||
		l["pids"].Count != 64 || l["file_size"].Bytes != 1<<30 || l["disk"].Bytes != 2048 || l["open_files"].Count != 256 || l["output"].Bytes != 1<<20 || len(l) != 10 || l["wall"].Origin.Line != 45 {
		t.Errorf("limits %+v", l)
	}
	if p.Shim || p.SyscallBase != "python" || p.Learn != "learned.py-sandboxes" || p.Sandbox.Provider != "namespaces" || p.Sandbox.Python != "python3.11" ||
		!reflect.DeepEqual(p.Sandbox.Require, []string{"namespaces", "cgroups"}) || !reflect.DeepEqual(p.Sandbox.AllowGaps, []string{"limits.memory", "kill-tree"}) {
		t.Errorf("single values: %+v", p)
	}
	if !reflect.DeepEqual(p.Eval[""].Lists["syntax"], []string{"compare", "!Lambda"}) || p.Eval[""].Values["timeout"] != "2s" ||
		p.Eval["strict"].Values["max_nodes"] != "100" || p.Eval["strict"].Values["timeout"] != "" || p.Eval["strict"].Origin.Line != 71 {
		t.Errorf("eval %+v", p.Eval)
	}
	if len(p.Includes) != 2 || p.Includes[0].Optional || !p.Includes[1].Optional || p.Includes[1].Text != "~/.config/psb/user.py-sandboxes" {
		t.Errorf("includes %+v", p.Includes)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"verson = 1\n", `p:1: unknown key verson, did you mean "version"?`},
		{"learn = \"true\"\n", `p:1: learn names a file: take the line away, or write learn = "./true" for a file of that name`},
		{"version = 2\n", `p:1: version 2 is unknown: this psb reads version 1`},
		{"version = \"1\"\n", `p:1: version must be the number 1, not the text "1"`},
		{"[file]\n\"x\" = \"read\"\n", `p:1: unknown table [file], did you mean "files"?`},
		{"[network]\n", `p:1: unknown table [network], did you mean "net"?`},
		{"[imports]\n", `p:1: unknown table [imports], did you mean "python.import"?`},
		{"[python.imports]\n", `p:1: unknown table [python.imports], did you mean "python.import"?`},
		{"[python.eval.call]\n", `p:1: "call" cannot name a profile of [python.eval]`},
		{"[\"python.import\"]\nx = true\n", `p:1: unknown table [python.import]: a name holds a dot`},
		{"[files.x]\n", `p:1: unknown table [files.x]: [files] has no tables below it`},
		{"[python.eval.x.y]\ncall = []\n", `p:1: unknown table [python.eval.x.y]: [python.eval.x] has no tables below it`},
		{"[[files]]\n\"x\" = \"read\"\n", "p:1: [[files]]: write [files]\np:2: x and a longer name that starts with it cannot both stand without quotes: write each as \"…\""},
		{"files = { \"x\" = \"read\" }\n", `p:1: write files as a table of its own: [files] on a line, its rules below`},
		{"files.x = \"read\"\n", `p:1: write files as a table of its own: [files] on a line, its rules below`},
		{"[python]\nimport.x = true\n", `p:2: write the line under [python.import]`},
		{"[files]\n\"x\" = \"raed\"\n", `p:2: unknown right "raed" for "x", did you mean "read"?`},
		{"[files]\n\"x\" = \"rw\"\n", `p:2: unknown right "rw" for "x", did you mean "write"?`},
		{"[files]\n\"x\" = true\n", `p:2: "x" must be a right, not true: write "read" or "hide"`},
		{"[files]\n\"x\" = 1\n", `p:2: "x" must be a right, not the number 1, valid: read write create list exec hide device`},
		{"[files]\n\"x\" = []\n", `p:2: "x": the list holds no right`},
		{"[files]\n\"x\" = [\"read\", \"hide\"]\n", `p:2: "x": hide cannot stand beside another right`},
		{"[files]\n\"out\" = \"create\"\n", `p:2: "out": create speaks of a folder: write "out/"`},
		{"[files]\n\"~\" = \"list\"\n", `p:2: "~": list speaks of a folder: write "~/"`},
		{"[files]\n\"\" = \"read\"\n", `p:2: a rule of [files] needs a path`},
		{"[files]\ndata.csv = \"read\"\n", `p:2: a name with a dot needs quotes: write "data.csv"`},
		{"[files]\n\"~bob/x\" = \"read\"\n", `p:2: "~bob/x": ~bob: only ~ itself, your own home, can be named`},
		{"[files]\n\"${cache/x\" = \"read\"\n", `p:2: "${cache/x": ${cache…: only ${NAME} and ${NAME:-default} are known`},
		{"[files]\n\"${cache\" = \"read\"\n", `p:2: "${cache": ${ without its } (write $${ for a literal ${)`},
		{"[files]\n\"a\\u0000b\" = \"read\"\n", `p:2: "a\x00b" holds a NUL character`},
		{"[files]\n\"a[\" = \"hide\"\n", `p:2: "a[": a [ without its ], or a \ at the end`},
		{"[files]\n\"**/../x\" = \"hide\"\n", `p:2: "**/../x": .. cannot stand in a path with a glob`},
		{"[files]\n\"/d/\" = { right = \"read\" }\n", `p:2: "/d/": { from = "host folder", right = "read" } needs its from`},
		{"[files]\n\"/d/\" = { from = \"x\", right = \"read\" }\n", `p:2: "/d/" and its from "x" must both end in / (a folder) or neither (a file)`},
		{"[files]\n\"/d/\" = { form = \"x\" }\n", `p:2: "/d/": unknown key form, did you mean "from"?`},
		{"[env]\nX = 1\n", `p:2: X must be true (the host's value), "a text" or false (never), not the number 1`},
		{"[env]\n\"A=B\" = true\n", `p:2: "A=B" cannot be a variable's name`},
		{"[env]\n\"*_KEY\" = \"x\"\n", `p:2: *_KEY: one text cannot be the value of many variables: write true`},
		{"[env]\n\"*_KEY\" = \"${*_TOKEN}\"\n", `p:2: *_KEY: ${*_TOKEN}: a glob may only stand for itself: "*_KEY" = "${*_KEY}"`},
		{"[net]\n\"pypi.org\" = \"connect\"\n", `p:2: "pypi.org": add a port, such as "pypi.org:443"`},
		{"[net]\n\"https://pypi.org/simple\" = \"connect\"\n", `p:2: "https://pypi.org/simple": a rule names host and port, no URL: write "pypi.org:443"`},
		{"[net]\n\"::1:80\" = \"connect\"\n", `p:2: "::1:80": an IPv6 address needs brackets, such as "[::1]:443"`},
		{"[net]\n\"10.0.0.1/8:80\" = \"connect\"\n", `p:2: "10.0.0.1/8:80": 10.0.0.1/8 has bits set beyond its width, did you mean "10.0.0.0/8"?`},
		{"[net]\n\"127.1:80\" = \"connect\"\n", `p:2: "127.1:80": "127.1" is no IPv4 address of four numbers`},
		{"[net]\n\"0x7f000001:80\" = \"connect\"\n", `p:2: "0x7f000001:80": "0x7f000001" is no IPv4 address of four numbers`},
		{"[net]\n\"a.*.org:80\" = \"connect\"\n", `p:2: "a.*.org:80": a * stands alone or first, as in *.example.com`},
		{"[net]\n\"x:0\" = \"connect\"\n", `p:2: "x:0": port 0 means any free port, which only listen can ask for`},
		{"[net]\n\"x:70000\" = \"connect\"\n", `p:2: "x:70000": "70000" is no port: write a number up to 65535, a range such as 1-1024, a list such as 80,443, or *`},
		{"[net]\n\"x:9-1\" = \"connect\"\n", `p:2: "x:9-1": port range "9-1" is empty or starts at 0`},
		{"[net]\n\"x:1\" = \"allow\"\n", `p:2: unknown right "allow" for "x:1", did you mean "connect"?`},
		{"[net]\n\"x:1\" = [\"connect\", \"deny\"]\n", `p:2: "x:1": deny cannot stand beside another right`},
		{"[net]\n\"unix:/run/\" = \"connect\"\n", `p:2: "unix:/run/": name one socket, not a folder`},
		{"[net]\n\"sctp://x:1\" = \"connect\"\n", `p:2: "sctp://x:1": unknown scheme "sctp", valid: tcp udp`},
		{"[net]\n\"x:80, 443\" = \"connect\"\n", `p:2: "x:80, 443": " 443" is no port: write a number up to 65535, a range such as 1-1024, a list such as 80,443, or *`},
		{"[net]\n\"x:80,*\" = \"connect\"\n", `p:2: "x:80,*": a * stands alone: it means every port`},
		{"[net]\n\"x:0,80\" = \"listen\"\n", `p:2: "x:0,80": port 0 stands alone: it means any free port`},
		{"[net]\n\"x:80,9-1\" = \"connect\"\n", `p:2: "x:80,9-1": port range "9-1" is empty or starts at 0`},
		{"[net]\n\"x:1\" = \"private\"\n", `p:2: "x:1": private says where a connect may lead: write ["connect", "private"]`},
		{"[net]\n\"x:1\" = [\"listen\", \"private\"]\n", `p:2: "x:1": private says where a connect may lead: write ["connect", "private"]`},
		{"[net]\n\"x:1\" = [\"private\", \"deny\"]\n", `p:2: "x:1": private says where a connect may lead: write ["connect", "private"]`},
		{"[net]\n\"*:1\" = [\"connect\", \"private\"]\n", `p:2: "*:1": * never leads to a private address: name the host`},
		{"[net]\n\"10.1.2.3:1\" = [\"connect\", \"private\"]\n", `p:2: "10.1.2.3:1": an address needs no private: write connect alone`},
		{"[net]\n\"10.0.0.0/8:1\" = [\"connect\", \"private\"]\n", `p:2: "10.0.0.0/8:1": an address needs no private: write connect alone`},
		{"[net]\n\"localhost:1\" = [\"connect\", \"private\"]\n", `p:2: "localhost:1": an address needs no private: write connect alone`},
		{"[net]\n\"unix:/x\" = [\"connect\", \"private\"]\n", `p:2: "unix:/x": a socket needs no private: write connect alone`},
		{"[net]\n\"x:1\" = \"internal\"\n", `p:2: unknown right "internal" for "x:1", did you mean "private"?`},
		{"[syscalls]\nbase = \"all\"\n", `p:2: unknown base "all", valid: python`},
		{"[syscalls]\nMLOCK = true\n", `p:2: "MLOCK" cannot be a system call's name`},
		{"[limits]\nmemmory = \"1G\"\n", `p:2: unknown limit memmory, did you mean "memory"?`},
		{"[limits]\nmemory = \"1GB\"\n", `p:2: memory: "1GB" is no size: write a number of bytes or one with K, M, G or T, such as 512M`},
		{"[limits]\nmemory = 0\n", `p:2: memory: zero would let nothing run`},
		{"[limits]\nmemory = \"9999999T\"\n", `p:2: memory: "9999999T" is more than any machine has`},
		{"[limits]\nmemory = -1\n", `p:2: memory: "-1" is no size: write a number of bytes or one with K, M, G or T, such as 512M`},
		{"[limits]\nwall = 60\n", `p:2: wall: "60" is no time: write a number with ms, s, m or h, such as 60s`},
		{"[limits]\npids = 1.5\n", `p:2: pids: "1.5" is no whole number from 1 to 2147483647`},
		{"[limits]\ncpus = nan\n", `p:2: cpus: "NaN" is no number of processors, such as 0.5 or 2`},
		{"[limits]\nwall = true\n", `p:2: wall must be a number or a text such as "60s", not true`},
		{"[sandbox]\nprovider = \"bubblewrap\"\n", `p:2: unknown provider "bubblewrap", did you mean "bwrap"?`},
		{"[sandbox]\nrequire = [\"landlok\"]\n", `p:2: unknown layer "landlok" in require, did you mean "landlock"?`},
		{"[sandbox]\nallow_gaps = [\"limits.mem\"]\n", `p:2: unknown limit "mem" in allow_gaps, did you mean "memory"?`},
		{"[sandbox]\nrequire = \"landlock\"\n", `p:2: require must be a list, ["…"], not the text "landlock"`},
		{"[sandbox]\nallow_gap = [\"x\"]\n", `p:2: unknown key allow_gap in [sandbox], did you mean "allow_gaps"?`},
		{"[python]\nshimm = true\n", `p:2: unknown key shimm in [python], did you mean "shim"?`},
		{"[python.import]\n\"a.*\" = true\n", `p:2: "a.*": a package brings its submodules: write "a"`},
		{"[python.import]\n\"a-b\" = true\n", `p:2: "a-b" cannot be a module's name`},
		{"[python.import]\ngoogle.protobuf = true\ngoogle = true\n", `p:3: google must be true or false, not a table`},
		{"[python.import]\na = \"yes\"\n", `p:2: a must be true or false, not the text "yes"`},
		{"[python.call]\n\"a b\" = true\n", `p:2: "a b" cannot be a function or category`},
		{"[python.eval]\ntimeout = \"2\"\n", `p:2: timeout: "2" is no time: write a number with ms, s, m or h, such as 60s`},
		{"[python.eval]\nmax_nodes = 0\n", `p:2: max_nodes must be a whole number from 1, not the number 0`},
		{"[python.eval]\nnamespace = \"open\"\n", `p:2: unknown namespace "open", valid: adaptive closed caller`},
		{"[python.eval.a]\ncalls = [\"x\"]\n", `p:2: unknown key calls in [python.eval.a], did you mean "call"?`},
		{"include = [\"\"]\n", `p:1: include "": name a file`},
		{"include = \"x\"\n", `p:1: include must be a list, ["…"], not the text "x"`},
		{"locked = 1\n", `p:1: locked must be true or false, not the number 1`},
		// A syntax error stands alone, whatever else is wrong.
		{"verson = 1\n[files\n", `p:2: syntax: expected '.' or ']' to end table name, but got '\n' instead`},
		{"a = 1\na = 2\n", `p:2: syntax: key 'a' has already been defined.`},
		{"x = \"\xff\"\n", `p:1: not UTF-8 text`},
		// Everything else comes together, by line.
		{"[files]\n\"a\" = \"raed\"\n[limits]\npids = 0\n[nett]\n", "p:2: unknown right \"raed\" for \"a\", did you mean \"read\"?\n" +
			"p:4: pids: \"0\" is no whole number from 1 to 2147483647\np:5: unknown table [nett], did you mean \"net\"?"},
	} {
		_, err := Parse("p", []byte(c.src))
		if err == nil {
			t.Errorf("Parse(%q): no error, want %s", c.src, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", c.src, err, c.want)
		}
		var pe *ParseError
		if !errors.As(err, &pe) || len(pe.Problems) != strings.Count(c.want, "\np:")+1 {
			t.Errorf("Parse(%q): %T with the wrong number of problems", c.src, err)
		}
	}
}

// The decoder keeps one of two keys when the longer comes first; no such loss may pass.
func TestDecoderDropsKey(t *testing.T) {
	for _, src := range []string{
		"[python.import]\ngoogle.protobuf = true\ngoogle = true\n",
		"[python.import]\ngoogle.protobuf = true\ngoogle = false\n",
		"[python.import]\na.b.c = false\na.b = true\n",
		"[python.import]\ngoogle = false\ngoogle.protobuf = true\n",
	} {
		if p, err := Parse("p", []byte(src)); err == nil {
			t.Errorf("Parse(%q) lost a line without a word: %s", src, ruleLines(p))
		}
	}
	p := mustParse(t, "[python.import]\n\"google.protobuf\" = true\n\"google\" = true\n")
	if len(p.Rules) != 2 {
		t.Errorf("quoted names: %s", ruleLines(p))
	}
}

func TestLockedNeverLearns(t *testing.T) {
	if p := mustParse(t, "locked = true\nlearn = \"x\"\n"); p.Learn != "" || !p.Locked || p.LockedAt.Line != 1 {
		t.Errorf("learn %q locked %v", p.Learn, p.Locked)
	}
}

func TestEmptyPolicy(t *testing.T) {
	p := mustParse(t, "")
	if len(p.Rules) != 0 || !p.Shim {
		t.Errorf("%+v", p)
	}
	if v := (&Policy{}).Decide(Access{OpRead, "/etc/hosts"}); v.Allowed || v.Fix.String() != "read /etc/hosts" {
		t.Errorf("the zero policy: %+v", v)
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := Parse("p", make([]byte, MaxSize+1)); err == nil || err.Error() != "p: larger than 1048576 bytes" {
		t.Error(err)
	}
}

// Text made to exhaust the decoder's stack or memory is refused before it is decoded.
func TestHostileText(t *testing.T) {
	n := MaxSize / 8
	for name, c := range map[string]struct{ src, want string }{
		"lists":       {"\nx = " + strings.Repeat("[", n) + strings.Repeat("]", n), "p:2: syntax: nested more than 32 deep"},
		"open lists":  {"x = " + strings.Repeat("[", n), "p:1: syntax: nested more than 32 deep"},
		"tables":      {"x = " + strings.Repeat("{a=", n) + "1" + strings.Repeat("}", n), "p:1: syntax: nested more than 32 deep"},
		"dotted key":  {"[python.import]\n" + strings.Repeat("a.", n) + "a = true", "p:2: syntax: nested more than 32 deep"},
		"in a table":  {"x = {" + strings.Repeat("a.", n) + "a = 1}", "p:1: syntax: nested more than 32 deep"},
		"header":      {"[" + strings.Repeat("a.", n) + "a]", "p:1: syntax: nested more than 32 deep"},
		"defaults":    {"[env]\nA = \"" + strings.Repeat("${A:-", n) + strings.Repeat("}", n) + "\"", "p:2: A: defaults nested more than 32 deep"},
		"long names":  {"[env]\n\"" + strings.Repeat("=", n) + "\" = true", "p:2: \"" + strings.Repeat("=", maxMessage-1) + "…"},
		"not so deep": {"[files]\n\"x\" = [[[[\"read\"]]]]", "p:2: \"x\": a right is a word in quotes, not a list"},
	} {
		if _, err := Parse("p", []byte(c.src)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %.700v, want %s", name, err, c.want)
		}
	}
}

// The reference's examples are the format's promise: every block is valid, or says so and shows its message.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, good, bad := string(doc), 0, 0
	tables := map[string]bool{}
	for {
		i := strings.Index(text, "```toml")
		if i < 0 {
			break
		}
		head, rest, _ := strings.Cut(text[i+len("```toml"):], "\n")
		block, after, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatal("a block without its end")
		}
		text = after
		p, err := Parse(".py-sandboxes", []byte(block))
		if strings.TrimSpace(head) != "error" {
			good++
			if err != nil {
				t.Errorf("block\n%s\n%v", block, err)
				continue
			}
			for name := range p.Tables {
				tables[name] = true
			}
			continue
		}
		bad++
		if err == nil {
			t.Errorf("block marked error is valid:\n%s", block)
			continue
		}
		_, shown, _ := strings.Cut(after, "```text\n")
		shown, _, _ = strings.Cut(shown, "```")
		if want := "psb: " + strings.ReplaceAll(err.Error(), "\n", "\npsb: ") + "\n"; shown != want {
			t.Errorf("block\n%s\nshows %q, the message is %q", block, shown, want)
		}
	}
	if good < 10 || bad < 2 {
		t.Errorf("%d good and %d bad blocks", good, bad)
	}
	for _, name := range tableNames() {
		if !tables[name] {
			t.Errorf("no block shows [%s]", name)
		}
	}
	for _, word := range append(append(append(append(LimitNames(), evalKeys()...), topKeys...), Providers()...), Layers()...) {
		if !strings.Contains(string(doc), "`"+word) && !strings.Contains(string(doc), word+" = ") {
			t.Errorf("the reference does not mention %s", word)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(webApp))
	for _, s := range []string{"", "[files]\n\"a\" = [\n \"read\", # ]\n]\n", "[env]\nA = '''\nx'''''\n", "x = \"\\u0041\"", "[python.import]\na.b = true\na = true\n",
		"\xef\xbb\xbf[env]\r\nA = true # x\r\n", "[files]\n\"${X:-${Y:-z}}/\" = \"create\"", "a = { b = [ { c = \"}\" } ] }", "[ python . eval . \"x\" ]\ncall=[]"} {
		f.Add([]byte(s))
	}
	m := Macros{Project: "/p", Home: "/home/u", Cache: "/home/u/.cache", Getenv: func(string) (string, bool) { return "v", true }}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("p", src)
		if err != nil {
			var pe *ParseError
			if !errors.As(err, &pe) || len(pe.Problems) == 0 || strings.Contains(err.Error(), "BUG") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		q, err := p.Expand(m)
		if err != nil {
			return
		}
		for _, r := range q.Rules {
			if r.Pattern.Object == "" {
				t.Fatalf("a rule without object: %+v", r)
			}
			if isFileOp(r.Op) && !r.Pattern.Glob && (r.Pattern.Object[0] != '/' || !r.Deny && r.Op != OpList && r.Pattern.Object == "/") {
				t.Fatalf("object %q", r.Pattern.Object)
			}
			q.Decide(Access{r.Op, r.Pattern.Object})
		}
	})
}
