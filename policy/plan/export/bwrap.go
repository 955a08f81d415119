package export

import (
	"fmt"
	"strconv"
	"strings"
)

// mostArguments is bubblewrap's own bound, --args included (bubblewrap.c, MAX_ARGS).
const mostArguments = 9000

// bwrap writes three kinds of files: run, the shell script to read and to start; args, the root as words for --args, each ended by NUL; the
// filter; and below root what psb makes itself.
func (m *maker) bwrap() error {
	m.everywhere()
	m.noNetwork("bubblewrap has no names and no ports: the box's network is empty")
	m.limits("cpu_time", "file_size", "open_files", "disk", "wall")
	if m.req.Root {
		m.weaker("the id of root's programs", "psb gives them an id that owns nothing; behind bubblewrap's uid %d stands root, without capabilities", m.plan.Identity.UID)
	}
	root := m.bwrapRoot()
	walls := m.bwrapWalls()
	if n := len(root) + len(walls) + len(m.plan.Command.Argv); n > mostArguments-1000 {
		return fmt.Errorf("bubblewrap takes %d arguments, and this plan has %d: narrow the `create` and `list` lines on large folders", mostArguments, n)
	}
	script, err := m.bwrapScript(walls)
	if err != nil {
		return err
	}
	made := m.files
	m.files = nil
	m.add(File{Name: "run", Mode: 0o755, Data: []byte(script)})
	m.add(File{Name: "args", Mode: 0o644, Data: []byte(strings.Join(root, "\x00") + "\x00")})
	m.add(File{Name: "filter.bpf", Mode: 0o644, Data: m.req.Program.Bytes})
	for _, f := range made {
		m.add(f)
	}
	return nil
}

// bwrapWalls is all but the root.
func (m *maker) bwrapWalls() []string {
	id := m.plan.Identity
	words := []string{"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
		"--uid", fmt.Sprint(id.UID), "--gid", fmt.Sprint(id.GID), "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv"}
	if m.plan.Spec.Hostname != "" {
		words = append(words, "--hostname", m.plan.Spec.Hostname)
	}
	return append(words, "--chdir", m.plan.Command.Dir)
}

// bwrapRoot is the root in the plan's order; files of psb's own are named relative to the export's folder.
func (m *maker) bwrapRoot() []string {
	var words, sealed []string
	hidden := func() string {
		m.add(File{Name: "hidden", Mode: 0})
		return "hidden"
	}
	list := acts(m.plan)
	for i, a := range list {
		mode := fmt.Sprintf("%04o", a.mode)
		for _, dir := range missingParents(list[:i], a.target) { // bubblewrap would make them for the owner alone
			words = append(words, "--perms", "0755", "--dir", dir)
		}
		switch a.kind {
		case actDir:
			words = append(words, "--perms", mode, "--dir", a.target)
		case actFile:
			m.add(File{Name: "root" + a.target, Mode: 0o644, Data: a.data})
			words = append(words, "--ro-bind", "root"+a.target, a.target)
		case actName:
			if a.folder {
				words = append(words, "--perms", "0000", "--dir", a.target)
			} else {
				words = append(words, "--ro-bind", hidden(), a.target)
			}
		case actHidden:
			if !a.folder {
				words = append(words, "--ro-bind", hidden(), a.target)
				continue
			}
			words = append(words, "--perms", "0000", "--tmpfs", a.target)
			sealed = append(sealed, a.target)
		case actLink:
			words = append(words, "--symlink", a.source, a.target)
		case actTmpfs:
			words = append(words, "--perms", mode)
			if a.size != 0 {
				words = append(words, "--size", fmt.Sprint(a.size))
			}
			words = append(words, "--tmpfs", a.target)
		case actBind:
			words = append(words, bindWord(a), a.source, a.target)
		case actSeal:
			sealed = append(sealed, a.target)
		case actProc:
			words = append(words, "--proc", a.target)
		case actDev:
			words = append(words, "--dev", a.target)
			sealed = append(sealed, a.target)
		case actQueue:
			words = append(words, "--mqueue", a.target)
		}
	}
	for _, at := range append(sealed, "/") {
		words = append(words, "--remount-ro", at)
	}
	return words
}

func bindWord(a act) string {
	switch {
	case a.device:
		return "--dev-bind"
	case a.readOnly:
		return "--ro-bind"
	}
	return "--bind"
}

