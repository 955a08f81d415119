package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseRun(t *testing.T) {
	for _, tc := range []struct {
		words  string // separated by blanks
		form   form
		target string
		py     string
		args   string
	}{
		{"app.py --learn x", formScript, "app.py", "", "--learn x"},
		{"-m json.tool in.json", formModule, "json.tool", "", "in.json"},
		{"-mjson.tool", formModule, "json.tool", "", ""},
		{"-Im json.tool a", formModule, "json.tool", "-I", "a"},
		{"-IBc pass a", formCode, "pass", "-IB", "a"},
		{"-cpass", formCode, "pass", "", ""},
		{"-W error -Xdev -X importtime x.py", formScript, "x.py", "-W error -Xdev -X importtime", ""},
		{"-Werror x.py", formScript, "x.py", "-Werror", ""},
		{"-bb -v -OO x.py -c y", formScript, "x.py", "-bb -v -OO", "-c y"},
		{"- a b", formStdin, "", "", "a b"},
		{"", formREPL, "", "", ""},
		{"-i -q", formREPL, "", "-i -q", ""},
		{"-V", formInfo, "", "-V", ""},
		{"--version", formInfo, "", "--version", ""},
		{"--help-env", formInfo, "", "--help-env", ""},
		{"--check-hash-based-pycs always x.py", formScript, "x.py", "--check-hash-based-pycs always", ""},
		{"--policy p --learn=q --python=/x app.py", formScript, "app.py", "", ""},
	} {
		r, err := parseRun(strings.Fields(tc.words))
		if err != nil {
			t.Errorf("%q: %v", tc.words, err)
			continue
		}
		if r.form != tc.form || r.target != tc.target || strings.Join(r.pyOpts, " ") != tc.py || strings.Join(r.args, " ") != tc.args {
			t.Errorf("%q: form %d target %q python %q args %q", tc.words, r.form, r.target, r.pyOpts, r.args)
		}
	}
}

func TestParseRunOptions(t *testing.T) {
	r, err := parseRun([]string{"--policy", "p", "--allow", "read data/x y", "--limit=wall=1s", "--allow-gap", "a,b", "--require", "notify", "--report", "r.json", "--report=r.sarif", "--fail-on-denial",
		"--provider", "landlock", "--parallel", "--learn", "x.py"})
	if err != nil {
		t.Fatal(err)
	}
	if r.policy != "p" || !slices.Equal(r.allow, []string{"read data/x y"}) || !slices.Equal(r.limits, []string{"wall=1s"}) || !slices.Equal(r.allowGaps, []string{"a", "b"}) ||
		!slices.Equal(r.require, []string{"notify"}) || !slices.Equal(r.reports, []string{"r.json", "r.sarif"}) || !r.failOnDenial || r.provider != "landlock" || !r.parallel || !r.learn || r.learnFile != "" {
		t.Errorf("options %+v", r.options)
	}
}

func TestParseRunRefuses(t *testing.T) {
	for words, want := range map[string]string{
		"--polcy p x.py":       "did you mean --policy?",
		"--policy":             "needs a value",
		"--policy= x.py":       "empty value",
		"--learn= x.py":        "names no file",
		"--audit= x.py":        "names no file",
		"--learn=true x.py":    "--learn takes a file, not true",
		"--learn=False x.py":   "--learn takes a file, not False",
		"--audit=1 x.py":       "--audit takes a file, not 1",
		"--parallel=1 x.py":    "takes no value",
		"--report r.txt x":     "must end in one of .json .jsonl .sarif .xml",
		"--fail-on-denial=1 x": "takes no value",
		"--provider bwrap x":   "one of auto, namespaces, landlock, none",
		"-m":                   "-m needs a value",
		"-c":                   "-c needs a value",
		"-W":                   "-W needs a value",
		"-z x.py":              "unknown python option -z",
		"-h":                   "psb --help",
		"-- ls":                "stands before no program",
		"--unknown-thing x ":   "unknown option",
	} {
		_, err := parseRun(strings.Fields(words))
		u, ok := err.(*usageError)
		if !ok || !strings.Contains(u.what+" "+u.hint, want) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}

func TestInterpreterArgs(t *testing.T) {
	for words, want := range map[string]string{
		"-I -m mod a":  "-I -m mod a",
		"x.py -c":      "x.py -c",
		"-":            "-",
		"-B":           "-B",
		"-Bc pass one": "-B -c pass one",
	} {
		r, err := parseRun(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.interpreterArgs(r.target), " "); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"a/b.csv": "a/b.csv", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "a\nb": `$'a\nb'`, "'\x01": `$'\'\x01'`, "$x": "'$x'", "*": "'*'"} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{"über/x": "über/x", "a\x1b[31m": `"a\x1b[31m"`, "bad\xff": `"bad\xff"`, "a\nb": `"a\nb"`} {
		if got := plainText(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestHelpAnywhere: among psb's options --help is psb's, behind the program it is not.
func TestHelpAnywhere(t *testing.T) {
	for words, want := range map[string]bool{"--help": true, "--policy p --help x.py": true, "-u --help": true, "x.py --help": false, "-m mod --help": false, "-c 1 --help": false, "--help-all": false} {
		if _, err := readRun(strings.Fields(words)); (err == errHelp) != want {
			t.Errorf("%q: %v, want help %v", words, err, want)
		}
	}
}

// TestRunOptionsComplete: completion offers what the parser takes, and nothing else.
func TestRunOptionsComplete(t *testing.T) {
	var offered []string
	for _, o := range runOptions {
		if o.value != "" {
			offered = append(offered, o.name)
		}
	}
	known := slices.Sorted(slices.Values(valueOptions))
	if !slices.Equal(offered, known) {
		t.Errorf("offered %v, known %v", offered, known)
	}
}

func TestFlagsThatSkipPythonpath(t *testing.T) {
	for words, want := range map[string]bool{"-I": true, "-bE": true, "-S -u": true, "-IWerror": true, "-u": false, "-WIgnore": false, "-X Import": false, "-bX Save": false,
		"-W error::ImportWarning": false, "--check-hash-based-pycs Ever": false, "-P": false} {
		line, err := parseRun(append(strings.Fields(words), "app.py"))
		if err != nil {
			t.Fatal(err)
		}
		if line.apart() != want {
			t.Errorf("%s: %v, want %v", words, line.apart(), want)
		}
	}
}
