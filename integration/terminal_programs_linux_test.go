package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// links makes the other names of psb beside it.
func links(t *testing.T) {
	t.Helper()
	for _, name := range []string{"python-sb", "python3-sb", "ipython-sb"} {
		if err := os.Symlink("psb", filepath.Join(filepath.Dir(psb(t)), name)); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
}

// TestTerminalElsewhere: what a program runs in other processes and threads runs as without psb.
func TestTerminalElsewhere(t *testing.T) {
	for _, name := range []string{"pools.py", "orphans.py"} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"/bin/sh\" = \"exec\"\n")
				s.give(t)
				want, got := s.shell(t, "$P "+name+" "+s.word)
				if want.code != 0 || want.out == "" {
					t.Fatalf("the control run: %v", want)
				}
				if got != want {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
				for _, p := range withWord(t, s.word) {
					if p.parent == 1 || p.parent == os.Getpid() {
						continue // the control run's own orphan
					}
					t.Errorf("left behind: %+v", p)
				}
				endOrphans(t, s.word)
			})
		})
	}
}

// endOrphans ends what a control run without psb left behind.
func endOrphans(t *testing.T, word string) {
	t.Helper()
	for _, p := range withWord(t, word) {
		if q, err := os.FindProcess(p.pid); err == nil {
			q.Kill()
			q.Wait()
		}
	}
}

// TestTerminalNames: any name a script or an argument can have reaches the program byte by byte.
func TestTerminalNames(t *testing.T) {
	for _, c := range []struct{ name, file string }{
		{"long", strings.Repeat("a", 252) + ".py"},
		{"long, two bytes a letter", strings.Repeat("é", 126) + ".py"},
		{"not utf-8", "caf\xe9.py"},
		{"line break", "new\nline.py"},
		{"escape", "red\x1b[31m.py"},
		{"quotes", "a 'b\" $c `d\\e.py"},
		{"dash", "-dash.py"},
		{"subcommand", "doctor"},
		{"hash", "# version = 2.py"},
		{"looks like a rule", "x\n[files]\n\"~\" = \"write\"\n#.py"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				b, err := os.ReadFile("testdata/terminal/echo.py")
				must(t, err)
				must(t, os.Mkdir(filepath.Join(s.project, "sub"), 0o755))
				must(t, writeProgram(filepath.Join(s.project, "sub", strings.ReplaceAll(c.file, "/", "⁄")), b))
				s.give(t)
				file := strings.ReplaceAll(c.file, "/", "⁄")
				args := []string{"./" + file, "a b", "", "\xff\xfe", "new\nline", "--policy", "-x", "é"}
				dir := filepath.Join(s.project, "sub")
				want := s.run(t, call{argv: append([]string{systemPython}, args...), dir: dir})
				if want.code != 0 {
					t.Fatalf("the control run: %v", want)
				}
				got := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--policy", "../.py-sandboxes"}, args...), dir: dir})
				if got != want {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
				// Learning, and then a run under what was learned.
				learned := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--learn"}, args...), dir: dir})
				if learned.code != 0 || learned.out != want.out {
					t.Fatalf("learning: %v", learned)
				}
				if got := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython}, args...), dir: dir}); got != want {
					t.Errorf("python: %v\npsb, learned: %v", want, got)
				}
				for line := range strings.Lines(learned.err) {
					if !strings.HasPrefix(line, "psb: ") || (strings.Contains(line, "\x1b") || strings.Contains(line, "\xe9")) && !strings.Contains(c.file, "é") {
						t.Errorf("psb said %q", line)
					}
				}
			})
		})
	}
}

// TestTerminalRefusedNames: psb shows a name it cannot run so that the name changes nothing on the terminal.
func TestTerminalRefusedNames(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		for _, args := range [][]string{{"no\x1b[31m\nsuch.py"}, {"--policy", "no\x1b[31m\nsuch", "echo.py"}, {"--python", "/no\x1b[31m\nsuch", "echo.py"},
			{"--allow", "read\x1b[31m\nsuch", "echo.py"}, {"--limit", "wall=\x1b[31m\nsuch", "echo.py"}, {"exec", "--", "no\x1b[31m\nsuch"}} {
			r := s.run(t, call{argv: append([]string{psb(t)}, args...)})
			if r.code == 0 || strings.Contains(r.err, "\x1b") {
				t.Errorf("%q: %q, status %s", args, r.err, r.status())
			}
			for line := range strings.Lines(r.err) {
				if !strings.HasPrefix(line, "psb: ") {
					t.Errorf("%q: a line without psb's name: %q", args, line)
				}
			}
		}
	})
}

