package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// boxed is psb with the system's python and the project's policy.
func boxed(t testing.TB, args ...string) []string {
	t.Helper()
	return append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, args...)
}

// ordinary runs a behaviour in a scene with the system's python, as each person.
func ordinary(t *testing.T, do func(t *testing.T, s scene)) {
	t.Helper()
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.put(t, "home/code/project/.py-sandboxes", emptyPolicy)
			s.give(t)
			s.system(t, nil)
			do(t, s)
		})
	}
}

// TestBehaviourSharedMemory: /dev/shm needs no rule, and it is the box's own: nothing of the host's is in it and nothing of it is seen outside.
func TestBehaviourSharedMemory(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "pool")
		outside := filepath.Join("/dev/shm", s.word+"-outside")
		must(t, os.WriteFile(outside, nil, 0o666))
		t.Cleanup(func() { os.Remove(outside) })
		inside := func() bool { _, err := os.Stat(filepath.Join("/dev/shm", s.word+"-inside")); return err == nil }
		seen := false
		look := func() { seen = inside() }
		want := func(names string) string { return "POOL 30\nthere [" + names + "]\nready\n" }
		control := s.watch(t, call{argv: []string{systemPython, "pool.py", s.word}}, look)
		if control.out != want(fmt.Sprintf("'%s-inside', '%s-outside'", s.word, s.word)) || !seen {
			t.Fatalf("the control run: %v", control)
		}
		for _, args := range [][]string{boxed(t), {psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--learn"}} {
			seen = false
			r := s.watch(t, call{argv: append(args, "pool.py", s.word)}, look)
			if r.code != 0 || r.out != want("'"+s.word+"-inside'") || seen {
				t.Errorf("seen outside: %v, %v", seen, r)
			}
		}
	})
}

// TestBehaviourFromThreads: a caller with threads, a pool or an event loop starts psb as a shell does.
func TestBehaviourFromThreads(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "launches")
		want := "threads (0, b'2\\n')\npool [(0, b'1\\n'), (0, b'2\\n'), (0, b'3\\n'), (0, b'4\\n')]\nloop [(0, b'1\\n'), (0, b'2\\n'), (0, b'3\\n'), (0, b'4\\n')]\n"
		for _, argv := range [][]string{{systemPython}, boxed(t)} {
			if r := s.run(t, call{argv: append([]string{systemPython, "launches.py"}, argv...)}); r.code != 0 || r.out != want || r.err != "" {
				t.Errorf("%q: %v", argv, r)
			}
		}
	})
}

// TestBehaviourInterpreterLinks: an interpreter by a chain of links finds its libraries and its environment as it does without psb, and the
// folders of the chain show nothing else.
func TestBehaviourInterpreterLinks(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		venv, hop := filepath.Join(s.home, "venv"), filepath.Join(s.home, "hop")
		if r := s.run(t, call{argv: []string{systemPython, "-m", "venv", "--without-pip", venv}}); r.code != 0 {
			t.Fatal(r)
		}
		s.put(t, "home/hop/private.txt", s.token)
		s.give(t)
		for from, to := range map[string]string{"home/hop/python3": venv + "/bin/python", "home/code/project/py": hop + "/python3"} {
			must(t, os.Symlink(to, filepath.Join(s.dir, from)))
		}
		const ask = "import sys, encodings, ssl, ctypes; print(sys.prefix, sys.base_prefix, sys.executable, sys.version_info[:3])"
		for _, c := range []struct{ python, path string }{
			{venv + "/bin/python", ""}, {venv + "/bin/python3", ""}, {hop + "/python3", ""}, {"./py", ""}, {"", hop}, {"", venv + "/bin"},
		} {
			env := []string{"X=1"}
			bare, argv := []string{c.python}, []string{psb(t), "--python", c.python, "--policy", ".py-sandboxes"}
			if c.python == "" {
				env = []string{"PATH=" + c.path + ":/usr/bin:/bin"}
				bare, argv = []string{"/bin/sh", "-c", `exec python3 "$@"`, "sh"}, []string{psb(t), "--policy", ".py-sandboxes"}
			}
			want := s.run(t, call{argv: append(bare, "-c", ask), env: env})
			got := s.run(t, call{argv: append(argv, "-c", ask), env: env})
			if want.code != 0 || got != want {
				t.Errorf("%+v: python: %v\npsb: %v", c, want, got)
			}
			r := s.run(t, call{argv: append(argv, "-c", "import os, sys; print(os.path.exists(sys.argv[1]), open(sys.argv[1]).read())", hop+"/private.txt"), env: env})
			if r.code != 1 || strings.Contains(r.out, s.token) || !strings.Contains(r.err, "private.txt") {
				t.Errorf("%+v: beside the link: %v", c, r)
			}
		}
	})
}

