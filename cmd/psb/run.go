package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"psb/policy/plan"
)

// run is `psb [options] SCRIPT …`: parse → locate → policy → approve → python → plan → gaps → launch → denials → report.
func run(w *world, args []string) (int, error) {
	line, err := parseRun(args)
	if err != nil {
		return exitRefused, err
	}
	if line.json || line.timing {
		return exitRefused, &usageError{"--json and --timing are explain's", "psb explain …"}
	}
	if (line.learn || line.audit) && line.failOnDenial {
		return exitRefused, &usageError{"--fail-on-denial is for a run under a policy: learning and auditing refuse by their floor alone", "psb --learn …, then psb --fail-on-denial …"}
	}
	return againWhereChanged(w, func() (int, error) { return runLineOnce(w, line) })
}

func runLineOnce(w *world, line *runLine) (int, error) {
	if line.ask && (line.explain || line.record != "") {
		return exitRefused, &usageError{"--ask goes with neither --explain-denials nor --record: one waits for answers, the others watch", "psb --explain-denials SCRIPT, then psb policy allow-last"}
	}
	if len(line.inspect) > 0 && (line.audit || line.learn || line.form == formInfo) {
		return exitRefused, &usageError{"--inspect is for a run under a policy: what wording a value asks for would be learned as the program's own", "psb --learn …, then psb --inspect NAME …"}
	}
	if line.audit {
		return auditRun(w, line)
	}
	if line.learn {
		return learnRun(w, line)
	}
	if line.caller != "" && line.form != formScript {
		return exitRefused, &usageError{"--caller goes with the Python package's own script", "psb --help"}
	}
	j, err := enforced(w, line)
	if errors.Is(err, errNoPolicy) {
		return firstRun(w, line, j)
	}
	if err != nil {
		return refusedStatus(err), j.refused(err)
	}
	if j.plan.Provider == plan.None {
		return exitRefused, execBare(j)
	}
	if line.form == formREPL && w.terminal() {
		w.ui.say("python %s under %s (psb policy help)", j.layout.Version, orEmpty(j))
	}
	return j.launchEnforced()
}

func orEmpty(j *job) string {
	if !j.where.exists {
		return "the empty policy"
	}
	return j.shownPolicy()
}

// launchEnforced runs the plan and tells what was refused.
func (j *job) launchEnforced() (int, error) {
	if err := j.reportable(); err != nil {
		return exitRefused, err
	}
	if err := j.inspectable(); err != nil {
		return exitRefused, err
	}
	s := newSupervisor(j)
	var along watcher = s
	switch {
	case j.opts.ask:
		x, err := newAsker(s)
		if err != nil {
			return exitRefused, err
		}
		along = x
	case j.opts.explain || j.opts.record != "":
		x := newExplainer(s)
		if err := x.records(); err != nil {
			return refusedStatus(err), err
		}
		o, err := launch(j, x)
		if err == nil {
			err = x.err // it saw no more from then on, and ended the box
		}
		x.recorded(o, err)
		return j.told(s, o, err)
	}
	o, err := launch(j, along)
	return j.told(s, o, err)
}

// told says what a run that is over left to say, and gives psb's own status.
func (j *job) told(s *supervisor, o outcome, err error) (int, error) {
	found := s.seen.denials(j)
	if o.started {
		j.tellInspected(s.inspected)
	}
	tell(j.w.ui, j.w.cwd, found)
	j.keepLast(o, found.list)
	if err == nil {
		j.tellPlanted()
		j.tellEnd(o)
	}
	return j.reported(&o, found, err)
}

// tellPlanted names what the program put where a protected file would be read from. A policy made that way is inert: nobody approved it.
func (j *job) tellPlanted() {
	for _, n := range j.planted() {
		j.w.ui.say("planted: %s", plainText(shown(j.w.cwd, n)))
	}
}

func (j *job) planted() []string {
	if j.plan == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.plan.Watched), func(n string) bool {
		return !present(n) || (n == j.where.policy || n == j.beside) && j.plan.Mode == plan.Learn // of those keep tells
	})
}

// tellEnd names a limit that ended the run: a status alone cannot.
func (j *job) tellEnd(o outcome) {
	switch o.reason {
	case "wall", "memory", "output", "cpu_time":
		l := j.plan.Limits[o.reason]
		j.w.ui.say("ended by the limit %s = %s (%s)", o.reason, l.Text, originWords(l.Origin.File, l.Origin.Line, l.Origin.From))
	}
	if o.usage.PIDsRefused > 0 {
		l := j.plan.Limits["pids"]
		j.w.ui.say("new processes were refused by the limit pids = %s (%s)", l.Text, originWords(l.Origin.File, l.Origin.Line, l.Origin.From))
	}
}

