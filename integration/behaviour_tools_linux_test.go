package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBehaviourDebuggers: pdb from a script and by breakpoint(), traces, dumps of the stack by time and by signal: as without psb. A tracer of
// other processes is refused, and told.
func TestBehaviourDebuggers(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "debugs")
		const keys = "p 40+2\np x\nw\nc\n"
		addresses := regexp.MustCompile(`0x[0-9a-f]+`)
		run := func(argv ...string) result {
			r := s.run(t, call{argv: append(argv, "debugs.py"), stdin: strings.NewReader(keys)})
			r.out = addresses.ReplaceAllString(r.out, "ADDRESS")
			return r
		}
		want := run(systemPython)
		for _, line := range []string{"trace ['call', 'line', 'return']\n", "Current thread ADDRESS", "Timeout (0:00:00.050000)!", "memory True", "(Pdb) 42\n(Pdb) 40\n", "AFTER 40\n"} {
			if !strings.Contains(want.out, line) {
				t.Errorf("the control run lacks %q: %v", line, want)
			}
		}
		if got := run(boxed(t)...); got != want {
			t.Errorf("python: %v\npsb: %v", want, got)
		}
		// What a module is given as its argument needs a rule, as any file that a program opens.
		s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"debugs.py\" = \"read\"\n")
		s.give(t)
		for _, words := range [][]string{{"-m", "pdb", "debugs.py"}, {"-X", "faulthandler", "-c", "import faulthandler; print(faulthandler.is_enabled())"},
			{"-m", "trace", "--count", "-C", "/tmp", "--missing", "-c", "nothing.py"}, {"-X", "importtime", "-c", "pass"}, {"-m", "cProfile", "-c", "pass"}} {
			want, got := s.run(t, call{argv: append([]string{systemPython}, words...), stdin: strings.NewReader("c\nq\n")}), s.run(t, call{argv: boxed(t, words...), stdin: strings.NewReader("c\nq\n")})
			if got.code != want.code {
				t.Errorf("%q: python: %v\npsb: %v", words, want, got)
			}
		}
	})
}

// TestBehaviourTracerRefused: a debugger that needs ptrace learns so at once, and psb names the call.
func TestBehaviourTracerRefused(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("strace")
	ledger.Need(t, "strace", err)
	ordinary(t, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"/usr/bin/strace\" = \"exec\"\n\"/bin/true\" = \"exec\"\n")
		s.give(t)
		line := []string{"-c", "import subprocess; print(subprocess.run(['strace', '-e', 'trace=none', '/bin/true'], stderr=subprocess.DEVNULL).returncode)"}
		if r := s.run(t, call{argv: append([]string{systemPython}, line...)}); r.out != "0\n" {
			t.Fatalf("the control run: %v", r)
		}
		r := s.run(t, call{argv: boxed(t, line...)})
		said, _ := psbLines(r.err)
		if r.out != "1\n" || len(said) == 0 || !strings.HasPrefix(said[0], "psb: denied: syscall ptrace") {
			t.Error(r)
		}
	})
}

// TestBehaviourDebugAdapter: a debugger that speaks over the loopback works inside one box: a break, a look, and on.
func TestBehaviourDebugAdapter(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "attaches")
		s.system(t, map[string]string{"debugpy": "debugpy"})
		const want = "STOPPED breakpoint 3 43\nb'END 42\\n'\n"
		for _, argv := range [][]string{{systemPython}, boxed(t)} {
			if r := s.run(t, call{argv: append(argv, "attaches.py")}); r.code != 0 || r.out != want {
				t.Errorf("%q: %v", argv, r)
			}
		}
	})
}

// TestBehaviourKernel: a notebook's kernel starts in a box and runs what its client sends, over the loopback of the box; the code sent has the
// rights of the box.
func TestBehaviourKernel(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "kernel")
		s.put(t, "home/code/sibling/kept", "")
		s.give(t)
		s.system(t, map[string]string{"ipykernel": "ipykernel"})
		for _, c := range []struct {
			argv []string
			want string
		}{{[]string{systemPython}, "it was read"}, {boxed(t), "FileNotFoundError"}} {
			r := s.run(t, call{argv: append(c.argv, "kernel.py")})
			if r.code != 0 || r.out != "KERNEL ['42\\n']\nOUTSIDE "+c.want+"\n" {
				t.Errorf("%q: %v", c.argv, r)
			}
		}
		if left := regular(t, filepath.Join(s.home, ".local/share/jupyter/runtime")); len(left) > 1 { // the control run's own
			t.Errorf("connection files outside: %q", left)
		}
	})
}

