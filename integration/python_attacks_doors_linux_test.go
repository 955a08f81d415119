package integration

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Doors to Python beside the script: flags, typed lines, debuggers, archives, environments, an empty policy.

// trying is a program with one refused import, one refused call and one that every program may make.
const trying = `print("started", flush=True)
import csv, dataclasses, os
@dataclasses.dataclass
class C:
    a: int = 1
print("works", C(2).a, flush=True)
def attempt(name, act):
    try:
        act()
    except BaseException as e:
        print("refused", name, type(e).__name__, flush=True)
    else:
        print("reached", name, flush=True)
attempt("import", lambda: __import__("marshal"))
attempt("call", lambda: os.system("/bin/cat '" + PATH + "'"))
attempt("text", lambda: eval("print(open(PATH).read())"))
`

// judgeTrying looks at what became of it.
func judgeTrying(t *testing.T, s trial, what string, r result) {
	t.Helper()
	_, secret := s.secret()
	said := pythonTries(r.out)
	if !s.boxed {
		if !strings.Contains(r.out, secret) || said["import"] != "reached" || said["call"] != "reached" || said["text"] != "reached" {
			t.Errorf("control: %s: without psb not all is reached, so it proves nothing: %v", what, r)
		}
		return
	}
	if strings.Contains(r.out+r.err, secret) {
		t.Errorf("%s: it reached the file outside: %v", what, r)
	}
	if said["import"] != "RuleModuleNotFoundError" || said["call"] != "RuleApiPermissionError" || said["text"] != "RuleApiPermissionError" {
		t.Errorf("%s: the refusals are %q: %v", what, said, r)
	}
	for _, access := range []string{"import marshal", "call os.system", "call builtins.eval"} {
		if !toldDenied(r, access) {
			t.Errorf("%s: psb does not tell: denied: %s\n%v", what, access, r)
		}
	}
	if !strings.Contains(r.out, "started\nworks 2\n") {
		t.Errorf("%s: what every program may do does not work: %v", what, r)
	}
}

// eachTrial runs try without psb, as the control, and with it, as each person.
func eachTrial(t *testing.T, try func(t *testing.T, s trial)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				_, err := s.choose(t, "system", nil)
				ledger.Need(t, "python3", err)
				s.env = []string{"XDG_STATE_HOME=" + state(t, who)}
				try(t, s)
			}
		})
	}
}

