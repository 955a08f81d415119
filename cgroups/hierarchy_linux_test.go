package cgroups

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/cgroups/v3/cgroup1"
)

// The library of containerd reads the same figures out of the same v1 group.
func TestUsageAgreesWithContainerd(t *testing.T) {
	s := need(t, memory, pids)
	if s.Controllers[memory].Version != 1 || s.Controllers[pids].Version != 1 {
		t.Skip("memory and pids are not on v1")
	}
	g := mustCreate(t, s, ownName(t), Limits{Memory: 256 << 20, PIDs: 33})
	if out, err := shell(t, g, "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	only := func() ([]cgroup1.Subsystem, error) {
		all, err := cgroup1.Default()
		var out []cgroup1.Subsystem
		for _, sub := range all {
			if sub.Name() == cgroup1.Memory || sub.Name() == cgroup1.Pids {
				out = append(out, sub)
			}
		}
		return out, err
	}
	own, err := parseOwn()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cgroup1.Load(func(sub cgroup1.Name) (string, error) { return filepath.Join(own.v1[string(sub)], g.Name()), nil },
		cgroup1.WithHierarchy(only))
	if err != nil {
		t.Skipf("containerd/cgroups does not load the group: %v", err)
	}
	theirs, err := c.Stat(cgroup1.IgnoreNotExist)
	if err != nil {
		t.Skipf("containerd/cgroups does not read the group: %v", err)
	}
	ours, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if theirs.Memory.Usage.Max != ours.MemoryPeak || theirs.Memory.Usage.Failcnt+theirs.Memory.Swap.Failcnt != ours.MemoryRefused || theirs.MemoryOomControl.OomKill != ours.OOMKills {
		t.Errorf("memory: ours %+v, theirs %+v", ours, theirs.Memory.Usage)
	}
	if theirs.Memory.Usage.Limit != 256<<20 || theirs.Pids.Limit != 33 {
		t.Errorf("limits as containerd/cgroups sees them: %d, %d", theirs.Memory.Usage.Limit, theirs.Pids.Limit)
	}
}

// v2 parts that need no controller: cgroup.kill, nested removal, and handing a controller down out of a group with a
// process. They run where a v2 hierarchy is mounted and its root may be written, however few controllers it has.
func TestUnified(t *testing.T) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := parseMountinfo(text)
	if err != nil {
		t.Fatal(err)
	}
	own, err := parseOwn()
	if err != nil {
		t.Fatal(err)
	}
	var dir string
	for _, m := range mounts {
		if d, ok := m.folder(own.v2); m.version == 2 && ok && mayMake(d) == nil {
			dir = d
		}
	}
	if dir == "" {
		missing(t, "no v2 hierarchy in which groups may be made")
	}
	name := ownName(t)
	if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &Group{name: name, parts: []part{{version: 2, parent: dir, dir: filepath.Join(dir, name)}}}
	defer func() {
		if err := errors.Join(g.Kill(), g.Remove()); err != nil {
			t.Error(err)
		}
	}()
	out, err := shell(t, g, twenty).CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if n := len(members(t, g)); n != 40 {
		t.Errorf("%d members, want 40", n)
	}
	if u, err := g.Usage(); err != nil || u.CPUTime == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	if left := members(t, g); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	offered, err := os.ReadFile(filepath.Join(dir, name, "cgroup.controllers"))
	controller := ""
	for _, c := range strings.Fields(string(offered)) {
		if err == nil && c != cpu && c != pids && c != "cpuset" { // threaded ones have no such rule
			controller = c
		}
	}
	if controller == "" {
		// Ask the parent to hand one down, for the length of this test.
		up, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		for _, c := range strings.Fields(string(up)) {
			if c != cpu && c != pids && c != "cpuset" && os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0) == nil {
				controller = c
				t.Cleanup(func() { // after the group is gone, as a group with the controller keeps it
					if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("-"+c), 0); err != nil {
						t.Error(err)
					}
				})
				break
			}
		}
	}
	if controller == "" {
		t.Skip("no controller to hand down")
	}
	got, stderr, err := runChild(t, "hand-down", filepath.Join(dir, name), controller)
	if err != nil || got != controller {
		t.Errorf("handed down %q, %v %s, want %q", got, err, stderr, controller)
	}
}
