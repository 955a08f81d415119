package ptrace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"psb/learn"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var wantOpens = []string{
	"list /sub",
	"read /old",
	"write /old",
	"write /sub/fresh new",
	"write /sub/fresh",
	"write /excl new",
	"write /excl remove", "write /sub/moved new",
	"write /made newdir",
	"write /sub/below newdir",
	"write /made remdir",
	"write /gone remove",
	"write /brief new",
	"write /brief remove",
	"write /sub/soft new",
	"read /old", "write /sub/hard new",
	"write /old",
	"write /old meta",
	"create  unnamed",
	"read /absent  ENOENT",
	"list /sub  EISDIR",
	"write /sub newdir EEXIST",
	"write /old (deleted) new",
}

func openTree(t *testing.T, dir string) {
	t.Helper()
	write(t, dir+"/old", "x")
	write(t, dir+"/gone", "x")
	if err := errors.Join(os.Symlink("old", dir+"/link"), os.Mkdir(dir+"/sub", 0o755)); err != nil {
		t.Fatal(err)
	}
}

func TestOpens(t *testing.T) {
	dir := tempDir(t)
	openTree(t, dir)
	r := &run{t: t}
	r.trace(compile(t, "opens"), dir)
	r.ok()
	r.closed()
	if strings.Contains(r.stderr.String(), "tmpfile") {
		t.Skipf("no O_TMPFILE: %s", &r.stderr)
	}
	if got := r.lines(dir); !reflect.DeepEqual(got, wantOpens) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantOpens, "\n"))
	}
}

// The names are those inside the box, though the links of /proc are read from outside.
func TestNamesInsideARoot(t *testing.T) {
	root := tempDir(t)
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(root+"/new", 0o755), os.Mkdir(root+"/data", 0o777)); err != nil {
		t.Fatal(err)
	}
	openTree(t, root+"/data")
	prog := compile(t, "opens")
	if err := os.Rename(prog, root+"/data/prog"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/inside/old", root+"/data/absolute"); err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, root: root}
	r.trace("/inside/prog", "/inside")
	r.ok()
	r.has("", "exec /inside/prog")
	if got := r.lines("/inside"); !reflect.DeepEqual(got[1:], wantOpens) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got[1:], "\n"), strings.Join(wantOpens, "\n"))
	}
	if out := r.lines(root); len(out) > 0 {
		t.Errorf("names of outside: %q", out)
	}

	// A link with an absolute text is resolved inside, also where only the arguments tell the name.
	r = &run{t: t, root: root}
	r.trace("/bin/sh", "-c", "chmod 600 absolute; exec cat absolute")
	r.ok()
	r.has("/inside", "write /old meta", "read /old")
}

