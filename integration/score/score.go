package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"psb/integration/programs"
)

const replays = 5

// score is what one program came to.
type score struct {
	Program     string  `json:"program"`
	Absent      string  `json:"absent,omitempty"` // why it was not tried
	Replay      int     `json:"replay"`           // of replays enforced runs, how many ended as without psb
	Variation   []trial `json:"variation"`
	Stable      bool    `json:"stable"`
	Idempotent  bool    `json:"idempotent"`
	Excess      int     `json:"excess"`      // decoys that could be got at
	Lines       int     `json:"lines"`       // of the policy
	Unexplained int     `json:"unexplained"` // rules without a reason
	Recovered   bool    `json:"recovered"`
	Reads       share   `json:"reads"`
	Writes      share   `json:"writes"`
	Programs    share   `json:"programs"`
	Hosts       share   `json:"hosts"`

	Policy string   `json:"policy"`
	Said   string   `json:"said"` // by psb, while it learned
	Faults []string `json:"faults,omitempty"`
}

// trial is one variation of the run.
type trial struct {
	What string `json:"what"`
	Well bool   `json:"well"`
}

// fault notes what went wrong; what went wrong in the same way before is only named.
func (s *score) fault(what, more string) {
	more = strings.TrimRight(more, "\n")
	for i, f := range s.Faults {
		if head, same, _ := strings.Cut(f, "\n"); same == more && more != "" {
			s.Faults[i] = head + "; " + what + "\n" + more
			return
		}
	}
	s.Faults = append(s.Faults, strings.TrimRight(what+"\n"+more, "\n"))
}

// varied counts the variations that were well.
func (s score) varied() (well int) {
	for _, t := range s.Variation {
		if t.Well {
			well++
		}
	}
	return well
}

// short reports a program that falls short of what is asked of each one.
func (s score) short() bool {
	return s.Replay < replays || s.varied() < len(s.Variation) || !s.Stable || !s.Idempotent || s.Excess > 0 || s.Unexplained > 0 || !s.Recovered
}

// exam is one program in the world it is tried in.
type exam struct {
	row    programs.Row
	argv   []string
	python programs.Interpreter
	home   scene // the learner's
	want   ending
	*score
}

func (w *workshop) score(r programs.Row) (out score) {
	out.Program = r.Name
	x := exam{row: r, score: &out}
	if err := x.begin(w); err != nil {
		out.Absent = err.Error()
		return out
	}
	defer x.home.drop()
	for _, step := range []func() error{x.learn, x.replay, x.vary, x.stability, x.idempotence, x.excess, x.recovery, x.share} {
		if err := step(); err != nil {
			out.fault("the score itself failed", err.Error())
			return out
		}
		if out.Policy == "" {
			return out
		}
	}
	return out
}

// begin builds the learner's project and runs the program without psb; the error says why this program cannot be tried here.
func (x *exam) begin(w *workshop) (err error) {
	for _, c := range x.row.Commands {
		if _, err := exec.LookPath(c); err != nil {
			return err
		}
	}
	who := learner
	if os.Getuid() != 0 {
		who = self()
	}
	if x.home, err = w.newScene(who, "code/project"); err != nil {
		return err
	}
	if x.python, err = x.home.choose(x.row); err != nil {
		return err
	}
	x.argv = x.row.Argv
	if len(x.row.Cases) > 0 {
		at := slices.IndexFunc(x.row.Cases, func(c programs.Case) bool { return c.Fits(x.python) })
		if at < 0 {
			return fmt.Errorf("no case for %s", x.python.Version())
		}
		x.argv = x.row.Cases[at].Argv
		x.Program += "/" + x.row.Cases[at].Name
	}
	if err := x.home.prepare(x.row, x.python.Path); err != nil {
		return err
	}
	x.want = x.home.perform(x.row, x.python.Path, x.row.Wait, x.bare()...)
	if x.want.late || x.want.code != x.row.Status && x.want.signal == 0 {
		return fmt.Errorf("without psb: %v", x.want)
	}
	return nil
}

