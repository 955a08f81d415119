package integration

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestBehaviourStatus: every number a program can exit with is what the caller gets; all 256 with PSB_ROWS=all, the odd ones otherwise.
func TestBehaviourStatus(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		list := []int{0, 1, 2, 3, 120, 124, 125, 126, 127, 128, 129, 130, 137, 139, 143, 254, 255}
		if !once() {
			list = nil
			for n := range 256 {
				list = append(list, n)
			}
		}
		for _, n := range list {
			if r := s.run(t, call{argv: boxed(t, "-Sc", fmt.Sprintf("raise SystemExit(%d)", n))}); r.code != n || r.out != "" || r.err != "" {
				t.Errorf("%d: %v", n, r)
			}
		}
	})
}

// TestBehaviourReason: the end that psb brought about has a status of its own and one line that names the limit; the program's own has none.
func TestBehaviourReason(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		// An ordinary user without a group of its own accepts that memory is held by looking from time to time.
		var memory []string
		if s.who.uid != 0 {
			memory = []string{"--allow-gap", "limits.memory", "--allow-gap", "limits.memory_swap"}
		}
		for _, c := range []struct {
			options       []string
			code          string
			status, ended string
		}{
			{nil, "raise SystemExit(7)", "7", ""},
			{nil, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal segmentation fault", ""},
			{nil, "import os; os.kill(os.getpid(), 9)", "signal killed", ""},
			{[]string{"--limit", "wall=1s"}, "while 1: pass", "124", "wall = 1s"},
			{[]string{"--limit", "cpu_time=1s"}, "while 1: pass", "signal CPU time limit exceeded", "cpu_time = 1s"},
			{[]string{"--limit", "output=1K"}, "import sys\nfor n in range(1 << 16): print('x' * 99)", "signal killed", "output = 1K"},
			{append(memory, "--limit", "memory=64M", "--limit", "memory_swap=0"), "held = []\nfor n in range(64): held.append(bytearray(b'x' * (8 << 20)))\nimport time; time.sleep(20)",
				"signal killed", "memory = 64M"},
		} {
			if strings.HasPrefix(c.ended, "memory") && s.who.uid == 0 && !holds("memory") {
				continue
			}
			r := s.run(t, call{argv: append(append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, c.options...), "-c", c.code)})
			want := ""
			if c.ended != "" {
				want = "psb: ended by the limit " + c.ended + " (command line)\n"
			}
			if r.status() != c.status || r.err != want {
				t.Errorf("%q, want %s and %q: %v", c.code, c.status, want, result{r.code, r.signal, "", r.err})
			}
		}
	})
}

// TestBehaviourMemory: a limit on memory is one on resident memory without a way round by swap: the program ends near it.
func TestBehaviourMemory(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 || !holds("memory") {
		ledger.Need(t, "cgroup", errors.New("no memory controller for this user"))
	}
	ledger.Need(t, "cgroup", nil)
	ordinary(t, func(t *testing.T, s scene) {
		if s.who.uid != 0 {
			t.Skip("an ordinary user has no group here; what holds memory then is tried elsewhere")
		}
		s.behave(t, "grows")
		if r := s.run(t, call{argv: []string{systemPython, "grows.py", "256"}}); !strings.HasSuffix(r.out, "\n256\nall of it\n") {
			t.Fatalf("the control run: %v", r)
		}
		for _, swap := range []string{"0", "16M"} {
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--limit", "memory=96M", "--limit", "memory_swap=" + swap, "grows.py", "256"}})
			lines := strings.Fields(r.out)
			if len(lines) == 0 {
				t.Fatal(r)
			}
			last, err := strconv.Atoi(lines[len(lines)-1])
			if err != nil || last < 64 || last > 112 || r.status() != "signal killed" || r.err != "psb: ended by the limit memory = 96M (command line)\n" {
				t.Errorf("swap %s, last %d MiB: %v", swap, last, r)
			}
		}
	})
}

// TestBehaviourProcesses: a program that is refused more processes than its limit goes on, and psb says so at the end: one line, from an
// ordinary start and from a kept one.
func TestBehaviourProcesses(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		if s.who.uid != 0 {
			t.Skip("an ordinary user has RLIMIT_NPROC, which counts no refusals")
		}
		if !holds("pids") {
			ledger.Need(t, "cgroup", errors.New("no pids controller"))
		}
		code := "import os\nlist = []\ntry:\n    while len(list) < 99:\n        pid = os.fork()\n        if not pid:\n            os.read(r, 1); os._exit(0)\n" +
			"        list.append(pid)\nexcept BlockingIOError:\n    print(len(list), 'then EAGAIN')\n"
		for range 3 {
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--limit", "pids=20", "-c", "import os\nr, w = os.pipe()\n" + code}})
			if r.code != 0 || r.out != "19 then EAGAIN\n" || r.err != "psb: new processes were refused by the limit pids = 20 (command line)\n" {
				t.Error(r)
			}
		}
	})
}

