// Does to the process: sends SIGKILL to every process of a group; removes groups.
// Undone: it cannot be.
// Preconditions: the group is psb's own (Create) or a dead psb's (Sweep); psb is not in it; pidfd_open(2), Linux 5.3.
// Called by: cmd/psb when a box has ended or must end; Sweep.
// Proved by: TestKillTree, TestRemoveLeavesNothing, TestForkBomb.

package cgroups

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds waiting for processes to die and for the kernel to let go of a group.
const patience = 5 * time.Second

// Kill ends every process of the group with SIGKILL and waits until none is left, at most five seconds. On v2 it is
// cgroup.kill (Linux 5.14); elsewhere the group is kept from forking first, so that a fork bomb cannot outrun it, which
// leaves the group unfit for further use.
func (g *Group) Kill() error {
	for _, p := range g.parts {
		if err := p.kill(g.still); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("kill cgroup %q: %w", g.name, err)
		}
	}
	return nil
}

// still keeps the tree from growing: no forks, or none that run. It returns how to undo a freeze, without which v1 never
// delivers the signal.
func (g *Group) still() (thaw func()) {
	for _, p := range g.parts {
		d, err := openFolder(p.dir)
		if err != nil {
			continue
		}
		defer d.close()
		switch {
		case slices.Contains(p.controllers, pids):
			if d.write("pids.max", "0") == nil {
				return func() {}
			}
		case slices.Contains(p.controllers, freezer):
			if d.write("freezer.state", "FROZEN") == nil {
				return func() {
					if d, err := openFolder(p.dir); err == nil {
						defer d.close()
						_ = d.write("freezer.state", "THAWED") // a group gone needs no thaw
					}
				}
			}
		}
	}
	return func() {}
}

func (p part) kill(still func() func()) error {
	d, err := openFolder(p.dir)
	if err != nil {
		return err
	}
	defer d.close()
	if p.version == 2 && d.write("cgroup.kill", "1") == nil {
		still = func() func() { return func() {} }
	}
	for wait := newWait(); ; {
		left, err := d.processes()
		if err != nil || len(left) == 0 {
			return err
		}
		thaw := still()
		err = d.signal(left)
		thaw()
		if err != nil {
			return err
		}
		if !wait.again() {
			return fmt.Errorf("%q: %d processes outlive SIGKILL", p.dir, len(left))
		}
	}
}

// atOnce bounds the descriptors open at one time.
const atOnce = 256

// signal kills the listed processes. Ids are reused, so a process is held by a pidfd and looked for in the group once more:
// still listed, the id can only mean the process held.
func (d *folder) signal(listed []string) error {
	held := map[string]int{}
	defer func() {
		for _, fd := range held {
			unix.Close(fd)
		}
	}()
	for _, s := range listed[:min(len(listed), atOnce)] {
		pid, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q: process id %q", d.path+"/cgroup.procs", s)
		}
		if pid == 0 {
			return fmt.Errorf("%q holds a process of another pid namespace", d.path)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("pidfd_open %d: %w", pid, err)
		}
		held[s] = fd
	}
	now, err := d.processes()
	if err != nil {
		return err
	}
	for _, s := range now {
		fd, ok := held[s]
		if !ok {
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("pidfd_send_signal %s: %w", s, err)
		}
	}
	return nil
}

// Remove removes the group's folders, and groups in them. It fails when a process is left; dying ones are waited for, at
// most five seconds. A folder already gone is no error.
func (g *Group) Remove() error {
	var errs []error
	for _, p := range g.parts {
		if err := removeGroup(p.parent, g.name); err != nil {
			errs = append(errs, fmt.Errorf("remove cgroup: %w", err))
		}
	}
	return errors.Join(errs...)
}

func removeGroup(parent, name string) error {
	d, err := openFolder(parent)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	for wait := newWait(); ; {
		err := d.remove(name)
		if !errors.Is(err, unix.EBUSY) || !wait.again() {
			return err
		}
	}
}

// remove removes one group, the groups in it first.
func (d *folder) remove(name string) error {
	err := unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	err = fmt.Errorf("rmdir %q: %w", d.path+"/"+name, err)
	if !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	sub, openErr := d.sub(name)
	if openErr != nil {
		return err
	}
	defer sub.close()
	inner, openErr := sub.groups()
	if openErr != nil || len(inner) == 0 {
		return err
	}
	for _, n := range inner {
		if err := sub.remove(n); err != nil {
			return err
		}
	}
	return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
}

// wait grows its pauses from 0.2 to 20 ms until patience is over.
type wait struct {
	end   time.Time
	pause time.Duration
}

func newWait() *wait { return &wait{time.Now().Add(patience), 200 * time.Microsecond} }

func (w *wait) again() bool {
	if time.Now().After(w.end) {
		return false
	}
	time.Sleep(w.pause)
	w.pause = min(2*w.pause, 20*time.Millisecond)
	return true
}
