package integration

import (
	"regexp"
	"strconv"
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
	t.Run("stop and go on", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py guard "+s.word, "ready")
			for range 3 {
				k.send(ctrlZ)
				k.expect("Stopped")
				k.expect(prompt)
				until(t, "everything of the job is stopped", func() bool { return stopped(t, s.word) >= 2 })
				k.line("jobs", "Stopped")
				k.expect(prompt)
				k.send("fg\n")
				k.expect("keys.py")
				k.line("hello", `line 'hello\n' after 0`)
			}
			k.send(ctrlC)
			k.expect("interrupt 1\r\n")
			k.line("end", "done 1")
			k.expect(prompt)
			k.line(`echo "status: $?"`, "status: 7\r\n")
		})
	})
	t.Run("stop and go on behind", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py cont "+s.word, "ready")
			k.send(ctrlZ)
			k.expect("Stopped")
			k.expect(prompt)
			k.line("bg", "got SIGCONT") // and then it reads, which stops it
			until(t, "the reading job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.send("\n")
			k.expect("Stopped")
			k.line("kill %1; fg", "Terminated")
			k.line(`echo "status: $?"`, "status: 143\r\n")
		})
	})
	t.Run("behind reading", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"keys.py "+s.word+" &", "ready")
			until(t, "the reading job is stopped", func() bool { return stopped(t, s.word) >= 2 })
			k.line("jobs", "Stopped")
			k.expect(prompt)
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
	t.Run("wait", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.bash(t)
			k.line(psbLine+"-c 'import sys; sys.exit(9)' & wait $!; echo status: $?", "status: 9\r\n")
			k.line(psbLine+"-c 'import time; time.sleep(60)' "+s.word+" & echo pid: $!.", "pid: ")
			k.expect("\r\n")
			pid := regexp.MustCompile(`\npid: (\d+)\.`).FindStringSubmatch(k.shown())
			if pid == nil {
				t.Fatal("no process id")
			}
			n, _ := strconv.Atoi(pid[1])
			until(t, "the program runs", func() bool { return len(withWord(t, s.word)) >= 2 })
			must(t, syscall.Kill(n, syscall.SIGTERM))
			k.line("wait $!; echo status: $?", "status: 143\r\n")
		})
	})
}
