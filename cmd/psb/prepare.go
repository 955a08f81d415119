package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"psb/cmd/psb/report"
	"psb/learn"
	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// refusal is why psb does not start: one line, what to do, the status.
type refusal struct {
	what   string
	hints  []string
	status int
}

func (r *refusal) Error() string { return r.what }

func refuse(hint, format string, args ...any) *refusal {
	r := &refusal{what: fmt.Sprintf(format, args...), status: exitRefused}
	if hint != "" {
		r.hints = []string{hint}
	}
	return r
}

// job is everything known before the launch.
type job struct {
	w         *world
	line      *runLine       // nil where there is none: exec
	again     bool           // for a box that runs already: nothing is asked or made
	bare      bool           // psb's own box, beside the program's: no signal is for it
	number    int            // among the boxes of this process
	filters   *launchFilters // nil: they are to be built
	opts      options
	where     whereabouts
	macros    policy.Macros
	written   *policy.Policy // as written, with includes
	policy    *policy.Policy // expanded, with the command line's rules
	net       *policy.Policy // its [net] alone, of a launch that was kept; nil where policy is there
	facts     facts
	look      *hostLook
	request   plan.Request
	plan      *plan.Plan
	layout    *pythonshim.Layout
	lost      error              // of --record, when the run is over
	reportIn  []folderID         // of each --report
	learned   *learn.Report      // of a learning run whose rules are written
	findings  *findings          // of an audit that is over
	inspected []report.Inspected // of a run that is over, as --inspect asked
	folder    folderID           // of the policy a learning run will write
	beside    string             // the other policy that a learning run will write; "" for none
}

