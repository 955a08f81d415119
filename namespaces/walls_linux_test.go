package namespaces

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const privileges = "grep -E '^(Cap...|NoNewPrivs|Groups|Uid|Gid):' /proc/self/status"

func bare(id string) string {
	ids := id + "\t" + id + "\t" + id + "\t" + id + "\n"
	return "Uid:\t" + ids + "Gid:\t" + ids
}

const noCaps = "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n"

func TestCapabilitiesGone(t *testing.T) {
	needBox(t)
	out, _, err := run(t, shellBox(privileges))
	groups := ""
	if os.Geteuid() != 0 { // the user's own groups, without names inside
		held, err := os.Getgroups()
		if err != nil {
			t.Fatal(err)
		}
		groups = strings.Repeat("65534 ", len(held))
	}
	if want := bare("1000") + "Groups:\t" + groups; err != nil || strings.TrimRight(out[:max(0, len(out)-len(noCaps))], " \n") != strings.TrimRight(want, " \n") || !strings.HasSuffix(out, noCaps) {
		t.Errorf("%v, output\n%s\nwant\n%s and\n%s", err, out, want, noCaps)
	}
}

// Root where user namespaces are switched off: the same without one.
func TestWithoutUserNamespace(t *testing.T) {
	needRoot(t)
	s := shellBox(privileges + "; id -u; echo $$")
	s.Unshare.User, s.LateUser, s.UID, s.GID = false, false, s.HostUID, s.HostGID
	out, _, err := run(t, s)
	if err != nil || !strings.HasPrefix(out, bare("65533")) || !strings.HasSuffix(out, noCaps+"65533\n2\n") {
		t.Errorf("%v, output\n%s", err, out)
	}
	s = lite(shellBox(privileges))
	if out, _, err = run(t, s); err != nil || !strings.HasPrefix(out, bare("65533")) || !strings.HasSuffix(out, noCaps) {
		t.Errorf("lite: %v, output\n%s", err, out)
	}
}

func TestIDMaps(t *testing.T) {
	needBox(t)
	s := shellBox("cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups; stat -c %u /usr")
	s.UID, s.GID = 4, 5
	out, _, err := run(t, s)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("4 %d 1 5 %d 1 deny 65534", s.HostUID, s.HostGID)
	if got := strings.Join(strings.Fields(out), " "); got != want {
		t.Errorf("maps %q, want %q", got, want)
	}
	if os.Geteuid() != 0 { // nobody's ids but one's own
		s.HostUID = 0
		refused(t, s, "namespaces", syscall.EPERM, "uid_map")
	}
}

func TestRlimits(t *testing.T) {
	needBox(t)
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	s := shellBox("ulimit -n; ulimit -f; ulimit -Hc")
	s.Rlimits = []Rlimit{{unix.RLIMIT_NOFILE, 37}, {unix.RLIMIT_FSIZE, 4096}, {unix.RLIMIT_CORE, 1}}
	want(t, s, "37\n8\n0\n", 0)
	s = shellBox("ulimit -Hn") // a limit of the caller's is never raised
	s.Rlimits = []Rlimit{{unix.RLIMIT_NOFILE, now.Max + 5}}
	want(t, s, fmt.Sprintln(now.Max), 0)
}

func TestLandlockRules(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/data", "data\n", 0o644)
	config := landlock.Config{HandledAccessFS: 1<<13 - 1}
	const read, exec, list, make = 1 << 2, 1, 1 << 3, 1 << 8
	fd, _, err := config.NewRulesetFD(landlock.PathAccess(read|exec|list, "/usr"))
	if err != nil {
		need(t, "landlock", err)
	}
	defer unix.Close(fd)
	spec := func(rules ...LandlockRule) *Spec {
		s := with(shellBox("cat /d/data; echo x >/tmp/x; cat /tmp/x; rm /tmp/x"), Op{Kind: OpBind, Source: dir, Target: "/d", ReadOnly: true})
		s.Landlock = &Landlock{FD: fd, Rules: rules}
		return s
	}
	// Both run on one ruleset: rules only add, so the narrower run comes first.
	out, exit, err := run(t, spec(LandlockRule{"/dev/null", 1 << 1}, LandlockRule{"/proc", read | list}))
	if err != nil || exit.Status.ExitStatus() == 0 || strings.Count(out, "Permission denied") != 2 {
		t.Errorf("nothing granted: %v %v %q", exit.Status, err, out)
	}
	out, _, err = run(t, spec(LandlockRule{"/tmp", read | 1<<1 | make}))
	if err != nil || !strings.Contains(out, "cat: /d/data: Permission denied") || !strings.Contains(out, "\nx\n") || !strings.Contains(out, "rm: cannot remove '/tmp/x': Permission denied") {
		t.Errorf("/tmp granted: %v %q", err, out)
	}
	refused(t, spec(LandlockRule{"/none", read}), "landlock", syscall.ENOENT, "/none")
	refused(t, spec(LandlockRule{"/lib/x", read}), "landlock", syscall.ELOOP, "/lib/x") // a link could lead the grant elsewhere
	refused(t, spec(LandlockRule{"/dev/null", list}), "landlock", syscall.EINVAL, "add rule on /dev/null")
}

