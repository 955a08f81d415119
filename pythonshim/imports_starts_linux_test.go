package pythonshim

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestImportsAreJudgedInEveryStart: whatever the flags, whoever started the interpreter, and in interpreters inside it.
func TestImportsAreJudgedInEveryStart(t *testing.T) {
	kids := `import os, sys, subprocess, multiprocessing, threading, concurrent.futures
def work(name):
    try:
        import ctypes
        print(name, "imported", flush=True)
    except ImportError as e:
        print(name, type(e).__name__, flush=True)
if __name__ == "__main__":
    for flags in ([], ["-I", "-S", "-E"], ["-O"]):
        subprocess.run([sys.executable, *flags, "-c", "try:\n import ctypes\n print('child imported')\nexcept ImportError as e: print('child', type(e).__name__)"], env={})
    for method in ("fork", "spawn", "forkserver"):
        p = multiprocessing.get_context(method).Process(target=work, args=(method,))
        p.start(); p.join()
    with concurrent.futures.ProcessPoolExecutor(1) as e: e.submit(work, "pool").result()
    t = threading.Thread(target=work, args=("thread",)); t.start(); t.join()
    try:
        import _xxsubinterpreters as i
    except ImportError:
        import _interpreters as i
    s = i.create()
    i.run_string(s, "try:\n import pty\n print('inside imported', flush=True)\nexcept ImportError as e: print('inside', type(e).__name__, flush=True)")
    i.destroy(s)
`
	inner := []string{"child", "child", "child", "fork", "spawn", "forkserver", "pool", "thread", "inside"}
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"kids.py": kids})
		own := map[string]bool{"multiprocessing": true, "subprocess": true, "_xxsubinterpreters": true, "_interpreters": true}
		o := overlay(p.original, Enforce, NoteFD, sceneOf(t, p, Rules{Imports: own}).dir)
		for overlay, word := range map[*[]byte]string{&o: "RuleModuleNotFoundError", ptr(p.silent(Enforce)): "imported"} {
			r := p.run(t, *overlay, nil, nil, filepath.Join(dir, "kids.py"))
			want := strings.Join(inner, " "+word+"\n") + " " + word + "\n"
			if r.stdout != want || r.stderr != "" {
				t.Errorf("got\n%s%swant\n%s", r.stdout, r.stderr, want)
			}
		}
		for _, flags := range []string{"", "-I", "-E", "-S", "-s", "-I -E -S", "-X dev", "-X utf8", "-O", "-OO", "-B", "-W error", "-X importtime"} {
			args := append(strings.Fields(flags), "-c", "import json\ntry:\n import ctypes\nexcept ImportError as e: print(e)")
			r := p.run(t, o, nil, nil, args...)
			if want := "psb: denied: import ctypes (<string>:3)\npsb: hint: psb policy add import ctypes\n"; r.stdout != want || r.code != 0 {
				t.Errorf("%s: %q %s", flags, r.stdout, r.stderr)
			}
		}
	})
}

func ptr[T any](v T) *T { return &v }

// TestImportsWhereverPythonLies: a virtual environment, an interpreter behind links, an archive that is the program.
func TestImportsWhereverPythonLies(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		if out, err := exec.Command(p.Launch, "-m", "venv", "--without-pip", dir+"/v").CombinedOutput(); err != nil {
			t.Fatalf("venv: %v %s", err, out)
		}
		site, _ := filepath.Glob(dir + "/v/lib/python*/site-packages")
		if len(site) != 1 {
			t.Fatal(site)
		}
		write(t, site[0], map[string]string{"tool/__init__.py": "", "tool/cli.py": "import dep, ctypes\ndef main():\n    print('ran')\n    import plugin\n", "tool/__main__.py": "from tool.cli import main\nmain()\n", "dep.py": ""})
		script := "import sys\nfrom tool.cli import main\nsys.exit(main())\n"
		write(t, dir, map[string]string{"v/bin/tool": script, "plugin.py": "import json\nprint('plugin')\nimport dep\n", "app.py": "import dep\n"})
		if err := os.Symlink(dir+"/v", dir+"/link"); err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"z/__main__.py": "import json, inner\nprint('zipped')\nimport dep\n", "z/inner.py": ""})
		if out, err := exec.Command(p.Launch, "-m", "zipapp", dir+"/z").CombinedOutput(); err != nil {
			t.Fatalf("zipapp: %v %s", err, out)
		}
		for _, c := range []struct {
			program string
			args    []string
			stdout  string
			denied  []string
		}{
			{"", []string{"app.py"}, "", []string{"import dep | app |  | 1"}},
			{"", []string{"-m", "tool"}, "ran\nplugin\n", []string{"import dep | plugin |  | 3"}},
			{dir + "/v/bin/tool", []string{dir + "/v/bin/tool"}, "ran\nplugin\n", []string{"import dep | plugin |  | 3"}},
			{"", []string{dir + "/z.pyz"}, "zipped\n", []string{"import dep | __main__ |  | 3"}},
		} {
			for _, launch := range []string{dir + "/v/bin/python", dir + "/link/bin/python"} {
				l, err := Find(launch, Host{})
				if err != nil {
					t.Fatal(err)
				}
				v := python{l, p.original, p.granted}
				args := slices.Clone(c.args)
				if args[0] == "app.py" {
					args[0] = dir + "/app.py"
				}
				s := sceneOf(t, v, Rules{Program: c.program})
				r := v.run(t, s.overlay(Enforce, ""), nil, []string{"PYTHONPATH=" + dir}, args...)
				if r.stdout != c.stdout || !slices.Equal(r.noted(NoteDenied), c.denied) {
					t.Errorf("%s %v: %q, refused %q, want %q and %q: %s", launch, c.args, r.stdout, r.noted(NoteDenied), c.stdout, c.denied, r.stderr)
				}
			}
		}
	})
}

