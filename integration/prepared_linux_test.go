package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// preparedProgram says what it was given, and does what it is told.
const preparedProgram = `import os, signal, sys, time
print("args", sys.argv[1:], "key", os.environ.get("ROW_KEY"), "in", sys.stdin.read(), flush=True)
for word in sys.argv[1:]:
    if word == "wait":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
        print("waiting", flush=True)
        time.sleep(600)
    if word == "denied":
        open("notes/private.txt")
    if word == "connect":
        import socket
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0)); server.listen()
            socket.create_connection(server.getsockname()).close()
        print("connected")
    if word == "write":
        open("out/made.txt", "w").write("made\n")
    if word == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "colours":
        try:
            import colorsys
            print("imported", colorsys.__name__)
        except ImportError as e:
            print(type(e).__name__, e.name)
    if word == "forks":
        try:
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
            print("forked")
        except PermissionError as e:
            print(type(e).__name__, e.qualname)
    if word == "evaluates":
        try:
            print("evaluated", eval("6*7"))
        except PermissionError as e:
            print(type(e).__name__)
    if word.isdigit():
        sys.exit(int(word))
`

// preparedPolicy has lines on Python, too: a kept launch holds its rules.
const preparedPolicy = bareVersion + "[files]\n\"out/\" = \"write\"\n[env]\nROW_KEY = true\n[python.call]\n\"process-exec\" = true\n\"process-control\" = true\n" +
	"[python.import]\n\"socket\" = true\n"

// preparedScene is a project whose launch is kept, with the command that uses it.
func preparedScene(t *testing.T, who person) (s scene, argv []string) {
	t.Helper()
	s = newScene(t, who)
	list, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	s.put(t, "home/code/project/row.py", preparedProgram)
	s.put(t, "home/code/project/out/kept", "")
	s.put(t, "home/code/project/.py-sandboxes", preparedPolicy)
	s.give(t)
	argv = []string{psb(t), "--policy", ".py-sandboxes", "--python", list[0].path, "row.py"}
	// What was changed a moment ago is not relied on, so the first starts keep nothing.
	until(t, "a launch is kept", func() bool {
		s.run(t, call{argv: argv, env: []string{"ROW_KEY=" + s.token}})
		return len(s.launches(t)) > 0
	})
	return s, argv
}

func (s scene) launches(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(s.home + "/.local/state/psb/launches/*")
	must(t, err)
	return list
}

// TestPrepared: a start that finds its launch kept gives the program what an ordinary start gives it, and keeps no value of a variable.
func TestPrepared(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s, argv := preparedScene(t, who)
			for _, name := range s.launches(t) {
				b, err := os.ReadFile(name)
				must(t, err)
				if strings.Contains(string(b), s.token) {
					t.Error("the kept launch holds the value of a variable")
				}
				if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 {
					t.Error(fi.Mode(), err)
				}
			}
			for _, c := range []struct {
				args []string
				want string
			}{
				{nil, "status 0\n--- stdout\nargs [] key %s in given\n--- stderr\n"},
				{[]string{"a b", "", "7"}, "status 7\n--- stdout\nargs ['a b', '', '7'] key %s in given\n--- stderr\n"},
				{[]string{"write"}, "status 0\n--- stdout\nargs ['write'] key %s in given\n--- stderr\n"},
				{[]string{"connect", "3"}, "status 3\n--- stdout\nargs ['connect', '3'] key %s in given\nconnected\n--- stderr\n"},
				{[]string{"killed"}, "status signal killed\n--- stdout\nargs ['killed'] key %s in given\n--- stderr\n"},
			} {
				r := s.run(t, call{argv: append(argv, c.args...), env: []string{"ROW_KEY=" + s.token}, stdin: strings.NewReader("given")})
				if want := fmt.Sprintf(c.want, s.token); r.String() != want {
					t.Errorf("%q: got %v\nwant %s", c.args, r, want)
				}
			}
			r := s.run(t, call{argv: append(argv, "denied"), env: []string{"ROW_KEY=" + s.token}, stdin: strings.NewReader("")})
			said, hints := psbLines(r.err)
			if r.code != 1 || strings.Join(said, "|") != "psb: denied: read notes/private.txt (row.py:9)" || strings.Join(hints, "|") != "psb: hint: psb policy add read notes/private.txt" {
				t.Error(r)
			}
			if n := len(s.launches(t)); n != 1 {
				t.Errorf("%d launches are kept for one command with other words at its end", n)
			}
			if b, err := os.ReadFile(s.project + "/out/made.txt"); err != nil || string(b) != "made\n" {
				t.Error(string(b), err)
			}
			if left := descendants(t); len(left) > 0 {
				t.Error("left: ", left)
			}
		})
	}
}

