package pythonshim

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// routes are ways to a module, each with the object that a refusal names; loaded are those that a second import of what is there can take.
const routes = `import sys, os, glob, importlib, importlib.util, importlib.machinery, runpy, pkgutil, types, threading, warnings
warnings.simplefilter("ignore")
import lib
lib.early()
stdlib = os.path.dirname(os.__file__)
ext = [p for d in (stdlib + "/lib-dynload", stdlib) for p in glob.glob(d + "/_ctypes.*.so")][0]
boot = sys.modules["_frozen_importlib"]
mach = importlib.machinery
class Str(str):
    __hash__ = str.__hash__
    def __eq__(self, o): return True
    def startswith(self, *a): return True
    def partition(self, *a): return ("json", "", "")
class Equal(str):
    __hash__ = str.__hash__
    def __eq__(self, o): return True
class Spec:
    n = 0
    origin = ext
    @property
    def name(self):
        self.n += 1
        return "harmless" if self.n == 1 else "_ctypes"
def statement():
    import ctypes
def member():
    from ctypes import CDLL
def below():
    import ctypes.util
def below_member():
    from ctypes import util
def facade_text(): exec("import ctypes")
def facade_own_text(): exec("import ctypes", {"__name__": "json"})
def by_spec():
    s = importlib.util.find_spec("pty")
    s.loader.exec_module(importlib.util.module_from_spec(s))
def lazily():
    sys.modules.pop("pty", None)
    s = importlib.util.find_spec("pty")
    s.loader = importlib.util.LazyLoader(s.loader)
    m = importlib.util.module_from_spec(s)
    s.loader.exec_module(m)
    m.spawn
def cleared():
    keep = sys.meta_path[:]
    sys.meta_path[:] = keep[-1:]
    try: import pty
    finally: sys.meta_path[:] = keep
def overtaken():
    class finder:
        @staticmethod
        def find_spec(name, path=None, target=None): return mach.PathFinder.find_spec(name, path)
    sys.meta_path.insert(0, finder)
    try: import pty
    finally: sys.meta_path.remove(finder)
def relative():
    exec("from . import util", {"__package__": "ctypes", "__name__": "ctypes.x"})
def in_thread(f, *args):
    got = []
    keep, threading.excepthook = threading.excepthook, lambda a: got.append(a.exc_value)
    t = threading.Thread(target=f, args=args)
    t.start(); t.join()
    threading.excepthook = keep
    if got: raise got[0]
def poisoned():
    import builtins
    keep = dict(vars(builtins))
    for n in ("issubclass", "any", "all", "callable"): setattr(builtins, n, lambda *a: True)
    builtins.isinstance, builtins.str, builtins.id, builtins.ord, builtins.property = lambda a, b: a is not None, Str, lambda o: 1, lambda c: 65, None
    builtins.frozenset = builtins.set = builtins.dict = lambda *a: {}
    try: import other
    finally: vars(builtins).update(keep)
def copied():
    import shutil
    shutil.copy(ext, os.path.basename(ext))
    mach.ExtensionFileLoader("x._ctypes", os.path.abspath(os.path.basename(ext))).create_module(mach.ModuleSpec("x._ctypes", None, origin=os.path.abspath(os.path.basename(ext))))
def starred():
    names = {}
    exec("from ctypes import *", names)
    names["CDLL"]
def zipped():
    import zipimport
    zipimport.zipimporter(lib.zip).load_module("other") if sys.version_info < (3, 12) else zipimport.zipimporter(lib.zip).get_code("other")
tries = {
    "statement": statement, "member": member, "below": below, "below member": below_member, "starred": starred,
    "__import__": lambda: __import__("ctypes"), "lying name": lambda: __import__(Str("ctypes")), "lying name of a package": lambda: importlib.import_module(Equal("other")),
    "import_module": lambda: importlib.import_module("ctypes"), "relative import_module": lambda: importlib.import_module(".util", "ctypes"),
    "bootstrap": lambda: boot.__import__("ctypes"), "gcd": lambda: boot._gcd_import("ctypes"), "find and load": lambda: boot._find_and_load("pty", __import__),
    "evaluated": facade_text, "evaluated elsewhere": facade_own_text, "relative": relative,
    "builtin": lambda: boot.BuiltinImporter.load_module("_pickle") if "_pickle" in sys.builtin_module_names else __import__("_pickle"),
    "built-in and false": lambda: boot.BuiltinImporter.load_module("faulthandler"),
    "loader": lambda: mach.SourceFileLoader("c", stdlib + "/ctypes/util.py").load_module(),
    "loader of a package": lambda: mach.SourceFileLoader("c", os.path.dirname(lib.__file__) + "/other.py").exec_module(types.ModuleType("c")),
    "code of a loader": lambda: mach.SourceFileLoader("c", stdlib + "/pty.py").get_code("c"),
    "ext": lambda: mach.ExtensionFileLoader("_ctypes", ext).create_module(importlib.util.spec_from_file_location("_ctypes", ext)),
    "lying spec": lambda: sys.modules["_imp"].create_dynamic(Spec()) if sys.version_info < (3, 13) else __import__("_ctypes"), "copied": copied,
    "by spec": by_spec, "lazily": lazily, "runpy": lambda: runpy.run_module("ctypes.util"), "runpy of a module": lambda: runpy.run_module("pty"), "run_path": lambda: runpy.run_path(stdlib + "/pty.py"),
    "pkgutil": lambda: (pkgutil.resolve_name("ctypes:CDLL") if sys.version_info >= (3, 9) else importlib.import_module("ctypes")),
    "pydoc": lambda: __import__("pydoc").locate("ctypes.util") and None or __import__("ctypes"),
    "logging": lambda: __import__("logging.config").config.BaseConfigurator({}).resolve("other"),
    "mock": lambda: __import__("unittest.mock").mock.patch("other.name").__enter__(),
    "cleared": cleared, "overtaken": overtaken, "poisoned": poisoned, "zipped": zipped,
    "thread": lambda: in_thread(importlib.import_module, "ctypes"), "thread itself": lambda: in_thread(__import__, "other"),
    "reload": lambda: importlib.reload(sys.modules["ctypes"]) if "ctypes" in sys.modules else statement(),
    "third party": lambda: __import__("other"), "third party below": lambda: __import__("packed.inner"),
}
for twin in ("_ctypes", "_socket", "_pickle", "_posixsubprocess", "_multiprocessing", "_imp", "marshal"):
    tries[twin] = lambda twin=twin: __import__(twin)
for k, f in tries.items():
    if not lib.EARLY:
        for n in ("ctypes", "ctypes.util", "pty", "_ctypes", "other", "packed", "packed.inner", "_pickle", "c"): sys.modules.pop(n, None)
    try:
        f()
        print(k, "IMPORTED")
    except BaseException as e:
        while not isinstance(e, ImportError) and (e.__cause__ or e.__context__): e = e.__cause__ or e.__context__
        while isinstance(e.__cause__, ImportError): e = e.__cause__
        print(k, type(e).__name__, getattr(e, "name", e))
`

