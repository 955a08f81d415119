package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"psb/cmd/psb/report"
	"psb/policy"
	"psb/policy/plan"
)

// reportable refuses a run whose reports could not be written.
func (j *job) reportable() error {
	j.reportIn = nil
	var files []string
	for _, name := range j.opts.reports {
		file := absolute(j.w.cwd, name)
		if other := j.alsoWritten(file); other != "" {
			return refuse("another name for the report", "report %s: that is %s", plainText(name), other)
		}
		if slices.Contains(files, file) {
			return refuse("one name for each form: --report run.json --report run.sarif", "report %s: it is named twice", plainText(name))
		}
		if err := writable(file); err != nil {
			return refuse("psb --report FILE.json", "report %s: %s", plainText(name), err)
		}
		files, j.reportIn = append(files, file), append(j.reportIn, lookAtFolder(filepath.Dir(file)))
	}
	return nil
}

// alsoWritten names what else stands at a file, or will after the run; "" for nothing.
func (j *job) alsoWritten(file string) string {
	at := func(name string) bool { return name != "" && absolute(j.w.cwd, name) == file }
	switch {
	case at(j.opts.record):
		return "where the record goes"
	case at(j.opts.auditFile):
		return "where the audit's policy goes"
	case slices.Contains(j.policyFiles(), file) || file == j.beside:
		return "a policy"
	}
	return ""
}

// reported writes the reports of a run that is over and gives psb's own status. The program's word comes first: its status, where that is not
// 0, and its signal. Else 123 with --fail-on-denial when something was refused, and 125 when a report is missing: who asked for it decides by it.
func (j *job) reported(o *outcome, found denials, failure error) (int, error) {
	failed := failure == nil && j.opts.failOnDenial && o.status == 0 && o.died == 0 && found.any()
	if failed {
		o.status = exitDenied
		j.w.ui.say("the program ended with 0; status %d for what was refused (--fail-on-denial)", exitDenied)
	}
	lost := j.writeReports(*o, &found, failure)
	for _, err := range lost {
		j.w.ui.say("report: %v", err)
	}
	switch {
	case failure != nil:
		return refusedStatus(failure), failure
	case o.died != 0:
		return dieOf(o.died), nil
	case j.lost != nil && o.status == 0:
		o.status = exitRefused
		j.writeReports(*o, &found, j.lost)
	case len(lost) > 0 && o.status == 0:
		o.status = exitRefused
		j.writeReports(*o, &found, fmt.Errorf("report: %w", lost[0])) // those that can be written say why
	}
	return o.status, nil
}

// writeReports writes each report whole or not at all, and gives what kept it from writing some.
func (j *job) writeReports(o outcome, found *denials, failure error) (lost []error) {
	if len(j.opts.reports) == 0 && j.opts.answer == "" {
		return nil
	}
	r := j.report(o, found, failure)
	if j.opts.answer != "" {
		if err := answerCaller(j.opts.answer, r); err != nil {
			lost = append(lost, err)
		}
	}
	for i, name := range j.opts.reports {
		if err := j.writeReport(name, i, r); err != nil {
			lost = append(lost, err)
		}
	}
	return lost
}

