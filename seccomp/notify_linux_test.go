// What it does to the process: supervises programs that wear the filter; maps and unmaps a page of its own.
// Undone: the programs end, the pages are unmapped.
// Preconditions: seccomp, python3; root for the run as an ordinary user.
// Called by: go test.
// Proven by: itself.

package seccomp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A connect is read (address, process), judged, and answered in both ways; texts are copied once.
func TestNotifyRoundTrip(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	code := `
import socket, threading, os, ctypes
def to(f, a):
    s = socket.socket(f)
    try: s.connect(a); print("in", flush=True)
    except OSError as e: print(e.errno, flush=True)
s = socket.create_server(("127.0.0.1", 0)); port = s.getsockname()[1]
to(socket.AF_INET, ("127.0.0.1", port))
to(socket.AF_INET, ("192.0.2.1", 81))
to(socket.AF_INET6, ("2001:db8::1", 82))
to(socket.AF_UNIX, "/nowhere/sock"); to(socket.AF_UNIX, "\0psb test")
x = threading.Thread(target=to, args=(socket.AF_INET, ("192.0.2.2", 83))); x.start(); x.join()
os.write(1, b"")
ctypes.CDLL(None).syscall(WRITE, -0x505342, b'{"env":"HOME"}\0', 15)
`
	native, _ := Native()
	wr, _ := Number(native, "write")
	code = strings.ReplaceAll(code, "WRITE", fmt.Sprint(wr))
	var out, errs bytes.Buffer
	cmd := &exec.Cmd{Args: []string{pythons()[0], "-I", "-c", code}, Stdout: &out, Stderr: &errs}
	l := startUnder(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	var seen []string
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := Supervise(ctx, l, func(r *Request) Answer {
		pid, err := r.TGID()
		if err != nil || pid != cmd.Process.Pid || !r.Valid() {
			t.Errorf("%s: process %d (%v), want %d", r.Name, pid, err, cmd.Process.Pid)
		}
		switch r.Name {
		case "write":
			note, err := r.Bytes(r.Args[1], int(r.Args[2]))
			text, err2 := r.Text(r.Args[1], 4096)
			again, err3 := r.Bytes(r.Args[1], int(r.Args[2]))
			if err != nil || err2 != nil || err3 != nil || &again[0] != &note[0] {
				t.Errorf("note: %v %v %v, one copy %v", err, err2, err3, &again[0] == &note[0])
			}
			seen = append(seen, "note "+text)
			return Answer{Errno: EBADF}
		case "connect":
			a, err := r.Sockaddr(r.Args[1], r.Args[2])
			if err != nil {
				t.Errorf("address: %v", err)
			}
			if a.Addr.Addr().IsLoopback() {
				seen = append(seen, "connect loopback")
				return Answer{Continue: true}
			}
			thread := ""
			if r.TID != pid {
				thread = " in a thread"
			}
			seen = append(seen, "connect "+a.String()+thread)
			if a.Family == FamilyInet6 {
				return Answer{} // the zero answer
			}
			return Answer{Errno: ECONNREFUSED}
		}
		t.Errorf("unexpected %s", r.Name)
		return Answer{}
	})
	if err != nil {
		t.Errorf("supervisor: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, errs.String())
	}
	want := []string{"connect loopback", "connect 192.0.2.1:81", "connect [2001:db8::1]:82", "connect unix:/nowhere/sock", "connect unix:@psb test",
		"connect 192.0.2.2:83 in a thread", `note {"env":"HOME"}`}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("saw\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
	if got, want := out.String(), "in\n111\n1\n111\n111\n111\n"; got != want {
		t.Errorf("the program saw %q, want %q", got, want)
	}
}

// An answer may come later, from elsewhere, while other calls go on: the first connect is answered after the second, with a success that
// the supervisor vouches for.
func TestNotifyLater(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	const code = `
import socket, threading
def to(port):
    s = socket.socket()
    print(port, s.connect_ex(("192.0.2.1", port)), flush=True)
first = threading.Thread(target=to, args=(1,)); first.start()
second = threading.Thread(target=to, args=(2,)); second.start()
second.join(); first.join()
`
	var out, errs bytes.Buffer
	cmd := &exec.Cmd{Args: []string{pythons()[0], "-I", "-c", code}, Stdout: &out, Stderr: &errs}
	l := startUnder(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	second := make(chan struct{})
	answered := make(chan error, 1)
	err := Supervise(ctx, l, func(r *Request) Answer {
		a, err := r.Sockaddr(r.Args[1], r.Args[2])
		if err != nil {
			t.Errorf("address: %v", err)
		}
		if a.Addr.Port() == 2 {
			defer close(second)
			return Answer{Errno: EACCES}
		}
		go func() {
			<-second
			answered <- errors.Join(r.Answer(Answer{Done: true}), errors.Unwrap(r.Answer(Answer{})))
		}()
		return Answer{Later: true}
	})
	if err != nil {
		t.Errorf("supervisor: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, errs.String())
	}
	if err := <-answered; err != nil {
		t.Errorf("the late answer: %v", err)
	}
	lines := strings.Fields(out.String())
	if got := strings.Join(lines, " "); got != "2 13 1 0" && got != "1 0 2 13" {
		t.Errorf("the program saw %q", got)
	}
}

// The same as an ordinary user, supervisor and program both.
func TestNotifyAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("already one")
	}
	must(t, "seccomp")
	dir, err := os.MkdirTemp("", "psb-seccomp-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "seccomp.test")
	if err := os.WriteFile(copied, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.v", "-test.run=^(TestNotifyRoundTrip|TestKernelRefusals|TestProbe)$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME=/", "PSB_MUST=seccomp,python3", "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") || !strings.Contains(string(out), "--- PASS: TestNotifyRoundTrip") {
		t.Errorf("%v\n%s", err, out)
	}
}

// asleep starts a program that waits in one connect, and gives that request.
func asleep(t *testing.T) (*exec.Cmd, *Listener, *Request, *bytes.Buffer) {
	t.Helper()
	must(t, "python3")
	code := `
import socket
try: socket.socket().connect(("192.0.2.1", 9))
except OSError as e: print(e.errno)`
	var out bytes.Buffer
	cmd := &exec.Cmd{Args: []string{pythons()[0], "-I", "-S", "-c", code}, Stdout: &out}
	l := startUnder(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	r, err := l.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "connect" || !r.Valid() {
		t.Fatalf("first request is %s, valid %v", r.Name, r.Valid())
	}
	return cmd, l, r, &out
}

// A killed program's request is no longer valid, cannot be answered, its memory is not believed; then the listener ends.
func TestNotifyKilled(t *testing.T) {
	cmd, l, r, _ := asleep(t)
	defer l.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if r.Valid() {
		t.Error("still valid")
	}
	if _, err := r.Sockaddr(r.Args[1], r.Args[2]); err == nil {
		t.Error("read the memory of a dead process")
	}
	if err := l.Respond(r.ID, Answer{Continue: true}); !errors.Is(err, ErrGone) {
		t.Errorf("respond: %v, want ErrGone", err)
	}
	if _, err := l.Receive(); err != io.EOF {
		t.Errorf("receive: %v, want EOF", err)
	}
}

// When the supervisor ends, a waiting call fails; it is never run.
func TestNotifyEnds(t *testing.T) {
	cmd, l, _, out := asleep(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Supervise(ctx, l, func(*Request) Answer { return Answer{Continue: true} }); !errors.Is(err, context.Canceled) {
		t.Errorf("supervise: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != "38\n" {
		t.Errorf("the program saw %q, want ENOSYS", got)
	}
}

// Cancelling ends a supervisor that waits for a call that never comes.
func TestSuperviseCancel(t *testing.T) {
	must(t, "seccomp")
	cmd := &exec.Cmd{Args: []string{"/bin/cat"}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	l := startUnder(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Supervise(ctx, l, func(*Request) Answer { return Answer{} }) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("supervise: %v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestNewListenerRefuses(t *testing.T) {
	must(t, "seccomp")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fd, err := unix.FcntlInt(r.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewListener(fd); err == nil || !strings.Contains(err.Error(), "not a listener") {
		t.Errorf("a pipe as listener: %v", err)
	}
}

// Reading stops at a page's end only when the next page is not there.
func TestMemory(t *testing.T) {
	page := os.Getpagesize()
	two, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(two)
	if err := unix.Mprotect(two[2*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	base := addrOf(two)
	copy(two[page-3:], "across\x00")
	copy(two[2*page-4:], "end\x00")
	at := func(off int) uint64 { return base + uint64(off) }
	for _, c := range []struct {
		addr uint64
		n    int
		text bool
		want string
		err  error
	}{
		{at(page - 3), 4096, true, "across", nil},
		{at(page - 3), 6, true, "", unix.ENAMETOOLONG},
		{at(page - 3), 6, false, "across", nil},
		{at(2*page - 4), 4096, true, "end", nil},
		{at(2*page - 4), 4, false, "end\x00", nil},
		{at(2*page - 4), 5, false, "", unix.EFAULT},
		{at(2 * page), 1, false, "", unix.EFAULT},
		{0, 8, true, "", unix.EFAULT},
		{0, 0, false, "", nil},
		{^uint64(0) - 2, 8, true, "", unix.EFAULT},
	} {
		got, err := readMemory(os.Getpid(), c.addr, c.n, c.text)
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%#x %d text=%v: %q, %v; want %q, %v", c.addr, c.n, c.text, got, err, c.want, c.err)
		}
	}
}

func TestProbe(t *testing.T) {
	s := Probe()
	if s.LibVersion == "" || (s.Err == nil) != s.Filter || s.Notify && s.ListenerTaken {
		t.Errorf("%+v contradicts itself", s)
	}
	must(t, "seccomp")
	for _, a := range []string{"kill_process", "errno", "user_notif", "trace", "allow"} {
		if !strings.Contains(strings.Join(s.Actions, " "), a) {
			t.Errorf("actions %v lack %s", s.Actions, a)
		}
	}
	// Often enough to meet the main thread; the probe must stay on a thread of its own.
	status := func() []byte {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := status()
	for range 50 {
		if again := Probe(); again.Filter != s.Filter || again.ListenerTaken != s.ListenerTaken {
			t.Fatalf("%+v, then %+v", s, again)
		}
	}
	after := status()
	for _, key := range []string{"Seccomp:", "Seccomp_filters:", "NoNewPrivs:"} {
		if line(before, key) != line(after, key) {
			t.Errorf("before %q, after %q", line(before, key), line(after, key))
		}
	}
}

func line(b []byte, key string) string {
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, key) {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

// Under somebody's listener the probe says so.
func TestProbeListenerTaken(t *testing.T) {
	if os.Getenv("PSB_SECCOMP_TAKEN") != "" {
		s := Probe()
		fmt.Printf("filter=%v notify=%v taken=%v\n", s.Filter, s.Notify, s.ListenerTaken)
		os.Exit(0)
	}
	must(t, "seccomp")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PSB_SECCOMP_TAKEN", "1")
	var out bytes.Buffer
	cmd := &exec.Cmd{Args: []string{self, "-test.run=^TestProbeListenerTaken$"}, Stdout: &out, Stderr: &out}
	// Kernel and filter agree on the answer to a second listener, EBUSY.
	refused, err := denials(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	if want := "filter=true notify=false taken=true\n"; err != nil || out.String() != want || len(refused) != 0 {
		t.Errorf("%v, %q, want %q; refused %q", err, out.String(), want, refused)
	}
}

func TestStatusTgid(t *testing.T) {
	if got, err := statusTgid([]byte("Name:\ta\\nTgid:\t1\nUmask:\t0022\nTgid:\t42\nPid:\t43\n")); got != 42 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := statusTgid([]byte("Name:\tx\n")); err == nil {
		t.Error("no error without a Tgid")
	}
}

// One refused call through the supervisor, Python's own cost included.
func BenchmarkNotify(b *testing.B) {
	if s := Probe(); !s.Notify || len(pythons()) == 0 {
		b.Skip("needs notify and python3")
	}
	code := fmt.Sprintf("import os\nfor i in range(%d):\n try: os.write(-0x505342, b'x')\n except OSError: pass", b.N)
	cmd := &exec.Cmd{Args: []string{pythons()[0], "-I", "-S", "-c", code}}
	l := startUnder(b, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	b.ResetTimer()
	if err := Supervise(context.Background(), l, func(*Request) Answer { return Answer{Errno: EBADF} }); err != nil {
		b.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Error(err)
	}
}
