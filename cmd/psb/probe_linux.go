// Does to the process: reads kernel facts; seccomp.Probe and, when a lower rung is accepted, namespaces.Probe start throw-away threads and boxes.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: prepare.go, doctor.go.
// Proved by: the scripts named doctor and explain_*.

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"psb/cgroups"
	"psb/landlock"
	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// facts are the probed machine in full, for the launcher and doctor; plan.Host is what a plan may depend on.
type facts struct {
	host       plan.Host
	namespaces namespaces.Support
	landlock   landlock.Support
	seccomp    seccomp.Support
	cgroups    cgroups.Support
}

// probe looks at the machine. The namespaces are tried for real only when thorough: a start that fails says the same, and a try costs as
// much as a start.
func probe(w *world, thorough bool) facts {
	w.seen.proc()
	var un unix.Utsname
	_ = unix.Uname(&un) // cannot fail with a valid buffer
	f := facts{landlock: landlock.Probe(), seccomp: seccomp.Probe(), cgroups: cgroups.Probe()}
	f.host = plan.Host{Kernel: unix.ByteSliceToString(un.Release[:]), Arch: runtime.GOARCH, Hostname: unix.ByteSliceToString(un.Nodename[:]),
		Root: w.root, Identity: w.id, Landlock: f.landlock, Seccomp: f.seccomp.Filter, Notify: f.seccomp.Notify, MemoryTotal: memoryTotal(),
		Limits: limitsHeld(f.cgroups), UserNS: true, PlainNS: w.root && namespaces.Admin(), Nested: !namespaces.Initial()}
	w.seen.contentBehind("/etc/resolv.conf")
	if b, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		f.host.Resolver = plan.ResolverLines(string(b))
	}
	if f.seccomp.Err != nil {
		f.host.SeccompWhy = f.seccomp.Err.Error()
	}
	switch {
	case f.seccomp.ListenerTaken:
		f.host.NotifyWhy = "another seccomp listener is around psb"
	case !f.seccomp.Notify:
		f.host.NotifyWhy = "the kernel has no seccomp user notification"
	}
	if set := namespaces.ReadSettings(); set.MaxUser == 0 {
		f.host.UserNS, f.host.UserNSWhy = false, "user.max_user_namespaces is 0"
	} else if !w.root && set.UnprivilegedClone == 0 {
		f.host.UserNS, f.host.UserNSWhy = false, "kernel.unprivileged_userns_clone is 0"
	}
	if thorough {
		f.namespaces = namespaces.Probe()
		f.host.UserNS = f.namespaces.User
		f.host.PlainNS = f.host.PlainNS && f.namespaces.Namespaces
		f.host.UserNSWhy = f.namespaces.Reason
	}
	return f
}

// limitsHeld says for each limit what is in the way of holding it; "" when something holds it.
func limitsHeld(s cgroups.Support) map[string]string {
	all := cgroups.Limits{Memory: 1 << 30, PIDs: 100, CPUs: 1}
	held := map[string]string{}
	_, lost := all.Fit(s)
	for _, l := range lost {
		held[l.Name[len("limits."):]] = l.Needs
	}
	if held["memory"] != "" {
		held["memory_swap"] = held["memory"]
	}
	return held
}

func memoryTotal() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// interpreter finds python and what is there without a rule.
func interpreter(w *world, name string, h *plan.Host) (*pythonshim.Layout, error) {
	layout, err := findInterpreter(w, name)
	if err != nil {
		return nil, err
	}
	h.Python, h.Venv = &layout, layout.Venv
	for _, l := range layout.Links {
		h.Links = append(h.Links, plan.Link{At: l.Path, Text: l.Text})
	}
	always(w, h)
	return &layout, nil
}

// trustedStore lets a CA store that a variable names count only where it stands itself, or as the system's: a link may have been put there by
// an earlier box, and may lead to a key.
func trustedStore(w *world, e pythonshim.Entry) bool {
	_, name, byVariable := strings.Cut(e.Why, ", ")
	if !byVariable || strings.HasPrefix(e.Path, "/etc/") || strings.HasPrefix(e.Path, "/usr/") {
		return true
	}
	value, _ := w.lookup(name)
	named := slices.ContainsFunc(filepath.SplitList(value), func(v string) bool { return filepath.Clean(v) == e.Path })
	return named && !policy.Sensitive(e.Path, policy.Macros{Home: w.id.Home, Project: w.cwd})
}

func always(w *world, h *plan.Host) {
	look := notedHost{pythonshim.Host{Env: w.env, Cwd: w.cwd}, w.seen, w.asked}
	entries, links := pythonshim.Always(look)
	for _, e := range entries {
		if trustedStore(w, e) {
			h.Always = append(h.Always, e.Path)
		}
	}
	for _, l := range links {
		h.Links = append(h.Links, plan.Link{At: l.Path, Text: l.Text})
	}
	programs := pythonshim.NewPrograms(look)
	h.Linked = func(executable string) []string {
		needs, _ := programs.Needs(executable) // what is missing cannot be shown
		out := needs.Files
		for _, l := range needs.Links {
			out = append(out, l.Path)
		}
		return out
	}
}
