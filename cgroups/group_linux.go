// Does to the process: makes groups and writes their limits; where v2 leaves no other place, moves psb itself into a leaf.
// Undone: by Remove; the move into a leaf ends with psb, the leaf with the delegated group.
// Preconditions: Probe's Support is of this host and this process; the limits were fitted to it.
// Called by: cmd/psb, before the keeper is started.
// Proved by: TestMemoryBomb, TestForkBomb, TestQuota, TestRemoveLeavesNothing, TestCreateUndoesItself.

package cgroups

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Group is one process tree's group: on v1 one folder in each hierarchy, on v2 one folder in all.
type Group struct {
	name  string
	parts []part
}

type part struct {
	version     int
	parent, dir string
	controllers []string
}

// Create makes the group and writes its limits. A limit that s cannot hold is an error, as is a name that [Name] did not
// make or that is taken. Besides the controllers of the limits it uses those that tell peaks and kill the tree: memory,
// pids, cpuacct. Nothing is left behind after an error.
func Create(s Support, name string, l Limits) (*Group, error) {
	if _, _, ok := parseName(name); !ok {
		return nil, fmt.Errorf("create cgroup: name %q was not made by Name", name)
	}
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("create cgroup %q: %w", name, err)
	}
	g := &Group{name: name}
	if err := g.plan(s, l); err != nil {
		return nil, fmt.Errorf("create cgroup %q: %w", name, err)
	}
	if err := g.make(s, l); err != nil {
		return nil, fmt.Errorf("create cgroup %q: %w", name, errors.Join(err, g.Remove()))
	}
	return g, nil
}

func (g *Group) plan(s Support, l Limits) error {
	want := map[string]bool{memory: l.Memory != 0, pids: l.PIDs != 0, cpu: l.CPUs != 0} // value: must be
	want[cpuacct] = false
	if !s.Controllers[pids].Writable {
		want[freezer] = false
	}
	for _, name := range []string{memory, pids, cpu, cpuacct, freezer} {
		must, wanted := want[name]
		c := s.Controllers[name]
		switch {
		case !wanted || name == cpu && !must:
		case c.Writable:
			g.add(c, name)
		case must:
			return fmt.Errorf("the limit needs the controller %q: %s", name, c.Reason)
		}
	}
	if len(g.parts) == 0 {
		return errors.New("no controller can be used")
	}
	return nil
}

func (g *Group) add(c Controller, name string) {
	for i := range g.parts {
		if g.parts[i].parent == c.Dir {
			g.parts[i].controllers = append(g.parts[i].controllers, name)
			return
		}
	}
	g.parts = append(g.parts, part{version: c.Version, parent: c.Dir, dir: c.Dir + "/" + g.name, controllers: []string{name}})
}

func (g *Group) make(s Support, l Limits) error {
	made := g.parts
	g.parts = nil // what Remove may touch: never a group that was there before
	for _, p := range made {
		parent, err := openFolder(p.parent)
		if err != nil {
			return err
		}
		defer parent.close()
		if p.version == 2 {
			if err := handDown(parent, s, p.controllers); err != nil {
				return err
			}
		}
		if err := parent.mkdir(g.name); err != nil {
			return err
		}
		g.parts = append(g.parts, p)
		dir, err := parent.sub(g.name)
		if err != nil {
			return err
		}
		defer dir.close()
		if err := dir.limit(s, p, l); err != nil {
			return err
		}
	}
	return nil
}

