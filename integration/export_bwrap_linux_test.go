package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportBwrap: the exported script starts the program under Debian's bubblewrap; what the policy allows works, and nothing else.
func TestExportBwrap(t *testing.T) {
	besideOthers(t)
	eachExported(t, func(t *testing.T, s exported) {
		tool(t, "bwrap")
		r := s.export(t, "bwrap", "-o", s.folder)
		s.noValues(t, r)
		judge(t, s.start(t, filepath.Join(s.folder, "run")), exportSayable, nil)
	})
}

// small exports a program of a few lines, with a policy, in a scene of its own.
func (s scene) small(t *testing.T, to, policy, program string, argv ...string) string {
	t.Helper()
	s.put(t, "home/code/project/.py-sandboxes", policy)
	s.put(t, "home/code/project/small.py", program)
	s.give(t)
	folder := filepath.Join(s.home, "box")
	if len(argv) == 0 {
		argv = []string{"--python", systemPython, "small.py", s.word}
	}
	r := s.run(t, call{argv: append([]string{psb(t), "policy", "export", "--to", to, "-o", folder, "--policy", ".py-sandboxes"}, argv...)})
	if r.code != 0 {
		t.Fatal(r)
	}
	return folder
}

// TestExportBwrapEnds: the script ends as the program does, at a limit as psb does, and the box ends with the script.
func TestExportBwrapEnds(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, c := range []struct{ name, limits, program, status string }{
		{"status", "", "import sys\nsys.exit(7)\n", "7"},
		{"wall", "wall = \"500ms\"", "import time\ntime.sleep(300)\n", "124"},
		{"file size", "file_size = \"4K\"", "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('/tmp/x', 'wb').write(b'x' * 8192)\n", "153"},
		{"open files", "open_files = 9", "try:\n    many = [open('/dev/null') for _ in range(9)]\nexcept OSError as e:\n    raise SystemExit(e.errno)\n", "24"},
		{"disk", "disk = \"1M\"", "try:\n    open('/tmp/x', 'wb').write(b'x' * 2_000_000)\nexcept OSError as e:\n    raise SystemExit(e.errno)\n", "28"},
		{"processor time", "cpu_time = \"1s\"", "while True:\n    pass\n", "137"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool(t, "bwrap")
			for _, who := range people() {
				s := newScene(t, who)
				folder := s.small(t, "bwrap", "version = 1\n[limits]\n"+c.limits+"\n", c.program)
				if r := s.run(t, call{argv: []string{filepath.Join(folder, "run")}}); r.status() != c.status {
					t.Errorf("%s: want status %s: %s", who.name, c.status, r)
				}
			}
		})
	}
	t.Run("killed", func(t *testing.T) {
		tool(t, "bwrap")
		for _, limits := range []string{"", "wall = \"100s\""} {
			s := newScene(t, people()[0])
			folder := s.small(t, "bwrap", "version = 1\n[limits]\n"+limits+"\n", "import time\nprint('ready', flush=True)\ntime.sleep(300)\n")
			cmd := s.command(t.Context(), call{argv: []string{filepath.Join(folder, "run")}})
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			if _, err := out.Read(make([]byte, 6)); err != nil || len(withWord(t, s.word)) == 0 {
				t.Fatalf("the program did not start: %v", err)
			}
			must(t, cmd.Process.Kill())
			_ = cmd.Wait()
			until(t, "the box is gone with its script", func() bool { return len(withWord(t, s.word)) == 0 })
		}
	})
}

// TestExportOfCommand: any command, and an interpreter of a virtual environment, which is found through links.
func TestExportOfCommand(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	tool(t, "bwrap")
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newScene(t, who)
			folder := s.small(t, "bwrap", "version = 1\n", "", "--", "cat", "/etc/hostname", ".env")
			host, err := os.Hostname()
			must(t, err)
			if r := s.run(t, call{argv: []string{filepath.Join(folder, "run")}}); r.out != host+"\n" || !strings.Contains(r.err, ".env: No such file or directory") || r.code != 1 {
				t.Error(r)
			}
			s = newScene(t, who)
			must(t, os.Mkdir(filepath.Join(s.project, "venv"), 0o755))
			must(t, os.Mkdir(filepath.Join(s.project, "venv/bin"), 0o755))
			s.put(t, "home/code/project/venv/pyvenv.cfg", "home = "+filepath.Dir(systemPython)+"\nversion = 3.11\n")
			must(t, os.Symlink(systemPython, filepath.Join(s.project, "venv/bin/python3")))
			folder = s.small(t, "bwrap", "version = 1\n", "import sys\nprint(sys.prefix)\n", "--python", "venv/bin/python3", "small.py")
			if r := s.run(t, call{argv: []string{filepath.Join(folder, "run")}}); r.out != filepath.Join(s.project, "venv")+"\n" {
				t.Error(r)
			}
		})
	}
}
