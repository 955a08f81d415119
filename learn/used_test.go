package learn

import (
	"slices"
	"testing"

	"psb/policy"
)

var everyTable = []string{"env", "files", "net", "syscalls", "python"}

// A line is used when it is the narrowest that allows what a run did. What refuses, and what a record does not tell of, is never called unused.
func TestUnused(t *testing.T) {
	const text = `version = 1
[env]
READ = true
OTHER = true
NEVER = false
[files]
"/usr/bin/git" = "exec"
"out/" = ["create", "list"]
"out/x" = "write"
"data/" = "read"
"data/x" = "read"
"logs/" = "write"
"logs/kept/" = "read"
"wanted/" = "list"
"link/x" = "read"
"never/" = "hide"
[net]
"pypi.org:443" = "connect"
"127.0.0.1:0" = "listen"
"*:25" = "deny"
[syscalls]
mlock = true
[python.import]
"flask" = true
"jinja2" = true
[python.call]
"threads" = true
"os.kill" = true
"os.fork" = false
[python.eval]
syntax = ["arith", "Compare"]
call = ["len", "!getattr"]
`
	all := []string{"env READ", "env OTHER", "exec /usr/bin/git", "create out/", "list out/", "write out/x", "read data/", "read data/x", "write logs/", "list wanted/", "read link/x",
		"connect pypi.org:443", "listen 127.0.0.1:0", "syscall mlock", "import flask", "import jinja2", "call threads", "call os.kill", "eval syntax:arith", "eval syntax:Compare", "eval call:len"}
	for _, tt := range []struct {
		name   string
		tables []string
		events []Event
		used   []string
	}{
		{"nothing", everyTable, nil, nil},
		{"what Python asked for", nil, []Event{python("import", "flask.views", "app", ""), python("call", "threads", "threading.Thread.start", ""), python("eval", "syntax", "BinOp", ""),
			python("eval", "call", "len", "")}, []string{"import flask", "call threads", "eval syntax:arith", "eval call:len"}},
		{"a narrow and a wide line", nil, []Event{did("read", "/p/data/x", Plain)}, []string{"read data/x"}},
		{"what only the wide one allows", nil, []Event{did("read", "/p/data/y", Plain)}, []string{"read data/"}},
		{"a new name", nil, []Event{did("write", "/p/out/x", New)}, []string{"create out/", "write out/x"}},
		{"a file that is there", nil, []Event{did("write", "/p/out/x", Plain)}, []string{"write out/x"}},
		{"a temporary name", nil, []Event{did("write", "/p/out/tmp12345678", New), did("write", "/p/out/tmp12345678", Remove)}, []string{"create out/"}},
		{"what failed", nil, []Event{Accessed{TID: 1, Access: policy.Access{Op: policy.OpRead, Object: "/p/data/x"}, Errno: "EACCES"}}, nil},
		{"a folder that was only wanted", nil, []Event{there("/p/wanted"), did("list", "/p/out", Plain)}, []string{"list out/", "list wanted/"}},
		{"through a link", nil, []Event{through("read", "/p/link/x", "/p/data/x", "/p/link")}, []string{"read data/x", "read link/x"}},
		{"a program", nil, []Event{did("exec", "/usr/bin/git", Plain)}, []string{"exec /usr/bin/git"}},
		{"a host", nil, []Event{did("connect", "PyPI.org:443", Plain)}, []string{"connect pypi.org:443"}},
		{"a port that was asked for by number", nil, []Event{did("listen", "127.0.0.1:40000", Plain)}, []string{"listen 127.0.0.1:0"}},
		{"a variable", nil, []Event{Noted{TID: 1, Text: `{"e":"env","a":["READ","unset"]}`}}, []string{"env READ"}},
		{"a call", nil, []Event{Called{TID: 1, Name: "mlock"}}, []string{"syscall mlock"}},
		{"a record that tells of files alone", []string{"files"}, []Event{did("read", "/p/data/x", Plain)},
			[]string{"env READ", "env OTHER", "read data/x", "connect pypi.org:443", "listen 127.0.0.1:0", "syscall mlock", "import flask", "import jinja2", "call threads", "call os.kill",
				"eval syntax:arith", "eval syntax:Compare", "eval call:len"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.tables == nil {
				tt.tables = everyTable
			}
			run := NewRun()
			for _, e := range append([]Event{Known{"project", []string{"/p"}}, Known{"home", []string{"/h"}}, Known{"tables", tt.tables}}, tt.events...) {
				run.Add(e)
			}
			p, err := policy.Parse("/p/.py-sandboxes", []byte(text))
			if err == nil {
				p, err = p.Expand(run.Knowledge().Macros)
			}
			if err != nil {
				t.Fatal(err)
			}
			var usage Usage
			usage.Count(p, run)
			var got []string
			for _, r := range usage.Unused(p) {
				got = append(got, r.String())
			}
			want := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return slices.Contains(tt.used, r) })
			if !slices.Equal(got, want) {
				t.Errorf("unused %q\nwant %q", got, want)
			}
			var none Usage
			if len(none.Unused(p)) != 0 {
				t.Error("without a run something is unused")
			}
		})
	}
}
