package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"psb/policy"
	"psb/policy/approval"
	"psb/policy/plan"
	"psb/seccomp"
)

// explain is `psb explain [the words of a run]`: the plan, and nothing is run, made or approved.
func explain(w *world, args []string) (int, error) {
	if isHelp(args) {
		_, err := w.stdio[1].WriteString("psb explain [--json|--timing] [the words of a run]\n\nPrint the plan of a run, each line with the rule behind it, or with --timing how long each stage of its\nstart takes, up to the program, which is not started.\n")
		return 0, err
	}
	line, err := parseRun(args)
	if err != nil {
		return exitRefused, err
	}
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(w.seen)}
	if err := programThere(w, line, j.where); err != nil {
		return refusedStatus(err), err
	}
	if line.audit {
		return explainAudit(j, line)
	}
	j.facts = probe(w, true)
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return exitRefused, err
	}
	if err := j.checkTrust(); err != nil {
		return exitRefused, err
	}
	if err := j.findPython(); err != nil {
		return exitRefused, err
	}
	j.setMacros()
	mode := plan.Enforce
	if line.learn {
		mode = plan.Learn
	}
	if err := j.expand(); err != nil {
		return exitRefused, err
	}
	if line.timing {
		return timing(w, line, mode)
	}
	if err := j.compile(mode, j.pythonCommand(line)); err != nil {
		return exitRefused, err
	}
	standing, err := j.standing(takesPolicy(line.form))
	if err != nil {
		return exitRefused, err
	}
	return j.shownPlan(line, standing)
}

// explainAudit prints the plan of an audit, its overlays tried.
func explainAudit(j *job, line *runLine) (int, error) {
	if err := auditAlone(line); err != nil {
		return exitRefused, err
	}
	if line.timing {
		return exitRefused, &usageError{"--timing is of enforced runs", "psb explain --timing SCRIPT"}
	}
	j.w.traceless = true
	if err := j.auditable(true); err != nil {
		return exitRefused, err
	}
	if err := j.planAudit(j.pythonCommand(line)); err != nil {
		return exitRefused, err
	}
	return j.shownPlan(line, "an audit reads and writes none")
}

// shownPlan prints the plan as the line asks for it.
func (j *job) shownPlan(line *runLine, standing string) (int, error) {
	w := j.w
	if line.json {
		out := json.NewEncoder(w.stdio[1])
		out.SetIndent("", "  ")
		return 0, out.Encode(struct {
			plan.Shown
			Approval string `json:"approval"`
		}{j.plan.JSON(), standing})
	}
	return 0, j.showPlan(w.stdio[1], standing)
}

// showPlan prints the plan; the policy's line says how the policy stands. Names in it come from files and arguments.
func (j *job) showPlan(w io.Writer, standing string) error {
	named, p := *j.plan, *j.plan.Policy
	if p.Name == "" {
		p.Name = "none"
	}
	p.Name = plainText(p.Name) + " (" + standing + ")"
	named.Policy = &p
	var b bytes.Buffer
	if err := named.Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, plainLines(b.String()))
	return err
}

// standing says whether the policy counts, and approves nothing. must: the form of the run needs a policy.
func (j *job) standing(must bool) (string, error) {
	if j.where.named && j.where.exists {
		return "approved by naming it", nil
	}
	var sources []policy.Source
	if j.where.exists {
		sources = j.written.Sources
	}
	state := approval.Never
	if j.where.policy != "" {
		var err error
		if state, _, err = approval.At(j.macros.Config).Check(j.where.policy, sources); err != nil {
			return "", refuse("", "approvals: %s", err)
		}
	}
	switch {
	case !j.where.exists && j.opts.learn:
		return "a learning run writes one", nil
	case state == approval.Gone:
		return j.shownPolicy() + " is gone: a run would stop", nil
	case !j.where.exists && must:
		return "a run would stop: psb --learn makes one", nil
	case !j.where.exists:
		return "the empty policy", nil
	case state == approval.Approved:
		return "approved", nil
	}
	return "NOT APPROVED: a run would stop", nil
}

// compiled is a run of python under the policy in the working folder, as far as a plan: what check and why look at. Without an interpreter it
// is a run of nothing.
func (e *editing) compiled(p *policy.Policy, thorough bool) (*job, error) {
	j := &job{w: e.w, where: whereabouts{policy: e.path, exists: true, project: filepath.Dir(e.path)}, look: newLook(e.w.seen), written: p}
	j.facts = probe(e.w, thorough)
	j.setMacros()
	cmd := plan.Command{Exec: "/bin/true", Argv: []string{"true"}, Env: e.w.env, Dir: e.w.cwd}
	if err := j.findPython(); err == nil {
		cmd = j.pythonCommand(&runLine{})
	} else {
		always(e.w, &j.facts.host)
	}
	j.setMacros()
	if err := j.expand(); err != nil {
		return j, err
	}
	return j, j.compile(plan.Enforce, cmd)
}

