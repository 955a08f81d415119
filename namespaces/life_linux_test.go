package namespaces

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	expect := fmt.Sprintf("SigBlk:\t%016x\nSigIgn:\t%016x\n", uint64(1)<<(syscall.SIGUSR2-1), ignored)
	if err != nil || string(out) != expect {
		t.Errorf("%v, output\n%s\nwant\n%s", err, out, expect)
	}
	if out, err = psb(t, "grep").Output(); err != nil || string(out) != "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n" {
		t.Errorf("plain: %v %s", err, out)
	}
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
	box, err := Start(shellBox("[ -e /proc/$$/fd/0 ] || [ -e /proc/$$/fd/1 ] || [ -e /proc/$$/fd/2 ] || exit 5"), [3]*os.File{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
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
	box.Signal(syscall.SIGTERM)
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
	box.Signal(syscall.SIGTERM)
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

func TestKillIsTheEnd(t *testing.T) {
	needBox(t)
	for _, s := range []*Spec{shellBox("setsid sleep 1000 & sleep 1000"), lite(shellBox("setsid sleep 1000 & sleep 1000"))} {
		out, _, err := run(t, s, func(b *Box) {
			pids := watchTree(t, b.Keeper())
			if err := unix.Kill(parentOf(t, b.Program()), unix.SIGSTOP); err != nil { // a reaper that cannot act does not matter
				t.Fatal(err)
			}
			go func() { b.Kill(); b.Kill() }()
			<-b.Done()
			pids.gone(t)
		})
		if err == nil {
			t.Errorf("no error, output %q", out)
		}
	}
}

// tree is processes, each held by a pidfd: a number that is used again is not mistaken for the old one.
type tree map[int]int

func watchTree(t *testing.T, root int) tree {
	t.Helper()
	all := tree{}
	queue := []int{root}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		all[pid] = fd
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for f := range strings.FieldsSeq(string(b)) {
			n, _ := strconv.Atoi(f)
			queue = append(queue, n)
		}
	}
	return all
}

// gone fails for every process that outlives the bound.
func (all tree) gone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for pid, fd := range all {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := 0, error(unix.EINTR)
		for err == unix.EINTR {
			n, err = unix.Poll(p, max(0, int(time.Until(deadline).Milliseconds())))
		}
		if n == 0 || err != nil {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d (%q) is left: %v", pid, cmdline, err)
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}

func TestKillAnyStage(t *testing.T) {
	needBox(t)
	for _, mode := range []string{"hold", "hold-lite"} {
		for _, point := range []string{"started", "ready", "running"} {
			for _, victim := range []string{"psb", "keeper", "reaper", "program", "group"} {
				if point == "started" && victim != "psb" && victim != "keeper" {
					continue // not known yet
				}
				t.Run(mode+"/"+point+"/"+victim, func(t *testing.T) { killStage(t, mode+" "+point, victim) })
			}
		}
	}
}

func killStage(t *testing.T, role, victim string) {
	cmd := psb(t, role)
	cmd.Stderr = nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	lines := bufio.NewReader(stdout)
	var keeper, program int
	line, err := lines.ReadString('\n')
	if _, err := fmt.Sscan(line, &keeper, &program); err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("%q: %v", line, err)
	}
	all := watchTree(t, keeper)
	if strings.HasSuffix(role, "running") && len(all) < 5 { // keeper, reaper, program, its two children
		t.Errorf("only %d processes: %v", len(all), all)
	}
	target := map[string]int{"psb": cmd.Process.Pid, "keeper": keeper, "program": program, "group": -cmd.Process.Pid}[victim]
	if victim == "reaper" {
		target = parentOf(t, program)
	}
	if err := unix.Kill(target, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if victim != "psb" && victim != "group" { // psb lives: it must notice
		done := make(chan string, 1)
		go func() { rest, _ := lines.ReadString('\n'); done <- rest }()
		select {
		case rest := <-done:
			if clean := rest == "<nil>\n"; clean != (victim == "program" && strings.HasSuffix(role, "running")) && victim != "program" {
				t.Errorf("psb says %q", rest)
			}
			for pid, fd := range all {
				if strings.HasSuffix(role, "started") {
					break // psb may not know the first process yet, which has done nothing and ends by itself
				}
				// Done means that nothing is left, not that it soon will be
				if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); n == 0 {
					t.Errorf("process %d outlives Done", pid)
				}
			}
		case <-time.After(bound):
			t.Error("psb does not notice")
			_ = cmd.Process.Kill()
		}
	}
	all.gone(t)
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The reaper holds the keeper's line, psb's, and its own clock of children; nobody may look into it.
func TestReaperIsClosed(t *testing.T) {
	needRoot(t)
	needBox(t)
	s := shellBox("exit 0")
	s.Reaper = mkdirFilter(t, 0x80000000)
	_, _, err := run(t, s, func(b *Box) {
		reaper := parentOf(t, b.Program())
		// Ready comes from the program while the reaper may still be about to close the gate it let it through.
		const last = "anon_inode socket socket"
		got, deadline := "", time.Now().Add(bound)
		for got = descriptors(t, reaper); got != last && time.Now().Before(deadline); got = descriptors(t, reaper) {
		}
		if got != last {
			t.Errorf("descriptors %q, want %q", got, last)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", reaper))
		if err != nil || !strings.Contains(string(status), "\nSeccomp:\t2\n") || !strings.Contains(string(status), "\nCapPrm:\t0000000000000000\n") {
			t.Errorf("%v %s", err, status)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// descriptors are the kinds of what a process has open, sorted.
func descriptors(t *testing.T, pid int) string {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range fds {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name())); err == nil { // else closed meanwhile
			kind, _, _ := strings.Cut(to, ":[")
			kinds = append(kinds, strings.SplitN(kind, ":", 2)[0])
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " ")
}

func TestCgroupJoined(t *testing.T) {
	needRoot(t)
	needBox(t)
	dir := fmt.Sprintf("/sys/fs/cgroup/pids/boxtest-%d", os.Getpid())
	if err := os.Mkdir(dir, 0o755); err != nil {
		need(t, "cgroup", err)
	}
	defer os.Remove(dir)
	s := shellBox("cat /proc/self/cgroup; sleep 1000 & exit 0")
	s.CgroupProcs, s.CgroupDirs = []string{dir + "/cgroup.procs"}, []string{dir}
	out, _, err := run(t, s, func(b *Box) {
		procs, err := os.ReadFile(dir + "/cgroup.procs")
		if err != nil || !strings.Contains("\n"+string(procs), fmt.Sprintf("\n%d\n", b.Program())) || strings.Contains("\n"+string(procs), fmt.Sprintf("\n%d\n", b.Keeper())) {
			t.Errorf("%v, members %q, want the program %d and not the keeper", err, procs, b.Program())
		}
	})
	if err != nil || !strings.Contains(out, ":pids:/\n") { // its own namespace: the group is the root
		t.Errorf("%v %q", err, out)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("psb lives and has not read it yet: %v", err)
	}
	if _, _, err = run(t, s, (*Box).Kill); err == nil {
		t.Error("killed without an error")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("after Kill: %v", err)
	}
	cmd := psb(t, "hold running", "BOX_TEST_CGROUP="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var keeper, program int
	if _, err := fmt.Fscan(stdout, &keeper, &program); err != nil {
		t.Fatal(err)
	}
	all := watchTree(t, keeper)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	all.gone(t) // the keeper is the last
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead psb's group is left: %v", err)
	}
}

func TestTerminal(t *testing.T) {
	needBox(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need(t, "pty", err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need(t, "pty", err)
	}
	defer slave.Close()
	cmd := psb(t, "terminal")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(master).ReadString('\n')
	if err != nil || line != "true <nil>\r\n" {
		t.Errorf("%v, the program says %q", err, line)
	}
	if _, err := master.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGINT) {
		t.Errorf("%v, want the program's SIGINT", err)
	}
}

// The keeper, or psb's wish, may end at any moment of the building: the program's output ends with the last process that holds it.
func TestEndAtAnyMoment(t *testing.T) {
	needBox(t)
	for i := range 120 {
		s := shellBox("sleep 1000")
		if i%4 >= 2 {
			lite(s)
		}
		out, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		box, err := Start(s, [3]*os.File{nil, w, w})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if _, err := box.Ready(); err == nil {
				_ = box.Release()
			}
		}()
		for spin := time.Now(); time.Since(spin) < time.Duration(i)*50*time.Microsecond; {
		}
		if i%2 == 0 {
			box.Kill()
		} else if err := unix.Kill(box.Keeper(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := out.SetReadDeadline(time.Now().Add(bound)); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("moment %d: %v, somebody is left", i, err)
		}
		if _, err := box.Wait(); err == nil {
			t.Fatalf("moment %d: no error", i)
		}
		out.Close()
	}
}
