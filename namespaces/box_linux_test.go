package namespaces

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// a box with the host's /usr and what a shell needs.
func shellBox(script string) *Spec {
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	return &Spec{Unshare: Set{User: true, Mount: true, PID: true, Net: true, IPC: true, UTS: true, Cgroup: true}, LateUser: uid == 0, UID: 1000, GID: 1000,
		HostUID: uid, HostGID: gid, Loopback: true, Root: "/tmp", Exec: "/usr/bin/sh", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin"}, Dir: "/",
		Ops: []Op{{Kind: OpProc, Target: "/proc"}, {Kind: OpBind, Source: "/usr", Target: "/usr", Recursive: true, ReadOnly: true},
			{Kind: OpSymlink, Source: "usr/lib", Target: "/lib"}, {Kind: OpSymlink, Source: "usr/lib64", Target: "/lib64"},
			{Kind: OpTmpfs, Target: "/tmp", Mode: 0o1777}}}
}

// run starts a box to its end and gives what it printed.
func run(t *testing.T, spec *Spec) (string, Exit, error) {
	t.Helper()
	if spec.HostUID == 0 {
		spec.HostUID, spec.HostGID = 65533, 65533
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, _ := os.Open(os.DevNull)
	defer in.Close()
	box, err := Start(spec, [3]*os.File{in, w, w})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() { io.Copy(&out, r); close(copied) }()
	go func() {
		for range box.Jobs() {
		}
	}()
	if _, err = box.Ready(); err == nil {
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

func TestExitStatus(t *testing.T) {
	out, exit, err := run(t, shellBox("echo hi; id -u; ls /proc | grep -c '^[0-9]'; exit 7"))
	if err != nil || exit.Status.ExitStatus() != 7 {
		t.Fatalf("exit %v, %v; output %s", exit.Status, err, out)
	}
	if !strings.HasPrefix(out, "hi\n1000\n") {
		t.Errorf("output %q", out)
	}
	_, exit, err = run(t, shellBox("kill -SEGV $$"))
	if err != nil || exit.Status.Signal() != syscall.SIGSEGV {
		t.Errorf("exit %v, %v, want SIGSEGV", exit.Status, err)
	}
}

func TestExecErrors(t *testing.T) {
	s := shellBox("")
	s.Exec = "/usr/bin/no-such"
	_, _, err := run(t, s)
	se, ok := err.(*StageError)
	if !ok || se.Stage != "exec" || se.Errno != syscall.ENOENT {
		t.Fatalf("error %#v, want exec ENOENT", err)
	}
}

func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs the rest again as an ordinary user; needs root")
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "boxtest")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755)
	if err := os.WriteFile(dir+"/test", self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dir+"/test", "-test.v")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61234, Gid: 61234}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
