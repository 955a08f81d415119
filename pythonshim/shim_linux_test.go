package pythonshim

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// each runs f once for every interpreter found.
func each(t *testing.T, f func(t *testing.T, p python)) {
	for _, p := range pythons(t) {
		t.Run(p.Version+"_"+strings.ReplaceAll(strings.Trim(filepath.Dir(p.Executable), "/"), "/", "_"), func(t *testing.T) { f(t, p) })
	}
}

// noisy makes an overlay whose notes go to stderr and whose rules grant everything.
func (p python) noisy(mode Mode) []byte { return overlay(p.original, mode, 2, p.granted) }

// silent is noisy with the notes' own descriptor.
func (p python) silent(mode Mode) []byte { return overlay(p.original, mode, NoteFD, p.granted) }

// TestFindAgreesWithPython: what was read from files is what the interpreter says.
func TestFindAgreesWithPython(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		check := func(t *testing.T, p python) {
			r := p.run(t, nil, nil, nil, "-c", `import sys,os,encodings,site
for x in (sys.prefix,sys.base_prefix,"%d.%d"%sys.version_info[:2],os.path.realpath(os.path.dirname(os.__file__)),os.path.realpath(encodings.__file__)): print(x)
for x in sys.path[1:]:
  if x.endswith("-packages") and os.path.isdir(x): print(os.path.realpath(x))`)
			lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
			want := []string{p.Prefix, p.BasePrefix, p.Version, p.Stdlib, p.Encodings}
			if len(lines) < 5 || !slices.Equal(lines[:5], want) {
				t.Fatalf("python says %q %s, files say %q", lines, r.stderr, want)
			}
			for _, s := range lines[5:] {
				if !slices.Contains(p.Sites, s) {
					t.Errorf("sites %q lack %q", p.Sites, s)
				}
			}
		}
		check(t, p)
		dir := filepath.Join(t.TempDir(), "v")
		if out, err := exec.Command(p.Launch, "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
			t.Fatalf("venv: %v %s", err, out)
		}
		l, err := Find(dir+"/bin/python", Host{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Venv != dir || l.Executable != p.Executable {
			t.Errorf("venv %q of %q, want %q of %q", l.Venv, l.Executable, dir, p.Executable)
		}
		v := python{l, p.original, p.granted}
		check(t, v)
		has(t, v.run(t, v.noisy(Learn), nil, nil, "-c", "import os\nos.environ.get('IN_VENV')"), "env", "IN_VENV unset | -c |  | 2")
	})
}