// libraries are what the programs of these tests find installed.
func libraries(early bool) map[string]string {
	return map[string]string{
		"site-packages/lib.py": fmt.Sprintf(`import os
zip = os.path.dirname(__file__) + "/old.zip"
EARLY = %q != ""
def early():
    import zipfile
    with zipfile.ZipFile(zip, "w") as z: z.writestr("other.py", "name = 1")
    if EARLY:
        import ctypes, ctypes.util, pty, pickle, subprocess, socket, marshal, multiprocessing.pool, _imp, _posixsubprocess, _multiprocessing, other, packed.inner
`, map[bool]string{true: "early"}[early]),
		"site-packages/other.py":           "name = 1\n",
		"site-packages/packed/__init__.py": "",
		"site-packages/packed/inner.py":    "",
	}
}

var objects = map[string]string{
	"lying name of a package": "other", "by spec": "pty", "lazily": "pty", "runpy of a module": "pty", "run_path": "pty", "code of a loader": "pty", "find and load": "pty",
	"builtin": "_pickle", "built-in and false": "faulthandler", "loader of a package": "other", "ext": "_ctypes", "lying spec": "_ctypes", "copied": "_ctypes",
	"logging": "other", "mock": "other", "cleared": "pty", "overtaken": "pty", "poisoned": "other", "zipped": "other", "thread itself": "other",
	"third party": "other", "third party below": "packed",
}

