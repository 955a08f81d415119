package pythonshim

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEnforceSaysWhatWasWanted: an error does not say whether a file was to be changed; the call does.
func TestEnforceSaysWhatWasWanted(t *testing.T) {
	program := `import sys, pathlib, os, threading
def lines(name):
    with open(
        name,
        mode="a",
    ) as f:
        pass
acts = [
    lambda: open("/nowhere/w", "w"),
    lambda: open("/nowhere/plus", 'rb+'),
    lambda: pathlib.Path("/nowhere/text").write_text("x"),
    lambda: os.open("/nowhere/flags", os.O_WRONLY),
    lambda: open("/nowhere/r", "r", encoding="utf-8"),
    lambda: open("w"),
    lambda: pathlib.Path("/nowhere/look").read_text(),
]
if sys.version_info >= (3, 11):
    acts.append(lambda: lines("/nowhere/lines"))
for act in acts:
    t = threading.Thread(target=act); t.start(); t.join()
`
	want := map[string]bool{"/nowhere/w": true, "/nowhere/plus": true, "/nowhere/text": true, "/nowhere/flags": true, "/nowhere/lines": true}
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "wants.py")
		if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		r := p.run(t, p.noisy(Enforce), nil, nil, "-I", script)
		seen := 0
		for _, said := range r.noted("error") {
			words := strings.Fields(said)
			if seen++; want[words[2]] != (words[3] == "write") {
				t.Errorf("%q", said)
			}
		}
		if seen < 7 {
			t.Errorf("%d errors\n%s", seen, r.stderr)
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
		if got := r.noted("error"); !slices.Equal(got, []string{"ModuleNotFoundError import nothing_of_that_name  | -c |  | 1"}) {
			t.Errorf("errors %q", got)
		}
		dir := t.TempDir()
		r = p.run(t, p.noisy(Enforce), nil, nil, "-I", "-c", "import os; os.chdir("+strconv.Quote(dir)+"); open('gone/x')")
		if got := r.noted("error"); !slices.Equal(got, []string{"FileNotFoundError 2 " + dir + "/gone/x  | -c |  | 1"}) {
			t.Errorf("a relative name: %q", got)
		}
		r = p.run(t, p.noisy(Enforce), nil, nil, "-I", "-c", "import subprocess; subprocess.run(['nothing-of-that-name'])")
		if got := r.noted("error"); !slices.Equal(got, []string{"FileNotFoundError 2 nothing-of-that-name  | -c |  | 1"}) {
			t.Errorf("a word looked for along PATH: %q", got)
		}
		if n := len(p.run(t, p.noisy(Enforce), nil, nil, "-I", "-c", "open('/dev/null').close()").notes); n != 0 {
			t.Errorf("%d notes of a program without errors", n)
		}
	})
}

// TestEnforceNamesWhatCLookedUp: sock.connect looks a name up in C; host and port are in its call.
func TestEnforceNamesWhatCLookedUp(t *testing.T) {
	program := `import socket, threading
where = ("var.invalid", 81)
host, port = "parts.invalid", 82
for act in (lambda: socket.socket().connect(("const.invalid", 80)), lambda: socket.socket().connect(where), lambda: socket.socket().connect((host, port))):
    t = threading.Thread(target=act); t.start(); t.join()
`
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "connects.py")
		if err := os.WriteFile(script, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		r := p.run(t, p.noisy(Enforce), nil, nil, "-I", script)
		got := strings.Join(r.noted("lookup"), "\n")
		for _, want := range []string{"const.invalid 80", "var.invalid 81", "parts.invalid 82"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in\n%s\n%s", want, got, r.stderr)
			}
		}
	})
}
