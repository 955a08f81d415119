package main

import (
	"fmt"
	"slices"
	"strings"

	"psb/learn"
	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
)

// auditRun is `psb --audit …`: parse → locate → python → plan → try the overlays → launch under the tracer → look at what was changed → tell.
// It reads no policy and writes none, and leaves nothing of psb's own on the host but what --audit=FILE and --report name.
func auditRun(w *world, line *runLine) (int, error) {
	if err := auditAlone(line); err != nil {
		return exitRefused, err
	}
	w.traceless = true
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(w.seen)}
	if err := programThere(w, line, j.where); err != nil {
		return refusedStatus(err), err
	}
	if err := j.auditable(true); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	return j.audit(j.pythonCommand(line))
}

// auditExec is `psb exec --audit -- CMD ARGS`.
func auditExec(w *world, line *runLine, words []string) (int, error) {
	if err := auditAlone(line); err != nil {
		return exitRefused, err
	}
	w.traceless = true
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(w.seen)}
	if err := j.auditable(false); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	command, err := findCommand(w, words[0])
	if err != nil {
		return refusedStatus(err), j.refused(err)
	}
	j.where.script, j.where.reads = command, []string{command} // it needs no rule, as an enforced one does not
	return j.audit(plan.Command{Exec: command, Argv: words, Env: w.env, Dir: w.cwd, Reads: j.where.reads, Given: j.given(words[1:])})
}

// audit runs a command and tells what came of it.
func (j *job) audit(cmd plan.Command) (int, error) {
	if err := j.planAudit(cmd); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	if err := j.reportable(); err != nil {
		return exitRefused, err
	}
	j.w.asked = nil // several goroutines look variables up from here on
	r := newRecorder(j)
	r.audit = newAuditor()
	o, err := launch(j, r)
	if err == nil {
		err = r.err
	}
	if err != nil || !o.started {
		r.audit.close()
		return j.reported(&o, denials{}, err)
	}
	j.findings = j.auditFindings(r, o)
	j.tellEnd(o)
	j.tellFindings(o)
	return j.reported(&o, denials{}, j.writeNeeded())
}

// auditAlone refuses options that say what may be done for real: in an audit nothing is.
func auditAlone(line *runLine) error {
	for _, o := range []struct {
		given bool
		name  string
		why   string
	}{{line.learn, "learn", "one run either learns or audits"}, {line.ask, "ask", "an audit refuses nothing that could be allowed"}, {line.explain, "explain-denials", "an audit tells everything anyway"}, {line.record != "", "record", "what an audit saw is in its report"}, {line.policy != "", "policy", "an audit reads no policy"}, {len(line.allow) > 0, "allow", "an audit refuses nothing that could be allowed"},
		{len(line.learnWrite) > 0, "learn-write", "an audit lets the program write everywhere, and keeps nothing of it"}, {len(line.learnUnix) > 0, "learn-unix", "an audit reaches no socket of the host"}} {
		if o.given {
			return &usageError{"--" + o.name + " does not go with --audit: " + o.why, "psb --audit SCRIPT"}
		}
	}
	return nil
}

// auditable finds the interpreter, which a command may do without, and checks whatever could keep the result from being written before anything runs. What stands in the
// project's policy was written by whoever is not trusted: it counts for nothing here.
func (j *job) auditable(python bool) error {
	j.facts = probe(j.w, j.tryNamespaces())
	j.facts.host.Mounts = mountTable()
	j.where.exists, j.where.named = false, false
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return err
	}
	if file := j.opts.auditFile; file != "" {
		at := absolute(j.w.cwd, file)
		if present(at) {
			return refuse("psb --audit=NEW …", "--audit=%s: something is there already, and an audit replaces nothing", plainText(file))
		}
		if err := writable(at); err != nil {
			return refuse("psb --audit=FILE …", "--audit=%s: %s", plainText(file), err)
		}
	}
	if err := j.findPython(); err != nil {
		if python || j.opts.python != "" {
			return err
		}
		always(j.w, &j.facts.host)
	}
	j.setMacros()
	return j.expand()
}

