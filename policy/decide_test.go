package policy

import (
	"net/netip"
	"path"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	p := mustParse(t, `[env]
"LC_*" = true
HOME = true
"AWS_*" = false
AWS_REGION = true
[files]
"data/" = "read"
"data/one" = "read"
"data/secret" = "hide"
"rw/" = "write"
"file" = "write"
"out/" = "create"
"out/o.csv" = "write"
"names/" = "list"
"tool" = "exec"
"/dev/dri/" = "device"
"**/.env" = "hide"
[net]
"*.pypi.org:443" = "connect"
"files.pypi.org:443" = "connect"
"10.0.0.0/8:5432" = "connect"
"10.9.0.0/16:1-65535" = "deny"
"[2001:db8::]/32:1-1024" = "connect"
"*:443" = "connect"
"udp://1.1.1.1:53" = "connect"
"unix:/run/pg.sock" = "connect"
"localhost:8080" = "connect"
"127.0.0.1:9090" = "connect"
"127.0.0.1:0" = "listen"
"*:7000-7010" = "listen"
"*.evil.com:*" = "deny"
"many.example.com:80,443,9000-9010" = "connect"
"tcp://Scheme.example.com:81" = "connect"
"db.corp.example:5432" = ["connect", "private"]
"*.lab.example:*" = ["connect", "private", "listen"]
"x.lab.example:22" = "deny"
"udp://ntp.corp.example:123" = ["connect", "private"]
"10.0.0.2:0" = "listen"
"10.0.0.2:*" = "deny"
[syscalls]
mlock = true
ptrace = false
[python.import]
"google" = true
"google.bad" = false
[python.call]
"threads" = true
"os.system" = false
`)
	q, err := p.Expand(testMacros)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ access, want string }{
		// read
		{"read /p/data", "data/"},
		{"read /p/data/", "data/"},
		{"read /p/data/x/y", "data/"},
		{"read /p/data/one", "data/one"},
		{"read /p/data/one/", "data/"},
		{"read /p/database", "no"},
		{"read /p", "no"},
		{"read /p/", "no"},
		{"read /p/data/secret", "blocked data/secret"},
		{"read /p/data/secret/x", "blocked data/secret"},
		{"read /p/data/secrets", "data/"},
		{"read /p/rw/x/.env", "blocked **/.env"},
		{"read /p/rw/x", "rw/"},
		{"read /p/tool", "tool"},
		{"read /p/file", "file"},
		{"read /dev/dri/card0", "/dev/dri/"},
		{"read /p/out/x", "no"},
		{"read data/one", "no"},
		{"read /p/../p/data/one", "no"},
		{"read /p//data/one", "no"},
		{"read ", "no"},
		// write
		{"write /p/data/x", "no"},
		{"write /p/rw/x", "rw/"},
		{"write /p/file", "file"},
		{"write /p/file/", "no"},
		{"write /p/out/new", "no"},
		{"write /p/out/o.csv", "out/o.csv"},
		{"write /p/tool", "no"},
		{"write /p/rw/.env", "blocked **/.env"},
		// create: only in that folder, unless a tree may be written
		{"create /p/out/x", "out/"},
		{"create /p/out/", "out/"},
		{"create /p/out/sub/x", "no"},
		{"create /p/out", "no"},
		{"create /p/rw/a/b", "rw/"},
		{"create /p/rw/a/", "rw/"},
		{"create /p/file", "no"},
		{"create /p/data/x", "no"},
		{"create /p/out/.env", "blocked **/.env"},
		// list
		{"list /p/names", "names/"},
		{"list /p/names/", "names/"},
		{"list /p/names/sub", "no"},
		{"list /p/data/sub", "data/"},
		{"list /p/rw", "rw/"},
		{"list /p/out", "no"},
		{"list /p", "no"},
		// exec, device
		{"exec /p/tool", "tool"},
		{"exec /p/data/one", "no"},
		{"exec /p/rw/x", "no"},
		{"device /dev/dri/card0", "/dev/dri/"},
		{"device /dev/null", "no"},
		// hide and deny answer whether it is said already
		{"hide /p/.env", "**/.env"},
		{"hide /p/data/one", "no"},
		{"deny a.evil.com:1", "*.evil.com:*"},
		{"deny pypi.org:443", "no"},
		// net
		{"connect files.pypi.org:443", "files.pypi.org:443"},
		{"connect FILES.PyPI.org.:443", "files.pypi.org:443"},
		{"connect a.b.pypi.org:443", "*.pypi.org:443"},
		{"connect pypi.org:443", "*:443"},
		{"connect pypi.org:80", "no"},
		{"connect notpypi.org:80", "no"},
		{"connect 10.1.2.3:5432", "10.0.0.0/8:5432"},
		{"connect [::ffff:10.1.2.3]:5432", "10.0.0.0/8:5432"},
		{"connect 10.1.2.3:5433", "no"},
		{"connect 10.9.1.1:5432", "blocked 10.9.0.0/16:1-65535"},
		{"connect [2001:db8::1]:80", "[2001:db8::]/32:1-1024"},
		{"connect [2001:db8::1]:8080", "no"},
		{"connect 8.8.8.8:443", "*:443"},
		{"connect [2606:4700::1]:443", "*:443"},
		{"connect 10.1.2.3:443", "no"},
		{"connect 169.254.169.254:443", "no"},
		{"connect [::ffff:169.254.169.254]:443", "no"},
		{"connect [64:ff9b::a9fe:a9fe]:443", "no"},
		{"connect [2002:7f00:1::]:443", "no"},
		{"connect [fd00::1]:443", "no"},
		{"connect [ff02::1]:443", "no"},
		{"connect 224.0.0.1:443", "no"},
		{"connect 0.0.0.0:443", "no"},
		{"connect 100.64.0.1:443", "no"},
		{"connect db:443", "no"},
		{"connect metadata.google.internal:443", "no"},
		{"connect x.localhost:443", "no"},
		{"connect a.evil.com:443", "blocked *.evil.com:*"},
		{"connect udp://1.1.1.1:53", "udp://1.1.1.1:53"},
		{"connect 1.1.1.1:53", "no"},
		{"connect udp://1.1.1.1:443", "no"},
		{"connect unix:/run/pg.sock", "unix:/run/pg.sock"},
		{"connect unix:/run/docker.sock", "no"},
		{"connect localhost:8080", "localhost:8080"},
		{"connect 127.0.0.1:8080", "localhost:8080"},
		{"connect [::1]:8080", "localhost:8080"},
		{"connect 127.0.0.2:8080", "no"},
		{"connect localhost:9090", "127.0.0.1:9090"},
		{"connect [::1]:9090", "no"},
		{"connect *:443", "no"},
		{"connect 10.0.0.0/8:5432", "no"},
		{"connect pypi.org", "no"},
		{"listen 127.0.0.1:0", "127.0.0.1:0"},
		{"listen 127.0.0.1:80", "no"},
		{"listen 127.0.0.1:32768", "127.0.0.1:0"},
		{"listen 127.0.0.1:60999", "127.0.0.1:0"},
		{"listen 127.0.0.1:61000", "no"},
		{"listen 127.0.0.2:40000", "no"},
		{"listen udp://127.0.0.1:0", "no"},
		{"listen 10.0.0.2:0", "blocked 10.0.0.2:*"},
		{"listen 10.0.0.1:0", "no"},
		{"connect 127.0.0.1:0", "no"},
		{"deny 10.0.0.2:0", "no"},
		{"connect many.example.com:80", "many.example.com:80,443,9000-9010"},
		{"connect many.example.com:9005", "many.example.com:80,443,9000-9010"},
		{"connect many.example.com:443", "many.example.com:80,443,9000-9010"},
		{"connect many.example.com:81", "no"},
		{"connect many.example.com:80,443", "no"}, // an access is one thing
		{"connect scheme.example.com:81", "tcp://Scheme.example.com:81"},
		{"connect tcp://scheme.example.com:81", "tcp://Scheme.example.com:81"},
		{"connect udp://scheme.example.com:81", "no"},
		{"connect db.corp.example:5432", "db.corp.example:5432"},
		{"private db.corp.example:5432", "db.corp.example:5432"},
		{"private DB.corp.example.:5432", "db.corp.example:5432"},
		{"private db.corp.example:5433", "no"},
		{"private udp://db.corp.example:5432", "no"},
		{"private udp://ntp.corp.example:123", "udp://ntp.corp.example:123"},
		{"private files.pypi.org:443", "no"},
		{"private 10.1.2.3:5432", "no"},
		{"private localhost:8080", "no"},
		{"private a.lab.example:1", "*.lab.example:*"},
		{"private x.lab.example:22", "blocked x.lab.example:22"},
		{"private a.evil.com:1", "blocked *.evil.com:*"},
		{"private unix:/run/pg.sock", "no"},
		{"listen 0.0.0.0:7005", "*:7000-7010"},
		{"listen files.pypi.org:443", "no"},
		// names
		{"env LC_ALL", "LC_*"},
		{"env HOME", "HOME"},
		{"env HOMER", "no"},
		{"env AWS_REGION", "blocked AWS_*"},
		{"env AWS_KEY", "blocked AWS_*"},
		{"env A=B", "no"},
		{"syscall mlock", "mlock"},
		{"syscall ptrace", "blocked ptrace"},
		{"syscall openat", "no"},
		{"import google.protobuf.x", "google"},
		{"import google.bad.x", "blocked google.bad"},
		{"import google.badly", "google"},
		{"import googleapi", "no"},
		{"call threads", "threads"},
		{"call os.system", "blocked os.system"},
		{"call os", "no"},
		{"fly /p/data/one", "no"},
	} {
		op, object, _ := strings.Cut(c.access, " ")
		v := q.Decide(Access{Op(op), object})
		got := "no"
		switch {
		case v.Allowed && v.By != nil && v.Blocker == nil:
			got = v.By.Pattern.Text
		case v.Allowed || v.By != nil:
			got = "inconsistent"
		case v.Blocker != nil:
			got = "blocked " + v.Blocker.Pattern.Text
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.access, got, c.want)
		}
	}
}