// problems are those that a run would meet: macros, spelling of files and folders, kernel calls; notes are what would stop it here.
func (e *editing) problems(p *policy.Policy) (found []policy.Problem, notes []string, err error) {
	if _, err := p.Expand(e.macros); err != nil {
		var pe *policy.ParseError
		if !errors.As(err, &pe) {
			return nil, nil, refuse("", "%s", err)
		}
		found = append(found, pe.Problems...)
	}
	asked := seccomp.Options{Extra: map[string]bool{}}
	at := map[string]policy.Origin{}
	for _, r := range p.Rules {
		if _, seen := at[r.Pattern.Text]; r.Op == policy.OpSyscall && (!seen || r.Deny) {
			asked.Extra[r.Pattern.Text], at[r.Pattern.Text] = !r.Deny, r.Origin
		}
	}
	for _, x := range asked.Problems() {
		what := "[syscalls] " + x.Name + ": " + x.Why
		if class, _ := seccomp.ClassOf(x.Name); class == seccomp.Unknown {
			if n := nearest(x.Name, seccomp.Names()); n != "" {
				what += ", did you mean " + n + "?"
			}
		}
		found = append(found, policy.Problem{File: at[x.Name].File, Line: at[x.Name].Line, What: what})
	}
	if len(found) > 0 {
		return found, nil, nil
	}
	j, err := e.compiled(p, true)
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			x := policy.Problem{What: line}
			if file, n := place(line); n > 0 {
				x = policy.Problem{File: file, Line: n, What: placed.ReplaceAllString(line, "")}
			}
			found = append(found, x)
		}
		return found, nil, nil
	}
	if p.Version == 0 {
		notes = append(notes, "no line version = 1; it is read as that")
	}
	if err := j.checkTrust(); err != nil {
		notes = append(notes, err.Error())
	}
	for _, g := range plan.Open(j.plan.Gaps) {
		notes = append(notes, "a run would stop here: "+g.String()+"; needs "+g.Needs)
	}
	return nil, notes, nil
}

// why answers with the line that decides: status 0 allowed, 1 refused.
func (e *editing) why(args []string) (int, error) {
	words, err := e.words(args)
	if err != nil {
		return exitRefused, err
	}
	a, err := policy.ParseAccess(words)
	if err != nil {
		return exitRefused, refuse(e.meant("why", words), "%s", err)
	}
	p, err := e.load()
	if err != nil {
		return exitRefused, err
	}
	q, err := p.Expand(e.macros)
	if err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	if a, err = policy.Resolve(a, e.macros); err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	if a.Op == policy.OpList {
		a.Object = folderName(a.Object)
	}
	v := q.Decide(a)
	line := func(r *policy.Rule) string {
		return plainText(originWords(r.Origin.File, r.Origin.Line, r.Origin.From)) + " " + plainText(r.Pattern.Text)
	}
	word := plainText(a.String())
	switch {
	case v.Allowed:
		why, err := e.heldAnyway(p, a)
		if err != nil {
			return exitRefused, err
		}
		if why != "" {
			return 1, e.sayLine("refused: %s (%s, though %s allows it)", word, why, line(v.By))
		}
		return 0, e.sayLine("allowed: %s (%s)%s", word, line(v.By), within(q, a))
	case v.Blocker != nil:
		return 1, e.sayLine("refused: %s (%s)", word, line(v.Blocker))
	case v.Narrower != nil:
		return 1, e.sayLine("refused: %s (%s gives %s alone, and lies deeper than any line that gives it)", word, line(v.Narrower), v.Narrower.Op)
	}
	there, why, err := e.withoutRule(p, a)
	if err != nil {
		return exitRefused, err
	}
	if there {
		return 0, e.sayLine("allowed: %s (%s)", word, why)
	}
	return 1, e.sayLine("refused: %s (%s)", word, why)
}

