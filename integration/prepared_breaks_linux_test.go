package integration

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Each of these once went wrong with a launch that was kept.

// TestPreparedTellsPlanted: what the program put where a protected file would be read from is told after a kept launch, too, also when the
// program asked for something that has to be judged and when its policy is now wrong.
func TestPreparedTellsPlanted(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newScene(t, who)
			list, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			argv := []string{psb(t), "--python", list[0].path, "--allow", "write ./", "-c"}
			until(t, "a launch is kept", func() bool {
				s.run(t, call{argv: append(argv, "pass")})
				return len(s.launches(t)) > 0
			})
			for _, more := range []string{"", "; import socket; socket.socket().connect(('192.0.2.1', 1))"} {
				r := s.run(t, call{argv: append(argv, "open('.py-sandboxes', 'w').write('x')"+more)})
				if said, _ := psbLines(r.err); !strings.Contains(strings.Join(said, "\n"), "psb: planted: .py-sandboxes") {
					t.Errorf("%q: %v", more, r)
				}
				must(t, os.Remove(s.project+"/.py-sandboxes"))
			}
		})
	}
}

// TestPreparedLeavesNoGroup: a program that dies by a signal leaves no control group, and groups of a psb that was killed are removed later.
func TestPreparedLeavesNoGroup(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	if os.Getuid() != 0 {
		t.Skip("an ordinary user has no control group here")
	}
	groups := func() (list []string) {
		for _, pattern := range []string{"/sys/fs/cgroup/psb-*", "/sys/fs/cgroup/*/psb-*", "/sys/fs/cgroup/*/*/psb-*", "/sys/fs/cgroup/*/*/*/psb-*"} {
			found, err := filepath.Glob(pattern)
			must(t, err)
			list = append(list, found...)
		}
		return list
	}
	s, argv := preparedScene(t, people()[0])
	before := map[string]bool{}
	for _, g := range groups() {
		before[g] = true
	}
	r := s.run(t, call{argv: append(argv, "killed"), env: []string{"ROW_KEY=" + s.token}, stdin: strings.NewReader("")})
	if r.signal != syscall.SIGKILL {
		t.Fatal(r)
	}
	cmd, _, _ := s.waiting(t, argv)
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	_ = cmd.Wait()
	for _, g := range groups() {
		if !before[g] {
			t.Errorf("left: %s", g)
		}
	}
}

// TestPreparedOnlyInOwnFolder: where HOME is not the account's home, a launch that lies below it counts for nothing: a policy may let the
// program write there.
func TestPreparedOnlyInOwnFolder(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	if os.Getuid() != 0 {
		t.Skip("needs an account whose home is another")
	}
	s, argv := preparedScene(t, people()[0]) // root's home is its own, HOME the scene's
	kept := s.launches(t)
	must(t, os.MkdirAll(s.home+"/.local/state/psb/launches", 0o700))
	r := s.run(t, call{argv: append([]string{"/usr/bin/env", "-u", "XDG_STATE_HOME", "strace", "-f", "-e", "trace=openat", "-o", s.dir + "/trace"}, append(argv, "3")...), stdin: strings.NewReader("")})
	ledger.Need(t, "strace", func() error {
		if strings.Contains(r.err, "strace") {
			return os.ErrNotExist
		}
		return nil
	}())
	if r.code != 3 {
		t.Fatal(r)
	}
	trace, err := os.ReadFile(s.dir + "/trace")
	must(t, err)
	if strings.Contains(string(trace), s.home+"/.local/state/psb/launches") {
		t.Error("psb looked for a launch below a HOME that is not the account's")
	}
	if len(s.launches(t)) != len(kept) {
		t.Error("and kept one there")
	}
}

// TestPreparedUnderAnotherName: python-sb keeps launches as psb does; under ipython-sb, where words stand between psb's options and the
// program's, options are never taken for the program's.
func TestPreparedUnderAnotherName(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	s := newScene(t, people()[0])
	list, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	s.put(t, "home/code/project/IPython.py", "import sys\nprint('args', sys.argv[1:])\n")
	s.put(t, "home/code/project/.py-sandboxes", "version = 1\n[files]\n\"./\" = [\"read\", \"list\"]\n")
	must(t, os.Symlink(psb(t), s.dir+"/ipython-sb"))
	s.give(t)
	argv := []string{s.dir + "/ipython-sb", "--policy", ".py-sandboxes", "--python", list[0].path}
	for range 3 {
		if r := s.run(t, call{argv: append(argv, "word")}); r.code != 0 || !strings.Contains(r.out, "args ['word']") {
			t.Fatal(r)
		}
		if r := s.run(t, call{argv: argv}); r.code != 0 || !strings.Contains(r.out, "args []") {
			t.Fatal(r)
		}
	}
	r := s.run(t, call{argv: append(argv, "--policy", "/nonexistent/policy")})
	if r.code != 125 || !strings.Contains(r.err, "/nonexistent/policy: no such file") {
		t.Error(r)
	}
}
