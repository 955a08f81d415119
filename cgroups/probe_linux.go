// Does to the process: reads /proc/self/{mountinfo,cgroup}, /proc/{cgroups,swaps} and control files; changes nothing.
// Undone: nothing to undo.
// Preconditions: /proc is mounted.
// Called by: cmd/psb, before the plan is made.
// Proved by: TestProbeFindsThisHost.

package cgroups

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// Probe finds out which groups psb, as its effective user, may make on this host. It never fails: what cannot be found out
// cannot be used, and the controllers' reasons say so.
func Probe() Support {
	mountinfo, err1 := os.ReadFile("/proc/self/mountinfo")
	cgroup, err2 := os.ReadFile("/proc/self/cgroup")
	mounts, err3 := parseMountinfo(mountinfo)
	member, err4 := parseCgroup(cgroup)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		unreadable := Controller{Reason: err.Error(), Needs: "a readable /proc"}
		return Support{Version: None, Controllers: map[string]Controller{memory: unreadable, pids: unreadable, cpu: unreadable}}
	}
	controllers, _ := os.ReadFile("/proc/cgroups") // gone with CONFIG_CGROUPS_V1: nothing is known to be disabled then
	// No swap file means a kernel without swap; an unreadable one counts as swap, which asks for more.
	swaps, err := os.ReadFile("/proc/swaps")
	swap := bytes.Count(swaps, []byte("\n")) > 1
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		swap = true
	}
	return facts{
		mounts: mounts, member: member, disabled: parseDisabled(controllers), swap: swap,
		may: mayMake, read: readFile, self: strconv.Itoa(os.Getpid()),
	}.support()
}

// mayMake asks for the two rights it takes: to make a folder in dir, and on v2 to move processes across it.
func mayMake(dir string) error {
	d, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer d.close()
	for name, mode := range map[string]uint32{".": unix.W_OK | unix.X_OK, "cgroup.procs": unix.W_OK} {
		if err := unix.Faccessat(d.fd, name, mode, unix.AT_EACCESS); err != nil {
			return fmt.Errorf("no groups can be made in %q: %w", dir, err)
		}
	}
	return nil
}

func readFile(file string) (string, error) {
	d, err := openFolder(path.Dir(file))
	if err != nil {
		return "", err
	}
	defer d.close()
	text, err := d.read(path.Base(file))
	return string(text), err
}