// TestTerminalOddFolder: a project may lie in a folder of any name; psb's words about it stay lines of psb.
func TestTerminalOddFolder(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		for _, name := range []string{"red\x1b[31m", "a 'b\" $c", "tr\u00fcb", "two\nlines", "caf\xe9"} {
			dir := filepath.Join(s.project, name)
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "data.txt"), []byte("some data"), 0o644))
			must(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("import part\nprint(part.text)\n"), 0o644))
			must(t, os.WriteFile(filepath.Join(dir, "part.py"), []byte("text = open('data.txt').read()\n"), 0o644))
			s.give(t)
			for _, args := range [][]string{{"--learn", "main.py"}, {"main.py"}, {"../" + name + "/main.py"}, {filepath.Join(dir, "main.py")}} {
				r := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython}, args...), dir: dir})
				if r.code != 0 || r.out != "some data\n" {
					t.Errorf("%q in %q: %v", args, name, r)
				}
				if strings.Contains(r.err, "\x1b") || strings.Contains(r.err, "\xe9") || strings.Contains(r.err, "\npsb: lines") {
					t.Errorf("%q in %q: psb said %q", args, name, r.err)
				}
			}
		}
	})
}

// TestTerminalCalledAs: a script that names psb in its first line, and psb's other names.
func TestTerminalCalledAs(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		links(t)
		r := s.run(t, call{argv: []string{psb(t), "policy", "approve"}})
		if r.code != 0 {
			t.Fatal(r)
		}
		const want = "[b'./echo.py', b'a b', b'-c', b'--learn'] b'echo.py'\n"
		r = s.run(t, call{argv: []string{"/bin/sh", "-c", "./echo.py 'a b' -c --learn"}})
		if r.out != want || r.code != 0 || r.err != "" {
			t.Error(r)
		}
		for _, name := range []string{"python-sb", "python3-sb"} {
			r = s.run(t, call{argv: []string{"/bin/sh", "-c", name + " ./echo.py 'a b' -c --learn"}})
			if r.out != want || r.code != 0 || r.err != "" {
				t.Error(name, r)
			}
			r = s.run(t, call{argv: []string{"/bin/sh", "-c", name + " -c 'print(1)'; echo 'print(2)' | " + name + " -; " + name + " -m this | head -1; echo 'print(3)' | " + name}})
			if r.out != "1\n2\nThe Zen of Python, by Tim Peters\n3\n" || r.code != 0 {
				t.Error(name, r)
			}
			// A script of a subcommand's name: under python's name every word is a script.
			s.put(t, "home/code/project/doctor", "print('a script')\n")
			s.give(t)
			if r = s.run(t, call{argv: []string{"/bin/sh", "-c", name + " doctor"}}); r.out != "a script\n" {
				t.Error(name, r)
			}
		}
		// Without IPython, ipython-sb says what is missing and does not pretend.
		if r = s.run(t, call{argv: []string{"/bin/sh", "-c", "ipython-sb -c 'print(1)'"}}); !strings.Contains(r.err, "IPython") && r.out != "1\n" {
			t.Error(r)
		}
	})
}

// TestTerminalInside: psb started in a box says that it cannot, and that the box is why; it never runs the program without one.
func TestTerminalInside(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		inner := filepath.Join(s.project, "psb")
		b, err := os.ReadFile(psb(t))
		must(t, err)
		must(t, writeProgram(inner, b))
		s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"psb\" = \"exec\"\n")
		s.give(t)
		const program = `import subprocess, sys; r = subprocess.run(["./psb", *sys.argv[1:]], capture_output=True, text=True); print(r.returncode, r.stdout); print(r.stderr)`
		run := func(args ...string) result {
			return s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "-c", program}, args...)})
		}
		if r := run("version"); !strings.HasPrefix(r.out, "0 psb ") {
			t.Error(r)
		}
		if r := run("-c", "print('inner ran')"); !strings.HasPrefix(r.out, "125 ") || !strings.Contains(r.out, "psb: ") || strings.Contains(r.out, "inner ran") {
			t.Error(r)
		}
	})
}

// TestTerminalAtOnce: several psb beside each other do not know of each other.
func TestTerminalAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		var wait sync.WaitGroup
		for n := range 8 {
			wait.Go(func() {
				r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "-c",
					"import os, sys; open('/tmp/x', 'x').write(sys.argv[1]); os.sched_yield(); print(open('/tmp/x').read()); sys.exit(int(sys.argv[1]))", fmt.Sprint(n)}})
				if r.code != n || r.out != fmt.Sprintln(n) || r.err != "" {
					t.Error(n, r)
				}
			})
		}
		wait.Wait()
	})
}

// launches is how often TestTerminalLaunches starts psb; a quarter of it without PSB_ROWS=all.
const launches = 200

// TestTerminalLaunches: a start that fails once in a hundred times is a start that fails.
func TestTerminalLaunches(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		n := launches
		if once() {
			n /= 4
		}
		for i := range n {
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "-Sc", "print('x' * 1000); raise SystemExit(7)"}})
			if r.code != 7 || len(r.out) != 1001 || r.err != "" {
				t.Fatalf("launch %d: %v", i, r)
			}
		}
	})
}
