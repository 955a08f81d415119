package cgroups

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// mount is one mounted cgroup hierarchy.
type mount struct {
	version  int // 1 or 2
	point    string
	root     string   // the group that is shown at point
	options  []string // v1: of the superblock; the hierarchy's controllers are among them
	readOnly bool
}

// parseMountinfo finds the cgroup mounts in the text of /proc/self/mountinfo (proc_pid_mountinfo(5)). Of several mounts of
// one hierarchy the first counts.
func parseMountinfo(text []byte) ([]mount, error) {
	var out []mount
	for line := range bytes.Lines(text) {
		left, right, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " - ")
		before, after := strings.Fields(left), strings.Fields(right)
		if !ok || len(before) < 6 || len(after) < 1 {
			return nil, fmt.Errorf("/proc/self/mountinfo: cannot read line %q", line)
		}
		m := mount{root: unescape(before[3]), point: unescape(before[4]), readOnly: slices.Contains(strings.Split(before[5], ","), "ro")}
		switch {
		case after[0] == "cgroup2":
			m.version = 2
		case after[0] == "cgroup" && len(after) >= 3:
			m.version = 1
			m.options = strings.Split(after[2], ",")
		default:
			continue
		}
		out = append(out, m)
	}
	return out, nil
}

// unescape undoes the octal escapes of mountinfo: space, tab, newline, backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// membership is which group the process is in, by hierarchy.
type membership struct {
	v1 map[string]string // controller, or "name=…" → group
	v2 string            // "" = no v2 hierarchy
}

// parseCgroup reads the text of /proc/PID/cgroup (cgroups(7)).
func parseCgroup(text []byte) (membership, error) {
	m := membership{v1: map[string]string{}}
	for line := range bytes.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			return membership{}, fmt.Errorf("/proc/self/cgroup: cannot read line %q", line)
		}
		if parts[0] == "0" && parts[1] == "" {
			m.v2 = parts[2]
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			m.v1[c] = parts[2]
		}
	}
	return m, nil
}

// parseDisabled finds the controllers which /proc/cgroups calls disabled: compiled in, but switched off at boot.
func parseDisabled(text []byte) map[string]bool {
	out := map[string]bool{}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) == 4 && !strings.HasPrefix(f[0], "#") && f[3] == "0" {
			out[f[0]] = true
		}
	}
	return out
}

// folder is where the group is seen under the mount; ok is false when the mount does not show it (a container that bind
// mounts another part of the hierarchy, or a group outside the cgroup namespace: "/../other").
func (m mount) folder(group string) (dir string, ok bool) {
	for e := range strings.SplitSeq(group, "/") {
		if e == ".." {
			return "", false
		}
	}
	if m.root == "/" {
		return path.Join(m.point, group), true
	}
	rest, ok := strings.CutPrefix(group, m.root)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Join(m.point, rest), true
}
