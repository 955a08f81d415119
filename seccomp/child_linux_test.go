// What it does to the process: the re-executed test binary wears a filter and becomes another program.
// Undone: never; it is a process of its own.
// Preconditions: started by startUnder.
// Called by: the kernel tests of this package.
// Proven by: those tests.

package seccomp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const childVar = "PSB_SECCOMP_CHILD"

type childSpec struct {
	Options Options
	Argv    []string
}

func TestMain(m *testing.M) {
	if s := os.Getenv(childVar); s != "" {
		fmt.Fprintln(os.Stderr, "seccomp test child:", child(s))
		os.Exit(99)
	}
	os.Exit(m.Run())
}

// child wears the filter, hands the listener to descriptor 3, and executes the program. It returns only to fail.
func child(encoded string) error {
	var s childSpec
	if err := json.Unmarshal([]byte(encoded), &s); err != nil {
		return err
	}
	runtime.LockOSThread()
	p, err := Enforce(s.Options).Build()
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, err := Install(p, s.Options.Listener)
	if err != nil {
		return err
	}
	if fd >= 0 {
		if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
			return err
		}
	}
	if err := unix.CloseRange(3, ^uint(0), 0); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, childVar+"=") })
	return unix.Exec(s.Argv[0], s.Argv, env)
}

// startUnder starts argv under Enforce(o); the listener is nil when o has none.
func startUnder(t testing.TB, o Options, cmd *exec.Cmd) *Listener {
	t.Helper()
	must(t, "seccomp")
	native, err := Native()
	if err != nil {
		t.Fatal(err)
	}
	o.Arch = native
	spec, err := json.Marshal(childSpec{Options: o, Argv: cmd.Args})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = self
	cmd.Env = append(os.Environ(), childVar+"="+string(spec), "LC_ALL=C.UTF-8", "GIT_CONFIG_GLOBAL=/dev/null", "PYTHONDONTWRITEBYTECODE=1")
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	cmd.ExtraFiles = []*os.File{theirs}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	if !o.Listener {
		return nil
	}
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	oob := make([]byte, 64)
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		t.Fatalf("%v: the child handed over no listener: %v", cmd.Args, err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		cmd.Wait()
		t.Fatalf("%v: no listener came (%v)", cmd.Args, err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewListener(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// must skips the test when this machine lacks the feature, unless PSB_MUST names it.
func must(t testing.TB, feature string) {
	t.Helper()
	var why string
	switch feature {
	case "seccomp":
		if s := Probe(); !s.Filter || !s.Notify {
			why = fmt.Sprintf("filter %v, notify %v, listener taken %v: %v", s.Filter, s.Notify, s.ListenerTaken, s.Err)
		}
	case "python3":
		if len(pythons()) == 0 {
			why = "no python3"
		}
	default:
		t.Fatalf("unknown feature %q", feature)
	}
	if why == "" {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), feature) {
		t.Fatalf("%s is a must here: %s", feature, why)
	}
	t.Skipf("%s: %s", feature, why)
}
