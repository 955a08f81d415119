package pythonshim

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// evaluator is what was decided of one function of the standard library that evaluates text.
type evaluator struct{ builtins, word string }

func evaluators(t *testing.T) map[string]evaluator {
	t.Helper()
	text, err := os.ReadFile("testdata/calls/evaluators.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]evaluator{}
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); !strings.HasPrefix(line, "#") {
			e := evaluator{w[1], w[2]}
			if e.word == "handed" {
				e.word += " " + w[3]
			}
			if out[w[0]] != (evaluator{}) {
				t.Errorf("%s stands there twice", w[0])
			}
			out[w[0]] = e
		}
	}
	return out
}

// TestEveryEvaluatorIsDecided: each function of a standard library that names eval, exec or compile stands in the list, and the shim does what the
// list says; nothing stands there that is in no library.
func TestEveryEvaluatorIsDecided(t *testing.T) {
	want := evaluators(t)
	shim, err := os.ReadFile("shim/texts.py")
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]evaluator{}
	for _, m := range regexp.MustCompile(`(?m)^    \("(.+)", "(.+)"\): (?:\("(.+)", "(.+)"\)|"(.+)"),$`).FindAllStringSubmatch(string(shim), -1) {
		e := evaluator{strings.ReplaceAll(m[3], " ", "+"), m[4]}
		if m[5] != "" {
			e = evaluator{want[m[1]+"."+m[2]].builtins, "handed " + m[5]}
		}
		done[m[1]+"."+m[2]] = e
	}
	for name, e := range want {
		if e.word == "asked" {
			if done[name] != (evaluator{}) {
				t.Errorf("%s is to be asked, the shim has %v", name, done[name])
			}
		} else if done[name] != e {
			t.Errorf("%s: %v, the shim has %v", name, e, done[name])
		}
	}
	for name := range done {
		if want[name] == (evaluator{}) {
			t.Errorf("%s is not in the list", name)
		}
	}
	met := map[string]bool{"py_compile.compile": true} // by a loader's source_to_code
	for _, p := range tried(t) {
		r := sample(t, p, nil, Enforce, "evaluators.py")
		if r.code != 0 || len(r.lines()) < 60 {
			t.Fatalf("%s: %d lines, %s", p.Version, len(r.lines()), r.stderr)
		}
		for _, line := range r.lines() {
			name, builtin, _ := strings.Cut(line, " ")
			met[name] = true
			if !slices.Contains(strings.Split(want[name].builtins, "+"), builtin) {
				t.Errorf("%s: %s evaluates by %s, which nobody decided", p.Version, name, builtin)
			}
		}
	}
	for name := range want {
		if !met[name] && !strings.HasPrefix(name, "annotationlib.") && len(tried(t)) > 5 {
			t.Errorf("%s is in no library", name)
		}
	}
}

// TestTextsHandedToTheLibrary: what the standard library evaluates for whoever hands it a text is the text of who does: refused without rules,
// bounded by [python.eval]; what it evaluates of its own needs nothing.
func TestTextsHandedToTheLibrary(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "handed.py")
		split := func(r result) (handed, own []string) {
			for _, line := range r.lines() {
				if what, _, _ := strings.Cut(line, " "); what == "handed" || what == "at" {
					handed = append(handed, line)
				} else if what == "own" {
					own = append(own, line)
				}
			}
			return
		}
		reached, own := split(bare)
		for _, line := range reached {
			if !strings.HasSuffix(line, ": reached") {
				t.Errorf("without the shim %q", line)
			}
		}
		if bare.code != 0 || len(reached) < 31 || len(own) < 14 {
			t.Fatalf("%d and %d lines, %s", len(reached), len(own), bare.stderr)
		}
		for what, rules := range map[string]Rules{"no rules": granted("introspection"), "an empty table": with(granted("introspection"), map[string]Profile{"": {}})} {
			r := sample(t, p, &rules, Enforce, "handed.py")
			got, fine := split(r)
			if len(got) != len(reached) {
				t.Errorf("%s: %d lines, want %d %s", what, len(got), len(reached), r.stderr)
			}
			for _, line := range got {
				if strings.HasSuffix(line, ": reached") {
					t.Errorf("%s: %q", what, line)
				}
			}
			if !slices.Equal(fine, own) {
				t.Errorf("%s: %q, want %q", what, fine, own)
			}
			if n := len(r.noted(NoteDenied)); n < 15 {
				t.Errorf("%s: %d refusals were told %q", what, n, r.noted(NoteDenied))
			}
		}
		raw := granted("introspection", "dynamic-code")
		got, fine := split(sample(t, p, &raw, Enforce, "handed.py"))
		if !slices.Equal(got, reached) || !slices.Equal(fine, own) {
			t.Errorf("with the line: %q %q", got, fine)
		}
	})
}