// hide holds in every place where an object appears.
func TestHideFollowsFrom(t *testing.T) {
	q, err := mustParse(t, "[files]\n\"/data/\" = { from = \"sets/\", right = \"read\" }\n\"/one\" = { from = \"sets/key.pem\", right = \"read\" }\n\"sets/secret/\" = \"hide\"\n\"**/*.pem\" = \"hide\"\n").Expand(testMacros)
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]bool{"/data/a": true, "/data/secret/a": false, "/data/secret": false, "/data/x/k.pem": false, "/one": false, "/p/sets/a": false} {
		if v := q.Decide(Access{OpRead, object}); v.Allowed != want || !want && object != "/p/sets/a" && v.Blocker == nil {
			t.Errorf("%s: %+v", object, v)
		}
	}
}

// Every access is allowed by the rule that RuleFor gives, also after the rule went through a file.
func TestRuleForIsEnough(t *testing.T) {
	for _, words := range []string{
		"read /p/data/x", "read /p/data/", "read /p", "read /p/", "write /p/o \"q\" \\ \n.csv", "create /p/out/x", "create /p/out/", "list /p/names", "list /p", "list /", "exec /usr/bin/uname",
		"device /dev/dri/card0", "read /home/u/.cache/m/x", "read /home/u/x/", "read /tmp/x", "read /p/${x}", "read /p/$${x", "read /p/~x", "read /p/~", "read /etc/hosts", "read /p/ü\u202e",
		"hide /p/a*b", "hide /p/[", `hide /p/\`, "hide /p/dir/", "read /p/a*b", "connect pypi.org:443", "connect udp://1.1.1.1:53", "connect [2001:db8::1]:443", "listen 0.0.0.0:8000",
		"listen 127.0.0.1:0", "connect unix:/run/user/7/bus", "connect unix:@x", "private db.corp.example:5432", "private udp://ntp.corp:123", "connect tcp://a.b:1", "deny a.b:1", "env RATES_URL", "env WEIRD.NAME", "syscall mlock", "import a.b", "call subprocess.Popen", "create /p/x", "list /home/u",
	} {
		op, object, _ := strings.Cut(words, " ")
		a := Access{Op(op), object}
		rule := RuleFor(a).In("/p", testMacros)
		src, _, err := Edit(nil, []Rule{rule})
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		q, err := mustParse(t, string(src)).Expand(testMacros)
		if err != nil {
			t.Errorf("%s: %v\n%s", words, err, src)
			continue
		}
		if v := q.Decide(a); !v.Allowed {
			t.Errorf("%s is not allowed by\n%s%+v", words, src, q.Rules)
		}
	}
}

func TestFixIsWrittenForTheFile(t *testing.T) {
	p, err := Load(disk{"/p/top": "locked = true\n"}.read, "top", testMacros)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := p.Expand(testMacros)
	for a, want := range map[Access]string{
		{OpRead, "/p/data/eu.csv"}:            "read data/eu.csv",
		{OpCreate, "/p/out/x"}:                "create out/",
		{OpList, "/p"}:                        "list ./",
		{OpWrite, "/home/u/.cache/a"}:         "write ${cache}/a",
		{OpRead, "/home/u/a"}:                 "read ~/a",
		{OpConnect, "PyPI.org:443"}:           "connect pypi.org:443",
		{OpConnect, "unix:/run/user/7/a/bus"}: "connect unix:${run}/a/bus",
		{OpPrivate, "DB.corp:1"}:              "private db.corp:1",
		{OpEnv, "X"}:                          "env X",
	} {
		if v := q.Decide(a); v.Fix.String() != want || !v.Locked {
			t.Errorf("%s: fix %s (locked %v), want %s", a, v.Fix, v.Locked, want)
		}
	}
}

func TestRelative(t *testing.T) {
	m := testMacros
	m.Venv = "/p/.venv"
	for _, c := range []struct{ dir, object, want string }{
		{"/p", "/p/data/x", "data/x"}, {"/p", "/p/data/", "data/"}, {"/p", "/p", "."}, {"/p", "/p/", "./"}, {"/p", "/pp/x", "/pp/x"}, {"/p", "/p/~x", "./~x"},
		{"/etc/psb", "/p/data/x", "${project}/data/x"}, {"/etc/psb", "/p/", "${project}/"}, {"/p/sub", "/p/x", "${project}/x"}, {"/p/sub", "/p/sub/x", "x"},
		{"/p", "/home/u/.cache/x", "${cache}/x"}, {"/p", "/home/u/.config/", "${config}/"}, {"/p", "/home/u/.local/share/x", "${data}/x"}, {"/p", "/home/u/", "~/"}, {"/p", "/home/u", "~"},
		{"/p", "/run/user/7/x", "${run}/x"}, {"/p", "/usr/bin/git", "/usr/bin/git"}, {"/p", "/", "/"}, {"/p", "/p/.venv/x", ".venv/x"}, {"/p", "/p/a${b", "a$${b"}, {"/p", "/x/${b}", "/x/$${b}"},
		{"/home/u", "/home/u/.cache/x", "${cache}/x"}, {"/home/u", "/home/u/x", "x"},
	} {
		if got := RelativeIn(c.dir, c.object, m); got != c.want {
			t.Errorf("in %s %s is %s, want %s", c.dir, c.object, got, c.want)
		}
	}
	m.Venv = "/opt/venv"
	if got := Relative("/opt/venv/x", m); got != "${venv}/x" {
		t.Error(got)
	}
	if got := Relative("/x/y", Macros{}); got != "/x/y" {
		t.Error(got)
	}
}

func TestParseAccess(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"read data/eu.csv", "read data/eu.csv"}, {"  read \t a b  ", "read a b"}, {"connect PyPI.org:443", "connect pypi.org:443"}, {"connect [::ffff:1.2.3.4]:80", "connect 1.2.3.4:80"},
		{"connect tcp://a.b:1", "connect a.b:1"}, {"private tcp://A.b:1", "private a.b:1"}, {"private udp://a.b:1", "private udp://a.b:1"},
		{"private", `error: private of what? write OP OBJECT, such as "private db.corp.example:5432"`}, {"private 10.0.0.1:1", `error: "10.0.0.1:1": an address needs no private: write connect alone`},
		{"private *.b:1", `error: "*.b:1" names more than one address`}, {"privat a.b:1", `error: unknown operation "privat", did you mean "private"?`},
		{"env RATES_URL", "env RATES_URL"}, {"call threads", "call threads"}, {"create out/x", "create out/x"}, {"list out", "list out"}, {"hide **/.env", "hide **/.env"},
		{"", `error: write OP OBJECT, such as "read data/eu.csv"`}, {"raed x", `error: unknown operation "raed", did you mean "read"?`}, {"open x", `error: unknown operation "open", did you mean "read"?`},
		{"listen", `error: listen of what? write OP OBJECT, such as "listen 127.0.0.1:5000"`}, {"connect pypi.org", `error: "pypi.org": add a port, such as "pypi.org:443"`},
		{"connect *:443", `error: "*:443" names more than one address`}, {"env A=B", `error: "A=B" cannot be a variable's name`}, {"import a-b", `error: "a-b" cannot be a module's name`},
		{"syscall X", `error: "X" cannot be a system call's name`}, {"call a b", `error: "a b" cannot be a function or category`},
	} {
		a, err := ParseAccess(c.words)
		got := a.String()
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

func TestParseRule(t *testing.T) {
	m := testMacros
	m.Cwd = "/p/sub"
	for _, c := range []struct{ words, want string }{
		{"read x", "read sub/x"}, {"read ../data/", "read data/"}, {"create out/x", "create sub/out/"}, {"read ${cache}/x", "read ${cache}/x"}, {"read ~/x", "read ~/x"}, {"read /home/u/x", "read ~/x"},
		{"hide **/.env", "hide **/.env"}, {"hide .env", "hide sub/.env"}, {"connect *.pypi.org:443", "connect *.pypi.org:443"}, {"connect 10.0.0.0/8:1-9", "connect 10.0.0.0/8:1-9"},
		{"connect a.b:80,443", "connect a.b:80,443"}, {"connect tcp://*.b:80,443", "connect *.b:80,443"}, {"connect tcp://a.b:80", "connect a.b:80"}, {"private *.b:1", "private *.b:1"},
		{"private a.b:1-9", "private a.b:1-9"}, {"private *:1", `error: "*:1": * never leads to a private address: name the host`}, {"private 10.0.0.0/8:1", `error: "10.0.0.0/8:1": an address needs no private: write connect alone`},
		{"private ${HOST}:1", "private ${HOST}:1"},
		{"connect unix:s.sock", "connect unix:sub/s.sock"}, {"env LC_*", "env LC_*"}, {"list ${cache}", `error: "${cache}": list speaks of a folder: end it with /`}, {"connect pypi", `error: "pypi": add a port, such as "pypi:443"`},
	} {
		r, err := ParseRule(c.words, "/p", m)
		got := r.String()
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

func TestPublic(t *testing.T) {
	for s, want := range map[string]bool{"1.1.1.1": true, "172.15.0.1": true, "172.16.0.1": false, "2a00:1450::1": true, "::": false, "::1": false, "fe80::1": false, "::127.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false} {
		if got := Public(netip.MustParseAddr(s)); got != want {
			t.Errorf("Public(%s) = %v", s, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// rootHome is where root is at home on every Linux.
const rootHome = "/root"

func TestSensitive(t *testing.T) {
	m := testMacros
	for _, o := range []string{"/home/u/.ssh/id_rsa", "/home/u/.ssh", "/home/u/.aws/credentials", "/home/u/.netrc", "/p/.env", "/p/.env.production", "/p/.git/config", "/p/.git/hooks/pre-commit", "/home/u/.bashrc",
		"/home/u/.mozilla/firefox/x", "/p/tls/server.key", "/p/x.pem", "/etc/shadow", path.Join(rootHome, "x"), "/home/v/.ssh/x", "/home/u/.config/psb/approved/x", "/p/site/x.pth", "/p/.py-sandboxes", "/home/u/bin/ls", "/proc/1/environ",
		"unix:/var/run/docker.sock", "unix:/run/user/7/bus", "unix:@/tmp/.X11-unix/X0", "169.254.169.254:80", "metadata.google.internal:80", "[fd00:ec2::254]:80", "[64:ff9b::a9fe:a9fe]:80", "169.254.0.0/16:80", "192.0.0.0/24:80", "udp://169.254.169.254:53", "metadata.example.com:80",
		"OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "PGPASSWORD", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "*_API_KEY"} {
		if !Sensitive(o, m) {
			t.Errorf("%s is not sensitive", o)
		}
	}
	for _, o := range []string{"/home/u/data/x", "/p/data/sales.csv", "/p/.env.example", "/home/u/.sshx", "/etc/hosts", "/p/.gitignore", "/home/u/.cache/x", "unix:/run/postgresql/.s.PGSQL.5432", "pypi.org:443", "127.0.0.1:80",
		"HOME", "PATH", "RATES_URL", "PWD", "KEYBOARD", "MONKEY", "flask"} {
		if Sensitive(o, m) {
			t.Errorf("%s is sensitive", o)
		}
	}
	root := m
	root.Home = rootHome
	if Sensitive(path.Join(rootHome, "code/data.csv"), root) || !Sensitive(path.Join(rootHome, ".ssh/x"), root) {
		t.Error("root's own home")
	}
}

func FuzzDecideGlob(f *testing.F) {
	f.Add("**/.env", "a/b/.env")
	f.Add("[a-", "x")
	f.Add("a*b*c*", "aaabbbccc")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		globPath(pattern, s)
		globValid(pattern)
		if !globPath(escapeGlob(s), s) {
			t.Fatalf("escaped %q does not match itself", s)
		}
		if lit, ok := unescapeGlob(escapeGlob(s)); !ok || lit != s {
			t.Fatalf("%q came back as %q", s, lit)
		}
	})
}
