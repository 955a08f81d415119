package export

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
	"psb/seccomp"
)

func matches(glob, name string) bool { return plan.MatchesName(glob, name) }

// request is a plan made by hand: a link, a file of psb's, a grant with a hidden file and a sealed mask, a private space.
func request(t *testing.T, text string, env ...string) Request {
	t.Helper()
	written, err := policy.Parse("p", []byte("version = 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	host := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		host[name] = value
	}
	m := policy.Macros{Project: "/p", Home: "/home/u", Getenv: func(n string) (string, bool) { v, ok := host[n]; return v, ok }}
	expanded, err := written.Expand(m)
	if err != nil {
		t.Fatal(err)
	}
	ops := []namespaces.Op{
		{Kind: namespaces.OpDir, Target: plan.OwnDir, Mode: 0o755},
		{Kind: namespaces.OpFile, Target: plan.OwnDir + "/hidden-file"},
		{Kind: namespaces.OpDir, Target: plan.OwnDir + "/hidden-folder"},
		{Kind: namespaces.OpSymlink, Source: "usr/lib", Target: "/lib"},
		{Kind: namespaces.OpFile, Target: "/etc/passwd", Mode: 0o644, Data: []byte("u:x:1:1::/:/bin/sh\n")},
		{Kind: namespaces.OpBind, Source: "/usr/lib/x", Target: "/usr/lib/x", ReadOnly: true, Recursive: true},
		{Kind: namespaces.OpBind, Source: "/srv/data", Target: "/data", Recursive: true},
		{Kind: namespaces.OpBindIn, Source: plan.OwnDir + "/hidden-file", Target: "/data/.env", ReadOnly: true},
		{Kind: namespaces.OpBindIn, Source: plan.OwnDir + "/hidden-folder", Target: "/data/private", ReadOnly: true},
		{Kind: namespaces.OpBindIn, Source: "/data/kept", Target: "/data/kept", ReadOnly: true, Recursive: true},
		{Kind: namespaces.OpTmpfs, Target: "/tmp", Mode: 0o1777, Size: 4096},
	}
	p := &plan.Plan{Provider: plan.Namespaces, Policy: expanded, Env: env, Identity: plan.Identity{UID: 7, GID: 8}, Limits: map[string]policy.Limit{},
		Command: plan.Command{Dir: "/data"}, Spec: namespaces.Spec{Ops: ops, Exec: "/usr/bin/true", Argv: []string{"true", "a b"}}}
	f := seccomp.Enforce(Options(seccomp.AMD64, p))
	return Request{Plan: p, Written: written, Macros: m, Filter: f, Program: seccomp.Program{Arch: seccomp.AMD64, Bytes: []byte("filter")}, Name: "App 1"}
}

func made(t *testing.T, to Target, r Request) (map[string]string, string) {
	t.Helper()
	e, err := Make(to, r)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range e.Files {
		files[f.Name] = string(f.Data)
	}
	var remarks strings.Builder
	for _, r := range e.Remarks {
		remarks.WriteString(r.String() + "\n")
	}
	return files, remarks.String()
}

// TestBwrapRoot: the plan's acts in its order, sources that show at another place translated, masks as objects that cannot be opened.
func TestBwrapRoot(t *testing.T) {
	files, _ := made(t, Bwrap, request(t, ""))
	got := strings.ReplaceAll(strings.TrimSuffix(files["args"], "\x00"), "\x00", " ")
	want := "--symlink usr/lib /lib --perms 0755 --dir /etc --ro-bind root/etc/passwd /etc/passwd --perms 0755 --dir /usr --perms 0755 --dir /usr/lib " +
		"--ro-bind /usr/lib/x /usr/lib/x --bind /srv/data /data --ro-bind hidden /data/.env --perms 0000 --tmpfs /data/private --ro-bind /srv/data/kept /data/kept " +
		"--perms 1777 --size 4096 --tmpfs /tmp --remount-ro /data/private --remount-ro /"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if files["filter.bpf"] != "filter" || files["root/etc/passwd"] == "" || !strings.Contains(files["run"], "-- /usr/bin/true 'a b'\n") {
		t.Errorf("%q", files)
	}
}

// TestWithoutLinks: what a link leads to stands at its place.
func TestWithoutLinks(t *testing.T) {
	list := []act{
		{kind: actLink, target: "/lib", source: "usr/lib"}, {kind: actLink, target: "/usr/lib/l", source: "/lib/x/y"}, {kind: actLink, target: "/loop", source: "loop"},
		{kind: actLink, target: "/gone", source: "/nowhere"}, {kind: actLink, target: "/run/t", source: "/tmp/x"},
		{kind: actBind, target: "/usr/lib/x", source: "/h/x", readOnly: true}, {kind: actHidden, target: "/usr/lib/x/z"}, {kind: actTmpfs, target: "/tmp"},
	}
	var lost, got []string
	for _, a := range withoutLinks(list, func(l string) { lost = append(lost, l) }) {
		got = append(got, strings.TrimSuffix(a.target+" "+a.source, " "))
	}
	slices.Sort(got)
	want := []string{"/lib/x /h/x", "/lib/x/z", "/tmp", "/usr/lib/l /h/x/y", "/usr/lib/x /h/x", "/usr/lib/x/z"}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(lost, []string{"/run/t"}) {
		t.Errorf("%q, lost %q", got, lost)
	}
}

const envText = `[env]
TOKEN = true
"SET_*" = true
SET_NEVER = false
SET_LATE = "late"
BEFORE = "${TOKEN}"
PLAIN = "x"
`

// TestNoValueIsWritten: whatever the target, no value of the host's stands in a file or a remark, and what a file cannot say is named.
func TestNoValueIsWritten(t *testing.T) {
	for _, to := range Targets() {
		r := request(t, envText, "TOKEN=SECRET", "SET_A=SECRET", "SET_NEVER=SECRET", "BEFORE=SECRET", "OTHER=SECRET", "LANG=C", "PLAIN=x")
		files, remarks := made(t, to, r)
		for name, text := range files {
			if strings.Contains(text, "SECRET") {
				t.Errorf("%s: %s holds a value:\n%s", to, name, text)
			}
		}
		if strings.Contains(remarks, "SECRET") {
			t.Errorf("%s: a remark holds a value:\n%s", to, remarks)
		}
		if named := strings.Contains(remarks, "not exported: [env] env BEFORE (p:7): its text depends on a variable of the host"); named == (to == Bwrap) {
			t.Errorf("%s: BEFORE is named: %v\n%s", to, named, remarks)
		}
	}
}

// TestEveryLineIsNamed: a line that a target does not hold is named by it; one that it holds is not.
func TestEveryLineIsNamed(t *testing.T) {
	const text = `[files]
"**/.env" = "hide"
"out/" = "create"
[net]
"h.example:1" = "connect"
"10.0.0.0/8:1" = "connect"
"unix:/run/s" = "connect"
"127.0.0.1:5" = "listen"
"10.9.0.0/16:*" = "deny"
[python.import]
"x" = false
`
	limits := map[string]policy.Limit{}
	for name, value := range map[string]string{"memory": "1M", "memory_swap": "0", "cpus": "1", "cpu_time": "1s", "wall": "2s", "pids": "9", "file_size": "1M", "disk": "1M", "open_files": "9", "output": "1M"} {
		l, err := policy.ParseLimit(name, value)
		if err != nil {
			t.Fatal(err)
		}
		limits[name] = l
	}
	common := []string{"[files] exec", "the second wall on files", "[files] hide **/.env", "[files] create out/", "[python.import]", "[limits] output", "[net] connect h.example:1", "[net] connect unix:/run/s"}
	for to, own := range map[Target][]string{
		Bwrap:      {"[net] connect 10.0.0.0/8:1", "[net] listen 127.0.0.1:5", "connections within the box", "[limits] memory =", "[limits] memory_swap", "[limits] cpus", "[limits] pids"},
		OCI:        {"[net] connect 10.0.0.0/8:1", "[net] listen 127.0.0.1:5", "connections within the box", "[limits] wall"},
		Systemd:    {"[net] connect 10.0.0.0/8:1", "[net] listen 127.0.0.1:5", "abstract unix sockets", "processes of the same user", "arguments of kernel calls", "/etc/passwd and its like"},
		Kubernetes: {"[net] listen 127.0.0.1:5", "unix sockets of the node", "the interpreter", "[limits] cpu_time", "[limits] file_size", "[limits] open_files", "[limits] pids"},
	} {
		r := request(t, text)
		r.Plan.Limits = limits
		_, remarks := made(t, to, r)
		want := append(slices.Clone(common), own...)
		for line := range strings.Lines(remarks) {
			_, what, _ := strings.Cut(line, ": ")
			if !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(what, w) }) {
				t.Errorf("%s: says %q, which nobody expects", to, line)
			}
		}
		for _, w := range want {
			if !strings.Contains(remarks, ": "+w) {
				t.Errorf("%s: does not name %s:\n%s", to, w, remarks)
			}
		}
	}
}