// waiting starts the program and returns while it waits.
func (s scene) waiting(t *testing.T, argv []string) (cmd *exec.Cmd, out *bufio.Reader, said *strings.Builder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd = s.command(ctx, call{argv: append(argv, "wait", s.word), env: []string{"ROW_KEY=" + s.token}})
	said = &strings.Builder{}
	cmd.Stderr = said
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	out = bufio.NewReader(pipe)
	for line := ""; line != "waiting\n"; {
		if line, err = out.ReadString('\n'); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	return cmd, out, said
}

// TestPreparedHandsOver: while nothing happens, no Go runtime stands beside the program; a signal is passed on; SIGKILL leaves
// nothing.
func TestPreparedHandsOver(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s, argv := preparedScene(t, who)
			cmd, out, said := s.waiting(t, argv)
			tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", cmd.Process.Pid))
			must(t, err)
			if who.uid == 0 && len(tasks) != 1 { // an ordinary user's limits may need psb's own look
				t.Errorf("%d threads beside a program that only runs", len(tasks))
			}
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			_, err = io.Copy(io.Discard, out)
			must(t, err)
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 5 || said.String() != "" {
				t.Errorf("SIGTERM: %v %s", cmd.ProcessState, said)
			}
			cmd, out, _ = s.waiting(t, argv)
			must(t, cmd.Process.Kill())
			_, err = io.Copy(io.Discard, out)
			must(t, err)
			_ = cmd.Wait()
			until(t, "nothing is left", func() bool { return len(descendants(t)) == 0 })
		})
	}
}

// TestPreparedEndsAsTheProgram: a signal that psb has not looked at when its program ends does not end psb: the status is the program's.
func TestPreparedEndsAsTheProgram(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s, argv := preparedScene(t, who)
			cmd, _, said := s.waiting(t, argv)
			program := 0
			for _, p := range withWord(t, s.word) {
				if !strings.HasPrefix(p.cmdline, psb(t)+" ") {
					program = p.pid
				}
			}
			must(t, cmd.Process.Signal(syscall.SIGSTOP))
			until(t, "psb stands still", func() bool {
				return slices.ContainsFunc(descendants(t), func(p process) bool { return p.pid == cmd.Process.Pid && p.state == 'T' })
			})
			must(t, cmd.Process.Signal(syscall.SIGINT))
			must(t, syscall.Kill(program, syscall.SIGTERM))
			until(t, "the program has ended", func() bool {
				return !slices.ContainsFunc(withWord(t, s.word), func(p process) bool { return p.pid == program })
			})
			must(t, cmd.Process.Signal(syscall.SIGCONT))
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 5 || said.String() != "" {
				t.Errorf("%v %s", cmd.ProcessState, said)
			}
		})
	}
}

