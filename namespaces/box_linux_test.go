package namespaces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary plays three parts: the tests, a psb that tests may kill (named by roleVar), and a program in a box (its argv[0]).
const (
	roleVar = "BOX_TEST_ROLE"
	inside  = "box-test-inside"
)

func TestMain(m *testing.M) {
	if os.Args[0] == inside {
		os.Exit(insideRole(os.Args[1]))
	}
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(outsideRole(role))
	}
	os.Exit(m.Run())
}

// need skips where the host lacks something, or fails when PSB_MUST names it.
func need(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), name) {
		t.Fatalf("PSB_MUST names %s: %v", name, err)
	}
	t.Skipf("no %s: %v", name, err)
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can do this")
	}
}

func needBox(t *testing.T) {
	t.Helper()
	if s := Probe(); !s.User {
		need(t, "userns", fmt.Errorf("%s", s.Reason))
	}
}

// baseBox is a box with the host's /usr and a folder /tmp of its own.
func baseBox(argv ...string) *Spec {
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	s := &Spec{Unshare: Set{User: true, Mount: true, PID: true, Net: true, IPC: true, UTS: true, Cgroup: true}, UID: 1000, GID: 1000,
		HostUID: uid, HostGID: gid, Loopback: true, Root: "/tmp", Exec: argv[0], Argv: argv, Env: []string{"PATH=/usr/bin"}, Dir: "/",
		Ops: []Op{{Kind: OpProc, Target: "/proc"}, {Kind: OpBind, Source: "/usr", Target: "/usr", Recursive: true, ReadOnly: true},
			{Kind: OpSymlink, Source: "usr/lib", Target: "/lib"}, {Kind: OpSymlink, Source: "usr/lib64", Target: "/lib64"},
			{Kind: OpTmpfs, Target: "/tmp", Mode: 0o1777}, {Kind: OpBind, Source: "/dev/null", Target: "/dev/null", Dev: true}}}
	if uid == 0 {
		s.LateUser, s.HostUID, s.HostGID = true, 65533, 65533
	}
	return s
}

func shellBox(script string) *Spec {
	s := baseBox("/usr/bin/sh", "-c", script)
	s.Argv[0] = "sh"
	return s
}

// selfBox runs a role of this binary in a box.
func selfBox(t *testing.T, role ...string) *Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := baseBox("/self")
	s.Argv = append([]string{inside}, role...)
	s.Ops = append(s.Ops, Op{Kind: OpBind, Source: self, Target: "/self", ReadOnly: true})
	return s
}

// lite is a spec without any namespace.
func lite(s *Spec) *Spec {
	s.Unshare, s.LateUser, s.Loopback, s.Ops, s.Subreaper = Set{}, false, false, nil, true
	s.UID, s.GID = s.HostUID, s.HostGID
	return s
}

func hostDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755) // the test's folders only; others' refuse
	}
	return dir
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// started gives a box whose program runs, without standard streams.
func started(t *testing.T, spec *Spec) *Box {
	t.Helper()
	box, err := Start(spec, [3]*os.File{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	return box
}

// run starts a box to its end and gives what it printed: until nobody holds its output any more.
func run(t *testing.T, spec *Spec, held ...func(*Box)) (string, Exit, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	box, err := Start(spec, [3]*os.File{in, w, w})
	w.Close()
	if err != nil {
		r.Close()
		return "", Exit{}, err
	}
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() { io.Copy(&out, r); close(copied) }()
	if _, err = box.Ready(); err == nil {
		for _, f := range held {
			f(box)
		}
		if err = box.Release(); err == nil {
			err = box.Started()
		}
	}
	exit, ended := box.Wait()
	<-copied
	r.Close()
	if err == nil {
		err = ended
	}
	return out.String(), exit, err
}

// want runs a box and checks what it printed and how it ended.
func want(t *testing.T, spec *Spec, output string, status int) {
	t.Helper()
	out, exit, err := run(t, spec)
	if err != nil || !exit.Status.Exited() || exit.Status.ExitStatus() != status || out != output {
		t.Fatalf("status %#x, error %v, output\n%q, want status %d and output\n%q", int(exit.Status), err, out, status, output)
	}
}

// refused runs a box that has to fail in a stage.
func refused(t *testing.T, spec *Spec, stage string, errno syscall.Errno, words string) {
	t.Helper()
	out, _, err := run(t, spec)
	se, ok := err.(*StageError)
	if !ok || se.Stage != stage || se.Errno != errno || !strings.Contains(se.Cause, words) {
		t.Fatalf("error %v (output %q), want stage %s, %v, with %q", err, out, stage, errno, words)
	}
}

func TestExitStatus(t *testing.T) {
	needBox(t)
	want(t, shellBox("echo hi; id -u; id -g; exit 7"), "hi\n1000\n1000\n", 7)
	_, exit, err := run(t, shellBox("kill -SEGV $$"))
	if err != nil || exit.Status.Signal() != syscall.SIGSEGV {
		t.Errorf("exit %v, %v, want SIGSEGV", exit.Status, err)
	}
	_, exit, err = run(t, shellBox("exec 2>/dev/null; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))
	if err != nil || exit.User+exit.System <= 0 || exit.MaxRSS < 100_000 {
		t.Errorf("exit %+v, %v, want some time and memory", exit, err)
	}
}

func TestExecErrors(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/plain", "data", 0o644)
	write(t, dir+"/script", "#!/usr/bin/sh\nexit 0\n", 0o755)
	for _, row := range []struct {
		exec   string
		noexec bool
		errno  syscall.Errno
	}{{"/usr/bin/no-such", false, syscall.ENOENT}, {"/d/plain", false, syscall.EACCES}, {"/d", false, syscall.EACCES}, {"/d/script", true, syscall.EACCES}} {
		s := baseBox(row.exec)
		s.Ops = append(s.Ops, Op{Kind: OpBind, Source: dir, Target: "/d", ReadOnly: true, NoExec: row.noexec})
		refused(t, s, "exec", row.errno, row.exec)
	}
	s := baseBox("/d/script")
	s.Ops = append(s.Ops, Op{Kind: OpBind, Source: dir, Target: "/d", ReadOnly: true})
	want(t, s, "", 0)
	s = shellBox("")
	for range 100 {
		s.Argv = append(s.Argv, strings.Repeat("x", 100_000))
	}
	refused(t, s, "exec", syscall.E2BIG, "sh")
}

func TestHugeArguments(t *testing.T) {
	needBox(t)
	s := shellBox(`echo ${#A} ${#1} $#`)
	s.Env = append(s.Env, "A="+strings.Repeat("a", 120_000))
	s.Argv = append(s.Argv, "name", strings.Repeat("b", 120_000), "\xff\n", "")
	for range 5000 {
		s.Argv = append(s.Argv, "c")
	}
	want(t, s, "120000 120000 5003\n", 0)
}

func TestStageErrors(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/f", "", 0o644)
	act := func(o Op) *Spec { s := shellBox(""); s.Ops = append(s.Ops, o); return s }
	refused(t, act(Op{Kind: OpBind, Source: dir + "/none", Target: "/x"}), "mounts", syscall.ENOENT, dir+"/none")
	refused(t, act(Op{Kind: OpBind, Source: dir + "/none\x1b[2J\n", Target: "/x"}), "mounts", syscall.ENOENT, `none\x1b[2J\n`)
	refused(t, act(Op{Kind: OpFile, Target: "/proc/x"}), "mounts", syscall.ENOENT, "nothing is made in folders of the host")
	refused(t, act(Op{Kind: OpDir, Target: "/lib/x"}), "mounts", syscall.ELOOP, "open folder /lib")
	refused(t, act(Op{Kind: OpTmpfs, Target: "/lib"}), "mounts", syscall.ELOOP, "/lib")
	refused(t, act(Op{Kind: OpReadOnly, Target: "/tmp/none"}), "mounts", syscall.ENOENT, "/tmp/none")
	refused(t, act(Op{Kind: OpReadOnly, Target: "/usr/bin"}), "mounts", syscall.EINVAL, "/usr/bin")
	refused(t, act(Op{Kind: OpFile, Target: "/" + strings.Repeat("n", 256)}), "mounts", syscall.ENAMETOOLONG, "create")
	refused(t, act(Op{Kind: OpDir, Target: strings.Repeat("/a", 2100) + "/b"}), "mounts", syscall.ENAMETOOLONG, "/a/a")
	s := shellBox("")
	s.Dir = "/none"
	refused(t, s, "mounts", syscall.ENOENT, "working folder /none")
	s = shellBox("")
	s.Rlimits = []Rlimit{{Resource: 99, Value: 1}}
	refused(t, s, "rlimits", syscall.EINVAL, "99")
	s = shellBox("")
	s.CgroupProcs = []string{dir + "/none/cgroup.procs"}
	refused(t, s, "cgroup", syscall.ENOENT, dir)
	s = shellBox("")
	s.Filter = []byte{6, 0, 0, 0, 0, 0, 0} // not whole
	if _, _, err := run(t, s); err == nil || !strings.Contains(err.Error(), "encode: a filter of 7 bytes") {
		t.Errorf("error %v, want encode", err)
	}
	s.Filter = make([]byte, 8) // BPF_LD|BPF_IMM: no return at its end
	refused(t, s, "seccomp", syscall.EINVAL, "install the filter")
	s = shellBox("")
	s.Reaper = make([]byte, 8)
	if _, _, err := run(t, s); err == nil || err.Error() != "seccomp: install the reaper's filter: invalid argument" {
		t.Errorf("error %v, want the reaper's filter", err)
	}
}

// every descriptor the caller left open, also without close-on-exec, stays outside.
func TestOnlyStdio(t *testing.T) {
	needBox(t)
	for _, at := range []int{3, 6, 9, 100} {
		if _, err := unix.FcntlInt(uintptr(at), unix.F_GETFD, 0); err == nil {
			continue // in use by the test itself
		}
		if err := unix.Dup3(1, at, 0); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(at)
	}
	control, err := exec.Command("/usr/bin/ls", "/proc/self/fd").Output()
	if err != nil || !strings.Contains(string(control), "\n100\n") {
		t.Fatalf("without a box: %q, %v, want the leaked 100", control, err)
	}
	want(t, baseBox("/usr/bin/ls", "/proc/self/fd"), "0\n1\n2\n3\n", 0) // 3 is the folder ls reads
	want(t, lite(baseBox("/usr/bin/ls", "/proc/self/fd")), "0\n1\n2\n3\n", 0)
}

func TestStdioRefused(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	folder, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	sock := os.NewFile(uintptr(fd), "socket")
	defer sock.Close()
	if _, err := Start(shellBox(""), [3]*os.File{folder, null, null}); err == nil || err.Error() != "descriptor 0: it is a folder" {
		t.Errorf("folder: %v", err)
	}
	if _, err := Start(shellBox(""), [3]*os.File{null, null, sock}); err == nil || !strings.Contains(err.Error(), "descriptor 2: it is a socket that is not connected") {
		t.Errorf("socket: %v", err)
	}
}

// The whole suite again without privileges.
func TestAsOrdinaryUser(t *testing.T) {
	needRoot(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "boxtest")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/test", self, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(dir+"/test", args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61234, Gid: 61234, Groups: []uint32{61235, 61236}}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
