package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// emptyPolicy grants nothing of the kernel's: a terminal needs no rule.
const emptyPolicy = kernelPolicy

// atTerminal makes a scene with the programs of testdata/terminal and an empty policy.
func atTerminal(t *testing.T, who person) scene {
	t.Helper()
	if controlOnly() {
		t.Skip("needs psb")
	}
	s := newScene(t, who)
	t.Cleanup(func() { endOrphans(t, s.word) })
	copyTree(t, "testdata/terminal", s.project)
	s.put(t, "home/code/project/.py-sandboxes", emptyPolicy)
	s.give(t)
	_, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	return s
}

// psb starts psb in a terminal of its own.
func (s scene) psb(t *testing.T, args ...string) *console {
	t.Helper()
	return s.console(t, call{argv: append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, args...)})
}

// each runs a behaviour as root and as an ordinary user.
func each(t *testing.T, do func(t *testing.T, s scene)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			do(t, atTerminal(t, who))
		})
	}
}

// TestTerminalKeys: what a person presses reaches the program once, and psb ends as the program does.
func TestTerminalKeys(t *testing.T) {
	t.Run("interrupt", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py", "guard")
			k.expect("ready")
			for _, want := range []string{"interrupt 1\r\n", "interrupt 2\r\n"} {
				k.send(ctrlC)
				k.expect(want)
			}
			k.line("hello", `line 'hello\n' after 2`) // a second delivery of one key would be counted here
			k.line("end", "done 2")
			k.ends("7")
		})
	})
	t.Run("interrupt ends", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py")
			k.expect("ready")
			k.send(ctrlC)
			k.expect("KeyboardInterrupt")
			k.ends("signal interrupt")
		})
	})
	t.Run("interrupt ignored", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py", "ignore")
			k.expect("ready")
			k.send(ctrlC)
			k.expect("^C")
			k.line("still", `line 'still\n' after 0`)
			k.line("end", "done 0")
			k.ends("7")
		})
	})
	t.Run("quit", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py")
			k.expect("ready")
			k.send(ctrlB)
			k.ends("signal quit")
			if cores, _ := filepath.Glob(filepath.Join(s.project, "core*")); len(cores) > 0 {
				t.Errorf("a core file: %q", cores)
			}
		})
	})
	t.Run("end of input", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py")
			k.expect("ready")
			k.send(ctrlD)
			k.expect("done 0")
			k.ends("7")
		})
	})
	t.Run("resize", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py", "size")
			k.expect("ready")
			must(t, unix.IoctlSetWinsize(int(k.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 132}))
			k.expect("size now 132x40")
			k.line("end", "done 0")
			k.ends("7")
		})
	})
}

// TestTerminalHangup: when the terminal goes away a program that does not ask it anything ends, too. The kernel tells the leader of the
// session only, and that is psb when it is the command of `ssh -t` or of a terminal window.
func TestTerminalHangup(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		for _, argv := range [][]string{{systemPython}, {psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}} {
			k := s.console(t, call{argv: append(argv, "-c", "import time; print('ready', flush=True); time.sleep(600)", s.word)})
			k.expect("ready")
			k.master.Close()
			k.ends("signal hangup")
			until(t, "nothing is left", func() bool { return len(withWord(t, s.word)) == 0 })
		}
	})
}

// TestTerminalSignals: a signal sent to psb alone reaches the program.
func TestTerminalSignals(t *testing.T) {
	t.Run("terminate", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py")
			k.expect("ready")
			k.signal(syscall.SIGTERM)
			k.ends("signal terminated")
		})
	})
	t.Run("terminate caught", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py", "term")
			k.expect("ready")
			k.signal(syscall.SIGTERM)
			k.expect("got SIGTERM")
			k.line("end", "done 0")
			k.ends("7")
		})
	})
	t.Run("interrupt", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.psb(t, "keys.py", "guard")
			k.expect("ready")
			k.signal(syscall.SIGINT)
			k.expect("interrupt 1\r\n")
			k.line("end", "done 1")
			k.ends("7")
		})
	})
	t.Run("hang-up ignored", func(t *testing.T) {
		each(t, func(t *testing.T, s scene) {
			k := s.console(t, call{argv: []string{"/bin/sh", "-c", `trap "" HUP; exec "$@"`, "sh", psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "keys.py"}})
			k.expect("ready")
			k.signal(syscall.SIGHUP)
			k.line("still", `line 'still\n' after 0`)
			k.line("end", "done 0")
			k.ends("7")
		})
	})
}