// choose gives the first interpreter that has what the row needs.
func (s scene) choose(r programs.Row) (programs.Interpreter, error) {
	var why []error
	for _, i := range programs.Interpreters() {
		if r.Python == "system" && i.Path != programs.System {
			continue
		}
		err := s.reaches(i, r.Needs)
		if err == nil {
			return i, nil
		}
		why = append(why, err)
	}
	return programs.Interpreter{}, errors.Join(why...)
}

// reaches reports whether the scene's person can start the interpreter and whether it has the modules; nil when both.
func (s scene) reaches(i programs.Interpreter, modules []string) error {
	// sh starts it: whether a folder on the way is closed to the person is only seen when that person tries.
	e := s.run(time.Minute, append([]string{"/bin/sh", "-c", `exec "$0" -c "$@"`, i.Path, programs.LacksOf}, modules...)...)
	f := strings.Fields(e.out)
	switch {
	case e.code != 0 || len(f) == 0:
		return fmt.Errorf("%s cannot be started by %s", i.Path, s.who.name)
	case len(f) > 1:
		return fmt.Errorf("%s has no %s", i.Path, strings.Join(f[1:], " "))
	}
	return nil
}

// prepare fills the project and keeps a copy of it.
func (s scene) prepare(r programs.Row, python string) error {
	if err := copyTree(r.Folder, s.project); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.project, "row.toml")); err != nil {
		return err
	}
	if err := s.give(); err != nil {
		return err
	}
	for _, argv := range r.Setup {
		argv = slices.Clone(argv)
		if argv[0] == "python" {
			argv[0] = python
		}
		if e := s.run(5*time.Minute, argv...); e.code != 0 {
			return fmt.Errorf("setup %q: %v", argv, e)
		}
	}
	return copyTree(s.project, s.kept)
}

func (x *exam) bare() []string { return append([]string{x.python.Path}, x.argv...) }

// boxed is the enforced run of a person.
func boxed(s scene, python string, argv ...string) []string {
	return append([]string{s.shop.psb, "--python", python, "--policy", policyName}, argv...)
}

// learning is a learning run in the learner's project as it stands.
func (x *exam) learning() ending {
	argv := []string{x.home.shop.psb, "--python", x.python.Path, "--learn=" + policyName}
	for _, word := range x.row.Learn {
		if rest, ok := strings.CutPrefix(word, "~/"); ok { // as a shell does
			word = filepath.Join(x.home.home, rest)
		}
		argv = append(argv, word)
	}
	return x.home.perform(x.row, x.python.Path, 10*x.row.Wait, append(argv, x.argv...)...)
}

func (x *exam) learn() error {
	if err := x.home.reset("", true); err != nil {
		return err
	}
	e := x.learning()
	x.Said = said(e)
	if x.Policy = x.home.policy(); x.Policy == "" {
		x.fault("learning wrote no policy", e.String())
		return nil
	}
	own := e
	own.err = withoutPsb(e.err)
	if d := differ(x.row, x.home, x.want, x.home, own); d != "" {
		x.fault("the learning run ended otherwise", d)
	}
	x.Lines = strings.Count(x.Policy, "\n")
	for line := range strings.Lines(x.Policy) {
		rule := strings.TrimSpace(line)
		if rule == "" || rule[0] == '#' || rule[0] == '[' || strings.HasPrefix(rule, "version ") || strings.HasSuffix(rule, " = [") || rule == "]" {
			continue // no rule: the brackets of a list stand around its rules, one a line
		}
		if _, reason, ok := strings.Cut(rule, "  # "); !ok || strings.TrimSpace(strings.TrimPrefix(reason, "!")) == "" {
			x.Unexplained++
			x.fault("a rule without a reason", rule)
		}
	}
	return nil
}