// TestImportsByEveryRoute: what the policy does not grant is refused whichever way it is asked for, also when somebody else has loaded it
// already; with the grant, and without the shim, each way leads there.
func TestImportsByEveryRoute(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		for _, early := range []bool{false, true} {
			dir := t.TempDir()
			write(t, dir, libraries(early))
			write(t, dir, map[string]string{"app.py": routes})
			env := []string{"PYTHONPATH=" + dir + "/site-packages"}
			run := func(o []byte) map[string]string {
				r := p.run(t, o, nil, env, filepath.Join(dir, "app.py"))
				out := map[string]string{}
				for line := range strings.Lines(r.stdout) {
					if i := max(strings.Index(line, " IMPORTED"), strings.Index(line, " RuleModule")); i > 0 {
						out[line[:i]] = strings.TrimSpace(line[i:])
					} else {
						out[strings.TrimSpace(line)] = "?"
					}
				}
				if len(out) < 40 || r.code != 0 {
					t.Fatalf("early %v: status %d, %d routes: %s", early, r.code, len(out), r.stderr)
				}
				return out
			}
			plain := run(nil)
			granted := run(p.silent(Enforce))
			learning := run(overlay(p.original, Learn, NoteFD, sceneOf(t, p, Rules{}).dir))
			denied := run(overlay(p.original, Enforce, NoteFD, sceneOf(t, p, Rules{Imports: map[string]bool{"lib": true, "faulthandler": false}}).dir))
			for _, k := range slices.Sorted(maps.Keys(plain)) {
				if k == "lying spec" {
					granted[k], learning[k] = plain[k], plain[k] // its answer at first is its answer
				}
				if plain[k] != "IMPORTED" || granted[k] != "IMPORTED" || learning[k] != "IMPORTED" {
					t.Errorf("early %v: %s: without the shim %q, granted %q, learning %q", early, k, plain[k], granted[k], learning[k])
				}
				object := objects[k]
				if object == "" {
					object = map[bool]string{true: k, false: "ctypes"}[k[0] == '_' && k != "__import__" || k == "marshal"]
				}
				if want := "RuleModuleNotFoundError " + object; denied[k] != want {
					t.Errorf("early %v: %s: %q, want %q", early, k, denied[k], want)
				}
			}
		}
	})
}

