package cgroups

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProbeFindsThisHost(t *testing.T) {
	s := need(t, memory, pids)
	for _, name := range []string{memory, pids} {
		c := s.Controllers[name]
		var st unix.Statfs_t
		if err := unix.Statfs(c.Dir, &st); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := map[int]int64{1: unix.CGROUP_SUPER_MAGIC, 2: unix.CGROUP2_SUPER_MAGIC}[c.Version]; int64(st.Type) != want {
			t.Errorf("%s: %q is of file system %#x", name, c.Dir, st.Type)
		}
	}
}

func TestProbeAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become an ordinary user")
	}
	dir := need(t, pids).Controllers[pids].Dir
	err := asUID(65534, func() error { return mayMake(dir) })
	if err == nil {
		t.Error("an ordinary user may make groups in root's folder")
	}
	s := facts{mounts: []mount{{version: 1, point: "/p", root: "/", options: []string{pids}}}, member: membership{v1: map[string]string{pids: "/"}},
		may: func(string) error { return err }, read: readFile}.support()
	if _, lost := (Limits{PIDs: 5}).Fit(s); len(lost) != 1 || !strings.Contains(lost[0].String(), "systemd.unified_cgroup_hierarchy=1") {
		t.Errorf("lost %v", lost)
	}
}

func TestMemoryBomb(t *testing.T) {
	s := need(t, memory)
	const limit = 64 << 20
	g := mustCreate(t, s, ownName(t), Limits{Memory: limit})
	_, stderr, err := runChild(t, append([]string{"hog", "256"}, g.ProcsFiles()...)...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Fatalf("the hog ended with %v %s, want SIGKILL", err, stderr)
	}
	u, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	// The kernel may charge a few pages beyond the limit, for what cannot be refused.
	if u.OOMKills != 1 || u.MemoryPeak > limit+1<<20 || u.MemoryPeak < limit/2 {
		t.Errorf("%+v", u)
	}
	if u.MemoryRefused == 0 && !slices.Contains(u.Unknown, "MemoryRefused") {
		t.Errorf("no refusal counted: %+v", u)
	}
	// Control: the same hog inside a limit that is large enough.
	g = mustCreate(t, s, ownName(t), Limits{Memory: 512 << 20})
	if _, stderr, err := runChild(t, append([]string{"hog", "256"}, g.ProcsFiles()...)...); err != nil {
		t.Fatalf("control: %v %s", err, stderr)
	}
	if u, err := g.Usage(); err != nil || u.OOMKills != 0 || u.MemoryPeak < 256<<20 || u.CPUTime == 0 {
		t.Errorf("control: %+v, %v", u, err)
	}
}

// twenty starts 40 processes that linger, one a line of a loop.
const twenty = "i=0; while [ $i -lt 40 ]; do sleep 60 >/dev/null 2>&1 & i=$((i+1)); done"

func TestForkBomb(t *testing.T) {
	s := need(t, pids)
	g := mustCreate(t, s, ownName(t), Limits{PIDs: 20})
	out, err := shell(t, g, twenty).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "fork") {
		t.Fatalf("40 processes under a limit of 20: %v %s", err, out)
	}
	u, err := g.Usage()
	if err != nil || u.PIDsRefused == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	if u.PIDsPeak != 20 && !strings.Contains(strings.Join(u.Unknown, " "), "PIDsPeak") {
		t.Errorf("peak %d, want 20", u.PIDsPeak)
	}
	g = mustCreate(t, s, ownName(t), Limits{PIDs: 60})
	if out, err := shell(t, g, twenty+"; exit 0").CombinedOutput(); err != nil {
		t.Errorf("control: %v %s", err, out)
	}
}

func TestKillTree(t *testing.T) {
	s := need(t, pids)
	for _, c := range []struct{ name, without string }{{"all controllers", ""}, {"without pids", pids}} {
		t.Run(c.name, func(t *testing.T) {
			if c.without != "" {
				need(t, freezer)
				less := Support{Version: s.Version, Controllers: map[string]Controller{}}
				for name, ctl := range s.Controllers {
					if name != c.without {
						less.Controllers[name] = ctl
					}
				}
				s = less
			}
			g := mustCreate(t, s, ownName(t), Limits{})
			// A tree that leaves its session and keeps forking, bounded in number by its own count.
			out := new(bytes.Buffer)
			cmd := shell(t, g, "setsid sh -c 'sleep 60 >/dev/null 2>&1 & sleep 60 >/dev/null 2>&1 & wait' & i=0; while [ $i -lt 3000 ]; do /bin/true; i=$((i+1)); done; wait")
			cmd.Stderr = out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return len(members(t, g)) >= 4 })
			if err := g.Kill(); err != nil {
				t.Fatal(err)
			}
			if left := members(t, g); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
				t.Errorf("the shell ended with %v %s", err, out)
			}
		})
	}
}

