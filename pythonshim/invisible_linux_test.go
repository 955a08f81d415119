package pythonshim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// TestShimIsInvisible: with notes to the descriptor that cannot exist the program's output, errors and status are Python's own.
func TestShimIsInvisible(t *testing.T) {
	programs := map[string]string{
		"uncaught":   "def f():\n    open('/nowhere/x')\ntry:\n    f()\nexcept OSError as e:\n    raise ValueError('v') from e\n",
		"key error":  "import os\nos.environ['ABSENT_NAME']\n",
		"bytes":      "import os\nos.environb[b'ABSENT_NAME']\n",
		"bad type":   "import os\nos.environ[1]\n",
		"thread":     "import threading\nt=threading.Thread(target=lambda: open('/nowhere'), name='T')\nt.start()\nt.join()\nprint(threading.excepthook is getattr(threading,'__excepthook__',threading.excepthook))\n",
		"hooks":      "import sys\nprint(sys.excepthook is sys.__excepthook__, sys.excepthook.__name__, sys.excepthook.__doc__)\nsys.excepthook=lambda *a: print('mine', a[0])\n1/0\n",
		"state":      "import sys\nprint(sorted(sys.modules), [str(f) for f in sys.meta_path], sys.path_hooks, sys.argv, sys.flags)\n",
		"encodings":  "import encodings\nprint(sorted(encodings.__dict__), encodings.__file__, encodings.__spec__.origin)\n",
		"environ":    "import os,copy,posix\nos.environ['A']='1'\nprint(type(os.environ), os.environ, os.environ._data is posix.environ, posix.environ, copy.copy(os.environ)==os.environ, copy.deepcopy(os.environ)==os.environ, sorted(os.environ), os.environ.copy()==dict(os.environ), sorted(dict(posix.environ)), posix.environ=={**posix.environ}, isinstance(posix.environ, dict), len(os.environ), os.environ.setdefault('B','2'), os.environ.pop('A'), os.environ.popitem()[0]!='', os.environ.get('Z',5))\ntry:\n    del os.environ['Z']\nexcept KeyError as e: print(repr(e), e.__suppress_context__)\nos.environ.clear()\nprint(os.environ, os.popen('echo \"[$A]\"').read())\n",
		"pickle":     "import pickle,posix,os\nprint(pickle.loads(pickle.dumps(posix.environ))==dict(posix.environ), type(pickle.loads(pickle.dumps(posix.environ))))\n",
		"exit":       "import sys\nsys.exit(7)\n",
		"signal":     "import os,signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
		"syntax":     "x = = 1\n",
		"audit":      "import sys\nsys.addaudithook(lambda e,a: print(e) if e.startswith('mine') else None)\nsys.audit('mine.x', 1)\n",
		"unraisable": "class A:\n    def __del__(self): open('/nowhere')\nA()\nprint('after')\n",
		"unicode":    "import os\nprint(os.environ.get('\\udcff'), os.path.exists('\\udcff'))\nopen(b'\\xff\\xfe')\n",
		"group":      "import sys\nif sys.version_info >= (3,11):\n    raise ExceptionGroup('g', [OSError(1,'a','f'), ValueError('b')])\n",
		"recursion":  "import os,sys\ndef f(n):\n    os.environ.get('N%d' % n)\n    f(n+1)\ntry:\n    f(0)\nexcept RecursionError:\n    print('recursion')\nos.environ.get('X')\nprint('alive')\n",
		"late":       "import os\nclass A:\n    def __del__(self): os.environ.get('LATE')\nkeep=A()\nimport atexit\natexit.register(lambda: os.environ.get('AT_EXIT'))\n",
		"import":     "import nothing_of_that_name\n",
	}
	each(t, func(t *testing.T, p python) {
		for name, text := range programs {
			script := filepath.Join(t.TempDir(), "prog.py")
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			starts := [][]string{{"-I", "-S"}} // the least between the interpreter and the program
			if name == "state" || name == "environ" || name == "thread" {
				starts = append(starts, nil)
			}
			for _, flags := range starts {
				args := append(slices.Clone(flags), script)
				env := []string{"HOME=/", "PYTHONHASHSEED=0"}
				plain := p.run(t, nil, nil, env, args...)
				for _, mode := range []Mode{Learn, Enforce} {
					with := p.run(t, p.silent(mode), nil, env, args...)
					for _, s := range []*string{&with.stdout, &with.stderr, &plain.stdout, &plain.stderr} {
						*s = address.ReplaceAllString(*s, "0x…")
					}
					if with.stdout != plain.stdout || with.stderr != plain.stderr || with.code != plain.code {
						t.Errorf("%s %v %v: with the shim\n%d %s%s\nwithout\n%d %s%s", name, flags, mode, with.code, with.stdout, with.stderr, plain.code, plain.stdout, plain.stderr)
					}
				}
			}
		}
	})
}