// TestPreparedFollowsTheHost: whatever a kept launch rests on may change, and the next start sees it.
func TestPreparedFollowsTheHost(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			for _, c := range []struct {
				name   string
				change func(t *testing.T, s scene) (more []string)
				want   string // in what the program and psb say
			}{
				{"a rule more", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", preparedPolicy+"[files]\n")
					s.put(t, "home/code/project/.py-sandboxes", strings.Replace(preparedPolicy, "[files]\n", "[files]\n\"notes/private.txt\" = \"read\"\n", 1))
					return []string{"denied", "4"}
				}, "status 4\n"},
				{"an import refused", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", preparedPolicy+"\"colorsys\" = false\n")
					return []string{"colours"}
				}, "RuleModuleNotFoundError colorsys"},
				{"a call no longer allowed", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", strings.Replace(preparedPolicy, "process-exec", "threads", 1))
					return []string{"forks"}
				}, "RuleApiPermissionError os.fork"},
				{"text that is evaluated under rules", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", preparedPolicy+"[python.eval]\nsyntax = [\"arith\"]\n")
					return []string{"evaluates"}
				}, "evaluated 42"},
				{"an include that refuses", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/team.toml", "version = 1\n[python.import]\n\"colorsys\" = false\n")
					s.put(t, "home/code/project/.py-sandboxes", strings.Replace(preparedPolicy, "version = 1\n", "version = 1\ninclude = [\"team.toml\"]\n", 1))
					return []string{"colours"}
				}, "RuleModuleNotFoundError colorsys"},
				{"a variable less", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", strings.Replace(preparedPolicy, "ROW_KEY = true", "", 1))
					return nil
				}, "key None"},
				{"another value", func(t *testing.T, s scene) []string { return nil }, "key again"},
				{"a policy that is wrong", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/.py-sandboxes", "version = 1\nfilez = 1\n")
					return nil
				}, "status 125\n"},
				{"the policy gone", func(t *testing.T, s scene) []string {
					must(t, os.Remove(s.project+"/.py-sandboxes"))
					return nil
				}, "status 125\n"},
				{"the script gone", func(t *testing.T, s scene) []string {
					must(t, os.Remove(s.project+"/row.py"))
					return nil
				}, "status 2\n"},
				{"a hook planted before", func(t *testing.T, s scene) []string {
					s.put(t, "home/code/project/out/.git/hooks/pre-commit", "x")
					s.give(t)
					return []string{"write"}
				}, "status 0\n"},
			} {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel() // most of it is waiting until the policy is no longer new
					s, argv := preparedScene(t, who)
					more := c.change(t, s)
					r := s.run(t, call{argv: append(argv, more...), env: []string{"ROW_KEY=again"}, stdin: strings.NewReader("")})
					if !strings.Contains(r.String(), c.want) {
						t.Errorf("want %q, got %v", c.want, r)
					}
				})
			}
		})
	}
}

// TestPreparedHostile: a kept launch that is damaged, or that somebody else could have written, is as good as none.
func TestPreparedHostile(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	who := people()[0]
	s, argv := preparedScene(t, who)
	file := s.launches(t)[0]
	whole, err := os.ReadFile(file)
	must(t, err)
	broken := strings.ReplaceAll(string(whole), "row.py", "own.py") // what a start must not take
	for name, put := range map[string]func(t *testing.T){
		"shorter":      func(t *testing.T) { must(t, os.WriteFile(file, whole[:len(whole)/2], 0o600)) },
		"empty":        func(t *testing.T) { must(t, os.WriteFile(file, nil, 0o600)) },
		"longer":       func(t *testing.T) { must(t, os.WriteFile(file, append(whole, 0), 0o600)) },
		"others write": func(t *testing.T) { must(t, os.WriteFile(file, []byte(broken), 0o600)); must(t, os.Chmod(file, 0o666)) },
		"folder others": func(t *testing.T) {
			must(t, os.WriteFile(file, []byte(broken), 0o600))
			must(t, os.Chmod(filepath.Dir(file), 0o777))
		},
		"a link": func(t *testing.T) {
			must(t, os.WriteFile(s.dir+"/elsewhere", []byte(broken), 0o600))
			must(t, os.Symlink(s.dir+"/elsewhere", file))
		},
		"another's": func(t *testing.T) {
			other := filepath.Join(filepath.Dir(file), strings.Repeat("0", 64))
			must(t, os.WriteFile(other, whole, 0o600))
			must(t, os.WriteFile(file, append([]byte("PSBP\x01\x00\x00\x00\x20\x00\x00\x00"), make([]byte, 100)...), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.Chmod(filepath.Dir(file), 0o700))
			must(t, os.RemoveAll(file))
			put(t)
			r := s.run(t, call{argv: append(argv, "6"), env: []string{"ROW_KEY=x"}, stdin: strings.NewReader("")})
			if want := "status 6\n--- stdout\nargs ['6'] key x in \n--- stderr\n"; r.String() != want {
				t.Errorf("got %v\nwant %s", r, want)
			}
		})
	}
}