// TestBehaviourInput: a program's input is its caller's, as a pipe of many bytes, as a file to its last byte, as nothing, beside a script from "-".
func TestBehaviourInput(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct{ name, line string }{
		{"binary file", `$P -c 'import sys, hashlib; b = sys.stdin.buffer.read(); print(len(b), hashlib.sha256(b).hexdigest())' < /usr/bin/python3`},
		{"long pipe", `head -c 20000000 /dev/zero | $P -c 'import sys; print(len(sys.stdin.buffer.read()))'`},
		{"input at the end", `$P -c 'print(input())' < /dev/null 2>&1; echo rc=$?`},
		{"script from a pipe with arguments", `echo 'import sys; print(sys.argv, __name__)' | $P - a "b c"`},
		{"script and data", `echo data | $P reads.py - extra`},
		{"seek", `printf abcdef > in; $P -c 'import os; print(os.read(0, 2), os.lseek(0, 1, 1), os.read(0, 9))' < in`},
		{"offset is shared", `printf 'one\ntwo\n' > in; { $P -c 'import sys; print(sys.stdin.readline())'; cat; } < in`},
		{"fifo", `mkfifo f; (echo through > f &) ; $P -c 'print(input())' < f`},
		{"read and write", `echo x > in; $P -c 'import os; os.write(0, b"y"); os.lseek(0, 0, 0); print(os.read(0, 9))' 0<>in; cat in`},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				s.put(t, "home/code/project/reads.py", "import sys\nprint(sys.argv, sys.stdin.read())\n")
				s.give(t)
				want, got := s.shell(t, "rm -f in f; "+c.line)
				if want.out == "" || got != want {
					t.Errorf("python: %v\npsb: %v", want, got)
				}
			})
		})
	}
}

// TestBehaviourBigScript: a script of megabytes runs, from a file and from stdin.
func TestBehaviourBigScript(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/big.py", strings.Repeat("x = 1\n", 270_000)+"print('big', x)\n")
		s.give(t)
		for _, c := range []call{{argv: boxed(t, "big.py")}, {argv: boxed(t, "-"), stdin: open(t, filepath.Join(s.project, "big.py"))}} {
			if r := s.run(t, c); r.code != 0 || r.out != "big 1\n" || r.err != "" {
				t.Errorf("%q: %v", c.argv[5:], r)
			}
		}
		// The longest argument the kernel takes arrives whole.
		r := s.run(t, call{argv: boxed(t, "-c", "import sys; print(len(sys.argv[1]), len(sys.argv[2]))", strings.Repeat("x", 131_000), strings.Repeat("é", 60_000))})
		if r.out != "131000 60000\n" {
			t.Errorf("long arguments: status %s, %s", r.status(), r.err)
		}
	})
}

func open(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestBehaviourSlowReader: a reader that takes its time gets every byte, and one that goes away ends the program as it does without psb; the
// same where psb stands between to count the output.
func TestBehaviourSlowReader(t *testing.T) {
	besideOthers(t)
	const program = "import os\nfor n in range(300): os.write(1, b'%09d\\n' % n * 1000)\nos.write(2, b'done')"
	ordinary(t, func(t *testing.T, s scene) {
		for _, options := range [][]string{nil, {"--limit", "output=100M"}} {
			argv := append(append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, options...), "-c", program)
			cmd := s.command(t.Context(), call{argv: argv})
			out, err := cmd.StdoutPipe()
			must(t, err)
			var errs strings.Builder
			cmd.Stderr = &errs
			must(t, cmd.Start())
			n, lines := 0, bufio.NewReaderSize(out, 16) // many small reads: the writer waits for each
			for {
				line, err := lines.ReadString('\n')
				if err == io.EOF {
					break
				}
				if want := fmt.Sprintf("%09d\n", n/1000); err != nil || line != want {
					t.Fatalf("line %d: %q, %v", n, line, err)
				}
				n++
			}
			if err := cmd.Wait(); err != nil || n != 300_000 || errs.String() != "done" {
				t.Errorf("%q: %d lines, %v, %q", options, n, err, errs.String())
			}
		}
		for _, options := range [][]string{nil, {"--limit", "output=100M"}} {
			for _, c := range []struct{ code, status string }{
				{"import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" + program, "signal broken pipe"},
				{"import sys\ntry:\n    " + strings.ReplaceAll(program, "\n", "\n    ") + "\nexcept BrokenPipeError: sys.exit(9)", "9"},
			} {
				cmd := s.command(t.Context(), call{argv: append(append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, options...), "-c", c.code)})
				out, err := cmd.StdoutPipe()
				must(t, err)
				must(t, cmd.Start())
				if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
					t.Error(err)
				}
				out.Close()
				cmd.Wait()
				if r := ended(cmd.ProcessState, "", ""); r.status() != c.status {
					t.Errorf("%q: status %s, want %s", options, r.status(), c.status)
				}
			}
		}
	})
}

// TestBehaviourInheritedPipeSignal: SIGPIPE and its like are ignored or not inside as the caller had them, for programs other than Python, too.
func TestBehaviourInheritedPipeSignal(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"/bin/cat\" = \"exec\"\n")
		s.give(t)
		masks := regexp.MustCompile(`(?m)^Sig(Blk|Ign|Cgt):.*$`)
		psb(t)
		for _, trap := range []string{"trap - PIPE", "trap '' PIPE", "trap '' PIPE HUP INT TERM USR1 CHLD TSTP", "trap : PIPE TERM"} {
			ask := func(words string) string {
				r := s.run(t, call{argv: []string{"/bin/bash", "-c", trap + "; exec " + words + " /bin/cat /proc/self/status"}})
				if r.code != 0 {
					t.Fatal(r)
				}
				return strings.Join(masks.FindAllString(r.out, -1), " ")
			}
			if want, got := ask("env"), ask("psb exec --policy .py-sandboxes --"); got != want || want == "" {
				t.Errorf("%s: without psb %s, with %s", trap, want, got)
			}
		}
	})
}
