package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// learning is how a person would start a learning run from the shell; the scene's policy is named, so nobody asks about it.
const learning = psbLine + "--learn "

// TestTerminalLearning: a program that is watched behaves at a terminal as one that is not.
func TestTerminalLearning(t *testing.T) {
	learn := func(t *testing.T, s scene, args ...string) *console {
		t.Helper()
		return s.console(t, call{argv: append([]string{psb(t), "--python", systemPython}, args...)})
	}
	t.Run("interrupt", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := learn(t, s, "--policy", ".py-sandboxes", "--learn", "keys.py", "guard")
			k.expect("ready")
			for _, want := range []string{"interrupt 1\r\n", "interrupt 2\r\n"} {
				k.send(ctrlC)
				k.expect(want)
			}
			k.line("hello", `line 'hello\n' after 2`)
			k.line("end", "done 2")
			k.ends("7")
		})
	})
	t.Run("interrupt ends", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			must(t, os.Remove(filepath.Join(s.project, ".py-sandboxes")))
			// Not input(): a signal that comes just before its read(2) is seen by Python only after the next line.
			s.put(t, "home/code/project/read.py", "import time\nopen('data.txt')\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.1)\n")
			s.put(t, "home/code/project/data.txt", "")
			s.give(t)
			k := learn(t, s, "--learn", "read.py")
			k.expect("ready")
			k.send(ctrlC)
			k.expect("KeyboardInterrupt")
			k.ends("signal interrupt")
			if b, err := os.ReadFile(filepath.Join(s.project, ".py-sandboxes")); err != nil || !strings.Contains(string(b), "data.txt") {
				t.Errorf("ending with Ctrl-C is a normal end, and the policy is: %v %s", err, b)
			}
		})
	})
	t.Run("terminate", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := learn(t, s, "--policy", ".py-sandboxes", "--learn", "keys.py")
			k.expect("ready")
			k.signal(syscall.SIGTERM)
			k.ends("signal terminated")
		})
	})
	t.Run("resize", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := learn(t, s, "--policy", ".py-sandboxes", "--learn", "keys.py", "size")
			k.expect("ready")
			must(t, unix.IoctlSetWinsize(int(k.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 132}))
			k.expect("size now 132x40")
			k.line("end", "done 0")
			k.ends("7")
		})
	})
	t.Run("stop and go on", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(learning+"keys.py cont "+s.word, "ready")
			k.send(ctrlZ)
			k.expect("Stopped")
			k.expect(prompt)
			k.line("jobs", "Stopped")
			k.expect(prompt)
			k.line("fg", "got SIGCONT")
			k.line("hello", `line 'hello\n' after 0`)
			k.line("end", "done 0")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 7\r\n")
		})
	})
	t.Run("asks", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := learn(t, s, "--policy", ".py-sandboxes", "--learn", "asks.py")
			k.expect("front True\r\n")
			k.expect("name? ")
			k.line("Ann", "name is Ann\r\n")
			k.expect("word? ")
			k.line("open sesame", "word has 11\r\n")
			k.expect("one key?\r\n")
			k.send("x")
			k.expect("key was x\r\nrestored True\r\n")
			k.expect("edit? ")
			k.line("ab", "edited ab\r\n")
			k.ends("0")
		})
	})
	for _, name := range []string{"pools.py", "orphans.py"} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				want := s.run(t, call{argv: []string{systemPython, name, s.word}})
				endOrphans(t, s.word)
				got := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--learn", name, s.word}})
				if want.code != 0 || got.code != want.code || got.out != want.out {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
			})
		})
	}
	t.Run("inherited", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			want := s.run(t, call{argv: []string{systemPython, "inherit.py", systemPython, "inherited.py"}})
			got := s.run(t, call{argv: []string{systemPython, "inherit.py", psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--learn", "inherited.py"}})
			ignored := regexp.MustCompile(`(?m)^ignored.*$`)
			if want.code != 0 || ignored.FindString(got.out) != ignored.FindString(want.out) {
				t.Errorf("python: %v\npsb: %v", want, got)
			}
		})
	})
}