// TestLearnNotes: every kind of note, with who asked.
func TestLearnNotes(t *testing.T) {
	program := `import os, sys
import json
import second
def rate():
    os.environ.get("RATES_URL")
    os.environ["HOME"]
    "FOO" in os.environ
    os.environb.get(b"BAR")
    os.environ.pop("POPPED", None)
    os.getenv("QUX")
    os.environ.copy(); dict(os.environ); list(os.environ.items()); {**os.environ}
    [os.environ[k] for k in sorted(os.environ)]
    repr(os.environ); len(os.environ); os.environ == {}
    try: open("missing")
    except OSError: pass
    (lambda: os.listdir("sub"))()
    import importlib; importlib.import_module("csv")
    import socket
    s = socket.socket()
    try: s.connect(("127.0.0.1", 1))
    except OSError: pass
    s.bind(("127.0.0.1", 0))
    eval("1+1")
    import asker; asker.ask()
    open("\u00fc\"x", "w").close(); open("new\nline", "w").close()
    os.mkdir("made"); os.rename("made", "moved"); os.rmdir("moved")
    os.system("true")
rate()
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		for name, text := range map[string]string{"app.py": program, "second.py": "import colorsys\nimport json\n", "sub/x": "",
			"lib/site-packages/asker/__init__.py": "from asker import deep\ndef ask(): deep.ask()\n", "lib/site-packages/asker/deep.py": "def ask():\n    open('asked', 'w').close()\n"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := p.run(t, overlay(p.original, Learn, 2, t.TempDir()), nil, []string{"VALUE=never-in-a-note", "PYTHONPATH=" + dir + "/lib/site-packages"}, "-c",
			fmt.Sprintf("import os,sys\nos.chdir(%q)\nsys.argv=['app.py']\nsys.path.insert(0,%q)\nimport runpy\nrunpy.run_path('app.py', run_name='__main__')", dir, dir))
		if r.code != 0 || r.stderr != "" {
			t.Fatalf("status %d, stderr %q", r.code, r.stderr)
		}
		if len(r.refused) != 1 || !strings.Contains(r.refused[0], `"new\u000aline"`) {
			t.Errorf("refused notes %q", r.refused)
		}
		has(t, r, "env", "RATES_URL unset | app.rate |  | 5", "HOME set | app.rate |  | 6", "FOO unset | app.rate |  | 7", "BAR unset | app.rate |  | 8", "POPPED unset | app.rate |  | 9", "QUX unset | app.rate |  | 10")
		for _, n := range r.notes {
			if n.Event == "env" && (n.Args[0] == "VALUE" || n.Args[0] == "PATH") {
				t.Errorf("a scan of the whole environment was taken for a read: %+v", n)
			}
			for _, a := range append(n.Args, n.At, n.Func) {
				if strings.Contains(a, "never-in-a-note") {
					t.Errorf("a value in %+v", n)
				}
			}
		}
		has(t, r, "open", "missing | app.rate |  | 14", "asked | app.rate | asker | 24", "ü\"x | app.rate |  | 25")
		has(t, r, "list", "sub | app.rate |  | 16")
		has(t, r, "connect", "127.0.0.1 1 | app.rate |  | 20")
		has(t, r, "bind", "127.0.0.1 0 | app.rate |  | 22")
		has(t, r, "change", "made | app.rate |  | 26", "made moved | app.rate |  | 26", "moved | app.rate |  | 26")
		has(t, r, "exec", "/bin/sh | app.rate |  | 27")
		has(t, r, "call", "process-exec os.system | app.rate |  | 27")
		if got, want := r.noted("import"), []string{"socket app | app.rate |  | 18", "asker app | app.rate |  | 24"}; !slices.Equal(got, want) {
			t.Errorf("imports %q, want %q", got, want)
		}
	})
}

// TestLearnNotesOfAFolder: a line that goes through a folder names some of what it opens and then the folder, each time the program is elsewhere.
func TestLearnNotesOfAFolder(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		r := p.run(t, p.noisy(Learn), nil, nil, "-c", fmt.Sprintf(`import os
os.chdir(%q)
os.mkdir("sub")
for n in range(100):
    open("sub/%%02d" %% n, "w").close()
os.chdir("sub")
for n in range(100):
    open("%%02d" %% n).close()
open("99").close()
`, dir))
		if r.code != 0 || r.stderr != "" || len(r.refused) > 0 {
			t.Fatalf("status %d, stderr %q, refused %q", r.code, r.stderr, r.refused)
		}
		var want []string
		for n := range 16 {
			want = append(want, fmt.Sprintf("sub/%02d", n))
		}
		want = append(want, "sub/*")
		for n := range 16 {
			want = append(want, fmt.Sprintf("%02d", n))
		}
		want = append(want, dir+"/sub/*", "99")
		var got []string
		for _, n := range r.notes {
			if n.Event == NoteOpen {
				got = append(got, n.Args[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, " "), strings.Join(want, " "))
		}
	})
}

// TestLearnNotesOfAWalk: a line that has gone through three folders names the next one at once; another line begins anew. Time zones, which
// every box has, are not named.
func TestLearnNotesOfAWalk(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		r := p.run(t, p.noisy(Learn), nil, nil, "-c", fmt.Sprintf(`import os
os.chdir(%q)
for d in "abcde":
    os.mkdir(d)
    for n in range(20):
        os.open("%%s/%%02d" %% (d, n), os.O_CREAT | os.O_WRONLY)
os.close(os.open("/usr/share/zoneinfo/tzdata.zi", os.O_RDONLY)) if os.path.exists("/usr/share/zoneinfo/tzdata.zi") else None
os.close(os.open("e/00", os.O_RDONLY))
os.close(os.open("e/new", os.O_CREAT | os.O_WRONLY))
`, dir))
		if r.code != 0 || r.stderr != "" || len(r.refused) > 0 {
			t.Fatalf("status %d, stderr %q, refused %q", r.code, r.stderr, r.refused)
		}
		var want []string
		for _, d := range []string{"a", "b", "c"} {
			for n := range 16 {
				want = append(want, fmt.Sprintf("%s/%02d", d, n))
			}
			want = append(want, d+"/*")
		}
		want = append(want, "d/*", "e/*", "e/00", "e/new")
		var got []string
		for _, n := range r.notes {
			if n.Event == NoteOpen {
				got = append(got, n.Args[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, " "), strings.Join(want, " "))
		}
	})
}

// TestOverlayReachesEveryStart: whatever the flags, an empty environment, and every way to make a child.
func TestOverlayReachesEveryStart(t *testing.T) {
	children := `import os, sys, subprocess, multiprocessing, threading
def work(name):
    os.environ.get(name)
if __name__ == "__main__":
    subprocess.run([sys.executable, "-I", "-S", "-E", "-c", "import os\nos.environ.get('EMPTY_ENV')"], env={})
    for method in ("fork", "spawn", "forkserver"):
        p = multiprocessing.get_context(method).Process(target=work, args=("BY_" + method.upper(),))
        p.start(); p.join()
    t = threading.Thread(target=work, args=("BY_THREAD",)); t.start(); t.join()
    pid = os.fork()
    if not pid:
        os.environ.get("AFTER_FORK"); os._exit(0)
    os.waitpid(pid, 0)
`
	inside := `try:
    import _xxsubinterpreters as i
except ImportError:
    import _interpreters as i
s = i.create()
i.run_string(s, "import os\nos.environ.get('SUBINTERPRETER')")
i.destroy(s)
`
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "kids.py")
		if err := os.WriteFile(script, []byte(children), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []Mode{Learn, Enforce} {
			for _, flags := range []string{"", "-I", "-E", "-S", "-s", "-I -E -S", "-X dev", "-X utf8", "-O", "-OO", "-bb", "-B", "-W error"} {
				args := append(strings.Fields(flags), "-c", "import os\nos.environ.get('ASKED')")
				r := p.run(t, p.noisy(mode), nil, nil, args...)
				if r.code != 0 || r.stderr != "" {
					t.Errorf("%v %s: status %d, stderr %q", mode, flags, r.code, r.stderr)
				}
				has(t, r, "env", "ASKED unset | -c |  | 2")
			}
			r := p.run(t, p.noisy(mode), nil, nil, "-c", inside)
			has(t, r, "env", "SUBINTERPRETER unset | -c |  | 2")
			r = p.run(t, p.noisy(mode), nil, nil, script)
			if r.code != 0 {
				t.Errorf("%v: status %d, stderr %q", mode, r.code, r.stderr)
			}
			has(t, r, "env", "EMPTY_ENV unset | -c |  | 2")
			got := strings.Join(r.noted("env"), "\n")
			for _, name := range []string{"BY_FORK", "BY_SPAWN", "BY_FORKSERVER", "BY_THREAD", "AFTER_FORK"} {
				if !strings.Contains(got, name+" unset | ") {
					t.Errorf("%v: no note of %s among\n%s", mode, name, got)
				}
			}
		}
	})
}

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

// TestEnforceExplains: uncaught refusals with the file and the program's line, also those that another error hides.
func TestEnforceExplains(t *testing.T) {
	program := `import threading, os
def low():
    open("/nowhere/x")
def high():
    try:
        low()
    except OSError as e:
        raise ValueError("v") from None
t = threading.Thread(target=lambda: os.rename("/nowhere/a", "/nowhere/b")); t.start(); t.join()
os.environ.get("ONCE"); os.environ.get("ONCE")
os.environ.get("PATH")
high()
`
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "why.py")
		if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		r := p.run(t, p.noisy(Enforce), nil, nil, "-I", script)
		want := []string{"FileNotFoundError 2 /nowhere/a /nowhere/b | why |  | 9", "FileNotFoundError 2 /nowhere/x  | why.low |  | 3"}
		if got := r.noted("error"); !slices.Equal(got, want) {
			t.Errorf("errors %q, want %q\n%s", got, want, r.stderr)
		}
		if got := r.noted("env"); !slices.Equal(got, []string{"ONCE unset | why |  | 10"}) {
			t.Errorf("variables %q", got)
		}
		r = p.run(t, p.noisy(Enforce), nil, nil, "-I", "-c", "import nothing_of_that_name")
		if got := r.noted("error"); !slices.Equal(got, []string{"ModuleNotFoundError  nothing_of_that_name  | -c |  | 1"}) {
			t.Errorf("errors %q", got)
		}
		if n := len(p.run(t, p.noisy(Enforce), nil, nil, "-I", "-c", "open('/dev/null').close()").notes); n != 0 {
			t.Errorf("%d notes of a program without errors", n)
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

// TestPyc: the bytecode that PycCommand makes passes VerifyPyc, and bound in place it is what the interpreter loads.
func TestPyc(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		if p.Pyc == "" {
			t.Skip("this interpreter keeps no bytecode of encodings")
		}
		own, err := os.ReadFile(p.Pyc)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p.Launch, PycCommand(p.Layout)...)
		cmd.Stdin = bytes.NewReader(p.noisy(Learn))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := VerifyPyc(out, own); err != nil {
			t.Fatal(err)
		}
		// With the original source beside it, notes can only come out of the bytecode.
		r := p.run(t, nil, out, nil, "-I", "-c", "import os\nos.environ.get('BYTECODE')")
		has(t, r, "env", "BYTECODE unset | -c |  | 2")
	})
}

// TestFallback: PYTHONPATH's sitecustomize notes too, and lets the user's own run as if ours were not there.
func TestFallback(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		ours, theirs := t.TempDir(), t.TempDir()
		for name, data := range files(Learn, 2, Rules{}, "/nowhere") {
			if err := os.WriteFile(filepath.Join(ours, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		env := []string{"PYTHONPATH=" + ours + ":" + theirs}
		say := "import os,sys\nos.environ.get('FALLBACK')\nprint(getattr(sys.modules.get('sitecustomize'),'__file__',None), [x for x in sys.path if x in " + fmt.Sprintf("(%q,%q)", ours, theirs) + "])"
		if err := os.WriteFile(filepath.Join(theirs, "sitecustomize.py"), []byte("print('theirs')\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := p.run(t, nil, nil, env, "-c", say)
		has(t, r, "env", "FALLBACK unset | -c |  | 2")
		if want := fmt.Sprintf("theirs\n%s/sitecustomize.py ['%s']\n", theirs, theirs); r.stdout != want || r.code != 0 {
			t.Errorf("%q %q, want %q", r.stdout, r.stderr, want)
		}
		r = p.run(t, nil, nil, []string{"PYTHONPATH=" + ours}, "-c", say)
		if r.code != 0 || r.stderr != "" {
			t.Errorf("without another sitecustomize: %d %q", r.code, r.stderr)
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

func TestHostOpensRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("mkfifo", dir+"/pipe").Run(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, dir + "/pipe", "/dev/null", dir + "/none"} {
		if f, err := (Host{}).Open(p); err == nil {
			f.Close()
			t.Errorf("opened %q", p)
		}
	}
}
