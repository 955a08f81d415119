package integration

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// newAgent is a scene with the Python package in lib/ and the programs of testdata/agent.
func newAgent(t *testing.T, who person) scene {
	t.Helper()
	s := newScene(t, who)
	copyTree(t, "../pythonshim/psb", s.project+"/lib/psb")
	copyTree(t, "testdata/agent", s.project)
	s.give(t)
	return s
}

// eachAgent runs a behaviour as root and as an ordinary user.
func eachAgent(t *testing.T, do func(t *testing.T, s scene)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newAgent(t, who)
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			if controlOnly() {
				t.Skip("needs psb")
			}
			do(t, s)
		})
	}
}

// TestToolkit: runs, output while they run, the background, files, limits, refusals, a server that dies; before the real server, in real boxes.
func TestToolkit(t *testing.T) {
	eachAgent(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "kit.py") })
}

// TestToolkitSessions: state, shells, files from outside, interrupts, pauses, the end; in real sessions.
func TestToolkitSessions(t *testing.T) {
	eachAgent(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "sessions.py") })
}

// TestToolkitOnEachInterpreter: the same on every other Python that a caller may have; without PSB_ROWS=all on the oldest and the newest.
func TestToolkitOnEachInterpreter(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, i := range others() {
		t.Run(i.version(), func(t *testing.T) {
			t.Parallel()
			s := newAgent(t, people()[0])
			if err := s.reaches(t, i, nil); err != nil {
				t.Skip(err)
			}
			s.suite(t, i.path, "kit.py")
			s.suite(t, i.path, "sessions.py")
		})
	}
}

// TestToolkitNothingIsLeftOfAParent: however the caller ends, its server and the boxes end.
func TestToolkitNothingIsLeftOfAParent(t *testing.T) {
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			eachAgent(t, func(t *testing.T, s scene) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				cmd := s.command(ctx, s.partial(t, systemPython, "stays.py", s.word))
				out, err := cmd.StdoutPipe()
				must(t, err)
				must(t, cmd.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil || line != "ready\n" {
					t.Fatalf("%q %v", line, err)
				}
				until(t, "the box runs", func() bool { return len(withWord(t, s.word)) >= 2 })
				must(t, cmd.Process.Signal(how))
				_ = cmd.Wait()
				until(t, "the box ends", func() bool { return len(withWord(t, s.word)) == 0 })
			})
		})
	}
}

// TestAgentsPage runs the examples of docs/agents.md as they stand.
func TestAgentsPage(t *testing.T) {
	e := examplesOf(page(t, "agents.md"))
	if len(e.sessions) < 4 || len(e.files) < 4 {
		t.Fatalf("%d sessions and %d files were found in the page", len(e.sessions), len(e.files))
	}
	eachAgent(t, func(t *testing.T, s scene) {
		for _, f := range e.files {
			s.put(t, "home/code/project/"+f.name, f.text)
		}
		must(t, os.MkdirAll(s.dir+"/home/bin", 0o755))
		must(t, os.Symlink(systemPython, s.dir+"/home/bin/python3"))
		s.give(t)
		env := []string{"PATH=" + s.dir + "/home/bin:" + filepath.Dir(psb(t)) + ":/usr/bin:/bin", "PYTHONPATH=" + s.project + "/lib", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"}
		for _, session := range e.sessions {
			for _, c := range commandsOf(session) {
				r := s.run(t, call{argv: []string{"bash", "-c", "exec 2>&1\n" + c.command}, env: env})
				if !printsAs(r.out, c.want) {
					t.Errorf("docs/agents.md:%d: $ %s\nprints\n%sand the page says\n%s", c.line, c.command, r.out, c.want)
				}
			}
		}
	})
}