func originWords(file string, line int, from string) string {
	if file != "" {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return from
}

func refusedStatus(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	return exitRefused
}

// refused writes the report of a run that never started.
func (j *job) refused(err error) error {
	if j == nil {
		return err
	}
	for _, lost := range j.writeReports(outcome{status: refusedStatus(err), reason: "refused"}, nil, err) {
		j.w.ui.say("report: %v", lost)
	}
	return err
}

// enforced prepares a run up to a plan without open gaps. The error errNoPolicy comes with the job so far.
func enforced(w *world, line *runLine) (*job, error) {
	j := &job{w: w, line: line, opts: line.options, where: locate(line, w), look: newLook(w.seen)}
	return j, j.enforce(line)
}

func (j *job) enforce(line *runLine) error {
	w := j.w
	if err := programThere(w, line, j.where); err != nil {
		return err
	}
	if line.form == formInfo && !j.where.named { // the interpreter speaks of itself: no project has a say
		j.where.exists, j.where.policy = false, ""
	}
	if err := j.readPolicy(takesPolicy(line.form) && line.caller != "-"); err != nil {
		return err
	}
	if err := j.findPython(); err != nil {
		return err
	}
	j.setMacros()
	if err := j.expand(); err != nil {
		return err
	}
	return j.planFor(plan.Enforce, j.pythonCommand(line))
}

// takesPolicy: forms with a file of their own must have a policy; the others run under the empty one where there is none.
func takesPolicy(f form) bool { return f == formScript || f == formModule }

// readPolicy finds, reads and checks the policy before anything is started for it.
func (j *job) readPolicy(must bool) error {
	if err := j.boxed(); err != nil {
		return err
	}
	j.facts = probe(j.w, j.tryNamespaces())
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return err
	}
	if err := j.checkTrust(); err != nil {
		return err
	}
	if j.written.Learn != "" {
		return refuse("remove the line, and use psb --learn", "%s: learn = %q: learning by policy is not in this build", j.shownPolicy(), j.written.Learn)
	}
	return j.approved(must)
}

// tryNamespaces: only who accepts a lower rung needs to know before the start whether the upper one would hold.
func (j *job) tryNamespaces() bool {
	return slices.Contains(j.opts.allowGaps, "namespaces") || j.opts.provider == "landlock"
}

// planFor compiles, makes the folders that write and create rules name, and stops at open gaps.
func (j *job) planFor(mode plan.Mode, cmd plan.Command) error {
	if err := j.boxed(); err != nil {
		return err
	}
	if !present("/proc/self/exe") {
		return refuse("mount -t proc proc /proc", "/proc is not mounted: psb cannot start a box without it")
	}
	if err := j.compile(mode, cmd); err != nil {
		return err
	}
	if err := j.openGaps(); err != nil {
		return err
	}
	if len(j.plan.Missing) == 0 || j.again {
		return nil
	}
	for _, dir := range j.plan.Missing {
		if err := makeFolder(dir); err != nil {
			return refuse("", "make the folder of a rule: %s", err)
		}
	}
	j.look = newLook(j.w.seen)
	if err := j.compile(mode, cmd); err != nil {
		return err
	}
	return j.openGaps()
}

// pythonCommand is what the interpreter is started with.
func (j *job) pythonCommand(line *runLine) plan.Command {
	argv := append([]string{j.layout.Launch}, line.interpreterArgs(j.where.script)...)
	return plan.Command{Exec: j.layout.Launch, Argv: argv, Env: j.w.env, Dir: j.w.cwd, Reads: j.where.reads, Python: true, Apart: line.apart(), Given: j.given(line.args)}
}

// given are the arguments that name something on this machine.
func (j *job) given(args []string) []string {
	var out []string
	for _, a := range args {
		if p := absolute(j.w.cwd, a); filepath.IsAbs(a) && present(p) {
			out = append(out, p)
		}
	}
	return out
}

// programThere answers a missing script as python does, and guesses what was meant.
func programThere(w *world, line *runLine, where whereabouts) error {
	if line.form != formScript {
		return nil
	}
	_, err := os.Stat(absolute(w.cwd, line.target))
	if err == nil {
		return nil
	}
	r := &refusal{what: fmt.Sprintf("can't open file %s: %v", plainText(line.target), unwrapPath(err)), status: 2}
	switch line.target {
	case "run", "test", "pytest", "pip", "unittest", "venv", "flask", "mypy", "ruff":
		words := map[string]string{"run": "psb", "test": "psb -m pytest"}[line.target]
		if words == "" {
			words = "psb -m " + line.target
		}
		if words == "psb" && len(line.args) == 0 {
			words = "psb SCRIPT"
		}
		for _, a := range line.args {
			words += " " + shellQuote(a)
		}
		r.hints = []string{words}
	}
	return r
}

func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