// TestPreparedFollowsTheCaller: a start by a caller who differs in anything a launch rests on takes no other's.
func TestPreparedFollowsTheCaller(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s, argv := preparedScene(t, who)
			env := []string{"ROW_KEY=" + s.token}
			kept := len(s.launches(t))
			for _, c := range []struct {
				name string
				call call
				want string
			}{
				{"a variable more", call{argv: argv, env: append(env, "ROW_OTHER=1")}, "status 0"},
				{"a variable less", call{argv: argv}, "key None"},
				{"a shell's own", call{argv: argv, env: append(env, "_=/x", "SHLVL=3", "OLDPWD=/")}, "status 0"},
				{"a limit of the caller's", call{argv: append([]string{"/bin/sh", "-c", `ulimit -n 200; exec "$@"`, "sh"}, argv...), env: env}, "status 0"},
				{"another folder", call{argv: argv, env: env, dir: s.sibling}, "status 2\n"},
				{"an option", call{argv: append([]string{argv[0], "--allow", "read notes/private.txt"}, append(argv[1:], "denied", "8")...), env: env}, "status 8"},
				{"again", call{argv: argv, env: env}, "status 0"},
			} {
				c.call.stdin = strings.NewReader("")
				if r := s.run(t, c.call); !strings.Contains(r.String(), c.want) {
					t.Errorf("%s: want %q, got %v", c.name, c.want, r)
				}
			}
			// A variable more, one less, a limit and an option are four other callers; what a shell sets anew for each command is none.
			if n := len(s.launches(t)) - kept; n != 4 {
				t.Errorf("%d more launches are kept, want 4", n)
			}
		})
	}
}

// TestShimCompiledOnce: the shim's byte code is made once for an interpreter, in a box, and stays psb's own.
func TestShimCompiledOnce(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s, argv := preparedScene(t, who)
			code := func() map[string]string {
				names, err := filepath.Glob(s.home + "/.local/state/psb/python-*/encodings.pyc")
				must(t, err)
				out := map[string]string{}
				for _, name := range names {
					b, err := os.ReadFile(name)
					must(t, err)
					if len(b) < 1000 {
						t.Errorf("%s has %d bytes", name, len(b))
					}
					out[name] = string(b)
				}
				return out
			}
			first := code()
			if len(first) != 1 {
				t.Fatalf("%d files", len(first))
			}
			// The rules are a file of their own: another policy needs no other byte code, and is obeyed.
			s.put(t, "home/code/project/.py-sandboxes", preparedPolicy+"\"colorsys\" = false\n")
			s.give(t)
			if r := s.run(t, call{argv: append(argv, "colours"), stdin: strings.NewReader("")}); !strings.Contains(r.out, "RuleModuleNotFoundError colorsys\n") {
				t.Error(r)
			}
			if second := code(); !maps.Equal(first, second) {
				t.Errorf("%d files after a change of the policy, or another text", len(second))
			}
			// The shim works by it: a denial is still told with its line. Damaged, it is left alone and the shim compiled anew at each start.
			for name := range first {
				for _, text := range []string{first[name], "damaged", ""} {
					must(t, os.WriteFile(name, []byte(text), 0o600))
					r := s.run(t, call{argv: append(argv, "denied"), stdin: strings.NewReader("")})
					if said, _ := psbLines(r.err); r.code != 1 || strings.Join(said, "|") != "psb: denied: read notes/private.txt (row.py:9)" {
						t.Errorf("with byte code of %d bytes: %v", len(text), r)
					}
				}
				must(t, os.WriteFile(strings.TrimSuffix(name, "c"), []byte("damaged"), 0o600))
				r := s.run(t, call{argv: append(argv, "denied"), stdin: strings.NewReader("")})
				if said, _ := psbLines(r.err); r.code != 1 || strings.Join(said, "|") != "psb: denied: read notes/private.txt (row.py:9)" {
					t.Errorf("with another overlay in its folder: %v", r)
				}
			}
		})
	}
}