// planAudit compiles the plan, tries its overlays, and compiles it again without those that the kernel refuses.
func (j *job) planAudit(cmd plan.Command) error {
	if !present("/proc/self/exe") {
		return refuse("mount -t proc proc /proc", "/proc is not mounted: psb cannot start a box without it")
	}
	for range 2 {
		if err := j.compile(plan.Audit, cmd); err != nil {
			return err
		}
		if j.plan.Provider != plan.Namespaces { // no gap that could be accepted: it would be a learning run with real writes
			return refuse("needs user namespaces (psb doctor says what is in the way)", "gap audit: without mounts of its own a box writes to the host")
		}
		if err := j.openGaps(); err != nil {
			return err
		}
		refused := namespaces.ProbeOverlays(&j.plan.Spec)
		if len(refused) == 0 {
			return nil
		}
		j.facts.host.NoOverlay = map[string]string{}
		for at, err := range refused {
			j.facts.host.NoOverlay[at] = err.Error()
		}
	}
	return refuse("psb doctor", "gap audit: the overlays that could be mounted a moment ago cannot be any more")
}

// findings is what an audit came to.
type findings struct {
	Changes  []change `json:"changes"` // sensitive ones first
	Wanted   []wanted `json:"accesses"`
	LookedUp []string `json:"looked_up"` // names asked for and never connected to
	Refused  []string `json:"refused"`   // what even an audit does not let pass
	Failed   []string `json:"failed"`    // what the system's own permissions, or a folder that is read-only here, kept from it
	Missed   []string `json:"missed"`    // what could not be looked at
	Policy   string   `json:"policy"`    // what the program would need
	Partial  string   `json:"partial,omitempty"`
	report   *learn.Report
}

// wanted is something the program read, ran or asked for.
type wanted struct {
	Op      policy.Op `json:"op"`
	Object  string    `json:"object"` // as the policy would name it
	Risk    string    `json:"risk,omitempty"`
	Because string    `json:"because,omitempty"`
}

// auditFindings puts together what the tracer and the broker saw and what the overlays hold.
func (j *job) auditFindings(r *recorder, o outcome) *findings {
	f := &findings{Partial: partial(o), Wanted: []wanted{}}
	f.Changes, f.Missed = j.lookAtChanges(r.audit.upper)
	r.audit.close()
	f.LookedUp = r.contacts()
	found := j.propose(r)
	f.report = found.report
	for _, g := range found.missing {
		if g.Access.Op == policy.OpWrite || g.Access.Op == policy.OpCreate {
			continue // the changes say it better
		}
		w := wanted{g.Access.Op, g.Text, g.Alert, g.Because}
		if w.Op == policy.OpConnect && w.Risk == "" {
			w.Risk = "reaches another machine"
		}
		f.Wanted = append(f.Wanted, w)
	}
	slices.SortStableFunc(f.Wanted, func(a, b wanted) int { return rank(a.Risk) - rank(b.Risk) })
	f.Refused = refusedLines(found.report, f.Changes)
	f.Failed = accessWords(found.report.Refused)
	src, _, err := policy.Edit(policy.New(j.about()), learn.Rules(found.missing))
	if err != nil {
		f.Missed = append(f.Missed, "the policy: "+err.Error())
	}
	f.Policy = string(src)
	return f
}

// rank sorts what has a risk first.
func rank(risk string) int {
	if risk != "" {
		return 0
	}
	return 1
}

// refusedLines words what the floor and the box kept from happening. What is named among the changes did happen, in the overlay.
func refusedLines(r *learn.Report, changes []change) []string {
	changed := map[string]bool{}
	for _, c := range changes {
		changed[c.Path], changed[c.From] = true, true
	}
	only := &learn.Report{Floor: map[policy.Access]learn.Errno{}, Calls: r.Calls}
	for a, e := range r.Floor {
		if e != "" || !changed[strings.TrimSuffix(a.Object, "/")] && a.Op != policy.OpWrite {
			only.Floor[a] = e
		}
	}
	return append([]string{}, only.Lines()...)
}

// accessWords lists accesses that failed, with the kernel's reason.
func accessWords(m map[policy.Access]learn.Errno) []string {
	out := []string{}
	for a, e := range m {
		out = append(out, fmt.Sprintf("%s (%s)", a, e))
	}
	slices.Sort(out)
	return out
}

