package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The application, and tests of it that need things of their own.
var suiteFiles = map[string]string{
	"app/__init__.py": "",
	"app/__main__.py": "from app import core\ncore.save(core.load())\nprint('done')\n",
	"app/core.py": "import json, os, subprocess\nfrom . import helper\n\n\ndef load(name='data/in.json'):\n    with open(name) as f:\n        return helper.double(json.load(f))\n\n\n" +
		"def save(value, name='out/result.json'):\n    os.makedirs('out', exist_ok=True)\n    system = subprocess.run(['/usr/bin/uname', '-s'], capture_output=True, text=True)\n" +
		"    with open(name, 'w') as f:\n        json.dump([value, os.environ.get('APP_MODE'), system.stdout], f)\n",
	"app/helper.py":     "import threading\n\n\ndef double(x):\n    box = []\n    def work():\n        with open('data/factor') as f:\n            box.append(float(f.read()))\n    t = threading.Thread(target=work)\n    t.start()\n    t.join()\n    return x * box[0]\n",
	"data/in.json":      "21",
	"data/factor":       "2",
	"tests/__init__.py": "",
	"tests/data/want":   "42",
	"tests/support.py":  "def want():\n    with open('tests/data/want') as f:\n        return float(f.read())\n",
	"pytest.ini":        "[pytest]\ntestpaths = tests\n",
	"tests/test_core.py": "import os, subprocess, sys, unittest\nfrom app import core\nfrom tests import support\n\n\nclass Core(unittest.TestCase):\n    def test_load(self):\n        self.assertEqual(core.load(), support.want())\n\n" +
		"    def test_save(self):\n        core.save(42)\n        with open('out/result.json') as f:\n            self.assertIn('Linux', f.read())\n        os.environ.get('TEST_MODE')\n        subprocess.run(['/usr/bin/true'], check=True)\n" +
		"        open('scratch', 'w').close()\n        os.unlink('scratch')\n",
}

// suiteApp is what the application needs, whoever runs its tests; asked are the lines that tests and runner need beyond that.
var suiteApp = []string{`APP_MODE = true  # app.core.save`,
	`"/usr/bin/uname" = "exec"  # ! runs a program; app.core.save`,
	`"./" = ["create", "list"]  # app.core.save`, `"out/" = "write"  # app.core.save`, `"app/" = "list"  # import of app`,
	`"app/__init__.py" = "read"  # import of app`, `"app/core.py" = "read"  # import of app`, `"app/helper.py" = "read"  # import of app`,
	`"data/factor" = "read"  # app.helper.work`, `"data/in.json" = "read"  # app.core.load`,
	`"subprocess" = true  # ! a sensitive module; app.core`, `"subprocess.Popen" = true  # ! starts other programs or copies of this one; app.core.save`,
	`"threading.Thread.start" = true  # app.helper.double`}

// ofAnyHost leaves out what depends on whether somebody let pytest write the byte code of its plugins on this host before: it is loaded then.
func ofAnyHost(rules []string) []string {
	return slices.DeleteFunc(slices.Clone(rules), func(line string) bool { return strings.HasPrefix(line, "\"marshal.load\" = true ") })
}