// TestPythonFlags: none of the interpreter's flags, and no way of handing it the program, goes without the layer.
func TestPythonFlags(t *testing.T) {
	besideOthers(t)
	eachTrial(t, func(t *testing.T, s trial) {
		path, _ := s.secret()
		program := strings.Replace(trying, "import csv", "PATH = "+quoted(path)+"\nimport csv", 1)
		s.files(t, map[string]string{"try.py": program, "pack/part/try.py": program, "app/__main__.py": program,
			".py-sandboxes": "version = 1\n[files]\n\"./\" = \"list\"\n\"pack/\" = \"read\"\n\"app/\" = \"read\"\n\"app.pyz\" = \"read\"\n"})
		archive(t, filepath.Join(s.project, "app.pyz"), program)
		s.give(t)
		options := []string{"--policy", ".py-sandboxes"}
		for _, args := range [][]string{{"try.py"}, {"-O", "try.py"}, {"-OO", "try.py"}, {"-I", "try.py"}, {"-S", "try.py"}, {"-I", "-S", "-E", "-B", "-s", "try.py"},
			{"-X", "dev", "try.py"}, {"-u", "-q", "try.py"}, {"-m", "pack.part.try"}, {"app"}, {"app.pyz"}, {"-c", program}} {
			judgeTrying(t, s, strings.Join(args, " "), s.run(t, call{argv: s.argv(t, options, args...), env: s.env}))
		}
		judgeTrying(t, s, "-", s.run(t, call{argv: s.argv(t, options, "-"), env: s.env, stdin: strings.NewReader(program)}))
		env := append([]string{"PYTHONSTARTUP=/dev/null", "PYTHONSAFEPATH=1", "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}, s.env...)
		judgeTrying(t, s, "variables", s.run(t, call{argv: s.argv(t, options, "try.py"), env: env}))
	})
}

func quoted(s string) string { return "\"" + s + "\"" }

// archive writes a zip that Python runs.
func archive(t *testing.T, path, program string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create("__main__.py")
	must(t, err)
	_, err = w.Write([]byte(program))
	must(t, err)
	must(t, z.Close())
}

// TestPythonLinkedInterpreter: an interpreter behind a link and in a virtual environment has the layer, too.
func TestPythonLinkedInterpreter(t *testing.T) {
	besideOthers(t)
	eachTrial(t, func(t *testing.T, s trial) {
		path, _ := s.secret()
		s.files(t, map[string]string{"try.py": strings.Replace(trying, "import csv", "PATH = "+quoted(path)+"\nimport csv", 1), ".py-sandboxes": "version = 1\n",
			"env/pyvenv.cfg": "home = " + filepath.Dir(systemPython) + "\ninclude-system-site-packages = false\n", "env/lib/kept": ""})
		must(t, os.MkdirAll(filepath.Join(s.project, "env/bin"), 0o755))
		must(t, os.Symlink(systemPython, filepath.Join(s.project, "env/bin/python3")))
		must(t, os.Symlink("env/bin/python3", filepath.Join(s.project, "linked")))
		s.give(t)
		for _, python := range []string{"env/bin/python3", "linked"} {
			python = filepath.Join(s.project, python)
			argv := []string{python, "try.py"}
			if s.boxed {
				argv = []string{psb(t), "--python", python, "--policy", ".py-sandboxes", "try.py"}
			}
			judgeTrying(t, s, python, s.run(t, call{argv: argv, env: s.env}))
		}
	})
}

// typed are lines for an interpreter or a debugger that waits for some; the last leaves it.
func typed(path string) string {
	return "import os\nos.system('/bin/cat ' + '" + path + "')\nprint(open('" + path + "').read())\nimport ctypes\n"
}

// TestPythonBackDoors: an interpreter or a debugger within the program runs what is typed under the same rules.
func TestPythonBackDoors(t *testing.T) {
	besideOthers(t)
	eachTrial(t, func(t *testing.T, s trial) {
		path, secret := s.secret()
		s.files(t, map[string]string{".py-sandboxes": "version = 1\n[env]\nPYTHONBREAKPOINT = true\nPYTHONINSPECT = true\n[python.import]\n\"code\" = true\n[python.call]\n\"bdb.Bdb.run\" = true\n"})
		for _, c := range []struct {
			name, program string
			env           []string
			denied        []string
		}{
			{"breakpoint", "print('started', flush=True)\nbreakpoint()\n", nil, []string{"call os.system"}},
			{"debugger", "print('started', flush=True)\nimport pdb\npdb.run('pass')\n", nil, []string{"call os.system"}},
			{"post mortem", "print('started', flush=True)\nimport pdb\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    pdb.post_mortem(e.__traceback__)\n", nil, []string{"call os.system"}},
			{"named breakpoint", "print('started', flush=True)\nbreakpoint('/bin/cat " + path + "')\n", []string{"PYTHONBREAKPOINT=os.system"}, []string{"call os.system"}},
			{"console", "print('started', flush=True)\nimport code\ncode.interact()\n", nil, []string{"call code.interact"}},
		} {
			s.files(t, map[string]string{"door.py": c.program})
			r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "door.py"), env: append(c.env, s.env...), stdin: strings.NewReader(typed(path))})
			if reached := strings.Contains(r.out+r.err, secret); reached == s.boxed || !strings.HasPrefix(r.out, "started\n") {
				t.Errorf("%s, boxed %v: reached %v: %v", c.name, s.boxed, reached, r)
			}
			for _, access := range c.denied {
				if s.boxed && !toldDenied(r, access) {
					t.Errorf("%s: psb does not tell: denied: %s\n%v", c.name, access, r)
				}
			}
		}
		// An interpreter that stays after the program, or is all there is.
		for _, args := range [][]string{{"-i", "-c", "print('started', flush=True)"}, {"-i", "-"}} {
			lines := strings.NewReader("print('started', flush=True)\n" + typed(path))
			r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, args...), env: s.env, stdin: lines})
			if reached := strings.Contains(r.out+r.err, secret); reached == s.boxed || !strings.HasPrefix(r.out, "started\n") {
				t.Errorf("%q, boxed %v: reached %v: %v", args, s.boxed, reached, r)
			}
			if s.boxed && (!toldDenied(r, "call os.system") || !toldDenied(r, "import ctypes")) {
				t.Errorf("%q: psb does not tell both refusals: %v", args, r)
			}
		}
	})
}

// TestPythonHelp: help, whose pager would be a program, prints its text.
func TestPythonHelp(t *testing.T) {
	besideOthers(t)
	eachTrial(t, func(t *testing.T, s trial) {
		s.files(t, map[string]string{".py-sandboxes": "version = 1\n[env]\nPAGER = true\n"})
		r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "-c", "help(len)"), env: append(s.env, "PAGER=cat")})
		if r.code != 0 || !strings.Contains(r.out, "Return the number of items in a container.") || r.err != "" {
			t.Errorf("boxed %v: %v", s.boxed, r)
		}
	})
}

