package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Here is what the tests of killed and starved psbs look at: its processes, and what could be left of it.

// everything is every name in the scene: home, project, TMPDIR and the XDG folders.
func (s scene) everything(t *testing.T) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

// keptLaunch is what psb keeps for the next start of the same command: how many there are is not told by how many runs there were.
var keptLaunch = regexp.MustCompile(`/psb/launches(/\.?[0-9a-f]{64}(\.psb-new)?)?$`)

// lasting is everything but what psb keeps for itself.
func (s scene) lasting(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(s.everything(t), keptLaunch.MatchString)
}

// stages finds the keeper, a child of psb under the stages' own name, and the box's first process, which is number 1 in the keeper's child's
// namespace; 0 for one that is not there.
func stages(psb int) (keeper, reaper int) {
	for _, child := range children(psb) {
		if cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)); string(cmdline) == "psb-init\x00" {
			keeper = child
		}
	}
	for _, child := range children(keeper) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", child))
		for line := range strings.Lines(string(status)) {
			if f := strings.Fields(line); len(f) > 2 && f[0] == "NSpid:" && f[len(f)-1] == "1" {
				reaper = child
			}
		}
	}
	return keeper, reaper
}

func children(pid int) (list []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/children", pid))
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(b)) {
			n, _ := strconv.Atoi(word)
			list = append(list, n)
		}
	}
	return list
}

func dead(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	state := stat[bytes.LastIndexByte(stat, ')')+2]
	return state == 'Z' || state == 'X'
}

func mountLines(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	return strings.Split(string(b), "\n")
}

// cgroupsOf are the control groups that carry psb's name and the process id.
func cgroupsOf(pid int) (found []string) {
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), fmt.Sprintf("psb-%d-", pid)) {
			found = append(found, path)
		}
		return nil // groups come and go while this walks
	})
	return found
}