// TestBehaviourBrokenInterpreter: of a link that leads nowhere psb says so, in one line, and not that there is no such file.
func TestBehaviourBrokenInterpreter(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.put(t, "home/hop/text", "no program\n")
		s.give(t)
		hop := filepath.Join(s.home, "hop")
		for name, to := range map[string]string{"gone": s.home + "/removed/python3", "round": hop + "/round2", "round2": hop + "/round"} {
			must(t, os.Symlink(to, filepath.Join(hop, name)))
		}
		for name, says := range map[string]string{
			"gone": `"` + hop + `/gone" is a link to "` + s.home + `/removed/python3", which does not exist`, "round": "too many levels of symbolic links",
			"text": "is not executable", "nothing": "no such file",
		} {
			r := s.run(t, call{argv: []string{psb(t), "--python", filepath.Join(hop, name), "--policy", ".py-sandboxes", "-c", "pass"}})
			said, _ := psbLines(r.err)
			if r.code != 125 || r.out != "" || len(said) != 1 || !strings.Contains(said[0], says) || withoutPsb(r.err) != "" {
				t.Errorf("%s: %v", name, r)
			}
		}
	})
}

// TestBehaviourLeavesNothing: psb leaves no file in the working folder, neither after a run nor after it was killed in one.
func TestBehaviourLeavesNothing(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		dir := filepath.Join(s.home, "code/empty")
		must(t, os.Mkdir(dir, 0o755))
		s.give(t)
		for _, rules := range []string{"", "\"empty/\" = \"create\"\n", "\"empty/\" = \"write\"\n\"**/.env\" = \"hide\"\n"} {
			s.put(t, "home/code/empty.rules", kernelPolicy+"[files]\n"+rules)
			s.give(t)
			argv := []string{psb(t), "--python", systemPython, "--policy", "../empty.rules", "-c"}
			if r := s.run(t, call{argv: append(argv, "pass"), dir: dir}); r.code != 0 {
				t.Fatal(r)
			}
			cmd := s.command(t.Context(), call{argv: append(argv, "import time; print('ready', flush=True); time.sleep(600)", s.word), dir: dir})
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			line := make([]byte, 6)
			if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			must(t, syscall.Kill(cmd.Process.Pid, syscall.SIGKILL))
			cmd.Wait()
			until(t, "nothing runs", func() bool { return len(withWord(t, s.word)) == 0 })
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left under %q: %v %v", rules, left, err)
			}
		}
	})
}

// TestBehaviourLinkedFolder: a working folder reached by a link is the same folder by both names, for psb and for its rules.
func TestBehaviourLinkedFolder(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		link := filepath.Join(s.home, "link")
		must(t, os.Symlink(s.project, link))
		must(t, os.Mkdir(filepath.Join(s.project, "out"), 0o755))
		const program = "import os, sys\nfor n in sys.argv[1:]: open(n, 'x').close()\nprint(os.getcwd())"
		for n, c := range []struct{ dir, policy, rule, first, second string }{
			{link, ".py-sandboxes", "out/", "out/", link + "/out/"},
			{s.project, link + "/.py-sandboxes", "out/", "out/", link + "/out/"},
			{s.project, ".py-sandboxes", link + "/out/", "out/", link + "/out/"},
			{link, ".py-sandboxes", link + "/out/", s.project + "/out/", link + "/out/"},
		} {
			s.put(t, "home/code/project/.py-sandboxes", fmt.Sprintf(kernelPolicy+"[files]\n%q = \"create\"\n", c.rule))
			s.give(t)
			args := []string{"-c", program, fmt.Sprintf("%sa%d", c.first, n), fmt.Sprintf("%sb%d", c.second, n)}
			r := s.run(t, call{argv: append([]string{psb(t), "--python", systemPython, "--policy", c.policy}, args...), dir: c.dir, env: []string{"PWD=" + c.dir}})
			if r.code != 0 || r.out != s.project+"\n" {
				t.Errorf("%+v: %v", c, r)
			}
		}
	})
}