// TestDevicesAreNamed: where a device is shown and cannot be opened, or its folder cannot be said, that is named.
func TestDevicesAreNamed(t *testing.T) {
	for to, want := range map[Target]string{OCI: "[files] device /dev/gpu", Kubernetes: "[files] device /dev/gpu", Systemd: "[files] device /dev/dri/", Bwrap: ""} {
		r := request(t, "")
		r.Plan.Spec.Ops = append(r.Plan.Spec.Ops, namespaces.Op{Kind: namespaces.OpBind, Source: "/dev/gpu", Target: "/dev/gpu", Dev: true},
			namespaces.Op{Kind: namespaces.OpBind, Source: "/dev/dri", Target: "/dev/dri", Dev: true, Recursive: true})
		r.Plan.Places = []*plan.Place{{Path: "/dev/gpu", Rights: plan.UseDevice, Origins: []policy.Origin{{File: "p", Line: 1}}}}
		files, remarks := made(t, to, r)
		if named := strings.Contains(remarks, "not exported: [files] device"); named != (want != "") || !strings.Contains(remarks, want) {
			t.Errorf("%s: %s", to, remarks)
		}
		if unit := files["app-1.service"]; to == Systemd && !strings.Contains(unit, "\nDeviceAllow=/dev/gpu rw\nBindPaths=/dev/gpu:/dev/gpu\n") {
			t.Error(unit)
		}
	}
}

