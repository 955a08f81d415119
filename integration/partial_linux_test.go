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

// newPartial is a scene with the Python package in lib/, the programs of testdata/partial and a policy that lets their modules be read.
func newPartial(t *testing.T, who person) scene {
	t.Helper()
	s := newScene(t, who)
	copyTree(t, "../pythonshim/psb", s.project+"/lib/psb")
	copyTree(t, "testdata/partial", s.project)
	s.put(t, "home/code/project/.py-sandboxes", bareVersion+"\n[files]\n\"./\" = \"list\"\n\"tools.py\" = \"read\"\n"+kernelTables)
	s.give(t)
	return s
}

// eachPartial runs a behaviour as root and as an ordinary user.
func eachPartial(t *testing.T, do func(t *testing.T, s scene)) {
	t.Helper()
	eachCaller(t, newPartial, do)
}

// TestPartialCalls: values, threads, tasks, prints, exceptions, cancelling, snippets; and the errors of wrong use.
func TestPartialCalls(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "calls.py") })
}

// TestPartialOnEachInterpreter: the same on every other Python that a caller may have; without PSB_ROWS=all on the oldest and the newest.
func TestPartialOnEachInterpreter(t *testing.T) { onOthers(t, newPartial, "calls.py", "crashes.py") }

// TestPartialCrashes: a box that ends is told by its status, started again with init_fn, and not for ever.
func TestPartialCrashes(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "crashes.py") })
}

// TestPartialHostileBox: whatever a box sends, its caller is unharmed.
func TestPartialHostileBox(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) {
		if once() && len(people()) > 1 && s.who.uid == 0 {
			t.Skip("what a caller takes from its box is the same for root: PSB_ROWS=all tries both")
		}
		s.suite(t, systemPython, "hostile.py")
	})
}

// TestPartialWalls: the kernel's walls stand around a function, and what they refuse is told to its caller.
func TestPartialWalls(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "walls.py") })
}

// TestPartialLearning: a block learns what its functions need, nothing of the package's own, and then enforces it.
func TestPartialLearning(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) { s.suite(t, systemPython, "learning.py") })
}

// TestPartialCompleteMode: in a program that psb runs as a whole, @sandbox is a plain call.
func TestPartialCompleteMode(t *testing.T) {
	besideOthers(t)
	eachPartial(t, func(t *testing.T, s scene) {
		c := s.caller(t, systemPython, "complete.py")
		s.put(t, "home/code/project/.py-sandboxes", "version = 1\n\n[env]\nPYTHONPATH = true\n\n[files]\n\"lib/\" = \"read\"\n")
		c.argv = []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "complete.py"}
		if r := s.run(t, c); r.code != 0 || r.out != "True True True True\n" {
			t.Error(r)
		}
	})
}

// TestPartialPage runs the examples of docs/partial.md as they stand.
func TestPartialPage(t *testing.T) {
	besideOthers(t)
	e := examplesOf(page(t, "partial.md"))
	if len(e.sessions) < 6 || len(e.files) < 7 {
		t.Fatalf("%d sessions and %d files were found in the page", len(e.sessions), len(e.files))
	}
	eachPartial(t, func(t *testing.T, s scene) { s.followPage(t, "partial.md", e) })
}

// TestPartialNothingIsLeftOfAParent: however the caller ends, its box ends, even one that is held by native code.
func TestPartialNothingIsLeftOfAParent(t *testing.T) {
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel() // most of it is waiting for a box that native code holds
			eachPartial(t, func(t *testing.T, s scene) {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
				defer cancel()
				// The box's own command line names the package by its place in this scene.
				box := filepath.Join(s.project, "lib/psb/partial/child.py")
				c := s.caller(t, systemPython, "stays.py", s.word)
				tmp := filepath.Join(s.home, "tmp")
				must(t, os.Mkdir(tmp, 0o755))
				s.give(t)
				c.env = append(c.env, "TMPDIR="+tmp)
				cmd := s.command(ctx, c)
				out, err := cmd.StdoutPipe()
				must(t, err)
				must(t, cmd.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil || line != "ready\n" {
					t.Fatalf("%q %v", line, err)
				}
				if n := len(withWord(t, box)); n < 2 {
					t.Fatalf("%d processes of the box run: the test looks for the wrong ones", n)
				}
				must(t, cmd.Process.Signal(how))
				until(t, "the box ends", func() bool { return len(withWord(t, box)) == 0 })
				_ = cmd.Wait()
				left, err := os.ReadDir(tmp)
				if err != nil || len(left) > 0 {
					t.Errorf("left behind: %q %v", left, err)
				}
			})
		})
	}
}
