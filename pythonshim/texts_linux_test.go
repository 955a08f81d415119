package pythonshim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTextsUnderRules: what learning noted of a program's texts lets them give what they give without rules: names of the caller, its flags,
// code objects, what the built-ins say of wrong arguments.
func TestTextsUnderRules(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "texts.py")
		if bare.code != 0 || len(bare.lines()) < 20 {
			t.Fatalf("status %d, %s", bare.code, bare.stderr)
		}
		rules := granted("threads")
		learned := sample(t, p, &rules, Learn, "texts.py")
		if learned.stdout != bare.stdout {
			t.Errorf("learning: %s\nwant %s\n%s", learned.stdout, bare.stdout, learned.stderr)
		}
		rules = taken(learned)
		rules.Calls["threads"] = true
		r := sample(t, p, &rules, Enforce, "texts.py")
		if r.stdout != bare.stdout || len(r.noted(NoteDenied)) > 0 {
			t.Errorf("%s\nwant %s\nrefused %q %s", r.stdout, bare.stdout, r.noted(NoteDenied), r.stderr)
		}
		raw := granted("threads", "dynamic-code")
		if r := sample(t, p, &raw, Enforce, "texts.py"); r.stdout != bare.stdout {
			t.Errorf("raw: %s\nwant %s", r.stdout, bare.stdout)
		}
	})
}

func with(r Rules, eval map[string]Profile) Rules {
	r.Eval = eval
	return r
}

// TestStatesOfText: refused without a word of the policy, bounded by [python.eval], raw by its own line; false wins; libraries are let alone.
func TestStatesOfText(t *testing.T) {
	program := `import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
import borrowed
def said(do, *args):
    try: return repr(do(*args))
    except PermissionError as e: return " ".join([e.qualname, e.category, *e.hint.splitlines()])
    except SyntaxError as e: return type(e).__name__
print(said(eval, "1"), "|", said(eval, "().__class__"), "|", said(exec, "1"), "|", borrowed.compute("().__class__ and x", 5))
`
	const both = "psb policy add call builtins.NAME"
	hint := func(name string) string {
		return "builtins." + name + " dynamic-code " + strings.ReplaceAll(both, "NAME", name)
	}
	profile := map[string]Profile{"": {}}
	why := func(name string) string {
		return "builtins." + name + " dynamic-code psb policy why call builtins." + name
	}
	for _, c := range []struct {
		what  string
		rules Rules
		modes []Mode
		want  string
	}{
		{"no word", granted(), []Mode{Enforce}, hint("eval") + " | " + hint("eval") + " | " + hint("exec") + " | 5"},
		{"a named profile alone", with(granted(), map[string]Profile{"calc": {}}), []Mode{Enforce},
			hint("eval") + " | " + hint("eval") + " | " + hint("exec") + " | 5"},
		{"a table", with(granted(), profile), []Mode{Enforce}, "1 | EvalSyntaxRejected | None | 5"},
		{"a line", granted("dynamic-code"), []Mode{Enforce, Learn}, "1 | <class 'tuple'> | None | 5"},
		{"a line for one", granted("builtins.eval"), []Mode{Enforce}, "1 | <class 'tuple'> | " + hint("exec") + " | 5"},
		{"false", with(granted("!builtins.eval"), profile), []Mode{Enforce, Learn},
			why("eval") + " | " + why("eval") + " | None | 5"},
		{"nothing, learning", granted(), []Mode{Learn}, "1 | <class 'tuple'> | None | 5"},
	} {
		each(t, func(t *testing.T, p python) {
			dir := t.TempDir()
			library, err := os.ReadFile("testdata/calls/site-packages/borrowed.py")
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, map[string]string{"app.py": program, "site-packages/borrowed.py": string(library)})
			for _, mode := range c.modes {
				r := p.run(t, sceneOf(t, p, c.rules).overlay(mode, ""), nil, nil, filepath.Join(dir, "app.py"))
				if r.stdout != c.want+"\n" || r.stderr != "" {
					t.Errorf("%s, %v: %q, want %q %s", c.what, mode, r.stdout, c.want, r.stderr)
				}
			}
		})
	}
}