// TestPythonEmptyPolicy: rules that are not there allow the standard library and nothing sensitive.
func TestPythonEmptyPolicy(t *testing.T) {
	besideOthers(t)
	eachTrial(t, func(t *testing.T, s trial) {
		path, secret := s.secret()
		for _, text := range []string{"", "version = 1\n", "version = 1\n[python.import]\n[python.call]\n", "version = 1\n[python]\nshim = true\n"} {
			s.files(t, map[string]string{"empty": text})
			r := s.run(t, call{argv: s.argv(t, []string{"--policy", "empty"}, "-c", "import csv; print('started', flush=True); import ctypes"), env: s.env})
			if text == "" && s.boxed && r.code == 125 {
				continue // no version: refused before anything runs
			}
			if s.boxed && (r.code != 1 || !toldDenied(r, "import ctypes") || r.out != "started\n") || !s.boxed && r.code != 0 {
				t.Errorf("%q, boxed %v: %v", text, s.boxed, r)
			}
			r = s.run(t, call{argv: s.argv(t, []string{"--policy", "empty"}, "-c", "print('started', flush=True); import os; os.system(\"/bin/cat '"+path+"'\")"), env: s.env})
			if reached := strings.Contains(r.out, secret); reached == s.boxed || s.boxed && !toldDenied(r, "call os.system") {
				t.Errorf("%q, boxed %v: reached %v: %v", text, s.boxed, reached, r)
			}
		}
	})
}

// bombs makes objects whose every use would run code of the text's, and looks at what comes out of the evaluation.
const bombs = `import sys
from psb import guarded_eval
print("started", flush=True)
text = """
class B:
    def __init__(self):
        self_ = 1
    def fire(self, *a):
        print("FIRED")
        return 1
    __repr__ = __str__ = __hash__ = __eq__ = __bool__ = __len__ = __iter__ = __next__ = __add__ = __contains__ = __call__ = fire
result = B()
held = [1, {"k": B()}, (B,)]
f = B().fire
g = (x for x in [B()])
data = [1, 2]
"""
DATA = (int, str, float, bool, bytes, type(None))
def plain(o, depth=0):
    if type(o) in DATA:
        return True
    if type(o) in (list, tuple, set, frozenset):
        return all(plain(x) for x in o)
    return type(o) is dict and all(plain(k) and plain(v) for k, v in o.items())
for way in (False, True):
    for source, mode in ((text, "exec"), ("(lambda: 0)", "eval"), ("(x for x in [1])", "eval"), ("type(1)", "eval"), ("len", "eval"), ("[len]", "eval"), ("{1: lambda: 0}", "eval")):
        try:
            got = guarded_eval(source, "", {}, mode, in_process=way)
        except BaseException as e:
            print("refused", mode, type(e).__name__, flush=True)
            continue
        print("came" if plain(got) else "LIVES %r" % type(got), mode, sorted(got) if type(got) is dict else "", flush=True)
        sys.stdout.flush()
        print("FROM HERE", flush=True)
        repr(got), str(got), bool(got), [repr(v) for v in (got.values() if type(got) is dict else ())]
        del got
        print("TO HERE", flush=True)
`

// TestPythonOnlyDataLeaves: what comes out of an evaluation is data; no object of the text's own lives on in the host.
func TestPythonOnlyDataLeaves(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := trial{scene: newScene(t, who), boxed: true}
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			s.files(t, map[string]string{"bombs.py": bombs, ".py-sandboxes": "version = 1\n[python.eval]\n" + textProfiles["classes"]})
			r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "bombs.py"), env: s.env})
			var ends []string
			inside := false
			for line := range strings.Lines(r.out) {
				switch line = strings.TrimSpace(line); {
				case line == "FIRED" && inside:
					t.Error("code of the text ran in the host, after its evaluation")
				case line == "FROM HERE" || line == "TO HERE":
					inside = line == "FROM HERE"
				case line != "started" && line != "FIRED":
					ends = append(ends, line)
				}
			}
			// The statements give the one variable that is data; each expression is an object.
			want := slices.Repeat(append([]string{"came exec ['data']"}, slices.Repeat([]string{"refused eval RuleEvalPermissionError"}, 6)...), 2)
			if !slices.Equal(ends, want) || r.code != 0 {
				t.Errorf("the ends are %q, want %q", ends, want)
			}
			if t.Failed() {
				t.Log(r)
			}
		})
	}
}
