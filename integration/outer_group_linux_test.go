package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// outerGroup is a control group of the test's own, around psb and all that it starts: what psb does not hold is held here, and everything that psb left
// behind is in it, whoever became its parent.
type outerGroup struct {
	enter []string // folders of cgroup v1 that a process has to enter, one for each controller
	whole *os.File // of v2: the folder that processes are started in
	top   []string // the outermost folders, to be removed
}

// Bounds of an outer group: what a test's servers and their boxes together may have at once, several times over.
const (
	outerMemory    = 4 << 30
	outerProcesses = 3000
)

// newOuterGroup makes one that a person may enter, and skips where that cannot be. At the end of the test it must be empty.
func newOuterGroup(t *testing.T, who person) *outerGroup {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("an outer control group needs root")
	}
	g := &outerGroup{}
	name := "outer-" + random()
	own, err := os.ReadFile("/proc/self/cgroup")
	must(t, err)
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, controller := range strings.Split(f[1], ",") {
			if dir := filepath.Join("/sys/fs/cgroup", controller, f[2], name); slices.Contains([]string{"memory", "pids", "cpu", "cpuacct", "freezer"}, controller) && !slices.Contains(g.enter, dir) {
				g.enter = append(g.enter, dir)
			}
		}
	}
	put := func(file, text string) { must(t, os.WriteFile(file, []byte(text), 0)) }
	for _, dir := range g.enter {
		must(t, os.Mkdir(dir, 0o755))
		g.top = append(g.top, dir)
		for file, text := range map[string]string{"memory.limit_in_bytes": fmt.Sprint(outerMemory), "pids.max": fmt.Sprint(outerProcesses)} {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				put(filepath.Join(dir, file), text)
			}
		}
		must(t, os.Chown(filepath.Join(dir, "cgroup.procs"), int(who.uid), int(who.gid)))
	}
	if len(g.enter) == 0 { // v2; a group that hands controllers down has no process itself
		dir := filepath.Join("/sys/fs/cgroup", name)
		must(t, os.Mkdir(dir, 0o755))
		g.top = append(g.top, dir)
		put(filepath.Join(dir, "memory.max"), fmt.Sprint(outerMemory))
		put(filepath.Join(dir, "pids.max"), fmt.Sprint(outerProcesses))
		put(filepath.Join(dir, "cgroup.subtree_control"), "+memory +pids")
		inner := filepath.Join(dir, "psb")
		must(t, os.Mkdir(inner, 0o755))
		g.whole, err = os.Open(inner)
		must(t, err)
	}
	t.Cleanup(func() { g.remove(t) })
	return g
}

// hold makes a command begin in the group, without core files.
func (g *outerGroup) hold(cmd *exec.Cmd) {
	enter := "for g in $GROUPS_TO_ENTER; do echo $$ >$g/cgroup.procs || exit 99; done; "
	if g.whole != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.whole.Fd())
		enter = ""
	}
	cmd.Args = append([]string{"sh", "-c", enter + `unset GROUPS_TO_ENTER; ulimit -c 0 -n 2048; exec "$@"`, "sh"}, cmd.Args...)
	cmd.Path = "/bin/sh"
	cmd.Env = append(cmd.Env, "GROUPS_TO_ENTER="+strings.Join(g.enter, " "))
}

// pids are all processes in it.
func (g *outerGroup) pids() (list []int) {
	seen := map[int]bool{}
	for _, top := range g.top {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "cgroup.procs" {
				return nil // groups come and go while this walks
			}
			b, _ := os.ReadFile(path)
			for word := range strings.FieldsSeq(string(b)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 && !seen[pid] {
					seen[pid] = true
					list = append(list, pid)
				}
			}
			return nil
		})
	}
	return list
}

// groups are the names of psb's own groups in it, each once.
func (g *outerGroup) groups() (list []string) {
	for _, top := range g.top {
		_ = filepath.WalkDir(top, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "psb-") && !slices.Contains(list, d.Name()) {
				list = append(list, d.Name())
			}
			return nil
		})
	}
	slices.Sort(list)
	return list
}

// reached are the outer bounds that something came to: psb's own, which are lower, did not hold it.
func (g *outerGroup) reached() (list []string) {
	for _, top := range g.top {
		for file, most := range map[string]int64{"pids.peak": outerProcesses - 1, "memory.failcnt": 0, "memory.peak": outerMemory - 1} {
			b, err := os.ReadFile(filepath.Join(top, file))
			if err != nil {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err != nil || n > most {
				list = append(list, fmt.Sprintf("%s: %s", file, b))
			}
		}
	}
	return list
}

// remove waits until nothing is in it. What is there after a minute is told, and ended.
func (g *outerGroup) remove(t *testing.T) {
	if g.whole != nil {
		g.whole.Close()
	}
	until(t, "nothing is left in the outer group", func() bool { return len(g.pids()) == 0 && len(g.groups()) == 0 })
	for _, top := range g.top {
		if g.whole != nil {
			_ = os.Remove(filepath.Join(top, "psb"))
		}
		if err := unix.Rmdir(top); err != nil {
			t.Errorf("%s: %v", top, err)
		}
	}
}
