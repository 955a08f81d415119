package namespaces

import (
	"bufio"
	"errors"
	"fmt"
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

// TestGroupEntered: the ways into a group that do without a write to cgroup.procs, which here leads nowhere.
func TestGroupEntered(t *testing.T) {
	needRoot(t)
	needBox(t)
	v2 := hostDir(t)
	if err := unix.Mount("none", v2, "cgroup2", 0, ""); err != nil {
		need(t, "cgroup", err)
	}
	defer unix.Unmount(v2, unix.MNT_DETACH)
	blind := hostDir(t) + "/blind"
	if err := os.WriteFile(blind, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("boxtest-entered-%d", os.Getpid())
	for _, c := range []struct{ top, file, line string }{
		{v2, "/cgroup.procs", "0::/" + name},
		{"/sys/fs/cgroup/pids", "/tasks", ":pids:/" + name},
	} {
		if _, err := os.Stat(c.top + c.file); err != nil {
			t.Logf("no v1 hierarchy here: %v", err)
			continue
		}
		dir := c.top + "/" + name
		if err := os.Mkdir(dir, 0o755); err != nil {
			need(t, "cgroup", err)
		}
		defer os.Remove(dir)
		if err := unix.Mount(blind, dir+"/cgroup.procs", "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		defer unix.Unmount(dir+"/cgroup.procs", unix.MNT_DETACH)
		s := shellBox("exit 0")
		s.CgroupProcs = []string{dir + c.file}
		_, _, err := run(t, s, func(b *Box) {
			for who, pid := range map[string]int{"the program": b.Program(), "the reaper": parentOf(t, b.Program())} {
				if groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)); err != nil || !strings.Contains(string(groups), c.line+"\n") {
					t.Errorf("%s is in\n%s%v, want %s", who, groups, err, c.line)
				}
			}
			if groups, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", b.Keeper())); strings.Contains(string(groups), name) {
				t.Errorf("the keeper is in\n%s", groups)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A keeper that waits for its groups goes on, hears Kill, and removes what is there when psb dies. Any folder serves as a group here.
func TestAwait(t *testing.T) {
	needBox(t)
	dir := hostDir(t) + "/group"
	make := func() {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	make()
	s := shellBox("exit 3")
	s.Await, s.CgroupDirs = true, []string{dir}
	box, err := Start(s, [3]*os.File{})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Proceed(); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 3 {
		t.Errorf("%v %v, want 3", exit.Status, err)
	}
	if box, err = Start(s, [3]*os.File{}); err != nil {
		t.Fatal(err)
	}
	box.Kill()
	select {
	case <-box.Done():
	case <-time.After(bound):
		t.Error("Kill is not heard")
		_ = unix.Kill(box.Keeper(), unix.SIGKILL)
	}
	if _, err := box.Wait(); err == nil {
		t.Error("killed without an error")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("psb lives, its group is gone: %v", err)
	}
	cmd := psb(t, "hold await", "BOX_TEST_CGROUP="+dir)
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
	all.gone(t)
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