// bwrapScript starts the box. Values of passed variables go through a pipe: they stand in no file and on no command line.
func (m *maker) bwrapScript(walls []string) (string, error) {
	variables, err := m.bwrapVariables()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("#!/bin/bash\n# psb policy export: a box by bubblewrap. Make it anew when the policy or the files it speaks of change.\n")
	for _, r := range m.remarks {
		fmt.Fprintf(&b, "# %s\n", visible(r.String()))
	}
	b.WriteString("set -eu\n[ $# -eq 0 ] || { echo \"$0: the program and its arguments are part of the export\" >&2; exit 125; }\n")
	b.WriteString("cd -- \"$(dirname -- \"$0\")\"\n\n")
	b.WriteString("variables() {\n" + variables + "}\n\n")
	b.WriteString("# 3: the filter, 4: the root, 5: the variables, 6: the program's standard input. The root to read: tr '\\0' '\\n' <args\n")
	b.WriteString("{ variables | {\n  exec 5<&0 0<&6 6<&- 3<filter.bpf 4<args\n")
	b.WriteString("  for fd in /proc/self/fd/*; do fd=${fd##*/}; if [ \"$fd\" -gt 5 ]; then eval \"exec $fd>&-\"; fi; done # what the caller left open\n  exec")
	for _, w := range m.holders() {
		b.WriteString(" " + quoted(w))
	}
	// Process 1 of the box is bubblewrap, and what it was started with can be read in the box's /proc: not the caller's variables.
	b.WriteString(" env -i \"PATH=$PATH\" bwrap")
	for _, w := range walls {
		if strings.HasPrefix(w, "--") {
			b.WriteString(" \\\n   ")
		}
		b.WriteString(" " + quoted(w))
	}
	b.WriteString(" \\\n    --args 4 --args 5 --seccomp 3 \\\n    --")
	for _, w := range append([]string{m.plan.Spec.Exec}, m.plan.Spec.Argv[1:]...) {
		b.WriteString(" " + quoted(w))
	}
	b.WriteString("\n}; } 6<&0\n")
	return b.String(), nil
}

// holders are the programs that hold what bubblewrap has no word for.
func (m *maker) holders() []string {
	words := []string{"setpriv", "--pdeathsig", "KILL", "--"} // the box ends with the script
	if l, ok := m.plan.Limits["wall"]; ok {
		words = append(words, "timeout", "--foreground", strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64))
	}
	words = append(words, "prlimit", "--core=1")
	for _, x := range []struct{ limit, option string }{{"cpu_time", "--cpu"}, {"file_size", "--fsize"}, {"open_files", "--nofile"}} {
		l, ok := m.plan.Limits[x.limit]
		if !ok {
			continue
		}
		n := l.Bytes + l.Count
		if x.limit == "cpu_time" {
			n = max(1, uint64(l.Time.Seconds()))
		}
		words = append(words, fmt.Sprintf("%s=%d", x.option, n))
	}
	return append(words, "--")
}

// bwrapVariables prints --setenv for each variable of the program.
func (m *maker) bwrapVariables() (string, error) {
	e, err := m.environment()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	write := func(list []fixed) {
		for i, f := range list {
			var set []string
			word := shellText(f.parts, fmt.Sprintf("psb_%d_", i), &set)
			for _, s := range set {
				b.WriteString("  " + s + "\n")
			}
			fmt.Fprintf(&b, "  printf '%%s\\0' --setenv %s %s\n", quoted(f.name), word)
		}
	}
	write(e.before)
	b.WriteString("  env -0 | LC_ALL=C sed -zn")
	for _, r := range e.never {
		re, ok := nameRegexp(r.Pattern.Text)
		if !ok {
			return "", fmt.Errorf("%s%s: no name of a variable that a shell script could match", r.Pattern.Text, at(r.Origin))
		}
		b.WriteString(" \\\n    -e " + quoted("/^"+re+"=/d"))
	}
	if e.tmpdir {
		b.WriteString(" \\\n    -e " + quoted(`s/^TMPDIR=.*$/--setenv\x00TMPDIR\x00\/tmp/p`))
	}
	for _, p := range e.pass {
		re, ok := nameRegexp(p.pattern)
		if !ok {
			m.lost(line("env", *p.rule), "no name of a variable that a shell script could match")
			continue
		}
		b.WriteString(" \\\n    -e " + quoted("/^"+re+"=/bset"))
	}
	b.WriteString(" \\\n    -e d -e :set -e " + quoted(`s/^\([^=]*\)=/--setenv\x00\1\x00/p`) + "\n")
	write(e.after)
	return b.String(), nil
}

// noNetwork names every line of [net] that a target cannot give, and what the filter's answer to connect costs.
func (m *maker) noNetwork(why string) {
	for _, r := range m.plan.NetRules() {
		if !r.Deny {
			m.lost(line("net", r), "%s", why)
		}
	}
	m.lost("connections within the box", "connect is refused as a whole: nothing stands behind the filter to see where one goes")
}
