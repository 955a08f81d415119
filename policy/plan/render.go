package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"psb/policy"
)

// Text prints the plan for `psb explain`: what the run is, gaps first, then each stage in Order with the rule behind every line.
func (p *Plan) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run        %s\n", quoteAll(p.Command.Argv))
	fmt.Fprintf(&b, "in         %s\n", quoteAll([]string{p.Command.Dir}))
	fmt.Fprintf(&b, "policy     %s\n", orElse(p.Policy.Name, "none: the empty policy"))
	fmt.Fprintf(&b, "provider   %s\n", p.Provider)
	fmt.Fprintf(&b, "identity   uid %d gid %d inside\n", p.Identity.UID, p.Identity.GID)
	for _, line := range p.PythonLayer.text() {
		fmt.Fprintf(&b, "python     %s\n", line)
	}
	for _, g := range p.Gaps {
		state := "stops the run"
		if g.Accepted {
			state = "accepted"
		} else if g.Soft {
			state = "noted"
		}
		fmt.Fprintf(&b, "gap        %s (%s): %s; needs %s\n", g.Name, state, g.Lost, g.Needs)
	}
	for _, d := range p.Missing {
		fmt.Fprintf(&b, "make       %s\n", quoteAll([]string{d}))
	}
	for _, s := range Order {
		fmt.Fprintf(&b, "\n%s (%s: %s)\n", s.Stage, s.Side, s.Why)
		p.stage(&b, s.Stage)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) stage(b *strings.Builder, s Stage) {
	switch s {
	case "cgroup":
		for _, n := range slices.Sorted(maps.Keys(p.Limits)) {
			l := p.Limits[n]
			fmt.Fprintf(b, "  %-12s %s  %s\n", n, l.Text, originText(l.Origin))
		}
	case "namespaces":
		u := p.Spec.Unshare
		for _, n := range []struct {
			on   bool
			name string
		}{{u.User, "user"}, {u.Mount, "mount"}, {u.PID, "pid"}, {u.Net, "net (empty, loopback up)"}, {u.IPC, "ipc"}, {u.UTS, "uts"}, {u.Cgroup, "cgroup"}} {
			if n.on {
				fmt.Fprintf(b, "  %s\n", n.name)
			}
		}
		for _, r := range p.NetRules() {
			fmt.Fprintf(b, "  %s  %s\n", r.String(), originText(r.Origin))
		}
	case "mounts":
		for _, pl := range p.Places {
			if line := pl.text(); line != "" {
				fmt.Fprintf(b, "  %s\n", line)
			}
		}
	case "rlimits":
		for _, r := range p.Spec.Rlimits {
			fmt.Fprintf(b, "  %s %d\n", rlimitNames[r.Resource], r.Value)
		}
	case "capabilities":
		fmt.Fprintf(b, "  none left, bounding set empty\n")
	case "no-new-privs":
		fmt.Fprintf(b, "  on\n")
	case "landlock":
		for _, line := range strings.Split(strings.TrimSuffix(p.Files.String(), "\n"), "\n") {
			fmt.Fprintf(b, "  %s\n", line)
		}
	case "seccomp":
		fmt.Fprintf(b, "  base python: unknown calls are ENOSYS\n")
		for _, n := range slices.Sorted(maps.Keys(p.Syscalls)) {
			fmt.Fprintf(b, "  %s %v\n", n, p.Syscalls[n])
		}
	case "exec":
		fmt.Fprintf(b, "  %s\n", quoteAll([]string{p.Spec.Exec}))
		for _, kv := range p.Env {
			name, _, _ := strings.Cut(kv, "=")
			fmt.Fprintf(b, "  env %s  %s\n", quoteAll([]string{name}), p.envOrigin(name))
		}
	}
}

var rlimitNames = map[int]string{rlimitCPU: "cpu seconds", rlimitFSize: "file size", rlimitCore: "core", rlimitNProc: "processes", rlimitNoFile: "open files"}

// text is one line of explain: path, what may be done, why.
func (pl *Place) text() string {
	switch {
	case pl.Link != "":
		return fmt.Sprintf("%q link to %q", pl.Path, pl.Link)
	case pl.Hidden:
		return fmt.Sprintf("%q hidden  %s", pl.Path, origins(pl))
	case pl.Made == nil && pl.Source.Kind == Absent:
		return fmt.Sprintf("%q %s, absent  %s", pl.Path, pl.Rights, origins(pl))
	}
	words := pl.Rights.String()
	if pl.Guarded {
		words += ", protected"
	}
	if pl.Overlay {
		words += ", into a throw-away overlay"
	}
	if pl.Source.Kind != Absent && pl.Source.Path != pl.Path && pl.Made == nil {
		words += fmt.Sprintf(", from %q", pl.Source.Path)
	}
	if pl.Why != "" {
		words += " (" + pl.Why + ")"
	}
	return fmt.Sprintf("%q %s  %s", pl.Path, words, origins(pl))
}

func origins(pl *Place) string {
	var out []string
	for _, o := range pl.Origins {
		if o != alwaysThere {
			out = append(out, originText(o))
		}
	}
	return strings.Join(out, ", ")
}

func originText(o policy.Origin) string {
	if o.File != "" {
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return o.From
}

func (p *Plan) envOrigin(name string) string {
	for _, r := range p.Policy.Rules {
		if r.Op == policy.OpEnv && !r.Deny && matchName(r.Pattern.Text, name) {
			return originText(r.Origin)
		}
	}
	return ""
}

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r == '\\' }) {
			out[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(out, " ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
