package cgroups

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3/cgroup2"
	"golang.org/x/sys/unix"
)

var fakeV2 = map[string]string{
	"cgroup.controllers":  "cpu memory pids\n",
	"memory.peak":         "70000000\n",
	"memory.current":      "1000\n",
	"memory.max":          "max\n",
	"memory.stat":         "anon 1\nfile 2\n",
	"memory.events":       "low 0\nhigh 0\nmax 41\noom 3\noom_kill 2\noom_group_kill 0\n",
	"memory.swap.current": "0\n",
	"memory.swap.max":     "0\n",
	"pids.peak":           "20\n",
	"pids.current":        "5\n",
	"pids.max":            "20\n",
	"pids.events":         "max 7\n",
	"cpu.stat":            "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 9\nnr_throttled 4\nthrottled_usec 3\n",
}

func TestUsageV2(t *testing.T) {
	dir := fakeDir(t)
	put(t, dir+"/g", fakeV2)
	g := &Group{name: "g", parts: []part{{version: 2, parent: dir, dir: dir + "/g", controllers: []string{memory, pids, cpu}}}}
	want := Usage{MemoryPeak: 70000000, MemoryRefused: 41, OOMKills: 2, PIDsPeak: 20, PIDsRefused: 7, CPUTime: 1500 * time.Millisecond, Throttled: 4}
	if got, err := g.Usage(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	// The library of containerd reads the same figures out of the same files.
	m, err := cgroup2.Load("/g", cgroup2.WithMountpoint(dir))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := m.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if theirs.MemoryEvents.OomKill != want.OOMKills || theirs.MemoryEvents.Max != want.MemoryRefused || theirs.CPU.UsageUsec != 1500000 ||
		theirs.CPU.NrThrottled != want.Throttled || theirs.Memory.MaxUsage != want.MemoryPeak {
		t.Errorf("containerd/cgroups reads %+v", theirs)
	}
}

func TestUsageSaysWhatIsUnknown(t *testing.T) {
	dir := fakeDir(t)
	old := map[string]string{}
	for name, text := range fakeV2 {
		if !strings.HasSuffix(name, ".peak") {
			old[name] = text
		}
	}
	old["memory.events"] = "low 0\nmax 41\n" // no oom_kill
	put(t, dir+"/g", old)
	g := &Group{name: "g", parts: []part{{version: 2, parent: dir, dir: dir + "/g", controllers: []string{memory, pids}}}}
	u, err := g.Usage()
	if want := []string{"MemoryPeak", "OOMKills", "PIDsPeak", "Throttled"}; err != nil || !slices.Equal(u.Unknown, want) {
		t.Errorf("unknown %q, %v, want %q", u.Unknown, err, want)
	}
	if u.MemoryRefused != 41 || u.CPUTime != 1500*time.Millisecond {
		t.Errorf("%+v", u)
	}
	if _, err := (&Group{name: "gone", parts: []part{{version: 2, dir: dir + "/gone"}}}).Usage(); !errors.Is(err, unix.ENOENT) {
		t.Errorf("usage of a group that is gone: %v", err)
	}
}

func TestLimitsReachTheFiles(t *testing.T) {
	for version, files := range map[int]map[string]string{
		2: {"memory.max": "1024", "memory.swap.max": "5", "pids.max": "3", "cpu.max": "50000 100000"},
		1: {"memory.limit_in_bytes": "1024", "memory.memsw.limit_in_bytes": "1029", "pids.max": "3", "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"},
	} {
		dir := fakeDir(t)
		for name := range files {
			put(t, dir, map[string]string{name: ""})
		}
		d, err := openFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		p := part{version: version, controllers: []string{memory, pids, cpu}}
		l := Limits{Memory: 1024, MemorySwap: 5, PIDs: 3, CPUs: 0.5}
		if err := d.limit(Support{}, p, l); err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			if got, err := d.read(name); err != nil || string(got) != want {
				t.Errorf("v%d %s holds %q, %v, want %q", version, name, got, err, want)
			}
		}
		swap := map[int]string{2: "memory.swap.max", 1: "memory.memsw.limit_in_bytes"}[version]
		os.Remove(filepath.Join(dir, swap))
		if err := d.limit(Support{}, p, l); err != nil {
			t.Errorf("v%d without swap on the host: %v", version, err)
		}
		if err := d.limit(Support{HasSwap: true}, p, l); !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), swap) {
			t.Errorf("v%d with swap: %v, want an error about %s", version, err, swap)
		}
	}
}