// said is what psb told, and withoutPsb what it did not.
func said(e ending) string {
	var b strings.Builder
	for line := range strings.Lines(e.err) {
		if strings.HasPrefix(line, "psb: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func withoutPsb(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "psb: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// enforced tries an enforced run in a scene and notes in what it differs.
func (x *exam) enforced(what string, s scene, python string) bool {
	e := s.perform(x.row, python, 2*x.row.Wait, boxed(s, python, x.argv...)...)
	if d := differ(x.row, x.home, x.want, s, e); d != "" {
		x.fault(what, d)
		return false
	}
	for _, name := range x.row.Produces {
		if info, err := os.Stat(filepath.Join(s.project, name)); err != nil || info.Size() == 0 {
			x.fault(what, name+" is absent or empty on the host")
			return false
		}
	}
	return true
}

// replay runs the same again, the first time with cold caches.
func (x *exam) replay() error {
	for n := range replays {
		if err := x.home.reset(x.Policy, n == 0); err != nil {
			return err
		}
		if x.enforced(fmt.Sprint("enforced run ", n+1), x.home, x.python.Path) {
			x.Replay++
		}
	}
	return nil
}

// vary runs it as somebody else, elsewhere, with cold caches and with warm ones, and with another Python.
func (x *exam) vary() error {
	who := stranger
	if os.Getuid() != 0 {
		who = self()
	}
	err := x.elsewhere(who, x.python, []string{who.name + ", other checkout, cold", "the same, warm"})
	if err != nil || x.row.Python == "system" || strings.Contains(x.Policy, `"~/`) {
		return err
	}
	people := []person{x.home.who}
	if os.Getuid() == 0 { // who may reach interpreters that are nobody else's
		people = append(people, root)
	}
	for _, i := range programs.Interpreters() {
		if i.Major == x.python.Major && i.Minor == x.python.Minor {
			continue
		}
		for _, who := range people {
			s := x.home
			s.who = who
			if s.reaches(i, x.row.Needs) == nil {
				return x.elsewhere(who, i, []string{"Python " + i.Version()})
			}
		}
	}
	return nil
}

// elsewhere carries the policy into another checkout and runs it there, once for each name.
func (x *exam) elsewhere(who person, i programs.Interpreter, names []string) error {
	s, err := x.home.shop.newScene(who, "work/of/another/checkout")
	if err != nil {
		return err
	}
	defer s.drop()
	if err := s.prepare(x.row, i.Path); err != nil {
		return err
	}
	want := x.want
	if i != x.python { // another version may say other things: it is held to what it says itself
		want = s.perform(x.row, i.Path, x.row.Wait, append([]string{i.Path}, x.argv...)...)
	}
	for n, name := range names {
		if err := s.reset(x.Policy, n == 0); err != nil {
			return err
		}
		before := x.want
		x.want = want
		well := x.enforced("variation: "+name, s, i.Path)
		x.want = before
		x.Variation = append(x.Variation, trial{name, well})
	}
	return nil
}

// stability learns anew: the file has to be the same.
func (x *exam) stability() error {
	if err := x.home.reset("", true); err != nil {
		return err
	}
	e := x.learning()
	second := x.home.policy()
	if x.Stable = second == x.Policy; !x.Stable {
		x.fault("the second learning run wrote another policy", lineDifference(x.Policy, second)+said(e))
	}
	return nil
}

// idempotence learns a third time, onto the file.
func (x *exam) idempotence() error {
	if err := x.home.reset(x.Policy, false); err != nil {
		return err
	}
	e := x.learning()
	third := x.home.policy()
	if x.Idempotent = third == x.Policy; !x.Idempotent {
		x.fault("learning onto the file changed it", lineDifference(x.Policy, third)+said(e))
	}
	return nil
}

// lineDifference gives the lines only one of two texts has.
func lineDifference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	var out strings.Builder
	for _, l := range a {
		if !slices.Contains(b, l) {
			out.WriteString("- " + l + "\n")
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			out.WriteString("+ " + l + "\n")
		}
	}
	return out.String()
}