// TestImportRules: what a line speaks for, and for whom.
func TestImportRules(t *testing.T) {
	files := map[string]string{
		"site-packages/deep/__init__.py":        "import sub.one, ctypes, pickle\nvalue = 1\n",
		"site-packages/deep/inner.py":           "value = 2\n",
		"site-packages/sub/__init__.py":         "value = 3\n",
		"site-packages/sub/one.py":              "",
		"site-packages/sub/two.py":              "",
		"site-packages/space/left/__init__.py":  "",
		"site-packages/space/right/__init__.py": "",
		"site-packages/loads.py":                "import space.left, space.right, sub.two\n",
		"site-packages/uses_ctypes.py":          "def late():\n    import ctypes\n",
		"site-packages/psb_evil/__init__.py":    "",
		"site-packages/psbx.py":                 "",
		"mine/__init__.py":                      "from . import part\nfrom .part import value\n",
		"mine/part.py":                          "value = 4\n",
		"resource.py":                           "local = True\n",
		"code/__init__.py":                      "local = True\n",
		"site-packages/flask_like/__init__.py":  "",
		"site-packages/flask_like/__main__.py":  "import sub, pickle\nfrom flask_like import cli\nimport app\nprint('main')\n",
		"site-packages/flask_like/cli.py":       "import deep\n",
		"app.py":                                "import json, mine\n",
		"asks.py":                               "import sub\n",
	}
	yes := func(names ...string) map[string]bool {
		out := map[string]bool{}
		for _, n := range names {
			out[strings.TrimPrefix(n, "!")] = n[0] != '!'
		}
		return out
	}
	groups := map[string][]importCase{}
	for _, c := range []importCase{
		{"the standard library needs no line", nil, "import json, urllib.request, asyncio, http.server, unittest.mock, logging.handlers, concurrent.futures", ""},
		{"but for what can be misused", nil, "import json, xmlrpc.client", "xmlrpc"},
		{"the outermost package is asked for", nil, "import multiprocessing.pool", "multiprocessing"},
		{"the program's own modules need none", nil, "import mine, mine.part; from mine import value; print(value)", ""},
		{"also under a name of the standard library", nil, "import resource, code; print(resource.local, code.local)", ""},
		{"a library needs a line", nil, "import deep", "deep"},
		{"a line brings what the library imports", yes("deep"), "import deep; from deep import inner; import deep.inner as x; print(x.value)", ""},
		{"but not to the program", yes("deep"), "import deep, sub", "sub"},
		{"nor what it took from the standard library", yes("deep"), "import deep, ctypes", "ctypes"},
		{"nor a part of that", yes("deep"), "import deep; from sub import one", "sub"},
		{"a line for a module lets its packages be there", yes("sub.two"), "import sub.two; from sub import two, value", ""},
		{"but no other part of them", yes("sub.two"), "import sub.two; import sub.one", "sub.one"},
		{"nor by from", yes("sub.two"), "from sub import one", "sub.one"},
		{"a false wins over the package's line", yes("sub", "!sub.two"), "import sub.one; import sub.two", "sub.two"},
		{"by from, too, when it is there already", yes("sub", "loads", "!sub.two"), "import sub.one; import loads; from sub import two", "sub.two"},
		{"a false holds for libraries", yes("loads", "!sub.two"), "import loads", "sub.two"},
		{"and for the standard library", yes("!socket"), "import http.client", "socket"},
		{"at any time", yes("uses_ctypes", "!ctypes"), "import uses_ctypes; uses_ctypes.late()", "ctypes"},
		{"also by what it is made of", yes("!ctypes", "_ctypes"), "import _ctypes", "_ctypes"},
		{"a false on the standard library", yes("!json"), "import json", "json"},
		{"a namespace needs none, its parts do", nil, "import space; import space.left", "space.left"},
		{"each of them", yes("space.left"), "from space import left; from space import right", "space.right"},
		{"also when it is there already", yes("loads", "space.left"), "import loads; import space.left; from space import right", "space.right"},
		{"a star is everything", yes("*"), "import deep, ctypes, sub.two, _socket, pickle", ""},
		{"but for what is false", yes("*", "!sub"), "import ctypes; import sub", "sub"},
		{"no star, whatever else", yes("!*", "deep"), "import json; import deep", "deep"},
		{"facades speak for their parts", yes("ctypes", "socket", "pickle", "subprocess", "multiprocessing"), "import _ctypes, _socket, _pickle, _posixsubprocess, _multiprocessing", ""},
		{"a name is more than its beginning", yes("sub"), "import sub; import subprocess", "subprocess"},
		{"psb is always there", nil, "import psb, psb.errors, pysandboxes; print(issubclass(psb.RuleModuleNotFoundError, ModuleNotFoundError), pysandboxes is psb)", ""},
		{"but nothing that begins so", nil, "import psb_evil", "psb_evil"},
		{"nothing at all", nil, "import psbx", "psbx"},
		{"what is missing is no refusal", nil, "\ntry: import nothing_there\nexcept ImportError as e: print(type(e).__name__)", ""},
		{"a refusal is a module that is not there", nil, "\ntry: import deep\nexcept ImportError: deep = None\nprint(deep)", "deep"},
		{"a package found by its spec needs no line", nil, "import importlib.util; print(importlib.util.find_spec('deep') is not None)", ""},
		{"pickles ask for what is in them", yes("pickle"), "import pickle; pickle.loads(b'csub\\nvalue\\n.')", "sub"},
		{"a module that looks at itself needs none", nil, "import asyncio, sys; asyncio.run(asyncio.create_subprocess_exec(sys.executable, '-c', '0')); print('ran')", ""},
		{"text of a library is the library's", yes("loads"), "import sys, loads; exec('import deep', vars(loads))", ""},
		{"text of the program is the program's", yes("loads"), "exec('import deep', {'__name__': 'loads'})", "deep"},
	} {
		key := Rules{Imports: c.rules}.Marshal()
		groups[string(key)] = append(groups[string(key)], c)
	}
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, files)
		everything := importRun(t, p, dir, map[string]bool{"*": true}, slices.Concat(slices.Collect(maps.Values(groups))...))
		for _, cases := range groups {
			got := importRun(t, p, dir, cases[0].rules, cases)
			for _, c := range cases {
				with, granted := got[c.does], everything[c.does]
				if !strings.HasSuffix(granted.stdout, "end\n") {
					t.Errorf("%s: with everything granted %q %q", c.does, granted.stdout, granted.stderr)
				}
				if with.denied != c.denied {
					t.Errorf("%s: refused %q, want %q: %s", c.does, with.denied, c.denied, with.stderr)
				}
				if c.denied == "" && (with.stdout != granted.stdout || with.stderr != "") {
					t.Errorf("%s: got %q %q, want %q", c.does, with.stdout, with.stderr, granted.stdout)
				}
				if c.denied != "" && with.stderr != "" && !strings.Contains(with.stderr, "RuleModuleNotFoundError: import "+c.denied+" is ") {
					t.Errorf("%s: %s", c.does, with.stderr)
				}
			}
		}
	})
}

