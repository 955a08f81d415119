package pythonshim

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// scene is what a test of the rules needs: a folder as [ShimDir] with rules and the package, and an overlay that reads it.
type scene struct {
	python
	dir string
}

func sceneOf(t *testing.T, p python, rules Rules) scene {
	t.Helper()
	s := scene{p, t.TempDir()}
	if rules.Calls == nil {
		rules.Calls = map[string]bool{"*": true} // the test is about something else
	}
	if err := os.WriteFile(filepath.Join(s.dir, RulesName), rules.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.dir, PackageDir, "psb"), os.DirFS("psb")); err != nil {
		t.Fatal(err)
	}
	return s
}

// overlay makes an overlay whose notes go to stderr; more is Python that the shim runs at its end, as one of its own files.
func (s scene) overlay(mode Mode, more string) []byte {
	var out bytes.Buffer
	out.Write(s.original)
	out.WriteByte('\n')
	shim(&out, mode, 2, s.dir, append(bytes.Clone(startPy), more...))
	return out.Bytes()
}

// TestGuardSaysWhoAsks: the nearest frame that is not of the standard library, and what it belongs to.
func TestGuardSaysWhoAsks(t *testing.T) {
	program := `import json, sys, runpy, os
sys.path.insert(0, os.path.dirname(__file__) + "/site-packages")
import lib
class A: pass
def show(what, f): print(what, *f)
def default(x):
    show("through json", who())
    return 1
who = sys.who
show("program", who())
json.dumps(A(), default=default)
lib.call(lambda: show("back", who()))
lib.ask("library", show)
exec("show('main text', who())")
exec("show('text', who())", {"show": show, "who": who})
lib.run("show('text of a library', who())", {"show": show, "who": who})
namespace = {}
exec(compile("def f(): show('made', who())", "<made>", "exec"), {"show": show, "who": who, "__file__": "/nowhere/x.py"}, namespace)
namespace["f"]()
`
	more := `
def who():
    f, k = asked(getframe(1))
    return {None: "nobody", LIBRARY: "library", PROGRAM: "program", TEXT: "text"}[k], f and f.f_code.co_filename.rpartition("/")[2], f and f.f_lineno
sys.who = who
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"app.py": program,
			"site-packages/lib.py": "import sys\ndef call(f): f()\ndef ask(x, show): show(x, sys.who())\ndef run(text, names): exec(text, names)\n"})
		r := p.run(t, sceneOf(t, p, Rules{Imports: map[string]bool{"lib": true}, Calls: map[string]bool{"*": true}}).overlay(Enforce, more), nil, nil, filepath.Join(dir, "app.py"))
		want := `program program app.py 10
through json program app.py 7
back program app.py 12
library library lib.py 3
main text program <string> 1
text text <string> 1
text of a library library <string> 1
made program <made> 1
`
		if r.stdout != want || r.stderr != "" {
			t.Errorf("got\n%swant\n%s%s", r.stdout, want, r.stderr)
		}
		r = p.run(t, sceneOf(t, p, Rules{Imports: map[string]bool{"lib": true}, Calls: map[string]bool{"*": true}}).overlay(Enforce, more), nil, nil, "-c", "import sys, atexit\natexit.register(map, print, [1])\nprint(sys.who())")
		if want := "('program', '<string>', 3)\n"; r.stdout != want {
			t.Errorf("got %q, want %q", r.stdout, want)
		}
	})
}

// TestGuardJudges: a false wins wherever it stands, a module is covered by its packages and by what programs import it as.
func TestGuardJudges(t *testing.T) {
	rules := Rules{
		Imports: map[string]bool{"flask": true, "google.protobuf": true, "ctypes": false, "socket": true, "flask.views": false},
		Calls:   map[string]bool{"threads": true, "_thread.interrupt_main": false, "os.kill": true, "process-exec": false, "os.fork": true},
	}
	more := `
said_ = [judge("import", n) for n in ("flask", "flask.app", "flaskx", "flask.views.x", "google", "google.protobuf.x", "_ctypes", "ctypes.util", "_socket", "numpy")]
called = [judge("call", *a) for a in (("threading.Thread.start", ("threads", "*")), ("_thread.interrupt_main", ("threads", "*")), ("os.kill", ("process-control", "*")), ("os.fork", ("process-exec", "*")), ("os.nice", ("process-control", "*")))]
sys.judged = said_, called
`
	each(t, func(t *testing.T, p python) {
		r := p.run(t, sceneOf(t, p, rules).overlay(Enforce, more), nil, nil, "-c", "import sys; print(*sys.judged, sep='\\n')")
		want := "[True, True, None, False, None, True, False, False, True, None]\n[True, False, True, False, None]\n"
		if r.stdout != want || r.stderr != "" {
			t.Errorf("got %q %q, want %q", r.stdout, r.stderr, want)
		}
		rules := Rules{Imports: map[string]bool{"*": true, "ctypes": false}, Calls: map[string]bool{}}
		r = p.run(t, sceneOf(t, p, rules).overlay(Enforce, "\nsys.judged = judge('import', 'x'), judge('import', 'ctypes.util'), judge('call', 'os.fork', ('process-exec', '*'))\n"), nil, nil, "-c", "import sys; print(*sys.judged)")
		if want := "True False None\n"; r.stdout != want {
			t.Errorf("got %q, want %q", r.stdout, want)
		}
	})
}

// TestGuardRefuses: text, hint and note of a refusal, and its family, which is the program's psb.errors.
func TestGuardRefuses(t *testing.T) {
	more := `
def refuse(op, obj): return refusal(op, obj, getframe(1))
sys.refuse = refuse
sys.own = own
`
	program := `import os, sys
os.chdir(os.path.dirname(__file__))
e = sys.refuse("call", "os.system")
print(str(e), e.hint, e.denials, e.qualname, sep="|")
e = sys.refuse("import", "ctypes")
print(str(e), e.name, type(e).__name__, sep="|")
print(str(sys.refuse("eval", "calc/call:a b")), sep="|")
print([c.__name__ for c in type(e).__mro__[1:5]], type(e).__module__)
print(sorted(m for m in sys.modules if m.startswith("psb")))
print(sys.own("psb.evals").__name__, "psb" in sys.modules)
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"app.py": program})
		s := sceneOf(t, p, Rules{Imports: map[string]bool{"ctypes": false}})
		lines := `call os.system is not in the policy; to allow it: psb policy add call os.system|psb policy add call os.system|('call os.system',)|os.system
import ctypes is refused by the policy; see: psb policy why import ctypes|ctypes|RuleModuleNotFoundError
eval calc/call:a b is not in the policy; to allow it: psb policy add eval 'calc/call:a b'
['SandBoxError', 'RuntimeError', 'ModuleNotFoundError', 'ImportError'] psb.errors
[]
`
		r := p.run(t, s.overlay(Enforce, more), nil, nil, filepath.Join(dir, "app.py"))
		if want := lines + "psb.evals False\n"; r.stdout != want || r.stderr != "" {
			t.Errorf("got\n%swant\n%s%s", r.stdout, want, r.stderr)
		}
		has(t, r, NoteDenied, "call os.system | app |  | 3", "import ctypes | app |  | 5")
		// Where the package cannot be read the refusals are the same, made in place.
		if err := os.RemoveAll(filepath.Join(s.dir, PackageDir)); err != nil {
			t.Fatal(err)
		}
		r = p.run(t, s.overlay(Enforce, more), nil, nil, filepath.Join(dir, "app.py"))
		if want := lines; r.stdout != want {
			t.Errorf("got\n%swant\n%s%s", r.stdout, want, r.stderr)
		}
	})
}