// TestLearningSuite: a learned test suite gives the application a policy that holds nothing of its runner, and the runner one that includes it.
// Under the first the application runs alone, under the second the suite does; learning again changes neither.
func TestLearningSuite(t *testing.T) {
	besideOthers(t)
	for _, tc := range []struct {
		name  string
		args  []string
		needs map[string]string
		asked []string
	}{
		{"pytest", []string{"-m", "pytest", "-q"}, map[string]string{"pytest": "pytest"}, []string{`include = [".py-sandboxes"]`, `TEST_MODE = true  # tests.test_core.test_save`,
			`"/usr/bin/true" = "exec"  # ! runs a program; tests.test_core.test_save`, `".pytest_cache/" = "write"  # ! new code or settings; pytest`,
			`"tests/" = "list"  # pytest`, `"tests/data/" = "list"  # pytest`, `"pytest.ini" = "read"  # pytest`, `"tests/__init__.py" = "read"  # import of tests, pytest`,
			`"tests/data/want" = "read"  # tests.support.want`, `"tests/support.py" = "read"  # import of tests`, `"tests/test_core.py" = "read"  # pytest`,
			`"_pytest" = true  # tests.test_core`, // by the assertions that pytest writes anew
			`"marshal.load" = true  # ! builds objects out of bytes, which can run anything; pytest, _pytest`}}, // of its own byte code
		{"unittest", []string{"-m", "unittest", "discover", "-s", "tests", "-t", "."}, nil, []string{`include = [".py-sandboxes"]`, `TEST_MODE = true  # tests.test_core.test_save`,
			`"/usr/bin/true" = "exec"  # ! runs a program; tests.test_core.test_save`, `"tests/" = "list"  # import of tests`, `"tests/__init__.py" = "read"  # import of tests`,
			`"tests/data/want" = "read"  # tests.support.want`, `"tests/support.py" = "read"  # import of tests`, `"tests/test_core.py" = "read"  # import of tests`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachLearner(t, nil, func(t *testing.T, s scene) {
				s.system(t, tc.needs)
				for name, text := range suiteFiles {
					s.put(t, "home/code/project/"+name, text)
				}
				s.give(t)
				env := []string{"APP_MODE=a", "TEST_MODE=b"}
				if r := s.run(t, call{argv: append([]string{systemPython, "-B"}, tc.args...), env: env}); r.code != 0 {
					t.Fatalf("control: %v", r)
				}
				fresh := func() {
					for _, name := range []string{"out", ".pytest_cache"} {
						must(t, os.RemoveAll(filepath.Join(s.project, name)))
					}
				}
				learn := slices.Concat([]string{psb(t), "--python", systemPython, "--learn-runner", "suite.toml", "--record", "run.jsonl"}, tc.args)
				fresh()
				if r := s.run(t, call{argv: learn, env: env}); r.code != 0 {
					t.Fatalf("learning: %v", r)
				}
				app, suite := s.texts(t)
				if got := rules(app); !slices.Equal(got, suiteApp) {
					t.Errorf("the application's policy is\n%swant\n%s", lines(got), lines(suiteApp))
				}
				if got, want := ofAnyHost(rules(suite)), ofAnyHost(tc.asked); !slices.Equal(got, want) {
					t.Errorf("the runner's policy is\n%swant\n%s", lines(got), lines(want))
				}
				for flag, want := range map[string]string{"": app, "--runner": suite} {
					replay := slices.DeleteFunc([]string{psb(t), "replay", flag, "run.jsonl"}, func(w string) bool { return w == "" })
					if r := s.run(t, call{argv: replay}); r.code != 0 || r.out != want {
						t.Errorf("%q: %v", replay, r)
					}
				}
				fresh()
				if r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "-m", "app"}, env: env}); r.code != 0 || r.out != "done\n" || r.err != "" {
					t.Errorf("the application alone: %v", r)
				}
				fresh()
				r := s.run(t, call{argv: slices.Concat([]string{psb(t), "--python", systemPython, "--policy", "suite.toml"}, tc.args), env: env})
				if said, _ := psbLines(r.err); r.code != 0 || len(said) > 0 {
					t.Errorf("the suite: %v", r)
				}
				fresh()
				if r := s.run(t, call{argv: learn, env: env}); r.code != 0 {
					t.Fatalf("learning again: %v", r)
				}
				if a, b := s.texts(t); a != app || b != suite {
					t.Errorf("learning again changed\n%s\n%s", a, b)
				}
				// The application's policy may grow by itself; the runner's, which includes it, is none the less approved for learning.
				if r := s.run(t, call{argv: []string{psb(t), "policy", "add", "read", "data/more"}}); r.code != 0 {
					t.Fatal(r)
				}
				if r := s.run(t, call{argv: learn, env: env}); r.code != 0 {
					t.Errorf("learning after the application's policy grew: %v", r)
				}
				if _, b := s.texts(t); b != suite {
					t.Errorf("the runner's policy is now\n%s", b)
				}
			})
		})
	}
}

// texts are the application's policy and the runner's.
func (s scene) texts(t *testing.T) (app, suite string) {
	t.Helper()
	app, _ = s.policy(t)
	b, err := os.ReadFile(filepath.Join(s.project, "suite.toml"))
	must(t, err)
	return app, string(b)
}

