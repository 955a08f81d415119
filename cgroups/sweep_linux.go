// Does to the process: kills what is left of dead psbs' boxes and removes their groups.
// Undone: it cannot be.
// Preconditions: /proc shows this host's processes; psb's Support.
// Called by: cmd/psb, once at each start.
// Proved by: TestSweepSparesTheLiving, TestSweepRealGroups.

package cgroups

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Sweep removes the groups that psbs left behind which no longer run: those whose name has the id of no process, or of one
// with another start time. The group of a running psb, one whose psb's state cannot be told, one that holds a process of
// another pid namespace, and every other name stay. It returns the names removed, sorted; an error with one group does not
// keep the others.
//
// A psb in another pid namespace whose group, in a shared folder, is still empty looks dead and may lose it; it then fails
// to start its box.
func Sweep(s Support) (removed []string, err error) { return sweep(s, running) }

func sweep(s Support, running func(pid int, start uint64) bool) (removed []string, err error) {
	left := map[string]*Group{}
	var errs []error
	alive := map[string]bool{} // one answer a group: a psb that dies meanwhile keeps all of its folders or none
	for _, name := range []string{memory, pids, cpu, cpuacct, freezer} {
		c := s.Controllers[name]
		if !c.Writable {
			continue
		}
		found, err := listGroups(c.Dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, group := range found {
			pid, start, ok := parseName(group)
			if !ok {
				continue
			}
			if _, asked := alive[group]; !asked {
				alive[group] = running(pid, start)
			}
			if alive[group] {
				continue
			}
			if left[group] == nil {
				left[group] = &Group{name: group}
			}
			left[group].add(c, name)
		}
	}
	for name, g := range left {
		if g.foreign() {
			continue
		}
		if err := errors.Join(g.Kill(), g.Remove()); err != nil {
			errs = append(errs, fmt.Errorf("sweep: %w", err))
			continue
		}
		removed = append(removed, name)
	}
	slices.Sort(removed)
	return removed, errors.Join(errs...)
}

// foreign tells whether the group holds a process of another pid namespace, whose psb cannot be seen from here.
func (g *Group) foreign() bool {
	for _, p := range g.parts {
		d, err := openFolder(p.dir)
		if err != nil {
			continue
		}
		list, err := d.processes()
		d.close()
		if err == nil && slices.Contains(list, "0") {
			return true
		}
	}
	return false
}

func listGroups(dir string) ([]string, error) {
	d, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.groups()
}

// running tells whether the process that had this id and start time still runs. In doubt it does.
func running(pid int, start uint64) bool {
	// Under hidepid= another user's process is missing in /proc, yet kill(2) knows it.
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	has, dead, err := parseStat(text)
	return err != nil || has == start && !dead
}