// Opens that are told at their entry, beside those whose outcome only the exit tells.
func TestPlainOpens(t *testing.T) {
	dir := tempDir(t)
	openTree(t, dir)
	private := write(t, dir+"/private", "x")
	fifo := dir + "/fifo"
	if err := errors.Join(os.Chmod(dir+"/old", 0o644), os.Chmod(private, 0o600), os.Chmod(dir+"/sub", 0o755), unix.Mkfifo(fifo, 0o644), os.Chmod(fifo, 0o644)); err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, target: Target{Readable: func(name string, _ bool) bool { return strings.HasPrefix(name, dir) }}}
	r.trace(python(t), "-I", "-S", "-c", `import os, sys
os.chdir(sys.argv[1])
def open(name, flags=0, **more):
    try:
        os.open(name, flags, **more)
    except OSError:
        pass
open("old")
open("link")
open("link", os.O_NOFOLLOW)
open("old", os.O_DIRECTORY)
open("absent")
open("private")
open("sub", os.O_DIRECTORY)
open("../old", dir_fd=os.open("sub", os.O_RDONLY))
open("fifo", os.O_NONBLOCK)
os.rename("old", "new"); os.rename("private", "old"); open("old")
`, dir)
	r.ok()
	r.closed()
	want := []string{"read /old", "read /old", "read /old  ELOOP", "read /old  ENOTDIR", "read /absent  ENOENT", "read /private", "list /sub", "list /sub", "read /old",
		"read /fifo", "write /old remove", "write /new new", "write /private remove", "write /old new", "read /old"}
	got := r.lines(dir)
	if at := slices.Index(got, "list "); at >= 0 {
		got = slices.Delete(got, at, at+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	asked := 0
	for _, e := range r.events {
		if a, ok := e.(learn.Accessed); ok && a.Asked == dir+"/link" && a.Access.Object == dir+"/old" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("%d accesses tell the link they went through, one does", asked)
	}
}

func TestExecInThread(t *testing.T) {
	dir := tempDir(t)
	file := write(t, dir+"/data", "hello")
	r := &run{t: t}
	r.trace(compile(t, "exec_in_thread"), file)
	r.ok()
	r.closed()
	r.has(dir, "read /data")
	if r.stdout.String() != "hello" {
		t.Errorf("output %q", &r.stdout)
	}
	last := learn.Executed{}
	for _, e := range r.events {
		if x, ok := e.(learn.Executed); ok {
			last = x
		}
	}
	if last.Old == last.TID || last.TID != r.program || !strings.HasSuffix(last.File, "/cat") {
		t.Errorf("last exec: %+v of program %d", last, r.program)
	}
	if r.result.Peak != 1 {
		t.Errorf("peak %d, want 1: threads are no processes", r.result.Peak)
	}
}

func TestVforkStorm(t *testing.T) {
	dir := tempDir(t)
	const n = 100
	var want []string
	for i := range n {
		write(t, fmt.Sprintf("%s/in%d", dir, i), "")
		want = append(want, fmt.Sprintf("read /in%d", i))
	}
	r := &run{t: t, target: Target{Pin: true}}
	r.trace(compile(t, "vfork_storm"), fmt.Sprint(n), dir)
	r.ok()
	r.closed()
	if got := r.lines(dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if r.result.Peak != 2 {
		t.Errorf("peak %d, want 2", r.result.Peak)
	}
}

func TestEmptyArgv(t *testing.T) {
	file := write(t, tempDir(t)+"/text", "")
	r := &run{t: t}
	r.trace(compile(t, "empty_argv"), file)
	r.ok()
	refused := "exec " + file + "  EACCES"
	r.has("", "exec /nowhere/true  ENOENT", refused)
	last := r.lines("")
	for i, l := range last {
		if l == refused {
			last = last[i+1:]
			break
		}
	}
	if len(last) == 0 || !strings.HasPrefix(last[0], "exec /") || !strings.HasSuffix(last[0], "/true") {
		t.Errorf("after the failed ones: %q", last)
	}
}

func TestUnreadableMemory(t *testing.T) {
	dir := tempDir(t)
	file := write(t, dir+"/data", "")
	r := &run{t: t}
	r.trace(compile(t, "bad_memory"), file)
	r.ok()
	r.has(dir, "read /data")
	for _, e := range r.events {
		if n, ok := e.(learn.Noted); ok && n.Text != "" {
			t.Errorf("a note out of nowhere: %q", n.Text)
		}
	}
}

func TestSignals(t *testing.T) {
	dir := tempDir(t)
	file := write(t, dir+"/data", "")
	r := &run{t: t}
	r.trace(compile(t, "signals"), file)
	if !r.status.Signaled() || r.status.Signal() != syscall.SIGTERM {
		t.Fatalf("wait status %#x, want SIGTERM\n%s", r.status, &r.stderr)
	}
	if got := len(r.lines(dir)); got != 500 {
		t.Errorf("%d opens, want 500", got)
	}
}

func TestOrphanedGrandchild(t *testing.T) {
	dir := tempDir(t)
	r := &run{t: t}
	r.trace(compile(t, "orphan"), dir+"/late")
	r.ok()
	r.closed()
	r.has(dir, "write /late new")
	if r.result.Peak < 2 {
		t.Errorf("peak %d", r.result.Peak)
	}
}

func TestGroupStop(t *testing.T) {
	dir := tempDir(t)
	file := write(t, dir+"/data", "")
	r := &run{t: t}
	r.trace(compile(t, "group_stop"), file)
	r.ok()
	r.has(dir, "read /data")
}

func TestSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := tempDir(t)
	r := &run{t: t}
	r.trace(compile(t, "sockets"), dir, fmt.Sprint(port))
	r.ok()
	at := fmt.Sprintf("127.0.0.1:%d", port)
	r.has("", "listen "+at, "connect "+at, "listen 127.0.0.1:0", "listen udp://"+at, "connect udp://"+at,
		"write "+dir+"/sock new", "listen unix:"+dir+"/sock", "connect unix:"+dir+"/sock",
		fmt.Sprintf("listen unix:@abstract%d", port))
}

func TestRefuse(t *testing.T) {
	r := &run{t: t, target: Target{Refuse: map[int]syscall.Errno{unix.SYS_PTRACE: syscall.EPERM}}}
	r.trace(compile(t, "foreign"))
	r.ok()
	var got []learn.Refused
	for _, e := range r.events {
		if f, ok := e.(learn.Refused); ok {
			f.TID = 0
			got = append(got, f)
		}
	}
	if want := []learn.Refused{{Name: "ptrace", Errno: "EPERM"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("refused %+v, want %+v", got, want)
	}
}

func TestPin(t *testing.T) {
	var before, after unix.CPUSet
	_ = unix.SchedGetaffinity(0, &before)
	r := &run{t: t, target: Target{Pin: true}}
	r.trace(python(t), "-I", "-c", "import os; print(len(os.sched_getaffinity(0)))")
	r.ok()
	if r.stdout.String() != "1\n" {
		t.Errorf("program may use %q processors", &r.stdout)
	}
	_ = unix.SchedGetaffinity(0, &after)
	if before != after {
		t.Error("the caller's affinity changed")
	}
}

// Ending the context ends a whole tree that ignores every polite signal.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := tempDir(t)
	r := &run{t: t, ctx: ctx}
	r.during = func(int) {
		for { // until the grandchild says that it is there
			if _, err := os.Stat(dir + "/there"); err == nil {
				cancel()
				return
			}
			if unix.Kill(r.program, 0) != nil {
				return
			}
			unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
	}
	r.trace("/bin/sh", "-c", "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; : > "+dir+"/there; while :; do sleep 1; done' &) ; while :; do sleep 1; done")
	if !errors.Is(r.err, context.Canceled) {
		t.Errorf("error %v", r.err)
	}
	if !r.status.Signaled() || r.status.Signal() != syscall.SIGKILL {
		t.Errorf("wait status %#x", r.status)
	}
	r.closed()
}

// A child that the tracing thread itself has started is neither taken nor waited for.
func TestOtherChildren(t *testing.T) {
	r := &run{t: t}
	var other *os.Process
	r.before = func() {
		var err error
		if other, err = os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{}); err != nil {
			t.Error(err)
		}
	}
	r.trace("/bin/sh", "-c", "/bin/true; /bin/sleep 0.05; /bin/true")
	r.ok()
	if state, err := other.Wait(); err != nil || !state.Success() {
		t.Errorf("the other child: %v, %v", state, err)
	}
}

func TestSeizeGone(t *testing.T) {
	_, err := Run(context.Background(), Target{PID: 1 << 30}, func() error { t.Error("released"); return nil }, func(learn.Event) {})
	if !errors.Is(err, unix.ESRCH) {
		t.Errorf("got %v", err)
	}
}

func TestDecodeAddress(t *testing.T) {
	for _, tt := range []struct {
		bytes, want string
		ok          bool
	}{
		{"", "", false},
		{"\x02", "", false},
		{"\x02\x00\x00\x50\x7f\x00\x00", "", false},
		{"\x02\x00\x00\x50\x7f\x00\x00\x01", "127.0.0.1:80", true},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + strings.Repeat("\x00", 15) + "\x01\x00\x00\x00\x00", "[::1]:443", true},
		{"\x0a\x00\x01\xbb", "", false},
		{"\x01\x00", "", false},
		{"\x01\x00/run/x\x00junk", "/run/x", true},
		{"\x01\x00\x00name", "@name", true},
		{"\x10\x00aaaaaaaaaa", "", false},
	} {
		a, ok := decodeAddress([]byte(tt.bytes))
		got := a.path
		if got == "" && ok {
			got = a.ip.String()
		}
		if ok != tt.ok || got != tt.want {
			t.Errorf("%q: %q, %v; want %q, %v", tt.bytes, got, ok, tt.want, tt.ok)
		}
	}
}
