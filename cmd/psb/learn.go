package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"psb/learn"
	"psb/policy"
	"psb/policy/approval"
	"psb/policy/plan"
)

// A learning run that is short collects garbage a quarter as often; a long one may keep much, and then that would be four times as much.
const (
	gcPercent = 400
	longRun   = 50_000 // events
)

// learnRun is `psb --learn …`: parse → locate → policy → python → plan → launch under the tracer → generalise → write → approve.
func learnRun(w *world, line *runLine) (int, error) {
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(nil)} // no launch is kept of a learning run
	j.look.passed = map[string]bool{}
	debug.SetGCPercent(gcPercent)
	err := programThere(w, line, j.where)
	if err == nil {
		err = j.boxed()
	}
	if err != nil {
		return refusedStatus(err), j.refused(err)
	}
	if line.explain || line.ask {
		return exitRefused, &usageError{"--explain-denials and --ask are for runs under a policy: a learning run records what the program needs and tells what was refused", "psb --ask SCRIPT"}
	}
	if !takesPolicy(line.form) && line.learnFile == "" && line.policy == "" {
		return exitRefused, &usageError{"--learn needs a script or a module: a policy belongs to a file", "psb --learn SCRIPT, or psb --learn=FILE …"}
	}
	if err := j.learnable(); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	app := j
	if line.learnRun != "" {
		var err error
		if j, err = app.suite(line.learnRun); err != nil {
			return refusedStatus(err), app.refused(err)
		}
	}
	j.bringCache()
	cmd := j.pythonCommand(line)
	for _, d := range line.learnWrite {
		cmd.Writes = append(cmd.Writes, absolute(w.cwd, d))
	}
	made, err := bringFolders(cmd.Writes)
	defer takeAway(made)
	if err != nil {
		return exitRefused, j.refused(refuse("", "--learn-write: %s", err))
	}
	for _, s := range line.learnUnix {
		if !strings.HasPrefix(s, "@") {
			s = absolute(w.cwd, s)
		}
		cmd.Sockets = append(cmd.Sockets, s)
	}
	if err := j.planFor(plan.Learn, cmd); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	if j.plan.Provider == plan.None {
		return exitRefused, j.refused(refuse("psb doctor", "learning needs walls: without them its floor does not hold"))
	}
	if err := j.reportable(); err != nil {
		return exitRefused, err
	}
	j.folder, app.folder = lookAtFolder(filepath.Dir(j.where.policy)), lookAtFolder(filepath.Dir(app.where.policy))
	app.plan = j.plan
	r := newRecorder(j)
	if r.record, err = j.startRecording(); err != nil {
		return refusedStatus(err), j.refused(err)
	}
	r.prepare = func() {
		r.known = j.knowledge()
		r.known.Made = among(cmd.Writes, made) // not what lies above one: it was only the way there
		r.known.Folder = filepath.Dir(app.where.policy)
		if app != j {
			r.split = learn.NewSplit(r.known)
			r.set = r.split.All
		}
		if r.record != nil {
			r.record.introduce(app, r.known)
		}
	}
	j.look.passed, w.asked = nil, nil // from here on things change, and several goroutines look variables up
	o, err := launch(j, r)
	takeAway(made) // now, for psb may die of the program's signal
	if err == nil {
		err = r.err
	}
	if err != nil {
		if o.started { // what was seen until then says what went wrong
			j.record(r.record, learn.Ended{Reason: "failed", Partial: err.Error()})
		}
		return j.reported(&o, denials{}, err)
	}
	if !o.started { // asked to end before the program ran: there is nothing to write
		return j.reported(&o, denials{}, nil)
	}
	j.tellPlanted()
	j.tellEnd(o)
	end := learn.Ended{Reason: o.reason, Status: o.status, Partial: partial(o), Peak: r.result.Peak}
	found := app.propose(r)
	j.record(r.record, end)
	r.record = nil
	if app != j {
		err = app.keepSuite(r, found, j, end)
	} else {
		err = j.keep((*job).propose, r, found, end)
	}
	return j.reported(&o, denials{}, err)
}

// bringCache makes the cache folder of an account that has none yet, so that what a program keeps there is learned. It stays, as it does when
// any other program makes it.
func (j *job) bringCache() {
	cache := j.macros.Cache
	if below(cache, j.macros.Home) || slices.ContainsFunc(plan.Homes(j.macros), func(h string) bool { return below(cache, h) }) {
		_ = os.Mkdir(cache, 0o700) // where it cannot be made, a program could not make it either
	}
}

