package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// outing is a real program that goes out by names: learned once, and then enforced.
type outing struct {
	name    string
	program string   // of testdata/network; "" where words says all
	words   []string // arguments, {project} stands for the project's folder
	needs   []string // modules the interpreter must have; a need of the ledger each
	files   map[string]string
	made    []string // what a run leaves in the project: must be there after it, and goes before the next
	rules   string   // lines of [net] that are there before it is learned
	net     []string // the lines of [net] of the learned policy, without those
	asked   []string // the names it may ask for
	out     string   // what the control run must print, where that is known
}

// venture learns the outing and enforces it.
func (o outing) venture(t *testing.T, w *world, who person) {
	s := trial{scene: newScene(t, who)}
	_, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	for _, module := range o.needs {
		_, err := s.choose(t, "system", []string{strings.ReplaceAll(module, "jupyter", "jupyter_client")})
		ledger.Need(t, module, err)
	}
	o.fresh(t, s)
	control := s.run(t, call{argv: o.argv(t, s)})
	if control.code != 0 || o.out != "" && control.out != o.out {
		t.Fatalf("control: %v\nwant\n%s", control, o.out)
	}
	o.present(t, s, "control")
	if controlOnly() {
		return
	}

	s.boxed = true
	o.fresh(t, s)
	w.names.forget()
	learn := s.run(t, call{argv: o.argv(t, s, "--learn"), timeout: 2 * time.Minute})
	policy, _ := s.policy(t)
	fail := func(what string, got result) {
		t.Helper()
		t.Errorf("%s: status %s\n--- stdout\n%s--- control\n%s--- stderr\n%s--- policy\n%s", what, got.status(), got.out, control.out, ending(got.err), policy)
	}
	same := func(what string, got result) {
		t.Helper()
		if got.code != 0 || got.out != control.out {
			fail(what, got)
		}
		o.present(t, s, what)
		w.names.onlyFor(t, o.asked...)
	}
	same("while learning", learn)
	want := append(strings.FieldsFunc(o.rules, func(r rune) bool { return r == '\n' }), o.net...)
	if got := netLines(policy); !slices.Equal(sorted(lines(got)), sorted(lines(want))) {
		fail("learned [net] "+strings.Join(got, "; ")+", want "+strings.Join(want, "; "), learn)
	}
	for _, problem := range lint(policy, s.home, s.project) {
		fail("too wide: "+problem, learn)
	}

	o.fresh(t, s)
	s.put(t, "home/code/project/.py-sandboxes", policy)
	s.give(t)
	enforced := s.run(t, call{argv: o.argv(t, s), timeout: 2 * time.Minute})
	same("enforced", enforced)
	if said, _ := psbLines(enforced.err); len(said) > 0 {
		fail("psb had to say something", enforced)
	}

	if once() && who.uid == 0 != (os.Getuid() == 0) {
		return
	}
	if again := s.run(t, call{argv: o.argv(t, s, "--learn"), timeout: 2 * time.Minute}); again.code != 0 {
		fail("learning again", again)
	}
	if second, _ := s.policy(t); second != policy && len(o.made) == 0 {
		t.Errorf("learning again changed the policy:\n%s\nwas\n%s", second, policy)
	}
}

// fresh makes the project what it is before a run.
func (o outing) fresh(t *testing.T, s trial) {
	t.Helper()
	for _, name := range append([]string{".py-sandboxes"}, o.made...) {
		must(t, os.RemoveAll(filepath.Join(s.project, name)))
	}
	if o.program != "" {
		s.takes(t, o.program)
	}
	if o.rules != "" {
		s.net(t, o.rules)
	}
	s.files(t, o.files)
}

func (o outing) argv(t *testing.T, s trial, options ...string) []string {
	t.Helper()
	var words []string
	if o.program != "" {
		words = []string{o.program}
	}
	for _, word := range o.words {
		words = append(words, strings.ReplaceAll(word, "{project}", s.project))
	}
	if s.boxed && o.rules != "" {
		options = append([]string{"--policy", ".py-sandboxes"}, options...) // naming it approves it
	}
	return s.argv(t, options, words...)
}

func (o outing) present(t *testing.T, s trial, when string) {
	t.Helper()
	for _, name := range o.made {
		if info, err := os.Stat(filepath.Join(s.project, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %s was not made: %v", when, name, err)
		}
	}
}

// ending is what psb said, and the last lines of what the program did.
func ending(stderr string) string {
	said, hints := psbLines(stderr)
	rest := strings.Split(strings.TrimSpace(withoutPsb(stderr)), "\n")
	return lines(append(rest[max(0, len(rest)-3):], append(said, hints...)...))
}

// netLines are the lines of [net], without what follows a rule.
func netLines(policy string) (rules []string) {
	_, table, _ := strings.Cut(policy, "\n[net]")
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "[") {
			break
		}
		rule, _, _ := strings.Cut(strings.TrimSpace(line), "  #")
		if rule != "" && !strings.HasPrefix(rule, "#") {
			rules = append(rules, rule)
		}
	}
	return rules
}

// ventures runs outings as each person.
func ventures(t *testing.T, w *world, list []outing) {
	for _, o := range list {
		t.Run(o.name, func(t *testing.T) {
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) { o.venture(t, w, who) })
			}
		})
	}
}