func TestQuota(t *testing.T) {
	s := need(t, cpu)
	g := mustCreate(t, s, ownName(t), Limits{CPUs: 0.5})
	want := map[string]string{"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000"}
	if s.Controllers[cpu].Version == 2 {
		want = map[string]string{"cpu.max": "50000 100000"}
	}
	for name, value := range want {
		text, err := os.ReadFile(filepath.Join(s.Controllers[cpu].Dir, g.Name(), name))
		if err != nil || strings.TrimSpace(string(text)) != value {
			t.Errorf("%s holds %q, %v, want %q", name, text, err, value)
		}
	}
}

// TestLower: limits of a group that is in use are lowered, and hold.
func TestLower(t *testing.T) {
	s := need(t, memory, pids, cpu)
	g := mustCreate(t, s, ownName(t), Limits{Memory: 64 << 20, PIDs: 20, CPUs: 2})
	low := Limits{Memory: 32 << 20, PIDs: 1, CPUs: 0.5}
	if err := g.Lower(s, low); err != nil {
		t.Fatal(err)
	}
	files := low.FilesV1()
	for _, f := range files {
		if s.Controllers[f.Controller].Version == 2 {
			files = low.FilesV2()
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(s.Controllers[f.Controller].Dir, g.Name(), f.Name))
		if errors.Is(err, os.ErrNotExist) && !s.HasSwap { // a kernel that cannot limit swap
			continue
		}
		if err != nil || strings.TrimSpace(string(text)) != f.Value {
			t.Errorf("%s holds %q, %v, want %q", f.Name, text, err, f.Value)
		}
	}
	if out, err := shell(t, g, "true; true & wait").CombinedOutput(); err == nil && !strings.Contains(string(out), "fork") {
		t.Errorf("a second process could be started: %s", out)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	s := need(t, memory, pids)
	g := mustCreate(t, s, ownName(t), Limits{Memory: 64 << 20, PIDs: 20})
	for _, d := range g.Dirs() {
		if err := os.MkdirAll(d+"/inner/inner", 0o755); err != nil { // what a nested launcher might leave
			t.Fatal(err)
		}
	}
	cmd := shell(t, g, "sleep 60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(members(t, g)) > 0 })
	if err := errors.Join(g.Kill(), g.Remove()); err != nil {
		t.Error(err)
	}
	cmd.Wait()
	for _, d := range g.Dirs() {
		if _, err := os.Lstat(d); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is still there: %v", d, err)
		}
	}
	if err := errors.Join(g.Kill(), g.Remove()); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestCreateUndoesItself(t *testing.T) {
	s := need(t, pids)
	name := ownName(t)
	g := mustCreate(t, s, name, Limits{PIDs: 9})
	if _, err := Create(s, name, Limits{}); !errors.Is(err, unix.EEXIST) {
		t.Errorf("a name that is taken: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Controllers[pids].Dir, name, "pids.max")); err != nil || string(text) != "9\n" {
		t.Errorf("the group that was there: pids.max %q, %v", text, err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	broken := Support{Controllers: map[string]Controller{pids: s.Controllers[pids], cpu: {Version: 1, Dir: "/proc/no-such-folder", Writable: true}}}
	if _, err := Create(broken, name, Limits{PIDs: 9, CPUs: 1}); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(s.Controllers[pids].Dir, name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half-made group is still there: %v", err)
	}
	for want, err := range map[string]error{
		"was not made by Name": second(Create(s, "other", Limits{})),
		"must be at most":      second(Create(s, name, Limits{PIDs: 5 << 20})),
		`controller "cpu": no`: second(Create(Support{Controllers: map[string]Controller{cpu: {Reason: "no"}}}, name, Limits{CPUs: 1})),
		"no controller":        second(Create(Support{}, name, Limits{})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestSweepRealGroups(t *testing.T) {
	s := need(t, pids)
	owner := exec.Command("sleep", "60")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/" + itoa(owner.Process.Pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	start, _, err := parseStat(text)
	if err != nil {
		t.Fatal(err)
	}
	name := Name(owner.Process.Pid, start, 0)
	g := mustCreate(t, s, name, Limits{PIDs: 20})
	box := shell(t, g, "sleep 60")
	if err := box.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(members(t, g)) > 0 })
	if removed, err := Sweep(s); err != nil || strings.Contains(strings.Join(removed, " "), name) {
		t.Fatalf("removed %q, %v: the owner lives", removed, err)
	}
	// Dead but not yet waited for is dead.
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return !running(owner.Process.Pid, start) })
	if removed, err := Sweep(s); err != nil || !strings.Contains(strings.Join(removed, " "), name) {
		t.Errorf("removed %q, %v, want %s", removed, err, name)
	}
	var exit *exec.ExitError
	if err := box.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("the box ended with %v", err)
	}
	owner.Wait()
}
