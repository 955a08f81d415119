package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// started types a command line into bash and gives the process id of the job's leader, which is psb.
func (k *console) started(text, want string) int {
	k.t.Helper()
	k.line(text, want)
	return k.foreground()
}

// foreground is the process group in front of the terminal.
func (k *console) foreground() int {
	k.t.Helper()
	pgrp, err := ioctlForeground(k.master)
	must(k.t, err)
	return pgrp
}

// psbLine is how a person would start psb from the shell.
const psbLine = "psb --python " + systemPython + " --policy .py-sandboxes "

// TestTerminalJobs: a shell's job control works on psb as on python.
func TestTerminalJobs(t *testing.T) {
	t.Run("stop and go on", func(t *testing.T) { each(t, func(t *testing.T, s scene) { stopAndGoOn(t, s, 1, false) }) })
	t.Run("stop and go on at once", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) { stopAndGoOn(t, s, 60, true) })
	})
	t.Run("stop and go on behind", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"waits.py "+s.word, "ready")
			k.send(ctrlZ)
			k.expect("Stopped")
			k.expect(prompt)
			k.line("bg", prompt)
			until(t, "the job goes on", func() bool { return stopped(t, s.word) == 0 })
			k.line("kill -USR1 %1", "went on\r\n")
			k.line("wait; echo status: $?", "status: 0\r\n")
		})
	})
	t.Run("behind reading", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py "+s.word+" &", "ready")
			until(t, "the reading job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.knowsStopped()
			k.send("fg\n")
			k.expect("keys.py")
			k.line("hello", `line 'hello\n' after 0`)
			k.line("end", "done 0")
			k.line(`echo "status: $?"`, "status: 7\r\n")
		})
	})
	t.Run("stopped from outside", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			pid := k.started(psbLine+"keys.py cont "+s.word, "ready")
			must(t, syscall.Kill(pid, syscall.SIGTSTP)) // to psb alone
			k.expect("Stopped")
			k.expect(prompt)
			until(t, "everything of the job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.line("fg", "got SIGCONT")
			k.line("hello", `line 'hello\n' after 0`)
			k.line("end", "done 0")
			k.line(`echo "status: $?"`, "status: 7\r\n")
		})
	})
	t.Run("interrupt", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py", "ready")
			k.send(ctrlC)
			k.expect("KeyboardInterrupt")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 130\r\n")
			// A loop of the shell ends with the program, because psb dies of the signal and does not exit with a number.
			k.line("for i in 1 2 3; do "+psbLine+"keys.py; done; echo not reached", "ready")
			k.send(ctrlC)
			k.expect(prompt)
			k.line("echo after", "after\r\n")
			if regexp.MustCompile(`(?m)^not reached`).MatchString(k.shown()) {
				t.Error("the shell's loop went on")
			}
		})
	})
	t.Run("pipeline", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line("cat | "+psbLine+"keys.py guard "+s.word+" | cat", "ready")
			k.line("hello", `line 'hello\n' after 0`)
			k.send(ctrlZ)
			k.expect("Stopped")
			k.expect(prompt)
			until(t, "everything of the job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.send("fg\n")
			k.expect("cat")
			k.line("again", `line 'again\n' after 0`)
			k.send(ctrlD)
			k.expect("done 0")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 0\r\n")
			k.line(psbLine+"-c 'import sys; sys.exit(3)' | cat; echo status: ${PIPESTATUS[0]}", "status: 3\r\n")
			// Two psb in one pipeline, both in front of the terminal.
			k.line(psbLine+`-c 'print("abc")' | `+psbLine+`-c 'print(input()[::-1])'`, "cba\r\n")
		})
	})
	t.Run("behind writing", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line("stty tostop", prompt)
			k.line(psbLine+"-c 'print(\"from\", \"behind\")' "+s.word+" &", prompt)
			until(t, "the writing job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.knowsStopped()
			k.line("fg", "from behind\r\n")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 0\r\n")
		})
	})
	t.Run("psb behind writing", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) { // what stops here is psb, which has a denial to tell
			s.put(t, "home/code/project/quiet.py", "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80))\nexcept OSError:\n    pass\n")
			s.give(t)
			k := s.bash(t)
			k.line("stty tostop", prompt)
			k.line(psbLine+"quiet.py "+s.word+" &", prompt)
			until(t, "psb is stopped", func() bool { return stopped(t, s.word) == 1 && len(withWord(t, s.word)) == 1 })
			k.knowsStopped()
			k.line("fg", "psb: denied: connect 192.0.2.1:80")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 0\r\n")
		})
	})
	t.Run("psb behind asking", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			must(t, os.Remove(filepath.Join(s.project, ".py-sandboxes")))
			k := s.bash(t)
			k.line("psb echo.py "+s.word+" &", prompt)
			until(t, "psb is stopped", func() bool { return stopped(t, s.word) == 1 })
			k.knowsStopped()
			k.send("fg\n")
			k.expect("echo.py")
			k.line("q", prompt)
			k.line(`echo "status: $?"`, "status: 125\r\n")
		})
	})
	t.Run("nohup", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line("nohup "+psbLine+"-c 'import time; time.sleep(600)' "+s.word+" </dev/null >/dev/null 2>&1 &", prompt)
			until(t, "the program runs", func() bool { return len(withWord(t, s.word)) >= 2 })
			k.master.Close()
			k.end()
			left := withWord(t, s.word)
			if len(left) < 2 {
				t.Errorf("left of it: %v", left)
			}
			for _, p := range left { // psb first: it then ends its program
				syscall.Kill(p.pid, syscall.SIGTERM)
			}
			until(t, "it is ended", func() bool { return len(withWord(t, s.word)) == 0 })
		})
	})
	t.Run("hang up of the shell", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py guard "+s.word, "ready")
			k.master.Close()
			k.end()
			until(t, "it is ended", func() bool { return len(withWord(t, s.word)) == 0 })
		})
	})
	t.Run("wait", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"-c 'import sys; sys.exit(9)' & wait $!; echo status: $?", "status: 9\r\n")
			k.line(psbLine+"waits.py "+s.word+" & echo pid: $!.", "ready")
			var n int
			until(t, "the shell tells the number", func() bool {
				pid := regexp.MustCompile(`\npid: (\d+)\.`).FindStringSubmatch(k.shown())
				if pid != nil {
					n, _ = strconv.Atoi(pid[1])
				}
				return pid != nil
			})
			must(t, syscall.Kill(n, syscall.SIGTERM))
			k.line("wait $!; echo status: $?", "status: 143\r\n")
		})
	})
}

// stopAndGoOn presses Ctrl-Z and types fg a number of times; hasty is as fast as a script that types.
func stopAndGoOn(t *testing.T, s scene, rounds int, hasty bool) {
	k := s.bash(t)
	k.line(psbLine+"keys.py guard "+s.word, "ready")
	for range rounds {
		k.send(ctrlZ)
		k.expect("Stopped")
		k.expect(prompt)
		if !hasty {
			until(t, "everything of the job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.line("jobs", "Stopped")
			k.expect(prompt)
		}
		k.send("fg\n")
		k.expect("keys.py")
		k.line("hello", `line 'hello\n' after 0`)
	}
	k.send(ctrlC)
	k.expect("interrupt 1\r\n")
	k.line("end", "done 1")
	k.expect(prompt)
	k.line(`echo "status: $?"`, "status: 7\r\n")
}

// knowsStopped waits until the shell has noticed that its job stopped: fg sends no SIGCONT to a job it takes for running.
func (k *console) knowsStopped() {
	k.t.Helper()
	until(k.t, "the shell knows of the stop", func() bool {
		from := len(k.shown())
		k.line("jobs", "jobs\r\n")
		k.expect(prompt)
		return strings.Contains(k.shown()[from:], "Stopped")
	})
}
