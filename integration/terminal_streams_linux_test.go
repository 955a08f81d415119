package integration

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell runs a line of sh in which $P stands for python first and then for psb, and gives both ends.
func (s scene) shell(t *testing.T, line string) (python, sandboxed result) {
	t.Helper()
	run := func(p string) result {
		return s.run(t, call{argv: []string{"/bin/bash", "-c", line}, env: []string{"P=" + p}})
	}
	psb(t)
	return run(systemPython), run(strings.TrimSpace(psbLine))
}

// TestTerminalStreams: whatever the first three descriptors are, the program sees what it would see without psb, and ends so.
func TestTerminalStreams(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"pipe", `echo text | $P -c 'print(input())'`, "text\n"},
		{"file", `echo text > in; $P -c 'print(input())' < in`, "text\n"},
		{"null", `$P -c 'import sys; print(repr(sys.stdin.read()))' < /dev/null`, "''\n"},
		{"here", `$P -c 'print(input())' <<< text`, "text\n"},
		{"rest of stdin is left", `printf 'one\ntwo\n' > in; { $P -c 'import os; print(os.read(0, 4))'; cat; } < in`, "b'one\\n'\ntwo\n"},
		{"no stdin", `$P streams.py <&-; echo $?`, "14\n"},
		{"no stdout", `$P streams.py </dev/null >&- 2>/dev/null; echo $? >&2`, ""},
		{"no stderr", `$P streams.py 2>&- </dev/null; echo $?`, "35\n"},
		{"none", `$P streams.py <&- >&- 2>&-; echo $?`, "56\n"},
		{"no stdin, program", `$P - <&-; echo $?`, "0\n"},
		{"print without stdout", `$P -c 'print(1)' >&-; echo $? >&2`, ""},
		{"stdin for writing", `$P -c 'import sys; sys.stdin.read()' 0>out 2>/dev/null; echo $?`, "1\n"},
		{"full", `$P -c 'print(1)' > /dev/full; echo $?`, ""},
		{"head", `$P -c 'for i in range(100000): print(i)' 2>/dev/null | head -1; echo ${PIPESTATUS[*]}`, "0\n1 0\n"},
		{"head, as a unix tool", `$P -c 'import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for i in range(100000): print(i)' | head -1; echo ${PIPESTATUS[*]}`, "0\n141 0\n"},
		{"append", `echo a > out; $P -c 'print("b")' >> out; echo c >> out; cat out`, "a\nb\nc\n"},
		{"one file for both", `$P -c 'import os; os.write(1, b"a"); os.write(2, b"b"); os.write(1, b"c")' > out 2>&1; cat out`, "abc"},
		{"process substitution", `$P -c 'print(input())' < <(echo text)`, "text\n"},
		{"several", `for i in 1 2 3; do echo $i; done | while read x; do $P -c "print($x)" </dev/null; done`, "1\n2\n3\n"},
		{"eats the loop's stdin", `printf '1\n2\n3\n' | while read x; do $P -c "print($x)"; done`, "1\n2\n3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				want, got := s.shell(t, c.line)
				if c.want != "" && want.out != c.want {
					t.Errorf("the control run: %v", want)
				}
				if got != want {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
			})
		})
	}
}

// TestTerminalReopen: /dev/stdout and its like lead to what descriptor 1 is.
func TestTerminalReopen(t *testing.T) {
	for _, c := range []struct{ name, line, want, broken string }{
		{"file", `$P -c 'open("/dev/stdout", "w").write("text")' > out; cat out`, "text", "Landlock's rule for descriptor 1 lacks truncation; and as root the box's id may not write a file of root's"},
		{"append", `echo a > out; $P -c 'open("/dev/stdout", "a").write("text")' >> out; cat out`, "a\ntext", "as root the box's id may not write a file of root's"},
		{"read", `echo text > in; $P -c 'print(open("/dev/stdin").read())' < in`, "text\n\n", ""},
		{"pipe", `echo text | $P -c 'open("/dev/stdout", "w").write(open("/dev/stdin").read())' | cat`, "text\n", "as root the box's id may not open a pipe of root's"},
		{"fd", `$P -c 'open("/dev/fd/2", "w").write("text")' 2> out; cat out`, "text", "as the first"},
		{"elsewhere", `$P -c 'open("/dev/stdout", "w").write("text")' > ../out; cat ../out`, "text", "as the first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				want, got := s.shell(t, c.line)
				if want.out != c.want {
					t.Errorf("the control run: %v", want)
				}
				if got != want && c.broken != "" {
					t.Skip("broken: " + c.broken)
				}
				if got != want {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
			})
		})
	}
}

// floodMegabytes is what goes through stdout, and the same through stderr.
const floodMegabytes = 50