func (j *job) writeReport(name string, i int, r *report.Report) error {
	format, err := report.FormatOf(name)
	if err != nil {
		return err
	}
	b, err := format.Render(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if i < len(j.reportIn) && !j.reportIn[i].same() {
		return fmt.Errorf("%s: its folder is another one than before the run; nothing is written", name)
	}
	if !mayWrite(len(b)) {
		return fmt.Errorf("%s: %d bytes are more than this process may write to a file (ulimit -f)", name, len(b))
	}
	return replaceFile(absolute(j.w.cwd, name), b, 0o644)
}

// replaceFile puts a file in place of another, whole or not at all.
func replaceFile(name string, b []byte, mode os.FileMode) error {
	return policy.Replace(filepath.Dir(name), filepath.Base(name), 0o600, func(f *os.File) error {
		if _, err := f.Write(b); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
}

// report puts together what is known of a run, over or never started.
func (j *job) report(o outcome, found *denials, failure error) *report.Report {
	r := &report.Report{Planted: j.planted()}
	r.Run = report.Run{Psb: version, Policy: j.where.policy, Folder: j.w.cwd, Root: sourcesTop(j.where.project)}
	if len(j.where.reads) > 0 {
		r.Program = j.where.reads[0]
	}
	r.End = report.End{Status: o.status, Reason: o.reason, Failed: o.status == exitDenied && o.exit.Status.ExitStatus() == 0, Usage: usageOf(o)}
	if o.died != 0 {
		r.Signal = o.died.String()
	}
	if failure != nil {
		r.Error = failure.Error()
		if r.Reason == "" {
			r.Reason = "refused"
		}
		if r.Status == 0 {
			r.Status = exitRefused
		}
	}
	if j.plan != nil {
		r.Argv, r.Provider, r.Mode = j.plan.Command.Argv, string(j.plan.Provider), j.plan.Mode.String()
		r.Python = reportPython(j.plan.PythonLayer)
		r.Inspected = j.inspected
		for _, g := range j.plan.Gaps {
			r.Gaps = append(r.Gaps, report.Gap(g))
		}
		r.Limits = j.reportLimits(o)
	}
	if found != nil {
		r.More = found.more
		for _, d := range found.list {
			r.Denials = append(r.Denials, j.reportDenial(d))
		}
	}
	r.Audit = reportAudit(j.findings)
	if j.learned != nil {
		r.Learning = reportLearning(j.learned)
	}
	return r
}

func reportPython(l plan.PythonLayer) *report.PythonLayer {
	return &report.PythonLayer{Present: l.Present, How: l.How, Interpreter: l.Interpreter, Version: l.Version, Why: l.Why, Imports: l.Imports, Calls: l.Calls, Eval: l.Eval}
}

func usageOf(o outcome) report.Usage {
	u := report.Usage{WallSeconds: o.wall.Seconds(), CPUSeconds: (o.exit.User + o.exit.System).Seconds(), MemoryPeak: o.usage.MemoryPeak,
		OOMKills: o.usage.OOMKills, PIDsPeak: o.usage.PIDsPeak, PIDsRefused: o.usage.PIDsRefused, Unknown: o.usage.Unknown}
	if u.MemoryPeak == 0 {
		u.MemoryPeak = o.exit.MaxRSS
	}
	return u
}

func (j *job) reportDenial(d *denial) report.Denial {
	out := report.Denial{Op: d.Op, Object: d.Object, Count: d.Count, Source: d.Source, Rule: d.Rule, Blocker: d.Blocker, Hint: d.Hint, Wider: d.Wider, LeadsTo: d.LeadsTo}
	if d.Where != "" {
		out.Where = absolute(j.w.cwd, d.Where)
	}
	out.File, out.Line = j.policyLine(d)
	return out
}

// policyLine is where the policy answers: the line that refuses, or that of the table which a rule would go into; 0 for a file without it.
func (j *job) policyLine(d *denial) (file string, line int) {
	if i := strings.LastIndexByte(d.Blocker, ':'); i > 0 {
		if _, err := fmt.Sscanf(d.Blocker[i+1:], "%d", &line); err == nil {
			return absolute(j.w.cwd, d.Blocker[:i]), line
		}
	}
	if j.written == nil || len(j.written.Sources) == 0 || !j.where.exists {
		return "", 0
	}
	for i, text := range bytes.Split(j.written.Sources[0].Bytes, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(text), []byte(tableOf(d.Access))) {
			return j.where.policy, i + 1
		}
	}
	return j.where.policy, 0
}

// tableOf is the table of the policy that speaks of an access.
func tableOf(a policy.Access) string {
	switch a.Op {
	case policy.OpEnv:
		return "[env]"
	case policy.OpConnect, policy.OpPrivate, policy.OpListen:
		return "[net]"
	case policy.OpSyscall:
		return "[syscalls]"
	case policy.OpImport:
		return "[python.import]"
	case policy.OpCall:
		return "[python.call]"
	case policy.OpEval:
		if profile, _, ok := strings.Cut(a.Object, "/"); ok {
			return "[python.eval." + profile + "]"
		}
		return "[python.eval]"
	}
	return "[files]"
}

// sourcesTop is the top of the git checkout that a folder belongs to, else the folder: what code scanning services take for the root of paths.
func sourcesTop(project string) string {
	for dir := project; dir != "" && dir != "/"; dir = filepath.Dir(dir) {
		if present(filepath.Join(dir, ".git")) {
			return dir
		}
	}
	return project
}

func reportAudit(f *findings) *report.Audit {
	if f == nil {
		return nil
	}
	a := &report.Audit{LookedUp: f.LookedUp, Refused: f.Refused, Failed: f.Failed, Missed: f.Missed, Policy: f.Policy, Partial: f.Partial}
	for _, c := range f.Changes {
		a.Changes = append(a.Changes, report.Change(c))
	}
	for _, w := range f.Wanted {
		a.Wanted = append(a.Wanted, report.Wanted{Op: string(w.Op), Object: w.Object, Risk: w.Risk, Because: w.Because})
	}
	return a
}