// TestLearningSuiteRefused: what could not be written at the end is said before anything runs, and nothing is written.
func TestLearningSuiteRefused(t *testing.T) {
	besideOthers(t)
	eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
		for _, tc := range []struct{ name, file, app, suite, says, hint string }{
			{"the application's own", ".py-sandboxes", "", "", "psb: --learn-runner .py-sandboxes: it is the application's own policy", "psb: hint: psb --learn-runner FILE …"},
			{"no folder", "none/suite.toml", "", "", "psb: policy none/suite.toml: its folder " + s.project + "/none cannot be written: no such file or directory", "psb: hint: psb --learn-runner FILE …"},
			{"without the include", "suite.toml", "version = 1\n", "version = 1\n", "psb: suite.toml does not include .py-sandboxes", `psb: hint: add it: include = [".py-sandboxes"]`},
			{"not approved", "suite.toml", "version = 1\n", "version = 1\ninclude = [\".py-sandboxes\"]\n", "psb: suite.toml is not approved: it changed since it was", "psb: hint: read it, then psb policy approve --policy suite.toml"},
			{"without the shim", "suite.toml", "version = 1\n[python]\nshim = false\n", "", "nothing tells the application from its tests", "psb: hint: psb --learn …"},
			{"locked", "suite.toml", "version = 1\n", "version = 1\ninclude = [\".py-sandboxes\"]\nlocked = true\n", "psb: suite.toml is locked: learning cannot add to it", ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				for name, text := range map[string]string{".py-sandboxes": tc.app, "suite.toml": tc.suite} {
					must(t, os.RemoveAll(filepath.Join(s.project, name)))
					if text != "" {
						s.put(t, "home/code/project/"+name, text)
						s.give(t)
						if tc.name != "not approved" || name != "suite.toml" {
							s.run(t, call{argv: []string{psb(t), "policy", "--policy", name, "approve"}})
						}
					}
				}
				r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn-runner", tc.file, "two.py", "a"}})
				said, hints := psbLines(r.err)
				if r.code != 125 || !strings.Contains(strings.Join(said, "\n"), tc.says) || tc.hint != "" && !slices.Contains(hints, tc.hint) || r.out != "" {
					t.Errorf("%v", r)
				}
				if app, exists := s.policy(t); app != tc.app || exists != (tc.app != "") {
					t.Errorf("the policy is now\n%s", app)
				}
			})
		}
	})
}

// TestLearningInSequence: several learned runs give the rights of one that does all of it, in any order.
func TestLearningInSequence(t *testing.T) {
	besideOthers(t)
	eachLearner(t, nil, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/does.py", "import os, sys\nfor what in sys.argv[1:]:\n    if what == 'read':\n        open('data/in.csv').read()\n    elif what == 'write':\n        open('out.csv', 'w').write('1')\n"+
			"    elif what == 'env':\n        os.environ.get('SETTING')\n    elif what == 'temp':\n        open('tmp-file', 'w').close()\n        os.unlink('tmp-file')\n")
		s.give(t)
		learned := func(runs ...[]string) string {
			for _, name := range []string{".py-sandboxes", "out.csv"} {
				must(t, os.RemoveAll(filepath.Join(s.project, name)))
			}
			s.run(t, call{argv: []string{psb(t), "policy", "approve", "--forget"}})
			for _, args := range runs {
				argv := slices.Concat([]string{psb(t), "--python", systemPython, "--learn", "does.py"}, args)
				if r := s.run(t, call{argv: argv, env: []string{"SETTING=1"}}); r.code != 0 {
					t.Fatalf("learn %q: %v", args, r)
				}
			}
			policy, _ := s.policy(t)
			return policy
		}
		once := learned([]string{"read", "write", "env", "temp"})
		if !strings.Contains(once, `"out.csv" = "write"`) || !strings.Contains(once, "SETTING = true") {
			t.Errorf("learned at once:\n%s", once)
		}
		for _, runs := range [][][]string{{{"read"}, {"write"}, {"env"}, {"temp"}}, {{"temp", "env"}, {"write"}, {"read", "write"}}} {
			if got := learned(runs...); got != once {
				t.Errorf("learned as %q:\n%swant\n%s", runs, got, once)
			}
		}
	})
}