// mkdirFilter answers mkdirat(2) with an action and allows the rest.
func mkdirFilter(t *testing.T, action uint32) []byte {
	t.Helper()
	raw, err := bpf.Assemble([]bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(unix.SYS_MKDIRAT), SkipFalse: 1},
		bpf.RetConstant{Val: action}, bpf.RetConstant{Val: 0x7fff0000}})
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, in := range raw {
		b = append(b, byte(in.Op), byte(in.Op>>8), in.Jt, in.Jf, byte(in.K), byte(in.K>>8), byte(in.K>>16), byte(in.K>>24))
	}
	return b
}

func TestFilter(t *testing.T) {
	needBox(t)
	want(t, selfBox(t, "mkdir"), "<nil>\n", 0)
	s := selfBox(t, "mkdir")
	s.Filter = mkdirFilter(t, 0x00050000|uint32(unix.EXDEV))
	s.Reaper = mkdirFilter(t, 0x80000000) // the reaper makes no folders
	want(t, s, unix.EXDEV.Error()+"\n", 0)
	s.Filter = mkdirFilter(t, 0x80000000)
	_, exit, err := run(t, s)
	if err != nil || exit.Status.Signal() != syscall.SIGSYS {
		t.Errorf("%v %v, want SIGSYS", exit.Status, err)
	}
}

func TestListener(t *testing.T) {
	needBox(t)
	for _, s := range []*Spec{selfBox(t, "mkdir"), lite(selfBox(t, "mkdir"))} {
		if s.Subreaper {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if s.Exec = self; os.Geteuid() == 0 {
				continue // its folder is root's alone
			}
		}
		s.Filter, s.Listener = mkdirFilter(t, 0x7fc00000), true
		answered := make(chan error, 1)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		box, err := Start(s, [3]*os.File{nil, w, w})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.Ready(); err != nil {
			t.Fatal(err)
		}
		if err := box.Release(); err != nil {
			t.Fatal(err)
		}
		listener, err := box.Listener()
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Started(); err != nil {
			t.Fatal(err)
		}
		go func() { answered <- answerOne(int(listener.Fd()), unix.EXDEV) }()
		var out [64]byte
		n, _ := r.Read(out[:])
		if got := string(out[:n]); got != unix.EXDEV.Error()+"\n" {
			t.Errorf("the program saw %q", got)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
		if exit, err := box.Wait(); err != nil || exit.Status != 0 {
			t.Errorf("%v %v", exit.Status, err)
		}
		listener.Close()
		r.Close()
	}
}

// A filter with a listener that psb does not take ends the box before the program starts.
func TestListenerNotTaken(t *testing.T) {
	needBox(t)
	s := selfBox(t, "mkdir")
	s.Filter, s.Listener = mkdirFilter(t, 0x7fc00000), true
	box, err := Start(s, [3]*os.File{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := box.Release(); err != nil {
		t.Fatal(err)
	}
	box.Kill()
	var stage *StageError
	if _, err := box.Wait(); !errors.As(err, &stage) || stage.Stage != "box" {
		t.Errorf("%v, want a box ended from outside", err)
	}
}

// The held program can be seized by a tracer in psb, also one without privileges.
func TestSeize(t *testing.T) {
	needBox(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := shellBox("exit 4")
	s.Hold = true
	out, exit, err := run(t, s, func(b *Box) {
		if err := unix.PtraceSeize(b.Program()); err != nil {
			need(t, "ptrace", err)
		}
		if err := unix.PtraceInterrupt(b.Program()); err != nil {
			t.Fatal(err)
		}
		var ws unix.WaitStatus
		if _, err := unix.Wait4(b.Program(), &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
			t.Fatal(ws, err)
		}
		if err := unix.PtraceDetach(b.Program()); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil || exit.Status.ExitStatus() != 4 {
		t.Errorf("%v %v %q", exit.Status, err, out)
	}
}
