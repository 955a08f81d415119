package export

import (
	"os/exec"
	"strings"
	"testing"

	"psb/policy"
)

// odd are words that some quoting gets wrong.
var odd = []string{"plain", "", " ", "a b", "it's", `"`, `\`, `\n`, "$HOME", "`id`", "%n %%", "a:b", "-x", "line\nbreak", "tab\t", "é", "\xff\xfe", "!!", "#c", "~", "*", "a=b", "$(id)", "{a,b}", "'\\''"}

// TestShellReadsBack: a word is the same after a shell has read it.
func TestShellReadsBack(t *testing.T) {
	for _, shell := range []string{"sh", "bash"} {
		for _, w := range odd {
			out, err := exec.Command(shell, "-c", "printf '%s' "+quoted(w)).Output()
			if err != nil || string(out) != w {
				t.Errorf("%s: %q comes back as %q, %v", shell, w, out, err)
			}
		}
	}
}

// TestShellText: the text of a variable is worked out by the shell as psb works it out.
func TestShellText(t *testing.T) {
	env := map[string]string{"SET": "a 'b' $c", "EMPTY": ""}
	for text, want := range map[string]string{
		"":                                    "",
		"plain":                               "plain",
		"${SET}":                              "a 'b' $c",
		"x${UNSET}y":                          "xy",
		"${EMPTY:-it's ${SET}}":               "it's a 'b' $c",
		"${UNSET:-${ALSO_UNSET:-deep $${x}}}": "deep ${x}",
		"${SET:-no}/${UNSET:-`id` \"q\"\n}":   "a 'b' $c/`id` \"q\"\n",
		"${project}/x":                        "/p q/x",
	} {
		parts, err := policy.TextParts(text, policy.Macros{Project: "/p q"})
		if err != nil {
			t.Fatal(err)
		}
		var set []string
		word := shellText(parts, "psb_1_", &set)
		cmd := exec.Command("sh", "-euc", strings.Join(append(set, "printf '%s' "+word), "\n"))
		for k, v := range env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q: %q, %v; want %q by %s", text, out, err, want, word)
		}
	}
}

// TestNamesMatchInSed: the expression matches the names that the policy's pattern matches, and no part of a value.
func TestNamesMatchInSed(t *testing.T) {
	names := []string{"LC_ALL", "LC_", "XLC_A", "A.B", "AxB", "A1", "A2", "A", "B*", "/x", "A^"}
	for _, glob := range []string{"LC_*", "A?", "A.B", "A[12]", "A[!12]", "A[^1]", `B\*`, "*", "/x", "A"} {
		re, ok := nameRegexp(glob)
		if !ok {
			t.Errorf("%q has no expression", glob)
			continue
		}
		for _, n := range names {
			in := n + "==LC_x\x00"
			cmd := exec.Command("sed", "-zn", "-e", "/^"+re+"=/p")
			cmd.Stdin, cmd.Env = strings.NewReader(in), []string{"LC_ALL=C"}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(out) > 0, matches(glob, n); got != want {
				t.Errorf("%q on %q: %v, want %v (%s)", glob, n, got, want, re)
			}
		}
	}
	for _, glob := range []string{"A[", `A\`, "A[a/]", "A[]", "A[^]", `A[\]]`} {
		if re, ok := nameRegexp(glob); ok {
			t.Errorf("%q became %q", glob, re)
		}
	}
}

// TestUnitWords: what systemd.syntax(7) says of quotes, specifiers and separators.
func TestUnitWords(t *testing.T) {
	for in, want := range map[string]string{"a b": `"a b"`, `q"\`: `"q\"\\"`, "50%": `"50%%"`, "a\nb\xff": `"a\x0ab\xff"`, "$x": `"$x"`, "it's": `"it's"`} {
		if got := execWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	u := &unit{}
	if got := u.path(`/a b:c"d\e%f'`); got != `/a\ b\:c\"d\\e%%f\'` || u.err != nil {
		t.Errorf("%s, %v", got, u.err)
	}
	for _, bad := range []string{"/a\nb", "/\xff", "/a\x7f"} {
		u := &unit{}
		if u.path(bad); u.err == nil {
			t.Errorf("%q was written in a unit", bad)
		}
	}
}

// TestYAML: texts that look like something else are quoted.
func TestYAML(t *testing.T) {
	doc := yamlMap{{"a", "yes"}, {"b", yamlList{"x", yamlMap{{"c", 1}, {"d", yamlList{}}, {"e", yamlMap{{"f", true}}}}}}, {"g", "1e3"}, {"h", "it's: \"#\n"}, {"i", yamlMap{}}, {"j", "-"}, {"k", "/a/b-c"}}
	want := "a: \"yes\"\nb:\n  - x\n  - c: 1\n    d: []\n    e:\n      f: true\ng: \"1e3\"\nh: \"it's: \\\"#\\n\"\ni: {}\nj: \"-\"\nk: /a/b-c\n"
	if got := yamlText(doc); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLabel(t *testing.T) {
	for in, want := range map[string]string{"My App_1": "my-app-1", "-x-": "x", "": "program", "äö": "program", strings.Repeat("a", 49) + "--b": strings.Repeat("a", 49)} {
		if got := label(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