// TestGuardReadsByteCode: the package's byte code is taken as psb has it made, whatever the program did to the import system; what is of another
// interpreter, checked by time, or damaged is not.
func TestGuardReadsByteCode(t *testing.T) {
	program := `import sys, marshal, __future__
marshal.loads = sys.implementation.cache_tag = None
sys.path[:], sys.meta_path[:], sys.path_hooks[:] = [], [], []
sys.path_importer_cache.clear()
try:
    import _imp
except ImportError as e:
    print(sys.modules["builtins"].type(e).__name__, getattr(e, "made_of", type(e).__doc__ and "the text"))
`
	each(t, func(t *testing.T, p python) {
		if p.Pyc == "" {
			t.Skip("this interpreter keeps no bytecode of encodings")
		}
		own, err := os.ReadFile(p.Pyc)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, map[string]string{"app.py": program})
		s := sceneOf(t, p, Rules{Imports: map[string]bool{"marshal": true}})
		file := filepath.Join(s.dir, PackageDir, "psb/errors.py")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p.Launch, PycCommand()...)
		cmd.Stdin = bytes.NewReader(PycInput([]Source{{file, append(text, "\nSandBoxError.made_of = 'byte code'\n"...)}}))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		codes, err := PycOutput(out, 1, own)
		if err != nil {
			t.Fatal(err)
		}
		code := codes[0]
		other, byTime := bytes.Clone(code), bytes.Clone(code)
		other[0]++
		byTime[4] = 0
		for _, row := range []struct {
			what string
			code []byte
			want string
		}{
			{"as it was made", code, "byte code"},
			{"another interpreter's", other, "the text"},
			{"checked by time", byTime, "the text"},
			{"cut off", code[:len(code)/2], "the text"},
			{"the header alone", code[:16], "the text"},
			{"empty", nil, "the text"},
		} {
			write(t, filepath.Join(s.dir, PackageDir), map[string]string{PycName(p.Layout, "psb/errors.py"): string(row.code)})
			r := p.run(t, s.overlay(Enforce, ""), nil, nil, filepath.Join(dir, "app.py"))
			if want := "RuleModuleNotFoundError " + row.want + "\n"; r.stdout != want {
				t.Errorf("%s: got %q, want %q: %s", row.what, r.stdout, want, r.stderr)
			}
		}
	})
}

// TestGuardAfter: what waits for a module sees it whenever it has been executed, of whatever kind it is.
func TestGuardAfter(t *testing.T) {
	more := `
sys.log = []
for name in ("posix", "os", "subprocess", "_heapq", "faulthandler", "local"):
    after(name, lambda m: sys.log.append(m.__name__))
`
	program := `import sys, importlib
sys.log[:] = [x for x in sys.log if x != "subprocess"]
import heapq, subprocess, faulthandler, local
importlib.reload(local)
del sys.modules["subprocess"]
importlib.import_module("subprocess")
print(*sys.log)
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"app.py": program, "local.py": ""})
		r := p.run(t, sceneOf(t, p, Rules{Imports: map[string]bool{"subprocess": true}, Calls: map[string]bool{"importlib.reload": true}}).overlay(Enforce, more), nil, nil, "-s", filepath.Join(dir, "app.py"))
		if want := "posix os _heapq subprocess faulthandler local local subprocess\n"; r.stdout != want || r.stderr != "" {
			t.Errorf("got %q, want %q %s", r.stdout, want, r.stderr)
		}
	})
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