// learnable checks everything that could keep the result from being written before anything runs.
func (j *job) learnable() error {
	j.facts = probe(j.w, j.tryNamespaces())
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return err
	}
	if err := j.checkTrust(); err != nil {
		return err
	}
	if j.written.Locked {
		return refuse("", "%s is locked: learning cannot add to it", j.shownPolicy())
	}
	if j.where.exists { // learning adds to what somebody has read, never to what a clone brought along
		if err := j.approved(false); err != nil {
			return err
		}
	}
	if err := writable(j.where.policy); err != nil {
		return refuse("psb --learn=FILE …", "policy %s: %s", j.shownPolicy(), err)
	}
	if err := j.findPython(); err != nil {
		return err
	}
	j.setMacros()
	return j.expand()
}

// keep writes what is missing; propose says again what that is where another psb wrote meanwhile.
func (j *job) keep(propose func(*job, *recorder) proposal, r *recorder, found proposal, end learn.Ended) error {
	if !j.folder.same() {
		return refuse("", "policy %s: its folder is another one than before the run; nothing is written", j.shownPolicy())
	}
	fresh := !j.where.exists
	if fresh {
		if err := j.clearPlace(); err != nil {
			return err
		}
	}
	at := j // whose policy the file holds now
	if len(found.missing) > 0 || fresh {
		err := policy.UpdateThen(j.where.policy, func(old []byte, exists bool) ([]byte, error) {
			if fresh && !exists {
				old = j.begun()
			} else if fresh || string(old) != string(j.written.Sources[0].Bytes) {
				other, err := j.meanwhile(old)
				switch {
				case err == nil:
					at, fresh, found = other, false, propose(other, r)
				case fresh: // what stands there now the program wrote
					old = j.begun()
					j.w.ui.say("planted: %s: the program wrote it; replaced", j.shownPolicy())
				default:
					return nil, errors.New("it changed while the program ran; nothing is added")
				}
			}
			src, _, err := policy.Edit(old, learn.Rules(found.missing))
			return src, err
		}, func() error { return at.approveLearned() })
		if err != nil {
			if said, ok := errors.AsType[*refusal](err); ok { // the file is written
				return said
			}
			for _, g := range found.missing {
				j.w.ui.say("not written: %s %s", g.Access.Op, plainLine(g.Text))
			}
			return refuse("psb --learn=FILE …", "policy %s: %s", j.shownPolicy(), err)
		}
	} else if err := j.approveLearned(); err != nil {
		return err
	}
	found.report.Ended(end)
	j.learned = found.report
	for _, l := range found.report.Lines() {
		j.w.ui.say("%s", plainLine(l))
	}
	if couldNotWrite(found.report.Refused) {
		j.w.ui.hint("--learn-write DIR lets a learning run write in DIR, too")
	}
	n := len(found.missing)
	switch {
	case fresh:
		j.w.ui.say("wrote %s: %s", j.shownPolicy(), counted(n, "rule"))
		if n > 0 {
			j.w.ui.hint("read it, lines marked ! first, then commit %s", j.shownPolicy())
		}
	case n > 0:
		j.w.ui.say("added %s to %s", counted(n, "rule"), j.shownPolicy())
	default:
		j.w.ui.say("%s already allows all that was seen", j.shownPolicy())
	}
	return nil
}

// proposal is what a run showed to be missing in a policy.
type proposal struct {
	missing []learn.Grant
	report  *learn.Report
}

// propose generalises what was seen and leaves out what the policy already gives; the record, where there is one, gets what was asked for that.
func (j *job) propose(r *recorder) proposal {
	known := r.known
	known.Writes = func(dir string) bool {
		return j.policy.Decide(policy.Access{Op: policy.OpCreate, Object: strings.TrimSuffix(dir, "/") + "/"}).Allowed
	}
	if r.record != nil {
		known = known.Telling(r.record.tell)
	}
	var found proposal
	if r.split != nil {
		found.missing, found.report = r.split.Application(known, j.policy)
	} else {
		found.missing, found.report = learn.Propose(r.set, known, j.policy)
	}
	return found
}

// clearPlace makes room for a first policy where the program put a link or a folder.
func (j *job) clearPlace() error {
	if fi, err := os.Lstat(j.where.policy); err != nil || fi.Mode().IsRegular() {
		return nil
	}
	if err := moveAside(j.where.policy); err != nil {
		return refuse("psb --learn=FILE …", "policy %s: %s", j.shownPolicy(), err)
	}
	j.w.ui.say("planted: %s: the program put something else than a file there; it is %s.planted now", j.shownPolicy(), j.shownPolicy())
	return nil
}