type importCase struct {
	does    string
	rules   map[string]bool
	program string
	denied  string // the object that is refused; "" for none
}

type importResult struct{ stdout, stderr, denied string }

// importRun runs programs under one set of rules, each in a copy of one interpreter. The name of a variable tells their notes apart.
func importRun(t *testing.T, p python, dir string, rules map[string]bool, cases []importCase) map[string]importResult {
	t.Helper()
	driver := "import os, sys\ndef run(n, text):\n    for f in (sys.stdout, sys.stderr): print('== %d' % n, file=f, flush=True)\n" +
		"    os.environ.get('CASE_%d' % n)\n    pid = os.fork()\n    if pid:\n        os.waitpid(pid, 0)\n        return\n" +
		"    try: exec(compile(text, 't.py', 'exec'), {'__name__': '__main__', '__builtins__': __builtins__})\n" +
		"    except BaseException as e: print(type(e).__name__ + ':', e, file=sys.stderr)\n    sys.stdout.flush(); os._exit(0)\n"
	for n, c := range cases {
		driver += fmt.Sprintf("run(%d, %q)\n", n, c.program+"\nprint('end')\n")
	}
	write(t, dir, map[string]string{"driver.py": driver})
	s := sceneOf(t, p, Rules{Imports: rules, Calls: map[string]bool{"*": true}})
	r := p.run(t, s.overlay(Enforce, ""), nil, []string{"PYTHONPATH=" + dir + "/site-packages"}, "-S", filepath.Join(dir, "driver.py"))
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	parts := func(text string) []string { return strings.Split(text, "== ")[1:] }
	outs, errs := parts(r.stdout), parts(r.stderr)
	if len(outs) != len(cases) || len(errs) != len(cases) {
		t.Fatalf("%d cases, %d and %d results: %s", len(cases), len(outs), len(errs), r.stderr)
	}
	results := map[string]importResult{}
	n := -1
	for _, note := range r.notes {
		switch {
		case note.Event == NoteEnv && strings.HasPrefix(note.Args[0], "CASE_"):
			n++
		case note.Event == NoteDenied:
			c := results[cases[n].does]
			c.denied = strings.TrimSpace(c.denied + " " + note.Args[1])
			results[cases[n].does] = c
		}
	}
	for i, c := range cases {
		_, stdout, _ := strings.Cut(outs[i], "\n")
		_, stderr, _ := strings.Cut(errs[i], "\n")
		results[c.does] = importResult{stdout, stderr, results[c.does].denied}
	}
	return results
}