// stateOf is the letter /proc has for a process; 0 when there is none.
func stateOf(t *testing.T, pid int) byte {
	for _, p := range processes(t) {
		if p.pid == pid {
			return p.state
		}
	}
	return 0
}

// stopped counts the stopped processes that have the word in their arguments.
func stopped(t *testing.T, word string) (n int) {
	for _, p := range withWord(t, word) {
		if p.state == 'T' {
			n++
		}
	}
	return n
}

// TestTerminalInherited: what the caller blocked and ignored is blocked and ignored inside, as after an execve.
func TestTerminalInherited(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		ask := func(argv ...string) string {
			r := s.run(t, call{argv: append([]string{systemPython, "inherit.py"}, append(argv, "inherited.py")...)})
			if r.code != 0 {
				t.Fatal(r)
			}
			return r.out
		}
		want := ask(systemPython)
		if got := ask(psb(t), "--python", systemPython, "--policy", ".py-sandboxes"); got != want {
			t.Errorf("psb: %s python: %s", got, want)
		}
	})
}

// TestTerminalGroup: a signal to the whole process group (a shell's kill %1, a service's stop, timeout(1)) arrives once: a second one means
// "at once" to many servers.
func TestTerminalGroup(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		for _, argv := range [][]string{{systemPython}, {psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}} {
			k := s.console(t, call{argv: append(argv, "counts.py")})
			k.expect("ready")
			for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGWINCH} {
				must(t, syscall.Kill(-k.cmd.Process.Pid, sig))
				time.Sleep(100 * time.Millisecond) // a second one would arrive meanwhile; too short a time can only hide it
				k.line("", fmt.Sprintf("caught %d\r\n", i+1))
			}
			k.send(ctrlD)
			k.ends("0")
		}
	})
}

// TestTerminalTwoInOne: two Ctrl-C that come while what stands between psb and its program has no processor are two for the program, not three, at a
// first start and at one that was kept; one that psb alone gets afterwards still arrives.
func TestTerminalTwoInOne(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	each(t, func(t *testing.T, s scene) {
		argv := []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "counts.py", s.word}
		for round := range 2 {
			if round == 1 {
				until(t, "a launch is kept", func() bool {
					s.run(t, call{argv: argv, stdin: strings.NewReader("")})
					return len(s.launches(t)) > 0
				})
			}
			k := s.console(t, call{argv: argv})
			k.expect("ready")
			between := 0
			all := processes(t)
			for _, p := range all {
				if strings.Contains(p.cmdline, s.word) && !strings.HasPrefix(p.cmdline, psb(t)+" ") {
					between = p.parent
				}
			}
			must(t, syscall.Kill(between, syscall.SIGSTOP))
			until(t, "it stands still", func() bool {
				return slices.ContainsFunc(processes(t), func(p process) bool { return p.pid == between && p.state == 'T' })
			})
			for n := 1; n <= 2; n++ {
				k.send(ctrlC)
				until(t, "the program has it", func() bool {
					k.send("\n")
					return strings.Contains(k.unread(), fmt.Sprintf("caught %d\r\n", n))
				})
			}
			must(t, syscall.Kill(between, syscall.SIGCONT))
			// Before psb has run, the next one and the terminal's would be one for it, as for anybody.
			until(t, "the terminal's are taken", func() bool {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", between))
				must(t, err)
				for line := range strings.Lines(string(b)) {
					if set, ok := strings.CutPrefix(line, "ShdPnd:"); ok {
						pending, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
						must(t, err)
						return pending>>(syscall.SIGINT-1)&1 == 0
					}
				}
				t.Fatal("no line ShdPnd")
				return false
			})
			k.signal(syscall.SIGINT)
			k.signal(syscall.SIGUSR1) // behind the others
			until(t, "the last one has come", func() bool {
				k.send("\n")
				return strings.Contains(k.unread(), "caught 4\r\n")
			})
			k.send("\n")
			k.expect("caught 4\r\n")
			k.send(ctrlD)
			k.ends("0")
			if shown := k.shown(); strings.Contains(shown, "caught 5") {
				t.Error(shown)
			}
		}
	})
}