// TestHandlersOfTheProgramSurvive: what a signal handler raises inside the shim reaches the program. A lost one would leave
// the inner loop running until the alarm of the operating system ends it.
func TestHandlersOfTheProgramSurvive(t *testing.T) {
	program := `import signal, os
class Boom(Exception): pass
def boom(*a): raise Boom
signal.signal(signal.SIGALRM, boom)
caught = 0
while caught < 300:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
        n = 0
        while True:
            n += 1
            os.environ.get("V%d" % n); open("/dev/null").close()
    except Boom:
        caught += 1
print(caught)
`
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "alarm.py")
		if err := os.WriteFile(script, []byte("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (30, 30))\n"+program), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []Mode{Learn, Enforce} {
			r := p.run(t, p.silent(mode), nil, nil, "-I", script)
			if r.stdout != "300\n" || r.code != 0 {
				t.Errorf("%v: status %d, %q %q", mode, r.code, r.stdout, r.stderr)
			}
		}
	})
}

// TestCPythonsOwnTests: CPython's tests of what the shim touches give the same with it as without it. Takes minutes.
func TestCPythonsOwnTests(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), "cpython-tests") {
		t.Skip("takes minutes: name cpython-tests in PSB_MUST")
	}
	each(t, func(t *testing.T, p python) {
		if _, err := os.Stat(filepath.Join(p.Stdlib, "test", "test_os.py")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		} else if err != nil {
			if _, err := os.Stat(filepath.Join(p.Stdlib, "test", "test_os")); err != nil {
				t.Skip("this interpreter comes without its tests")
			}
		}
		for _, name := range []string{"test_os", "test_sys", "test_subprocess", "test_import", "test_importlib", "test_pkgutil", "test_runpy", "test_zipimport", "test_audit", "test_site"} {
			plain := outcomes(p.run(t, nil, nil, nil, "-m", "test", "-v", name))
			if len(plain) < 10 {
				t.Fatalf("%s: only %d outcomes", name, len(plain))
			}
			for _, mode := range []Mode{Learn, Enforce} {
				with := outcomes(p.run(t, p.silent(mode), nil, nil, "-m", "test", "-v", name))
				for test, want := range plain {
					if with[test] != want {
						t.Errorf("%v: %s: %q, without the shim %q", mode, test, with[test], want)
					}
				}
			}
		}
	})
}

var outcome = regexp.MustCompile(`(?m)^(?:(FAIL|ERROR): (test\S* \(\S+\))|(test\S* \(\S+\)).* \.\.\. (ok|skipped|expected failure))`)

// outcomes reads unittest's verbose report.
func outcomes(r result) map[string]string {
	out := map[string]string{}
	for _, m := range outcome.FindAllStringSubmatch(r.stdout+r.stderr, -1) {
		if out[m[2]+m[3]] == "" || m[1] != "" {
			out[m[2]+m[3]] = m[1] + m[4]
		}
	}
	return out
}