// loadPolicy reads the policy file and its includes; a policy that is not there is the empty one.
func (j *job) loadPolicy() error {
	if !j.where.exists {
		if j.where.named && !j.opts.learn {
			return refuse("", "policy %s: no such file", plainText(j.opts.policy))
		}
		p, err := policy.Parse("", []byte("version = 1\n"))
		if err != nil {
			return fmt.Errorf("BUG: the empty policy: %w", err)
		}
		j.written = p
		return nil
	}
	p, err := policy.Load(j.readNoted, j.shownPolicy(), j.macros)
	if err != nil {
		var pe *policy.ParseError
		if errors.As(err, &pe) {
			return refuse("psb policy help", "%s", err)
		}
		return refuse("", "policy %s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "policy: "), "policy "))
	}
	j.written = p
	return nil
}

// readNoted is policy.ReadFile, noted.
func (j *job) readNoted(name string) ([]byte, error) {
	j.w.seen.contentBehind(absolute(j.w.cwd, name))
	return policy.ReadFile(name)
}

// shownPolicy is the policy's path as messages name it: relative where it is below the working folder.
func (j *job) shownPolicy() string { return shown(j.w.cwd, j.where.policy) }

func shown(cwd, p string) string {
	if p == cwd || p == cwd+"/" {
		return "./"
	}
	if below(p, cwd) {
		return strings.TrimPrefix(p, strings.TrimSuffix(cwd, "/")+"/")
	}
	return p
}

// checkTrust refuses what only the user may say, when a project's file says it.
func (j *job) checkTrust() error {
	s := j.written.Sandbox
	own := filepath.Join(j.macros.Config, "psb")
	mine := func(key string) bool {
		o, ok := s.Origin[key]
		return !ok || below(absolute(j.w.cwd, o.File), own)
	}
	at := func(key string) string { o := s.Origin[key]; return fmt.Sprintf("%s:%d", o.File, o.Line) }
	if s.Provider == "none" && !mine("provider") {
		return refuse("psb --provider none …", `%s: provider = "none" counts only on the command line or in %s/`, at("provider"), own)
	}
	if len(s.AllowGaps) > 0 && !mine("allow_gaps") {
		return refuse("psb --allow-gap NAME …", "%s: allow_gaps counts only on the command line or in %s/", at("allow_gaps"), own)
	}
	if _, set := s.Origin["require"]; set && !mine("require") {
		for _, need := range plan.DefaultRequire {
			if !slices.Contains(s.Require, need) {
				return refuse("add it to the list", "%s: require leaves out %q; a shorter list counts only in %s/", at("require"), need, own)
			}
		}
	}
	return nil
}

// expand gives the policy its paths and adds the command line's rules and limits.
func (j *job) expand() error {
	p := j.written
	if (len(j.opts.allow) > 0 || j.opts.learn) && p.Locked {
		return refuse("", "%s is locked: rights cannot be added on the command line or by learning", j.shownPolicy())
	}
	var rules []policy.Rule
	for _, words := range j.opts.allow {
		r, err := policy.ParseRule(words, j.w.cwd, j.macros)
		if err != nil {
			return refuse(`psb --allow "read data/x" …`, "--allow %s: %s", plainText(words), err)
		}
		rules = append(rules, r)
	}
	allowed, err := p.Allow("command line", rules...)
	if err != nil {
		return refuse("", "--allow: %s", err)
	}
	q, err := allowed.Expand(j.macros)
	if err != nil {
		return refuse("psb policy help", "%s", err)
	}
	for _, words := range j.opts.limits {
		name, value, ok := strings.Cut(words, "=")
		if !ok {
			return refuse("psb --limit memory=512M …", "--limit %s: NAME=VALUE is needed", plainText(words))
		}
		l, err := policy.ParseLimit(name, value)
		if err != nil {
			return refuse("psb policy help", "--limit %s", err)
		}
		l.Origin = policy.Origin{From: "command line"}
		if q.Limits == nil {
			q.Limits = map[string]policy.Limit{}
		}
		q.Limits[name] = l
	}
	j.policy = q
	return nil
}

// findPython reads where the interpreter is and fills the macros it gives.
func (j *job) findPython() error {
	name := j.opts.python
	if name == "" && j.written != nil {
		name = j.written.Sandbox.Python
	}
	if name == "" && j.where.script != "" {
		name = ownInterpreter(j.w, absolute(j.w.cwd, j.where.script))
	}
	if name == "" {
		name = "python3"
	}
	if strings.HasPrefix(name, "~/") {
		name = filepath.Join(j.w.id.Home, name[2:])
	}
	layout, err := interpreter(j.w, name, &j.facts.host)
	if err != nil {
		status := exitRefused
		hint := "psb --python PATH …"
		if errors.Is(err, fs.ErrNotExist) && name == "python3" {
			hint = "install python3, or psb --python PATH …"
		}
		return &refusal{"python: " + err.Error(), []string{hint}, status}
	}
	j.layout = layout
	return nil
}

// setMacros needs the project and, for ${python} and ${venv}, the interpreter.
func (j *job) setMacros() {
	prefix, venv, site := "", "", ""
	if j.layout != nil {
		prefix, venv = j.layout.BasePrefix, j.layout.Venv
		if len(j.layout.Sites) > 0 {
			site = j.layout.Sites[0]
		}
	}
	j.macros = macros(j.w.id, j.where.project, prefix, venv, site, j.w.lookup)
	j.macros.Cwd = j.w.cwd
}

// policyFiles are the absolute paths of what was read.
func (j *job) policyFiles() []string {
	var out []string
	for _, s := range j.written.Sources {
		if s.Path != "" {
			out = append(out, s.Path)
		}
	}
	for _, name := range []string{j.where.policy, j.beside} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// compile makes the plan.
func (j *job) compile(mode plan.Mode, cmd plan.Command) error {
	provider := j.opts.provider
	if provider == "" {
		var err error
		if provider, err = osSandbox(j.w); err != nil {
			return err
		}
	}
	if provider != "" && !slices.Contains(policy.Providers(), provider) {
		return refuse("one of "+strings.Join(policy.Providers(), ", "), "unknown provider %q", provider)
	}
	if provider == "auto" {
		provider = ""
	}
	own := []string{stateDir(j.w.id, j.w.lookup), filepath.Join(j.macros.Config, "psb")}
	for _, dir := range own {
		if j.w.traceless {
			break
		}
		_ = os.MkdirAll(dir, 0o700) // so that it is there to be protected; where it cannot be made a box cannot make it either
	}
	j.request = plan.Request{Own: own, Policy: j.policy, PolicyFiles: j.policyFiles(), Host: j.facts.host, Command: cmd, Mode: mode, Macros: j.macros,
		Accept: slices.Concat(j.opts.allowGaps, j.policy.Sandbox.AllowGaps), Require: j.opts.needed(), Provider: provider}
	if err := j.shim(mode); err != nil {
		return err
	}
	p, err := plan.Compile(j.request, j.look.inOneGo())
	if err != nil {
		return refuse("psb policy help", "%s", err)
	}
	j.plan = p
	return j.syscallsFit()
}

// inOneGo is the same look for working one plan out: each folder on the way to hundreds of objects is looked at once. What is shown of them is opened again,
// without following links, and must be the same object.
func (l *hostLook) inOneGo() *hostLook {
	if l.passed != nil {
		return l
	}
	once := *l
	once.passed = map[string]bool{}
	return &once
}

// syscallsFit refuses lines of [syscalls] that no filter gives: explain must not show what a run does not apply.
func (j *job) syscallsFit() error {
	var lines []string
	for _, x := range (seccomp.Options{Extra: j.plan.Syscalls}).Problems() {
		for _, r := range j.policy.Rules {
			if r.Op == policy.OpSyscall && r.Pattern.Text == x.Name {
				lines = append(lines, fmt.Sprintf("%s: syscall %s: %s", originWords(r.Origin.File, r.Origin.Line, r.Origin.From), plainText(x.Name), x.Why))
				break
			}
		}
	}
	if len(lines) > 0 {
		return refuse("remove it; psb policy check shows every problem", "%s", strings.Join(lines, "\n"))
	}
	return nil
}

// osSandbox reads OS_SANDBOX, which may only pick a provider that is no weaker than what the policy requires: "subprocess", no walls at
// all, is therefore never taken from the environment.
func osSandbox(w *world) (string, error) {
	switch v, _ := w.lookup("OS_SANDBOX"); v {
	case "", "auto":
		return "", nil
	case "unshare", "namespaces":
		return "namespaces", nil
	case "landlock":
		return "landlock", nil
	default:
		return "", refuse("psb --provider NAME …", "OS_SANDBOX=%s: the environment never weakens a policy", plainText(v))
	}
}

// openGaps refuses when something asked for cannot be done here.
func (j *job) openGaps() error {
	open := plan.Open(j.plan.Gaps)
	if len(open) == 0 {
		return nil
	}
	r := &refusal{status: exitRefused}
	var lines []string
	for _, g := range open {
		lines = append(lines, g.String())
		r.hints = append(r.hints, fmt.Sprintf("needs %s; or accept it: --allow-gap %s", g.Needs, g.Name))
	}
	r.what = strings.Join(lines, "\n")
	return r
}