// TestLocked: nothing adds to a locked policy, or through another file to what it locks, and prune takes nothing out of it.
func TestLocked(t *testing.T) {
	besideOthers(t)
	const locked, open, includer = "version = 1\nlocked = true\n\n[files]\n\"never/\" = \"read\"\n", "version = 1\n", "version = 1\ninclude = [\"locked.toml\"]\n"
	eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
		files := map[string]string{"locked.toml": locked, ".py-sandboxes": includer, "open.toml": open, "runner.toml": "version = 1\ninclude = [\"locked.toml\"]\n"}
		for name, text := range files {
			s.put(t, "home/code/project/"+name, text)
		}
		s.give(t)
		for name := range files {
			if r := s.run(t, call{argv: []string{psb(t), "policy", "--policy", name, "approve"}}); r.code != 0 {
				t.Fatal(r)
			}
		}
		if r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn=record.toml", "--record", "run.jsonl", "two.py", "a"}}); r.code != 0 {
			t.Fatal(r)
		}
		for _, tc := range []struct {
			name string
			argv []string
		}{
			{"learn", []string{"--learn=locked.toml", "two.py", "a"}},
			{"learn into an includer", []string{"--learn", "two.py", "a"}},
			{"learn a suite", []string{"--learn=locked.toml", "--learn-runner", "new.toml", "two.py", "a"}},
			{"learn a suite into a runner's", []string{"--learn=open.toml", "--learn-runner", "runner.toml", "two.py", "a"}},
			{"allow", []string{"--policy", "locked.toml", "--allow", "read out/", "two.py", "a"}},
			{"allow over an includer", []string{"--allow", "read out/", "two.py", "a"}},
			{"explain with allow", []string{"explain", "--policy", "locked.toml", "--allow", "read out/", "two.py", "a"}},
			{"exec with allow", []string{"exec", "--policy", "locked.toml", "--allow", "read out/", "--", "/usr/bin/true"}},
			{"add", []string{"policy", "--policy", "locked.toml", "add", "read", "out/"}},
			{"add to an includer", []string{"policy", "add", "read", "out/"}},
			{"prune", []string{"policy", "--policy", "locked.toml", "prune", "--write", "run.jsonl"}},
			{"prune an includer", []string{"policy", "prune", "--write", "run.jsonl"}},
			{"replay", []string{"replay", "--policy", "locked.toml", "run.jsonl"}},
			{"replay on an includer", []string{"replay", "--policy", ".py-sandboxes", "run.jsonl"}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				r := s.run(t, call{argv: append([]string{psb(t)}, tc.argv...)})
				if said, _ := psbLines(r.err); r.code != 125 || len(said) == 0 || !strings.Contains(said[0], "locked") || r.out != "" {
					t.Errorf("%v", r)
				}
				for name, text := range files {
					if b, err := os.ReadFile(filepath.Join(s.project, name)); err != nil || string(b) != text {
						t.Errorf("%s is now %q, %v", name, b, err)
					}
				}
				if _, err := os.Lstat(filepath.Join(s.project, "new.toml")); err == nil {
					t.Error("new.toml was written")
				}
			})
		}
		if r := s.run(t, call{argv: []string{psb(t), "policy", "--policy", "locked.toml", "prune", "run.jsonl"}}); r.code != 0 || r.out != "unused: locked.toml:5 read never/ (of 1 run)\n" {
			t.Errorf("prune may say what is unused: %v", r)
		}
	})
}

// TestLearningSuitesAtOnce: suites that are learned side by side give both files what all of them needed.
func TestLearningSuitesAtOnce(t *testing.T) {
	besideOthers(t)
	eachLearner(t, nil, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/app.py", "def load(name):\n    with open(f'data/{name}') as f:\n        return f.read()\n")
		s.put(t, "home/code/project/tests/__init__.py", "")
		var all sync.WaitGroup
		ends := make([]result, 4)
		for i := range ends {
			s.put(t, fmt.Sprintf("home/code/project/data/%d", i), "x")
			s.put(t, fmt.Sprintf("home/code/project/tests/want%d", i), "x")
			s.put(t, fmt.Sprintf("home/code/project/tests/test_%d.py", i), fmt.Sprintf("import app, unittest\n\n\nclass Load(unittest.TestCase):\n    def test_load(self):\n"+
				"        with open('tests/want%d') as f:\n            self.assertEqual(f.read(), app.load('%d'))\n", i, i))
		}
		s.give(t)
		for i := range ends {
			all.Go(func() {
				ends[i] = s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn-runner", "suite.toml", "-m", "unittest", fmt.Sprintf("tests.test_%d", i)}})
			})
		}
		all.Wait()
		for _, r := range ends {
			if r.code != 0 {
				t.Errorf("one of four: %v", r)
			}
		}
		app, suite := s.texts(t)
		for i := range ends {
			if want := fmt.Sprintf("\"data/%d\" = \"read\"  # app.load\n", i); !strings.Contains(app, want) {
				t.Errorf("the application's policy lacks %s", want)
			}
			if want := fmt.Sprintf("\"tests/want%d\" = \"read\"  # tests.test_%d.test_load\n", i, i); !strings.Contains(suite, want) {
				t.Errorf("the runner's policy lacks %s", want)
			}
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", "suite.toml", "-m", "unittest", fmt.Sprintf("tests.test_%d", i)}})
			if r.code != 0 {
				t.Errorf("suite %d under the policy: %v", i, r)
			}
		}
		if t.Failed() {
			t.Logf("\n%s\n%s", app, suite)
		}
	})
}