// mostLines bounds each part of what an audit tells: more than these are folded by their folders.
const mostLines = 30

// tellFindings prints what the program would have done, what needs a look first.
func (j *job) tellFindings(o outcome) {
	f, say := j.findings, j.w.ui.say
	how := fmt.Sprintf("ended with status %d", o.status)
	if o.reason != "exit" {
		how = "ended by " + o.reason
		if o.died != 0 {
			how = "ended by " + o.died.String()
		}
	}
	say("audit of %s, which %s: nothing on this host was changed or reached; it would", plainText(j.about()), how)
	for _, marked := range []bool{true, false} {
		mark := "  "
		if marked {
			mark = "! "
		}
		var some []change
		for _, c := range f.Changes {
			if (c.Risk != "") == marked {
				some = append(some, c)
			}
		}
		for _, l := range foldChanges(some, mostLines, j.macros) {
			say("%s%s", mark, plainLine(l))
		}
		for _, w := range f.Wanted {
			if (w.Risk != "") == marked {
				say("%s%s", mark, plainLine(w.line()))
			}
		}
		if marked {
			for i, n := range f.LookedUp {
				if i == mostLines {
					say("! look up %s", counted(len(f.LookedUp)-i, "more name"))
					break
				}
				say("! look up %s", plainText(n))
			}
			for _, l := range f.Refused {
				say("! %s", plainLine(l))
			}
		}
	}
	for i, l := range f.Failed {
		if i == mostLines {
			say("  failed: %d more", len(f.Failed)-i)
			break
		}
		say("  failed: %s", plainLine(l))
	}
	if len(f.Changes)+len(f.Wanted)+len(f.Refused)+len(f.LookedUp) == 0 {
		say("  do nothing that needs a rule")
	}
	for _, l := range f.Missed {
		say("not looked at: %s", plainLine(l))
	}
	for _, g := range j.plan.Gaps {
		if g.Name == "overlay" {
			for _, l := range strings.Split(g.Lost, "; ") {
				say("not writable here: %s", plainLine(l))
			}
		}
	}
	if f.Partial != "" {
		say("partial run: %s", f.Partial)
	}
}

func (w wanted) line() string {
	words := map[policy.Op]string{policy.OpExec: "run", policy.OpEnv: "read the variable", policy.OpConnect: "connect to", policy.OpListen: "listen at",
		policy.OpList: "list", policy.OpSyscall: "call", policy.OpDevice: "use the device", policy.OpPrivate: "connect to the own network's"}
	word := words[w.Op]
	if word == "" {
		word = string(w.Op)
	}
	l := word + " " + w.Object
	switch {
	case w.Risk != "" && w.Because != "":
		l += "  # " + w.Risk + "; " + w.Because
	case w.Risk+w.Because != "":
		l += "  # " + w.Risk + w.Because
	}
	return l
}

// writeNeeded writes the policy the program would need to the file that --audit=FILE names, or prints it. It is approved nowhere.
func (j *job) writeNeeded() error {
	if n := len(slices.DeleteFunc(slices.Clone(j.findings.Changes), func(c change) bool { return c.Risk != protectedRisk })); n > 0 {
		j.w.ui.say("never granted, and so not in the policy it would need: %s of protected places", counted(n, "change"))
	}
	if j.opts.auditFile == "" {
		j.w.ui.say("the policy it would need:")
		lines := slices.DeleteFunc(strings.Split(j.findings.Policy, "\n"), func(l string) bool { return l == "" })
		for i, l := range lines {
			if i == 2*mostLines {
				j.w.ui.say("  … and %s; --audit=FILE writes them all", counted(len(lines)-i, "more line"))
				break
			}
			j.w.ui.say("  %s", plainLine(l))
		}
		return nil
	}
	at := absolute(j.w.cwd, j.opts.auditFile)
	if present(at) {
		return refuse("", "--audit=%s: something came there meanwhile; nothing is written", plainText(j.opts.auditFile))
	}
	if err := replaceFile(at, []byte(j.findings.Policy), 0o644); err != nil {
		return refuse("", "--audit=%s: %s", plainText(j.opts.auditFile), err)
	}
	j.w.ui.say("wrote the policy it would need to %s, approved nowhere", plainText(shown(j.w.cwd, at)))
	return nil
}