// TestRefusalsHoldAtTheEnd of the stack: where there is no room for a judgement there is no import.
func TestRefusalsHoldAtTheEnd(t *testing.T) {
	program := `import sys, lib
def deep(n, f):
    return deep(n - 1, f) if n else f()
def imports():
    import other
def again():
    import ctypes
got = set()
for f in (imports, again):
    for limit in (60, 80):
        sys.setrecursionlimit(limit)
        for n in range(limit):
            try:
                deep(n, f)
                got.add("IMPORTED at %d of %d" % (n, limit))
            except BaseException as e:
                got.add(type(e).__name__)
sys.setrecursionlimit(1000)
print(sorted(got))
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, libraries(false))
		write(t, dir, map[string]string{"app.py": program})
		r := p.run(t, overlay(p.original, Enforce, NoteFD, sceneOf(t, p, Rules{Imports: map[string]bool{"lib": true}}).dir), nil, []string{"PYTHONPATH=" + dir + "/site-packages"}, filepath.Join(dir, "app.py"))
		if want := "['RecursionError', 'RuleModuleNotFoundError']\n"; r.stdout != want {
			t.Errorf("got %q, want %q: %s", r.stdout, want, r.stderr)
		}
	})
}

// TestLearnedImportsAreWhatIsAsked: with what learning noted nothing is refused; without any one of it, that one is.
func TestLearnedImportsAreWhatIsAsked(t *testing.T) {
	program := `import json, threading, mine, lib
from packed import inner
import space.left as left
def later():
    import socket, other
    import importlib; importlib.import_module("xmlrpc.client")
t = threading.Thread(target=later); t.start(); t.join()
exec("import ctypes.util")
try: import nothing_there
except ImportError: pass
print("end")
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, libraries(true))
		write(t, dir, map[string]string{"app.py": program, "mine/__init__.py": "from . import part", "mine/part.py": "import pickle\n", "site-packages/space/left.py": ""})
		run := func(mode Mode, imports map[string]bool) result {
			return p.run(t, sceneOf(t, p, Rules{Imports: imports}).overlay(mode, ""), nil, []string{"PYTHONPATH=" + dir + "/site-packages"}, "-S", filepath.Join(dir, "app.py"))
		}
		learned := map[string]bool{}
		r := run(Learn, nil)
		for _, n := range r.notes {
			if n.Event == NoteImport {
				learned[n.Args[0]] = true
			}
		}
		has(t, r, NoteImport, "lib app | app |  | 1", "pickle mine.part | mine.part |  | 1", "packed app | app |  | 2", "space.left app | app |  | 3", "socket app | app.later |  | 5", "other app | app.later |  | 5",
			"xmlrpc app | app.later |  | 6", "ctypes app | app |  | 1")
		if len(learned) != 8 || r.stdout != "end\n" {
			t.Errorf("learned %v, %q %s", learned, r.stdout, r.stderr)
		}
		if r := run(Enforce, learned); r.stdout != "end\n" || len(r.noted(NoteDenied)) > 0 {
			t.Errorf("with what was learned %q %s", r.noted(NoteDenied), r.stderr)
		}
		if again := run(Learn, learned); !slices.Equal(again.noted(NoteImport), r.noted(NoteImport)) {
			t.Errorf("learned again %q, want the same: lines that are used", again.noted(NoteImport))
		}
		for name := range learned {
			less := map[string]bool{}
			for n := range learned {
				less[n] = n != name
			}
			delete(less, name)
			r := run(Enforce, less)
			if len(r.notes) == 0 || !slices.ContainsFunc(r.notes, func(n Note) bool { return n.Event == NoteDenied && n.Args[1] == name }) {
				t.Errorf("without %s: %q %s", name, r.noted(NoteDenied), r.stderr)
			}
		}
		if r := run(Learn, map[string]bool{"other": false}); len(r.noted(NoteDenied)) != 1 {
			t.Errorf("a false while learning: %q", r.noted(NoteDenied))
		}
	})
}
