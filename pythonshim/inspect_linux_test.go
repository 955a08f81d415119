package pythonshim

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestInspected: every interpreter notes the named variables of __main__ once, last of all, in a note that is never too long nor hostile.
func TestInspected(t *testing.T) {
	program := `import atexit, builtins, sys
total = 1
atexit.register(lambda: globals().update(total=2))
ways = "\x1b[31m\u202e\udc80\n"
many = "\u00e9" * 5000
numbers = list(range(100000))
class Broken:
    def __repr__(self): raise SystemExit(9)
class Lying:
    def __repr__(self): return "\x1b]0;x\x07\n" + "\U0001f600" * 2000
class NoText:
    def __repr__(self): return 7
broken, lying, notext = Broken(), Lying(), NoText()
builtins.repr = builtins.len = None
sys.exit(3)
`
	names := []string{"total", "ways", "many", "numbers", "broken", "lying", "notext", "none"}
	each(t, func(t *testing.T, p python) {
		r := p.run(t, sceneOf(t, p, Rules{Inspect: names}).overlay(Enforce, ""), nil, nil, "-c", program)
		if r.code != 3 || len(r.refused) > 0 {
			t.Fatalf("status %d, notes refused %q, %s", r.code, r.refused, r.stderr)
		}
		got := map[string][]string{}
		for _, n := range r.notes {
			if n.Event == NoteInspect {
				if got[n.Args[0]] != nil {
					t.Errorf("%s is told twice", n.Args[0])
				}
				got[n.Args[0]] = n.Args[1:]
			}
		}
		for name, want := range map[string][]string{"total": {"value", "2"}, "ways": {"value", `'\x1b[31m\u202e\udc80\n'`}, "broken": {"failed", "SystemExit"}, "notext": {"failed", "TypeError"}, "none": {"missing", ""}} {
			if !slices.Equal(got[name], want) {
				t.Errorf("%s: %q, want %q", name, got[name], want)
			}
		}
		for name, start := range map[string]string{"many": "'éé", "numbers": "[0, 1, 2", "lying": `\x1b]0;x\x07\x0a😀`} {
			if v := got[name]; len(v) != 2 || v[0] != "value" || !strings.HasPrefix(v[1], start) || !strings.HasSuffix(v[1], "…") || utf8.RuneCountInString(v[1]) > 1001 || strings.HasSuffix(v[1], "……") {
				t.Errorf("%s: %.80q", name, v)
			}
		}
	})
}

// TestNothingIsInspectedWhileLearning: the rules may name variables, and learning asks for none.
func TestNothingIsInspectedWhileLearning(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		r := p.run(t, sceneOf(t, p, Rules{Inspect: []string{"total"}}).overlay(Learn, ""), nil, nil, "-c", "total = 1")
		if n := r.noted(NoteInspect); r.code != 0 || len(n) > 0 {
			t.Errorf("status %d, %q", r.code, n)
		}
	})
}
