package integration

import (
	"strings"
	"testing"
)

// TestMCPLastExpression: the last expression of a piece of code is its value, wherever a line of it begins; what only looks like one by its lines is
// none, and code that is wrong is wrong as a whole, in the words of Python, and nothing of it ran.
func TestMCPLastExpression(t *testing.T) {
	a := newScene(t, people()[0]).agent(t, "--structured")
	for _, c := range []struct{ code, value string }{
		{"1+1", "2"},
		{"x = 3\nx *\\\n2", "6"},
		{"x = [\n1,\n2\n]\n\n(x,\n1\n)  # both\n# end", "([1, 2], 1)"},
		{"'''a\nb'''", `'a\nb'`},
		{"x = '''a\nb'''", ""},
		{"x = 1 + \\\n5", ""},
		{"if False:\n  1\nelse:\n  2", ""},
		{"for x in [7]: x", ""},
		{"1; 2", "2"},
		{"1;", ""},
		{"def f():\n  return 4\nf()", "4"},
		{"from __future__ import annotations\ndef f(x: nowhere): return x\nf(5)", "5"},
		{"*(1, 2), 3", "(1, 2, 3)"},
		{"import asyncio\nasync def f(): return 8\nawait f()", "8"},
		{"'\\d' 'e'", `'\\de'`},
		{"x = 1\r\nx + 1", "2"},
		{"# nothing", ""},
		{"", ""},
	} {
		r, d := a.structured(c.code)
		got := ""
		if d.Result != nil {
			got = d.Result.Repr
		}
		if r.Meta.Result.Status != "ok" || got != c.value {
			t.Errorf("%q: %s, value %q, want %q\n%s", c.code, r.Meta.Result.Status, got, c.value, r.text())
		}
	}
	for _, c := range []struct {
		code, message string
		line          int
	}{
		{"print('ran')\nx = (\n5", "'(' was never closed", 2},
		{"print('ran')\nx = 1 +\n5", "invalid syntax", 2},
		{"print('ran')\nyield 5", "'yield' outside function", 2},
		{"print('ran')\nif 1:\n  2\n 3", "unindent does not match any outer indentation level", 4},
	} {
		r, d := a.structured(c.code)
		if d.Error == nil || d.Error.Type != "SyntaxError" && d.Error.Type != "IndentationError" || len(d.Error.Frames) == 0 || d.Error.Frames[len(d.Error.Frames)-1].Line != c.line ||
			!strings.HasPrefix(d.Error.Message, c.message) || strings.Contains(r.text(), "ran\n") {
			t.Errorf("%q: %+v\n%s", c.code, d.Error, r.text())
		}
	}
}

// TestMCPLibraryInTheWay: what tells of an error or a value comes from the standard library, though the code has put files of these names into the
// workspace, made its way to modules impassable, or is deep in itself; and a traceback that the code prints itself has its lines.
func TestMCPLibraryInTheWay(t *testing.T) {
	a := newScene(t, people()[0]).agent(t)
	files := "for n in 'ast', 'traceback', 'linecache', 'tokenize', 're', 'datetime', 'binascii', 'enum', 'token': open(n + '.py', 'w').write('mine = 1')\n"
	a.python(files+"import re, enum, token\nassert re.mine == enum.mine == token.mine == 1\n1/0").want(t, "error", "line 4, in <module>\n    1/0\n", "ZeroDivisionError: division by zero")
	a.python(files+"import re, _datetime\n_datetime.date(2020, 1, 2)").want(t, "ok", "datetime.date(2020, 1, 2)")
	a.python("import sys\nsys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear()\n1/0").want(t, "error", "line 3, in <module>\n    1/0\n", "ZeroDivisionError: division by zero")
	a.python("import sys\nsys.setrecursionlimit(70)\ndef f(): f()\nf()").want(t, "error", "    def f(): f()\n", "RecursionError: ")
	a.python("import traceback\ntry:\n  1/0\nexcept Exception: traceback.print_exc()").want(t, "ok", "line 3, in <module>\n    1/0\n")
	a.python("import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('waited for'))).start()").want(t, "ok", "waited for")
}
