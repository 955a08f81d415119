package namespaces

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bound is how long the end of a box may take on a busy machine before a test calls it left over.
const bound = 20 * time.Second

// psb gives a copy of this binary that plays psb.
func psb(t *testing.T, role string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append([]string{roleVar + "=" + role, "PATH=/usr/bin"}, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestSignals(t *testing.T) {
	needBox(t)
	cmd := psb(t, "grep")
	// env(1) sets what psb's caller would: USR1 and the ignored real-time 40 stay ignored, USR2 stays blocked, SIGCHLD ignored must not
	// take the end of the program away.
	cmd.Args = append([]string{"env", "--ignore-signal=USR1", "--ignore-signal=CHLD", "--ignore-signal=PIPE", "--ignore-signal=40", "--block-signal=USR2"}, cmd.Path)
	cmd.Path = "/usr/bin/env"
	out, err := cmd.Output()
	ignored := uint64(1)<<(syscall.SIGUSR1-1) | 1<<(syscall.SIGCHLD-1) | 1<<(syscall.SIGPIPE-1) | 1<<39
	// What this very process was started with counts, too; 32 and 33 are the C library's own.
	own, blocked := IgnoredAtStart()&^(3<<31), BlockedAtStart()&^(3<<31)
	plain := fmt.Sprintf("SigBlk:\t%016x\nSigIgn:\t%016x\n", blocked, own)
	ignored |= own
	expect := fmt.Sprintf("SigBlk:\t%016x\nSigIgn:\t%016x\n", uint64(1)<<(syscall.SIGUSR2-1)|blocked, ignored)
	if err != nil || clean(out) != expect {
		t.Errorf("%v, output\n%s\nwant\n%s", err, out, expect)
	}
	if out, err = psb(t, "grep").Output(); err != nil || clean(out) != plain {
		t.Errorf("plain: %v %s", err, out)
	}
}

// clean clears the bits of signals 32 and 33 in lines of /proc/PID/status: a caller may have left them ignored, and nobody can change that.
func clean(status []byte) string {
	var out strings.Builder
	for _, line := range strings.SplitAfter(string(status), "\n") {
		name, hex, ok := strings.Cut(line, ":\t")
		if n, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64); ok && err == nil {
			fmt.Fprintf(&out, "%s:\t%016x\n", name, n&^(3<<31))
		}
	}
	return out.String()
}

func TestClosedStdio(t *testing.T) {
	needBox(t)
	script := `for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && echo $n >>/d/open; done; exit 0`
	for _, row := range []struct{ close, open string }{{"", "0\n1\n2\n"}, {"0<&-", "1\n2\n"}, {"1>&-", "0\n2\n"}, {"0<&- 1>&- 2>&-", ""}} {
		dir := hostDir(t)
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := psb(t, "box", "BOX_TEST_SCRIPT="+script, "BOX_TEST_DIR="+dir)
		cmd.Args = []string{"sh", "-c", `exec "$0" ` + row.close, cmd.Path}
		cmd.Path = "/usr/bin/sh"
		if out, err := cmd.Output(); err != nil {
			t.Errorf("%q: %v %s", row.close, err, out)
		}
		if b, err := os.ReadFile(dir + "/open"); string(b) != row.open {
			t.Errorf("%q: the program had %q open (%v), want %q", row.close, b, err, row.open)
		}
	}
	box := started(t, shellBox("[ -e /proc/$$/fd/0 ] || [ -e /proc/$$/fd/1 ] || [ -e /proc/$$/fd/2 ] || exit 5"))
	if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 5 {
		t.Errorf("nil files: %v %v, want 5", exit.Status, err)
	}
}

func TestStopped(t *testing.T) {
	needBox(t)
	for _, sig := range []string{"STOP", "TSTP", "TTIN", "TTOU"} {
		// It ends only once its going on was told: what ends at once is not reported as continued.
		cmd := psb(t, "jobs", "BOX_TEST_SCRIPT=kill -"+sig+" $$; read x; exit 3")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // in a group of its own that is no orphan's: only there a terminal's stop counts
		feed, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		number := map[string]syscall.Signal{"STOP": syscall.SIGSTOP, "TSTP": syscall.SIGTSTP, "TTIN": syscall.SIGTTIN, "TTOU": syscall.SIGTTOU}[sig]
		lines := bufio.NewReader(stdout)
		for _, want := range []string{fmt.Sprintf("stopped %v\n", number), "continued\n", "3 <nil>\n"} {
			line, err := lines.ReadString('\n')
			if line != want {
				t.Errorf("%s: %v %q, want %q", sig, err, line, want)
				break
			}
			if want == "continued\n" {
				feed.Close()
			}
		}
		feed.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Nobody has to read Jobs: the end of a program that stops itself over and over is still reported.
func TestJobsUnread(t *testing.T) {
	needBox(t)
	script := `i=0; while [ $i -lt 50 ]; do (kill -STOP $$; kill -CONT $$) & wait; i=$((i+1)); done; exit 4`
	want(t, shellBox(script), "", 4)
}

func TestSignalForwarded(t *testing.T) {
	needBox(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	box, err := Start(shellBox(`trap 'echo got; exit 6' TERM; echo up; while :; do :; done`), [3]*os.File{nil, w, w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(r)
	if line, err := lines.ReadString('\n'); line != "up\n" {
		t.Fatal(line, err)
	}
	box.Signal(syscall.SIGTERM, false)
	if line, err := lines.ReadString('\n'); line != "got\n" {
		t.Fatal(line, err)
	}
	if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 6 {
		t.Errorf("%v %v", exit.Status, err)
	}
	// After the end both do nothing, above all not to whatever now has the descriptor's number.
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	box.Signal(syscall.SIGTERM, false)
	box.Kill()
	if _, err := box.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := unix.Write(pair[0], []byte("x")); err != nil {
		t.Errorf("an ended box shut somebody else's socket: %v", err)
	}
	unix.Close(pair[0])
	unix.Close(pair[1])
}

// Whoever reads the program's output sees its end when the program closes it: neither keeper nor reaper holds it.
func TestOutputEnds(t *testing.T) {
	needBox(t)
	for _, s := range []*Spec{shellBox("exec >&- 2>&-; read x; exit 8"), lite(shellBox("exec >&- 2>&-; read x; exit 8"))} {
		out, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		in, feed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		box, err := Start(s, [3]*os.File{in, w, w})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		in.Close()
		if _, err := box.Ready(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(box.Release(), box.Started()); err != nil {
			t.Fatal(err)
		}
		if err := out.SetReadDeadline(time.Now().Add(bound)); err != nil {
			t.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("read %d, %v, want the end", n, err)
		}
		select {
		case <-box.Done():
			t.Error("the box is gone already")
		default:
		}
		feed.Close() // and the program sees the end of its input
		if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 8 {
			t.Errorf("%v %v, want 8", exit.Status, err)
		}
		out.Close()
	}
}

func TestDaemonisedChildEnds(t *testing.T) {
	needBox(t)
	// run returns only when nobody holds the output any more: a daemon that lived on would keep it for 1000 seconds.
	script := "(setsid sh -c 'setsid sleep 1000 & exec sleep 1000' &) ; (trap '' TERM HUP; sleep 1000 &); exit 0"
	want(t, shellBox(script), "", 0)
	want(t, lite(shellBox(script)), "", 0)
	many := "i=0; while [ $i -lt 1500 ]; do setsid sleep 1000 & i=$((i+1)); done; exit 0" // more than one look at the list of children holds
	want(t, lite(shellBox(many)), "", 0)
}

// TestEndedHasNobodyLeft: by the time a box is told of as ended, what its program left behind has ended, too, stopped or not.
func TestEndedHasNobodyLeft(t *testing.T) {
	needBox(t)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	box, err := Start(shellBox("setsid sh -c 'setsid sleep 1000 & kill -STOP $$' & (trap '' TERM HUP; sleep 1000 &); exit 3"), [3]*os.File{nil, w, w})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-box.Ended():
	case <-time.After(bound):
		t.Fatal("it does not end")
	}
	if got := box.Exit().Status; !got.Exited() || got.ExitStatus() != 3 {
		t.Errorf("status %v", got)
	}
	fd := int(out.Fd())
	if err := unix.SetNonblock(fd, true); err != nil { // nobody is waited for: whoever holds the other end would show
		t.Fatal(err)
	}
	if n, err := unix.Read(fd, make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("read %d, %v, want the end", n, err)
	}
	box.Last()
	if _, err := box.Wait(); err != nil {
		t.Error(err)
	}
}

// TestEndedNeedsAPidNamespace: where others may outlive the program, its end is not told as theirs.
func TestEndedNeedsAPidNamespace(t *testing.T) {
	needBox(t)
	needRoot(t) // a procfs needs a pid namespace of the user namespace it is mounted in
	spec := shellBox("exit 3")
	spec.Unshare.PID = false
	box := started(t, spec)
	if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 3 {
		t.Errorf("%v %v", exit, err)
	}
	select {
	case <-box.Ended():
		t.Error("everybody's end was told")
	default:
	}
}
