package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"psb/landlock"
	"psb/namespaces"
	"psb/pythonshim"
)

// doctor is `psb doctor`: each layer, its version, what is lost here, and what would bring it. It changes nothing; status 1 when a layer
// that every run needs is missing.
func doctor(w *world, args []string) (int, error) {
	if isHelp(args) {
		_, err := w.stdio[1].WriteString("psb doctor\n\nSay what this host can enforce, what is missing and how to get it.\n")
		return 0, err
	}
	if len(args) > 0 {
		return exitRefused, &usageError{"doctor takes no words", "psb doctor"}
	}
	f := probe(w, true)
	d := diagnosis{w: w.stdio[1]}
	d.line("kernel", true, fmt.Sprintf("Linux %s %s", f.host.Kernel, f.host.Arch), "", "")
	n := f.namespaces
	switch {
	case n.User:
		d.line("namespaces", true, "user mount pid net ipc uts cgroup, procfs, a root of its own", "", "")
	case n.Namespaces:
		d.line("namespaces", true, "mount pid net ipc uts cgroup; no user namespace ("+n.Reason+")", "", n.Remedy)
	default:
		d.line("namespaces", false, n.Reason, "no private root, processes, network, temporary space", n.Remedy)
		if namespaces.ReadSettings().AppArmor == 1 && !w.root {
			d.more(appArmorProfile())
		}
	}
	d.landlock(f.landlock)
	s := f.seccomp
	if s.Filter {
		d.line("seccomp", true, "libseccomp "+s.LibVersion, "", "")
	} else {
		d.line("seccomp", false, f.host.SeccompWhy, "every kernel call may be used", "a kernel with CONFIG_SECCOMP_FILTER, a container that allows seccomp(2)")
	}
	if s.Notify {
		d.line("notify", true, fmt.Sprintf("refused calls are reported; signals held back during one: %v", s.WaitKillable), "", "")
	} else {
		d.soft("notify", f.host.NotifyWhy, "refused kernel calls are not reported", "Linux 5.5, and no listener of another sandbox around psb")
	}
	c := f.cgroups
	held, missing := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(c.Controllers)) {
		if c.Controllers[name].Writable {
			held = append(held, fmt.Sprintf("%s (v%d)", name, c.Controllers[name].Version))
		} else if name == "memory" || name == "pids" || name == "cpu" {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 && c.Usable() {
		d.line("cgroups", true, string(c.Version)+": "+strings.Join(held, " "), "", "")
	} else {
		why := fmt.Sprintf("%s: %s", c.Version, strings.Join(held, " "))
		lost := "limits on " + strings.Join(missing, ", ") + " are held by rlimits and by looking from time to time"
		remedy := ""
		for _, m := range missing {
			if remedy = c.Controllers[m].Needs; remedy != "" {
				why += " (" + m + ": " + c.Controllers[m].Reason + ")"
				break
			}
		}
		d.soft("cgroups", why, lost, remedy)
	}
	if w.root {
		if err := namespaces.ProbeIDMap(w.cwd); err != nil {
			d.soft("root-id", err.Error(), "root's own files here cannot be shown to the unprivileged id psb gives the program", "run psb as an ordinary user, or a file system with id-mapped mounts")
		} else {
			d.line("root-id", true, "id-mapped mounts work for the working folder", "", "")
		}
	}
	layout, err := pythonshim.Find("python3", pythonshim.Host{Env: w.env, Cwd: w.cwd})
	if err != nil {
		d.line("python", false, err.Error(), "nothing to run", "install python3, or psb --python PATH")
	} else {
		d.line("python", true, fmt.Sprintf("%s %s (%s)", layout.Launch, layout.Version, layout.Executable), "", "")
		d.pythonLayer(layout, f.host.UserNS || f.host.PlainNS)
	}
	return d.status, d.err
}

// pythonLayer says whether the policy's lines on Python can be held here. No run needs it: the walls are the kernel's.
func (d *diagnosis) pythonLayer(l pythonshim.Layout, namespaced bool) {
	const name = "python layer"
	switch {
	case !l.ShimFits():
		d.soft(name, "Python "+l.Version+" is older than 3.8", "[python.import], [python.call] and [python.eval] stop a run (gap python), refusals are told without lines", "CPython 3.8 or later: psb --python PATH")
	case !namespaced:
		d.soft(name, "sitecustomize, by PYTHONPATH", "-I, -E and -S, and children with another environment, run without it", "a mount namespace")
	default:
		d.line(name, true, "imports, sensitive calls and evaluated text: laid over "+l.Encodings, "", "")
	}
}

type diagnosis struct {
	w      io.Writer
	status int
	err    error
}

func (d *diagnosis) print(mark, name, have, lost, remedy string) {
	if have == "" {
		have = "not there"
	}
	_, err := fmt.Fprintf(d.w, "%-4s %-12s %s\n", mark, name, have)
	if lost != "" && err == nil {
		_, err = fmt.Fprintf(d.w, "     %-12s lost: %s\n", "", lost)
	}
	if remedy != "" && err == nil {
		_, err = fmt.Fprintf(d.w, "     %-12s remedy: %s\n", "", remedy)
	}
	if d.err == nil {
		d.err = err
	}
}

// line is a layer every run needs.
func (d *diagnosis) line(name string, ok bool, have, lost, remedy string) {
	if ok {
		d.print("ok", name, have, lost, remedy)
		return
	}
	d.status = 1
	d.print("NO", name, have, lost, remedy)
}

// soft is a layer a run can do without, saying so.
func (d *diagnosis) soft(name, have, lost, remedy string) { d.print("part", name, have, lost, remedy) }

func (d *diagnosis) more(text string) {
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if _, err := fmt.Fprintf(d.w, "       %s\n", l); err != nil && d.err == nil {
			d.err = err
		}
	}
}

func (d *diagnosis) landlock(s landlock.Support) {
	if s.ABI == 0 {
		d.line("landlock", false, s.Reason, "files are held by mounts alone", "Linux 5.13 with landlock in the boot option lsm=")
		return
	}
	_, lost := landlock.Everything().Fit(s)
	d.line("landlock", true, fmt.Sprintf("ABI %d of %d", s.ABI, landlock.NewestABI), "", "")
	for _, l := range lost {
		d.print("", "", l.What+" by Landlock; in a box of namespaces the other layers hold it", "", l.Needs)
	}
}

// appArmorProfile is what Ubuntu 24.04 needs to let psb make user namespaces.
func appArmorProfile() string {
	self, err := os.Executable()
	if err != nil {
		self = "/usr/local/bin/psb"
	}
	return "write /etc/apparmor.d/psb, then run apparmor_parser -r /etc/apparmor.d/psb:\n" +
		"abi <abi/4.0>,\ninclude <tunables/global>\nprofile psb " + self + " flags=(unconfined) {\n  userns,\n}"
}
