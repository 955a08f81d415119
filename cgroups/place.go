package cgroups

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// facts is what was read from a host; support decides from it where groups are made. The functions ask for what depends
// on the answer to an earlier question, so that tests can give a host as a table.
type facts struct {
	mounts   []mount
	member   membership
	disabled map[string]bool
	swap     bool
	may      func(dir string) error            // nil when psb may make groups there and move processes into them
	read     func(file string) (string, error) // one control file
	self     string                            // psb's process id as cgroup.procs spells it
}

// What would help an ordinary user.
const (
	delegation = `root, or a group of one's own: "systemd-run --user --scope -p Delegate=yes psb …", for a service Delegate=yes and DelegateSubgroup=psb`
	unified    = `root, or cgroup v2 (boot options systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all) and a group of one's own`
)

func (f facts) support() Support {
	s := Support{Version: f.version(), Controllers: map[string]Controller{}, HasSwap: f.swap}
	for _, name := range []string{memory, pids, cpu, cpuacct, freezer} {
		if c, ok := f.onV1(name); ok {
			s.Controllers[name] = c
		}
	}
	f.onV2(&s)
	for _, name := range []string{memory, pids, cpu} {
		if _, ok := s.Controllers[name]; !ok {
			s.Controllers[name] = f.absent(name)
		}
	}
	s.SwapLimit = f.swapLimit(s.Controllers[memory])
	return s
}

func (f facts) version() Version {
	one := slices.ContainsFunc(f.mounts, func(m mount) bool { return m.version == 1 && !slices.Contains(m.options, "name=systemd") })
	two := slices.ContainsFunc(f.mounts, func(m mount) bool { return m.version == 2 })
	switch {
	case one && two:
		return Hybrid
	case one:
		return V1
	case two:
		return V2
	}
	return None
}

// onV1: groups are made below psb's own group in the controller's hierarchy; ok is false when v1 does not hold it.
func (f facts) onV1(name string) (c Controller, ok bool) {
	group, ok := f.member.v1[name]
	if !ok {
		return Controller{}, false
	}
	c.Version = 1
	shown := false
	for _, m := range f.mounts {
		if m.version != 1 || !slices.Contains(m.options, name) {
			continue
		}
		dir, ok := m.folder(group)
		if !ok {
			continue
		}
		shown = true
		err := f.may(dir)
		if m.readOnly {
			err = fmt.Errorf("%q is mounted read-only", m.point)
		}
		if err == nil {
			return Controller{Version: 1, Dir: dir, Writable: true}, true
		}
		c.Reason, c.Needs = err.Error(), unified
	}
	if !shown {
		c.Reason, c.Needs = fmt.Sprintf("the v1 group %q is not shown by any mount", group), "a host or container that shows its cgroups"
	}
	return c, true
}

// spot is one candidate folder for v2 groups.
type spot struct {
	dir         string
	err         error           // why not at all
	controllers map[string]bool // usable there; true = has to be handed down first
	leave       bool
}

// onV2 adds the controllers of the v2 hierarchy. No process may be in a group that hands controllers down, the root
// excepted, which decides between the spots.
func (f facts) onV2(s *Support) {
	i := slices.IndexFunc(f.mounts, func(m mount) bool { return m.version == 2 })
	if i < 0 || f.member.v2 == "" {
		return
	}
	m := f.mounts[i]
	own, shown := m.folder(f.member.v2)
	if !shown {
		return
	}
	offered := f.words(own, "cgroup.controllers")
	var best spot
	var why []string
	for _, spot := range f.spots(m, own) {
		if spot.err != nil {
			why = append(why, spot.err.Error())
		}
		if best.dir == "" || len(spot.controllers) > len(best.controllers) {
			best = spot
		}
		for c := range spot.controllers {
			if !slices.Contains(offered, c) {
				offered = append(offered, c)
			}
		}
	}
	for _, name := range []string{memory, pids, cpu} {
		if s.Controllers[name].Version == 1 || !slices.Contains(offered, name) {
			continue
		}
		enable, usable := best.controllers[name]
		switch {
		case usable:
			s.Controllers[name] = Controller{Version: 2, Dir: best.dir, Writable: true, enable: enable}
			if best.leave {
				s.leave = best.dir
			}
		case best.err != nil:
			s.Controllers[name] = Controller{Version: 2, Reason: strings.Join(why, "; "), Needs: delegation}
		default:
			s.Controllers[name] = Controller{Version: 2, Reason: fmt.Sprintf("%q does not hand it down", best.dir), Needs: delegation}
		}
	}
}

func (f facts) spots(m mount, own string) []spot {
	if m.readOnly {
		return []spot{{dir: own, err: fmt.Errorf("%q is mounted read-only", m.point)}}
	}
	// Only the root has no type: a cgroup namespace's "/" is none.
	if _, err := f.read(own + "/cgroup.type"); err != nil {
		return []spot{f.spot(own, true)}
	}
	var out []spot
	if up, ok := m.folder(path.Dir(f.member.v2)); ok && f.member.v2 != "/" {
		_, err := f.read(up + "/cgroup.type")
		out = append(out, f.spot(up, err != nil || len(f.words(up, "cgroup.procs")) == 0))
	}
	in := spot{dir: own, err: fmt.Errorf("%q holds other processes besides psb", own)}
	if procs := f.words(own, "cgroup.procs"); len(procs) == 1 && procs[0] == f.self {
		in = f.spot(own, true)
		in.leave = true
	}
	return append(out, in)
}

// spot looks at one folder; empty says that it may be told to hand further controllers down.
func (f facts) spot(dir string, empty bool) spot {
	if err := f.may(dir); err != nil {
		return spot{dir: dir, err: err}
	}
	if kind, err := f.read(dir + "/cgroup.type"); err == nil && strings.TrimSpace(kind) != "domain" {
		return spot{dir: dir, err: fmt.Errorf("%q is a %s group", dir, strings.TrimSpace(kind))}
	}
	handed := f.words(dir, "cgroup.subtree_control")
	out := spot{dir: dir, controllers: map[string]bool{}}
	for _, name := range f.words(dir, "cgroup.controllers") {
		if name != memory && name != pids && name != cpu {
			continue
		}
		if slices.Contains(handed, name) {
			out.controllers[name] = false
		} else if empty {
			out.controllers[name] = true
		}
	}
	return out
}

func (f facts) absent(name string) Controller {
	switch {
	case f.disabled[name]:
		return Controller{Reason: "the kernel has the controller switched off", Needs: "the kernel boot option cgroup_enable=" + name}
	case f.version() == None:
		return Controller{Reason: "no cgroup hierarchy is mounted", Needs: "cgroup2 mounted on /sys/fs/cgroup"}
	default:
		return Controller{Reason: "no hierarchy psb can see offers the controller", Needs: delegation}
	}
}

func (f facts) swapLimit(c Controller) bool {
	switch {
	case !c.Writable:
		return false
	case c.Version == 1:
		_, err := f.read(c.Dir + "/memory.memsw.limit_in_bytes")
		return err == nil
	}
	// The root has no such file itself although its children do.
	if _, err := f.read(c.Dir + "/cgroup.type"); err != nil {
		return true
	}
	_, err := f.read(c.Dir + "/memory.swap.max")
	return err == nil
}

func (f facts) words(dir, file string) []string {
	text, err := f.read(dir + "/" + file)
	if err != nil {
		return nil
	}
	return strings.Fields(text)
}