// TestBehaviourIPython: IPython's prompt at a terminal: results, completion, history, an interrupt, and the end.
func TestBehaviourIPython(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.system(t, map[string]string{"ipython": "IPython"})
		for _, argv := range [][]string{{systemPython}, boxed(t)} {
			k := s.console(t, call{argv: append(argv, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt")})
			k.expect("In [1]: ")
			k.line("6*7", "Out[1]: 42")
			k.expect("In [2]: ")
			k.line("import time; print('as' + 'leep', flush=True); time.sleep(600)", "asleep")
			k.send(ctrlC)
			k.expect("KeyboardInterrupt")
			k.expect("In [3]: ")
			k.line("%timeit -n1 -r1 pass", "loop")
			k.expect("In [4]: ")
			k.send("exit\n")
			k.ends("0")
		}
		k := s.console(t, call{argv: boxed(t, "-m", "IPython", "--no-banner", "--colors=NoColor")}) // with the full-screen line editor
		k.expect("In [")
		k.send("'ab' * 2\r")
		k.expect("abab")
		k.expect("In [")
		k.send("exit\r")
		k.ends("0")
	})
}

// TestBehaviourWorktree: git in a work tree whose repository stands elsewhere: looking is learned; committing needs the repository's rule, and
// what git obeys there stays protected.
func TestBehaviourWorktree(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	ordinary(t, func(t *testing.T, s scene) {
		must(t, os.Remove(filepath.Join(s.project, ".py-sandboxes")))
		must(t, os.RemoveAll(s.project))
		main := filepath.Join(s.home, "code/main")
		for _, c := range [][]string{{"init", "-q", main}, {"-C", main, "config", "user.email", "a@example.org"}, {"-C", main, "config", "user.name", "a"},
			{"-C", main, "commit", "-q", "--allow-empty", "-m", "one"}, {"-C", main, "worktree", "add", "-q", s.project}} {
			if r := s.run(t, call{argv: append([]string{"git"}, c...), dir: s.home}); r.code != 0 {
				t.Fatal(r)
			}
		}
		s.behave(t, "commits")
		looks := []string{"commits.py", "status --porcelain --untracked-files=no", "log --format=%s", "rev-parse --show-toplevel", "rev-parse --git-common-dir"}
		want := s.run(t, call{argv: append([]string{systemPython}, looks...)})
		if want.out != "status 0 \nlog 0 one\nrev-parse 0 "+s.project+"\nrev-parse 0 "+main+"/.git\n" {
			t.Fatalf("the control run: %v", want)
		}
		if r := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--learn"}, looks...)}); r.code != 0 || r.out != want.out {
			t.Fatalf("learning: %v", r)
		}
		if r := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython}, looks...)}); r != want {
			t.Errorf("python: %v\npsb: %v", want, r)
		}

		s.put(t, "home/code/project/rules", kernelPolicy+"[files]\n\"./\" = \"write\"\n\"../main/.git/\" = \"write\"\n\"/usr/bin/git\" = \"exec\"\n")
		s.give(t)
		makes := []string{"commits.py", "add commits.py", "commit -q -m two", "log --format=%s", "config core.fsmonitor /bin/false", "fsck"}
		r := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--policy", "rules"}, makes...)})
		if !strings.HasPrefix(r.out, "add 0 \ncommit 0 \nlog 0 two\none\nconfig ") || strings.Contains(r.out, "config 0") || !strings.Contains(r.out, "fsck 0") {
			t.Error(r)
		}
		outside := s.run(t, call{argv: []string{"git", "log", "--format=%s"}})
		set := s.run(t, call{argv: []string{"git", "config", "core.fsmonitor"}})
		if outside.out != "two\none\n" || set.code != 1 {
			t.Errorf("outside: %v\n%v", outside, set)
		}
	})
}

// TestBehaviourGitOwner: inside, the person's own repository is the person's own, so git's guard against foreign ones has nothing to say, and no
// setting of the person's is written.
func TestBehaviourGitOwner(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	ordinary(t, func(t *testing.T, s scene) {
		if r := s.run(t, call{argv: []string{"git", "init", "-q", "."}}); r.code != 0 {
			t.Fatal(r)
		}
		s.behave(t, "commits")
		s.put(t, "home/code/project/.py-sandboxes", emptyPolicy+"[files]\n\"./\" = \"read\"\n\"/usr/bin/git\" = \"exec\"\n")
		s.give(t)
		r := s.run(t, call{argv: boxed(t, "commits.py", "status --porcelain --untracked-files=no", "rev-parse --is-inside-work-tree")})
		if r.out != "status 0 \nrev-parse 0 true\n" || r.code != 0 {
			t.Error(r)
		}
		for _, name := range []string{".gitconfig", ".config/git"} {
			if _, err := os.Lstat(filepath.Join(s.home, name)); !os.IsNotExist(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
