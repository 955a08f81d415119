package pythonshim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