// TestTerminalFlood: not a byte of many is lost or changed, through a pipe, through psb's own count of the output, and into a file.
func TestTerminalFlood(t *testing.T) {
	for _, limit := range []string{"", "300M"} {
		t.Run("limit "+limit, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"./\" = \"create\"\n\"digests.txt\" = \"write\"\n")
				s.give(t)
				argv := []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}
				if limit != "" {
					argv = append(argv, "--limit", "output="+limit)
				}
				cmd := s.command(t.Context(), call{argv: append(argv, "flood.py", fmt.Sprint(floodMegabytes))})
				sums := [2]hash.Hash{sha256.New(), sha256.New()}
				cmd.Stdout, cmd.Stderr = sums[0], sums[1]
				must(t, cmd.Run())
				b, err := os.ReadFile(filepath.Join(s.project, "digests.txt"))
				must(t, err)
				if got := fmt.Sprintf("%x %x", sums[0].Sum(nil), sums[1].Sum(nil)); got != string(b) {
					t.Errorf("arrived %s\nwritten %s", got, b)
				}
			})
		})
	}
}

// TestTerminalStatus: how a run ended is what a shell and a waiter see.
func TestTerminalStatus(t *testing.T) {
	for _, c := range []struct {
		name, line, want string
		own              bool // of psb itself: python has no such end
	}{
		{"0", `$P -c 0; echo $?`, "0\n", false},
		{"1", `$P -c 1/0 2>/dev/null; echo $?`, "1\n", false},
		{"7", `$P -c 'raise SystemExit(7)'; echo $?`, "7\n", false},
		{"256", `$P -c 'raise SystemExit(256)'; echo $?`, "0\n", false},
		{"-1", `$P -c 'raise SystemExit(-1)'; echo $?`, "255\n", false},
		{"text", `$P -c 'import sys; sys.exit("text")' 2>&1; echo $?`, "text\n1\n", false},
		{"syntax", `$P -c '(' 2>/dev/null; echo $?`, "1\n", false},
		{"no such script", `$P nothing.py 2>/dev/null; echo $?`, "2\n", false},
		{"no such module", `$P -m nothing 2>/dev/null; echo $?`, "1\n", false},
		{"killed", `$P -c 'import os; os.kill(os.getpid(), 9)' 2>/dev/null; echo $?`, "137\n", false},
		{"aborted", `$P -c 'import os; os.abort()' 2>/dev/null; echo $?`, "134\n", false},
		{"segfault", `$P -c 'import os; os.kill(os.getpid(), 11)' 2>/dev/null; echo $?`, "139\n", false},
		{"real time signal", `$P -c 'import os; os.kill(os.getpid(), 40)' 2>/dev/null; echo $?`, "168\n", false},
		{"wall", `$P --limit wall=1s -c 'import time; time.sleep(600)' 2>/dev/null; echo $?`, "124\n", true},
		{"refused", `$P --no-such-option 2>/dev/null; echo $?`, "125\n", true},
		{"not executable", `psb exec --policy .py-sandboxes -- ./keys.py 2>/dev/null; echo $?`, "126\n", true},
		{"not found", `psb exec --policy .py-sandboxes -- no-such-command 2>/dev/null; echo $?`, "127\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				python, got := s.shell(t, c.line)
				if got.out != c.want || !c.own && python.out != c.want {
					t.Errorf("python: %v\npsb: %v", python, got)
				}
			})
		})
	}
}

// TestTerminalSignalledWhileStarting: a signal ends psb at whatever moment of its start it arrives, and nothing stays.
func TestTerminalSignalledWhileStarting(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		for i := range 40 {
			cmd := exec.Command(psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "-c", "import time; time.sleep(600)", s.word)
			cmd.Dir, cmd.Env = s.project, s.env()
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if os.Getuid() == 0 && s.who.uid != 0 {
				cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.who.uid, Gid: s.who.gid}
			}
			must(t, cmd.Start())
			time.Sleep(time.Duration(i) * 4 * time.Millisecond) // the moment: any is as good as another
			must(t, syscall.Kill(cmd.Process.Pid, syscall.SIGTERM))
			ended := make(chan struct{})
			go func() { cmd.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(consolePatience):
				for _, p := range withWord(t, s.word) {
					t.Logf("%+v", p)
				}
				cmd.Process.Kill()
				<-ended
				t.Fatalf("terminated after %d ms, it goes on", i*4)
			}
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGTERM {
				t.Errorf("terminated after %d ms: %v", i*4, cmd.ProcessState)
			}
			until(t, "nothing is left", func() bool { return len(withWord(t, s.word)) == 0 })
		}
	})
}