// TestBehaviourLinkLoop: a rule on a link that leads round in a circle stops the start, by name, at once.
func TestBehaviourLinkLoop(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		must(t, os.Symlink("two", filepath.Join(s.project, "one")))
		must(t, os.Symlink("one", filepath.Join(s.project, "two")))
		for _, c := range []struct{ key, right string }{{"one", "read"}, {"one", "write"}, {"one", "exec"}, {"one/", "list"}, {"one/", "create"}} {
			s.put(t, "home/code/project/.py-sandboxes", fmt.Sprintf(kernelPolicy+"[files]\n%q = %q\n", c.key, c.right))
			s.give(t)
			r := s.run(t, call{argv: boxed(t, "-c", "print('LOOP')")})
			if want := fmt.Sprintf("psb: .py-sandboxes:7: %q: too many levels of symbolic links\n", c.key); r.code != 125 || r.out != "" || !strings.HasPrefix(r.err, want) {
				t.Errorf("%+v: %v", c, r)
			}
		}
	})
}

// TestBehaviourByteCode: importing from a tree that may only be read, or even be written, leaves no byte code, and nobody is told of it.
func TestBehaviourByteCode(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/lib/modx.py", "X = 1\n")
		for _, right := range []string{"read", "write"} {
			s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n\"lib/\" = \""+right+"\"\n")
			s.give(t)
			for range 2 {
				if r := s.run(t, call{argv: boxed(t, "-c", "import sys; sys.path.insert(0, 'lib'); import modx; print('PYC', modx.X)")}); r.code != 0 || r.out != "PYC 1\n" || r.err != "" {
					t.Error(right, r)
				}
			}
			if found, _ := filepath.Glob(filepath.Join(s.project, "lib/__pycache__")); len(found) > 0 {
				t.Error(right, found)
			}
		}
		// Byte code that is there is used, and a stale one is not.
		if r := s.run(t, call{argv: []string{systemPython, "-m", "compileall", "-q", "lib"}}); r.code != 0 {
			t.Fatal(r)
		}
		before := regular(t, filepath.Join(s.project, "lib/__pycache__"))
		must(t, os.WriteFile(filepath.Join(s.project, "lib/modx.py"), []byte("X = 22\n"), 0o644))
		must(t, os.Chtimes(filepath.Join(s.project, "lib/modx.py"), time.Time{}, time.Unix(2000000000, 0)))
		if r := s.run(t, call{argv: boxed(t, "-c", "import sys; sys.path.insert(0, 'lib'); import modx; print('PYC', modx.X)")}); r.out != "PYC 22\n" || r.err != "" {
			t.Error(r)
		}
		if after := regular(t, filepath.Join(s.project, "lib/__pycache__")); len(before) != 1 || len(after) != 1 {
			t.Errorf("before %q after %q", before, after)
		}
	})
}

// TestBehaviourDeepFolder: sockets of psb and of the program's temporary folder stay below the kernel's 108 bytes in the deepest of folders.
func TestBehaviourDeepFolder(t *testing.T) {
	besideOthers(t)
	ordinary(t, func(t *testing.T, s scene) {
		dir := s.project
		for range 4 {
			dir = filepath.Join(dir, strings.Repeat("n", 90))
		}
		must(t, os.MkdirAll(dir, 0o755))
		b, err := os.ReadFile("testdata/behaviour/deep.py")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "deep.py"), b, 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "rules"), []byte(kernelPolicy+"[files]\n\"./\" = \"create\"\n"), 0o644))
		s.give(t)
		const want = "LONG 1 True True\ntoo long as anywhere: AF_UNIX path too long\nshort socket\n"
		for _, argv := range [][]string{{systemPython, "deep.py"}, {psb(t), "--python", systemPython, "--policy", "rules", "deep.py"},
			{psb(t), "--python", systemPython, "--policy", "learned", "--learn", "deep.py"}} {
			if r := s.run(t, call{argv: argv, dir: dir}); r.code != 0 || r.out != want {
				t.Errorf("%q: %v", argv, r)
			}
		}
	})
}
