package integration

import (
	"bufio"
	"context"
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
	eachCaller(t, newAgent, do)
}

// TestToolkit: runs, output while they run, the background, files, limits, refusals, a server that dies; before the real server, in real boxes.
func TestToolkit(t *testing.T) {
	besideOthers(t)
	eachAgent(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "kit.py") })
}

// TestToolkitSessions: state, shells, files from outside, interrupts, pauses, the end; in real sessions.
func TestToolkitSessions(t *testing.T) {
	besideOthers(t)
	eachAgent(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "sessions.py") })
}

// TestToolkitOfAsyncio: calls beside each other, one that is given up, a session, the background; in real boxes.
func TestToolkitOfAsyncio(t *testing.T) {
	besideOthers(t)
	eachAgent(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "aio.py") })
}

// TestToolkitOnEachInterpreter: the same on every other Python that a caller may have; without PSB_ROWS=all on the oldest and the newest.
func TestToolkitOnEachInterpreter(t *testing.T) {
	besideOthers(t)
	onOthers(t, newAgent, "kit.py", "sessions.py", "aio.py")
}

// TestToolkitNothingIsLeftOfAParent: however the caller ends, its server and the boxes end.
func TestToolkitNothingIsLeftOfAParent(t *testing.T) {
	besideOthers(t)
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			eachAgent(t, func(t *testing.T, s scene) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				cmd := s.command(ctx, s.caller(t, systemPython, "stays.py", s.word))
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
	besideOthers(t)
	e := examplesOf(page(t, "agents.md"))
	if len(e.sessions) < 4 || len(e.files) < 4 {
		t.Fatalf("%d sessions and %d files were found in the page", len(e.sessions), len(e.files))
	}
	eachAgent(t, func(t *testing.T, s scene) { s.followPage(t, "agents.md", e) })
}