// limit writes the limits of one part.
func (d *folder) limit(s Support, p part, l Limits) error {
	files := l.FilesV1()
	if p.version == 2 {
		files = l.FilesV2()
	}
	for _, f := range files {
		if !slices.Contains(p.controllers, f.Controller) {
			continue
		}
		err := d.write(f.Name, f.Value)
		// A kernel that cannot limit swap has no such file, and Fit has reported it where there is swap.
		if swap := strings.Contains(f.Name, "swap") || strings.Contains(f.Name, "memsw"); swap && !s.HasSwap && errors.Is(err, unix.ENOENT) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lower writes lower limits: those of l, which may be no higher than those the group has, for the controllers it was made with. A kernel may refuse
// less memory than is in use.
func (g *Group) Lower(s Support, l Limits) error {
	if err := l.Check(); err != nil {
		return fmt.Errorf("lower cgroup %q: %w", g.name, err)
	}
	for _, p := range g.parts {
		dir, err := openFolder(p.dir)
		if err == nil {
			err = dir.limit(s, p, l)
			dir.close()
		}
		if err != nil {
			return fmt.Errorf("lower cgroup %q: %w", g.name, err)
		}
	}
	return nil
}

// handDown makes the v2 folder give the controllers to its groups.
func handDown(parent *folder, s Support, controllers []string) error {
	if s.leave == parent.path {
		if err := leave(parent); err != nil {
			return err
		}
	}
	for _, name := range controllers {
		if s.Controllers[name].enable {
			if err := parent.write("cgroup.subtree_control", "+"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaf is the group psb moves itself into when its own has to hand controllers down.
const leaf = "psb"

func leave(own *folder) error {
	if err := own.mkdir(leaf); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	d, err := own.sub(leaf)
	if err != nil {
		return err
	}
	defer d.close()
	return d.write("cgroup.procs", "0")
}

// Name is the group's name.
func (g *Group) Name() string { return g.name }

// Dirs are the group's folders, to be removed once no process is left in them.
func (g *Group) Dirs() []string {
	var out []string
	for _, p := range g.parts {
		out = append(out, p.dir)
	}
	return out
}

// ProcsFiles are the files into each of which a process id has to be written to bring that process, and all it starts from
// then on, into the group. "0" is the writer itself.
func (g *Group) ProcsFiles() []string {
	var out []string
	for _, p := range g.parts {
		out = append(out, p.dir+"/cgroup.procs")
	}
	return out
}

// JoinFiles are the files by which a process of one thread comes into the group without the wait that a write to cgroup.procs means on some
// kernels (a grace period of RCU, 3 to 30 ms): of v1 the tasks file, into which the process itself has to write "0" (Linux 5.5), of v2
// cgroup.procs, whose folder clone3(2) takes with CLONE_INTO_CGROUP (Linux 5.7).
func (g *Group) JoinFiles() []string {
	var out []string
	for _, p := range g.parts {
		if p.version == 1 {
			out = append(out, p.dir+"/tasks")
		} else {
			out = append(out, p.dir+"/cgroup.procs")
		}
	}
	return out
}

// Usage reads what the tree used so far. It has to be asked before [Group.Remove].
func (g *Group) Usage() (Usage, error) {
	var u Usage
	known := map[string]bool{}
	for _, p := range g.parts {
		d, err := openFolder(p.dir)
		if err != nil {
			return Usage{}, fmt.Errorf("usage of cgroup %q: %w", g.name, err)
		}
		defer d.close()
		for _, s := range sources(p.version) {
			if s.controller != core && !slices.Contains(p.controllers, s.controller) {
				continue
			}
			text, err := d.read(s.file)
			if errors.Is(err, unix.ENOENT) {
				continue
			}
			if err != nil {
				return Usage{}, fmt.Errorf("usage of cgroup %q: %w", g.name, err)
			}
			if n, err := s.read(text); err == nil {
				s.store(&u, n)
				known[s.field] = true
			}
		}
	}
	for _, f := range fields {
		if !known[f] {
			u.Unknown = append(u.Unknown, f)
		}
	}
	return u, nil
}

// Adopt gives the group of that name, which another start of psb made with the same arguments, without touching it.
func Adopt(s Support, name string, l Limits) (*Group, error) {
	g := &Group{name: name}
	if err := g.plan(s, l); err != nil {
		return nil, fmt.Errorf("adopt cgroup %q: %w", name, err)
	}
	return g, nil
}

// Planned gives the folders that Create will make with the same arguments, and the group's JoinFiles, before any of it exists.
func Planned(s Support, name string, l Limits) (dirs, joins []string, err error) {
	g := &Group{name: name}
	if err := g.plan(s, l); err != nil {
		return nil, nil, fmt.Errorf("plan cgroup %q: %w", name, err)
	}
	return g.Dirs(), g.JoinFiles(), nil
}