// TestUnitLines: the walls and limits of a service, as systemd.exec(5) and systemd.resource-control(5) spell them.
func TestUnitLines(t *testing.T) {
	r := request(t, "")
	r.Plan.Limits = map[string]policy.Limit{"memory": {Bytes: 1 << 20}, "cpus": {CPUs: 1.5}, "wall": {Time: 1500 * time.Millisecond}, "pids": {Count: 9}, "open_files": {Count: 5}}
	files, _ := made(t, Systemd, r)
	unit := files["app-1.service"]
	for _, line := range []string{"NoNewPrivileges=yes", "CapabilityBoundingSet=", "PrivateNetwork=yes", "SystemCallArchitectures=native", "SystemCallErrorNumber=ENOSYS", "MemoryMax=1048576",
		"MemorySwapMax=0", "CPUQuota=150%", "RuntimeMaxSec=1500ms", "TasksMax=9", "LimitNOFILE=5", "User=7", "Group=8", "TemporaryFileSystem=/:ro", "BindPaths=/srv/data:/data",
		"InaccessiblePaths=-/data/.env", "InaccessiblePaths=-/data/private", "BindReadOnlyPaths=/srv/data/kept:/data/kept", "BindReadOnlyPaths=/usr/lib/x:/lib/x",
		"TemporaryFileSystem=/tmp:mode=1777,size=4096", `ExecStart=:"/usr/bin/true" "a b"`} {
		if !slices.Contains(strings.Split(unit, "\n"), line) {
			t.Errorf("no line %s in\n%s", line, unit)
		}
	}
	var calls []string
	for line := range strings.Lines(unit) {
		if list, ok := strings.CutPrefix(line, "SystemCallFilter="); ok {
			calls = append(calls, strings.Fields(list)...)
		}
	}
	if !slices.Contains(calls, "execve") {
		t.Errorf("the calls are %q", calls)
	}
	for _, call := range []string{"connect", "mount", "ptrace", "io_uring_setup", "clone3", "bpf"} {
		if slices.Contains(calls, call) {
			t.Errorf("the service may call %s", call)
		}
	}
}