// meanwhile gives the job with the policy that another psb wrote while the program ran. Only an approved text is taken for that: approvals
// are out of every box's reach.
func (j *job) meanwhile(text []byte) (*job, error) {
	other := *j
	other.where.exists = true
	if err := other.loadPolicy(); err != nil {
		return nil, err
	}
	sources := other.written.Sources
	state, last, err := approval.At(j.macros.Config).Check(j.where.policy, sources)
	if err != nil {
		return nil, err
	}
	if !j.counts(state, last, sources, true) || string(sources[0].Bytes) != string(text) {
		return nil, errors.New("not approved")
	}
	if err := other.checkTrust(); err != nil {
		return nil, err
	}
	return &other, other.expand() // refuses a locked one
}

// approveLearned approves what psb itself wrote, together with the includes as they were before the run. An include that came or changed
// meanwhile is the program's doing: then nothing is approved.
func (j *job) approveLearned() error {
	p, err := policy.Load(policy.ReadFile, j.shownPolicy(), j.macros)
	if err != nil {
		return refuse("", "%s", err)
	}
	before := map[string]string{}
	for _, s := range j.written.Sources {
		before[s.Path] = string(s.Bytes)
	}
	for _, s := range p.Sources[1:] {
		if text, was := before[s.Path]; (!was || text != string(s.Bytes)) && !j.besideApproved(s.Path, true) {
			return refuse("read it, then psb policy approve", "planted: %s: it came or changed while the program ran; %s is not approved", plainText(shown(j.w.cwd, s.Path)), j.shownPolicy())
		}
	}
	if err := approval.At(j.macros.Config).Approve(j.where.policy, p.Sources); err != nil {
		j.w.ui.say("approvals: %v", err)
	}
	return nil
}

// about names the program in the file's first line.
func (j *job) about() string {
	switch {
	case j.opts.caller != "":
		return filepath.Base(j.where.reads[0])
	case j.where.script != "":
		return filepath.Base(j.where.script)
	default:
		if m := j.moduleName(); m != "" {
			return "-m " + m
		}
		return "a run"
	}
}

func (j *job) moduleName() string {
	argv := j.plan.Command.Argv
	if i := slices.Index(argv, "-m"); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return ""
}

// partial says why a run's record may be incomplete; Ctrl-C and SIGTERM are how servers end.
func partial(o outcome) string {
	switch {
	case o.askedToEnd():
		return ""
	case o.reason == "signal":
		return "ended by " + o.died.String()
	case o.reason != "exit":
		return "ended by the limit " + o.reason
	}
	return ""
}

// firstRun is a script or module without a policy: on a terminal psb asks, elsewhere it says what to type.
func firstRun(w *world, line *runLine, j *job) (int, error) {
	if line.caller != "" {
		r := refuse("", "no policy for %s: there is no %s beside it", plainText(line.caller), policyName)
		r.hints = []string{"open the block once as sandboxes(learn=True), read what it wrote, and commit it"}
		return exitRefused, j.refused(r)
	}
	if !w.terminal() {
		r := refuse("", "no policy for %s", plainText(line.target))
		words := "psb --learn " + shellQuote(line.target)
		if line.form == formModule {
			words = "psb --learn -m " + shellQuote(line.target)
		}
		r.hints = []string{"run " + words + " once where you trust it, read what it wrote, and commit it; who gets it with the code approves it: psb policy approve"}
		return exitRefused, j.refused(r)
	}
	w.ui.say("no policy for %s yet; a learning run is confined (writes only below the project, no credentials) and writes %s",
		plainText(line.target), shown(w.cwd, j.where.policy))
	fmt.Fprint(w.ui.w, "psb: Enter learns, a audits (nothing it changes is real, nothing is reached), q quits: ")
	answer, err := bufio.NewReader(w.stdio[0]).ReadString('\n')
	a := strings.ToLower(strings.TrimSpace(answer))
	if err == nil && (a == "a" || a == "audit") {
		line.audit = true
		return auditRun(w, line)
	}
	if err != nil || a != "" && a != "y" && a != "yes" {
		return exitRefused, refuse("psb --learn "+shellQuote(line.target), "nothing was started")
	}
	line.learn = true
	return learnRun(w, line)
}