func TestErrorsNameFileAndValue(t *testing.T) {
	dir := fakeDir(t)
	d, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	err = d.write("pids.max", "20")
	if err == nil || !strings.Contains(err.Error(), dir+"/pids.max") || !strings.Contains(err.Error(), `"20"`) {
		t.Errorf("write: %v", err)
	}
	if _, err := os.Lstat(dir + "/pids.max"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a write made the file: %v", err)
	}
}

func TestNoLinkIsFollowed(t *testing.T) {
	dir, out := fakeDir(t), fakeDir(t)
	put(t, out, map[string]string{"secret": "old", "group/cgroup.procs": "1\n"})
	for name, to := range map[string]string{"pids.max": out + "/secret", "group": out + "/group", "up": "..", "dir": out} {
		if err := os.Symlink(to, dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	d, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := d.write("pids.max", "20"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("write through a link: %v", err)
	}
	if text, _ := os.ReadFile(out + "/secret"); string(text) != "old" {
		t.Errorf("the link's target now holds %q", text)
	}
	if _, err := d.sub("group"); !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("group through a link: %v", err)
	}
	if _, err := d.read("../" + filepath.Base(out) + "/secret"); !errors.Is(err, unix.EXDEV) {
		t.Errorf("read above the folder: %v", err)
	}
	if _, err := openFolder(dir + "/dir/group"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("folder behind a link: %v", err)
	}
	if names, err := d.groups(); err != nil || len(names) != 0 {
		t.Errorf("links count as groups: %q, %v", names, err)
	}
	if err := removeGroup(dir, "group"); err == nil {
		t.Error("a link was removed as a group")
	}
	if _, err := os.Stat(out + "/group/cgroup.procs"); err != nil {
		t.Errorf("behind the link: %v", err)
	}
}

func TestSweepSparesTheLiving(t *testing.T) {
	one, two := fakeDir(t), fakeDir(t)
	s := Support{Controllers: map[string]Controller{
		memory: {Version: 1, Dir: one, Writable: true}, pids: {Version: 1, Dir: two, Writable: true},
		cpu: {Version: 1, Dir: "/nowhere", Reason: "not usable"}}}
	for _, dir := range []string{one, two} {
		for _, name := range []string{"psb-10-100-0", "psb-20-200-0", "psb-20-999-1", "psb-20-200-x", "system.slice", "psb"} {
			if err := os.Mkdir(dir+"/"+name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	os.Mkdir(two+"/psb-30-300-0", 0o755)
	put(t, one, map[string]string{"psb-40-400-0": "a file, no group"})
	asked := map[int]int{}
	removed, err := sweep(s, func(pid int, start uint64) bool {
		asked[pid]++
		return pid == 20 && start == 200
	})
	// In a fake folder a group without cgroup.procs is one whose processes are all gone.
	if want := []string{"psb-10-100-0", "psb-20-999-1", "psb-30-300-0"}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v, want %q", removed, err, want)
	}
	if asked[10] != 1 || asked[20] != 2 {
		t.Errorf("asked %v: one answer a group", asked)
	}
	for dir, want := range map[string]string{one: "psb psb-20-200-0 psb-20-200-x psb-40-400-0 system.slice", two: "psb psb-20-200-0 psb-20-200-x system.slice"} {
		entries, _ := os.ReadDir(dir)
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("left %q, want %q", got, want)
		}
	}
}

func TestSweepLeavesForeignProcesses(t *testing.T) {
	dir := fakeDir(t)
	put(t, dir, map[string]string{"psb-10-100-0/cgroup.procs": "0\n"})
	s := Support{Controllers: map[string]Controller{pids: {Version: 1, Dir: dir, Writable: true}}}
	removed, err := sweep(s, func(int, uint64) bool { return false })
	if err != nil || len(removed) != 0 {
		t.Errorf("removed %q, %v", removed, err)
	}
}

func TestRunning(t *testing.T) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	start, _, err := parseStat(text)
	if err != nil {
		t.Fatal(err)
	}
	if !running(os.Getpid(), start) {
		t.Error("this process does not run")
	}
	if running(os.Getpid(), start+1) {
		t.Error("this id with another start time runs")
	}
	if running(1<<22+1, start) {
		t.Error("an id no kernel gives runs")
	}
}