// TestSystemdNet: addresses are opened where a line names them and no deny line takes from them; the rest stays shut.
func TestSystemdNet(t *testing.T) {
	files, _ := made(t, Systemd, request(t, "[net]\n\"10.0.0.0/8:5432\" = \"connect\"\n\"10.1.0.0/16:1\" = \"deny\"\n\"192.0.2.7:1-9\" = \"connect\"\n\"127.0.0.1:80,90-95\" = \"listen\"\n"))
	var got []string
	for line := range strings.Lines(files["app-1.service"]) {
		if strings.HasPrefix(line, "IPAddress") || strings.HasPrefix(line, "SocketBind") || strings.HasPrefix(line, "PrivateNetwork") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{"IPAddressDeny=any", "IPAddressAllow=192.0.2.7/32", "IPAddressAllow=localhost", "SocketBindDeny=any", "SocketBindAllow=tcp:80", "SocketBindAllow=tcp:90-95"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// TestPodNet: a denied network is taken out of every line it meets, and a denied port takes the line.
func TestPodNet(t *testing.T) {
	for text, want := range map[string]string{
		`"10.0.0.0/8:5" = "connect"` + "\n" + `"10.1.0.0/16:*" = "deny"`:       `- "10.1.0.0/16"`,
		`"10.0.0.0/8:5" = "connect"` + "\n" + `"udp://10.1.0.0/16:5" = "deny"`: `cidr: "10.0.0.0/8"`,
		`"10.0.0.0/8:5" = "connect"` + "\n" + `"*:1-9" = "deny"`:               "egress: []",
		`"10.1.0.0/16:5" = "connect"` + "\n" + `"10.0.0.0/8:5" = "deny"`:       "egress: []",
		`"h.example:5" = "connect"`:                                            "egress: []",
	} {
		files, _ := made(t, Kubernetes, request(t, "[net]\n"+text+"\n"))
		if !strings.Contains(files["pod.yaml"], want) {
			t.Errorf("%s: no %s in\n%s", text, want, files["pod.yaml"])
		}
	}
}

// TestOCINamesMustBeText: a name that JSON would change is refused, not changed.
func TestOCINamesMustBeText(t *testing.T) {
	for _, to := range []Target{OCI, Kubernetes, Systemd} {
		r := request(t, "")
		r.Plan.Spec.Ops = append(r.Plan.Spec.Ops, namespaces.Op{Kind: namespaces.OpBind, Source: "/a\xff", Target: "/a\xff", ReadOnly: true})
		r.Plan.Places = []*plan.Place{{Path: "/a\xff", Rights: plan.Read, Origins: []policy.Origin{{File: "p", Line: 1}}}}
		if _, err := Make(to, r); err == nil || !strings.Contains(err.Error(), `"/a\xff"`) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestSameInputSameBytes: an export made twice is the same.
func TestSameInputSameBytes(t *testing.T) {
	for _, to := range Targets() {
		a, err := Make(to, request(t, envText, "TOKEN=x", "SET_A=y", "SET_B=z"))
		b, err2 := Make(to, request(t, envText, "TOKEN=x", "SET_A=y", "SET_B=z"))
		if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two exports differ (%v, %v)", to, err, err2)
		}
		for _, f := range a.Files {
			if path.IsAbs(f.Name) || path.Clean(f.Name) != f.Name || strings.HasPrefix(f.Name, "..") {
				t.Errorf("%s: a file named %q", to, f.Name)
			}
		}
	}
}

// TestBwrapCountsItsWords: more than bubblewrap takes is refused.
func TestBwrapCountsItsWords(t *testing.T) {
	r := request(t, "")
	for i := range 5000 {
		r.Plan.Spec.Ops = append(r.Plan.Spec.Ops, namespaces.Op{Kind: namespaces.OpBind, Source: "/x", Target: "/x" + strings.Repeat("x", i%50), ReadOnly: true})
	}
	if _, err := Make(Bwrap, r); err == nil || !strings.Contains(err.Error(), "bubblewrap takes 9000 arguments") {
		t.Errorf("%v", err)
	}
}