// within names the lines that refuse what an allowed function may come down to: they hold inside it, too.
func within(p *policy.Policy, a policy.Access) string {
	c, ok := policy.CategoryOf(a.Object)
	if a.Op != policy.OpCall || !ok {
		return ""
	}
	var out []string
	for i := range p.Rules {
		r := &p.Rules[i]
		if other, _ := policy.CategoryOf(r.Pattern.Text); r.Op == policy.OpCall && r.Deny && other.Name == c.Name {
			out = append(out, plainText(originWords(r.Origin.File, r.Origin.Line, r.Origin.From))+" refuses it where it comes down to "+plainText(r.Pattern.Text))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; but " + strings.Join(out, ", ")
}

// heldAnyway says why the box refuses what a rule allows: the object is protected, or its name is a link that leads out of what is granted.
func (e *editing) heldAnyway(p *policy.Policy, a policy.Access) (string, error) {
	switch a.Op {
	case policy.OpRead, policy.OpWrite, policy.OpCreate, policy.OpList, policy.OpExec:
	default:
		return "", nil
	}
	j, err := e.compiled(p, false)
	if err != nil {
		return "", err
	}
	asked := strings.TrimSuffix(a.Object, "/")
	real := j.look.Resolve(asked).Path
	if near := j.nearest(asked); near != nil && near.Source.Path != "" && near.Source.Path != near.Path {
		return "", nil // another folder of the host stands there
	}
	near := j.nearest(real)
	switch {
	case near != nil && near.Guarded && (a.Op == policy.OpWrite || a.Op == policy.OpCreate):
		return "protected", nil
	case real != asked && j.inBox(a) == nil:
		return "leads to " + strconv.Quote(real), nil
	}
	return "", nil
}

// nearest is the place that a path stands in: its own, or that of the folder above it.
func (j *job) nearest(at string) *plan.Place {
	var best *plan.Place
	for _, p := range j.plan.Places {
		if p.Link == "" && (p.Path == at || below(at, p.Path)) && (best == nil || len(p.Path) > len(best.Path)) {
			best = p
		}
	}
	return best
}

// withoutRule knows what no rule has to allow: the base set, variables that are always there, what a box holds of itself.
func (e *editing) withoutRule(p *policy.Policy, a policy.Access) (bool, string, error) {
	if ofPython(a.Op) {
		return e.withoutPythonRule(p, a)
	}
	switch a.Op {
	case policy.OpSyscall:
		switch class, why := seccomp.ClassOf(a.Object); class {
		case seccomp.Base:
			return true, "always there", nil
		case seccomp.Floor:
			return false, "never granted: " + why, nil
		case seccomp.Unknown:
			return false, "no such kernel call", nil
		}
	case policy.OpEnv:
		if plan.AlwaysEnv(a.Object) || a.Object == "PYTHONDONTWRITEBYTECODE" {
			return true, "always there", nil
		}
	case policy.OpRead, policy.OpWrite, policy.OpCreate, policy.OpList, policy.OpExec, policy.OpDevice:
		j, err := e.compiled(p, false)
		if err != nil {
			return false, "", err
		}
		if pl := j.inBox(a); pl != nil {
			why := "always there"
			switch {
			case a.Op == policy.OpList && pl.Rights&(plan.List|plan.Read) == 0:
				why = "create shows the names in its folder"
			case pl.Why != "" && pl.Why != why:
				why += ": " + pl.Why
			}
			return true, why, nil
		}
	}
	return false, "no rule", nil
}

// inBox finds the place of the box by which an access is allowed without a rule of its own; nil when there is none.
func (j *job) inBox(a policy.Access) *plan.Place {
	rights := map[policy.Op]plan.Rights{policy.OpRead: plan.Read | plan.UseDevice, policy.OpWrite: plan.Write | plan.UseDevice, policy.OpCreate: plan.Write, policy.OpList: plan.List | plan.Read | plan.Create,
		policy.OpExec: plan.Exec, policy.OpDevice: plan.UseDevice}[a.Op]
	by := map[string]*plan.Place{}
	for _, p := range j.plan.Places {
		by[p.Path] = p
	}
	asked := strings.TrimSuffix(a.Object, "/")
	place := j.look.Resolve(asked).Path
	for at := place; ; at = filepath.Dir(at) {
		p := by[at]
		switch {
		case p == nil || p.Link != "":
		case p.Hidden || p.Guarded && rights == plan.Write:
			return nil
		case p.Rights&rights&^(plan.List|plan.Create) != 0 || at == place && p.Rights&rights != 0, // list and create speak of one folder
			a.Op == policy.OpCreate && at == filepath.Dir(place) && p.Rights.Has(plan.Create):
			if p.Made != nil && ours(j, asked) { // the host's is asked about, not what the box has in its place
				return nil
			}
			return p
		case p.Made != nil:
			return nil // of the box's own: what lies above shows nothing here
		}
		if at == "/" || at == "." {
			return nil
		}
	}
}
