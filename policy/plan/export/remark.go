package export

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// Remark is a line of the policy, or something psb holds without a line, that an export does not hold as psb does.
type Remark struct {
	What   string // "[net] connect pypi.org:443 (.py-sandboxes:7)"
	Why    string
	Weaker bool // a restriction is lost; otherwise a right is, and the export is the stricter one
}

// String is the remark as a line.
func (r Remark) String() string {
	if r.Weaker {
		return "not held: " + r.What + ": " + r.Why
	}
	return "not exported: " + r.What + ": " + r.Why
}

// lost names a right that is left out.
func (m *maker) lost(what, format string, args ...any) { m.remark(false, what, format, args...) }

// weaker names a restriction that the target does not hold.
func (m *maker) weaker(what, format string, args ...any) { m.remark(true, what, format, args...) }

func (m *maker) remark(weaker bool, what, format string, args ...any) {
	r := Remark{what, fmt.Sprintf(format, args...), weaker}
	if !slices.Contains(m.remarks, r) {
		m.remarks = append(m.remarks, r)
	}
}

// line words a rule as remarks name it.
func line(table string, r policy.Rule) string {
	return "[" + table + "] " + string(r.Op) + " " + r.Pattern.Text + at(r.Origin)
}

func at(o policy.Origin) string {
	switch {
	case o.File != "":
		return fmt.Sprintf(" (%s:%d)", o.File, o.Line)
	case o.From != "":
		return " (" + o.From + ")"
	}
	return ""
}

// everywhere are the remarks that hold for every target: what only psb's own walls can do.
func (m *maker) everywhere() {
	m.weaker("[files] exec", "what can be read and has its x bit can be run: %s has no such right", m.target.tool())
	m.weaker("the second wall on files", "Landlock stands behind psb's mounts; here mounts stand alone")
	for _, dir := range m.plan.Missing {
		m.lost("[files] "+fmt.Sprintf("%q", dir), "the folder of a rule is not there: make it, then export again")
	}
	m.absent()
	for _, r := range m.plan.Policy.Rules {
		switch r.Op {
		case policy.OpHide:
			if r.Pattern.Glob {
				m.weaker(line("files", r), "hides what is there now: export again when files were added")
			}
		case policy.OpCreate:
			m.weaker(line("files", r), "keeps what is there now from being changed: export again when files were added")
		}
	}
	for _, table := range slices.Sorted(maps.Keys(m.plan.Policy.Tables)) {
		if strings.HasPrefix(table, "python.") {
			m.weaker("["+table+"]", "psb holds it inside Python, and no other tool does: %s knows nothing of imports, calls and evaluated text", m.target.tool())
		}
	}
}

// absent names lines whose object is not there now: a run would find it when it is. A file that may be made in its folder is no loss.
func (m *maker) absent() {
	for _, r := range m.plan.Policy.Rules {
		switch r.Op {
		case policy.OpRead, policy.OpWrite, policy.OpExec, policy.OpList, policy.OpDevice:
		default:
			continue
		}
		made := slices.ContainsFunc(m.plan.Places, func(p *plan.Place) bool {
			return p.Path == path.Dir(r.Pattern.Object) && p.Rights&(plan.Write|plan.Create) != 0 && !p.Guarded
		})
		if slices.Contains(m.plan.Absent, r.Origin) && !(r.Op == policy.OpWrite && made) {
			m.lost(line("files", r), "it is not there: export again when it is")
		}
	}
}

// limits names those that a target does not hold.
func (m *maker) limits(held ...string) {
	for _, name := range slices.Sorted(maps.Keys(m.plan.Limits)) {
		if l := m.plan.Limits[name]; !slices.Contains(held, name) {
			m.weaker(fmt.Sprintf("[limits] %s = %s%s", name, l.Text, at(l.Origin)), "%s", m.noLimit(name))
		}
	}
}

func (m *maker) noLimit(name string) string {
	switch {
	case name == "output":
		return "nobody counts what the program prints"
	case m.target == Bwrap:
		return "bubblewrap makes no control groups; start it below systemd-run --scope, with MemoryMax=, TasksMax= or CPUQuota="
	}
	return m.target.tool() + " has no such limit"
}
