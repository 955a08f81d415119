package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// eachCaller runs a behaviour of the Python package in scenes that somebody makes, as root and as an ordinary user.
func eachCaller(t *testing.T, make func(*testing.T, person) scene, do func(t *testing.T, s scene)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := make(t, who)
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			if controlOnly() {
				t.Skip("needs psb")
			}
			do(t, s)
		})
	}
}

// onOthers runs suites on every other Python that a caller may have.
func onOthers(t *testing.T, make func(*testing.T, person) scene, files ...string) {
	t.Helper()
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, i := range others() {
		t.Run(i.version(), func(t *testing.T) {
			t.Parallel()
			s := make(t, people()[0])
			if err := s.reaches(t, i, nil); err != nil {
				t.Skip(err)
			}
			for _, file := range files {
				s.suite(t, i.path, file)
			}
		})
	}
}

// caller is a program without a box that uses the package.
func (s scene) caller(t *testing.T, python string, args ...string) call {
	t.Helper()
	return call{argv: append([]string{python, "-B"}, args...), env: []string{"PSB=" + psb(t), "PYTHONPATH=" + s.project + "/lib"}, timeout: 3 * time.Minute}
}

// suite is a unittest program that must pass, and must have run something.
func (s scene) suite(t *testing.T, python, file string) {
	t.Helper()
	r := s.run(t, s.caller(t, python, file))
	if r.code != 0 || !strings.Contains(r.err, "\nOK") || strings.Contains(r.err, "Ran 0 tests") {
		t.Errorf("%s: %v", file, r)
	}
	if strings.Contains(r.err, "skipped") {
		t.Logf("%s: %s", file, r.err[strings.LastIndex(r.err, "\nRan "):])
	}
}

// followPage does what a page says: makes its files, runs its commands, and looks whether they print what stands there.
func (s scene) followPage(t *testing.T, name string, e examples) {
	t.Helper()
	for _, f := range e.files {
		s.put(t, "home/code/project/"+f.name, f.text)
	}
	must(t, os.MkdirAll(s.dir+"/home/bin", 0o755))
	must(t, os.Symlink(systemPython, s.dir+"/home/bin/python3"))
	s.give(t)
	// A reader has a terminal, whose lines come out as they are printed.
	env := []string{"PATH=" + s.dir + "/home/bin:" + filepath.Dir(psb(t)) + ":/usr/bin:/bin", "PYTHONPATH=" + s.project + "/lib", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"}
	if _, err := os.Stat(s.project + "/.py-sandboxes"); err == nil {
		if r := s.run(t, call{argv: []string{psb(t), "policy", "approve"}, env: env}); r.code != 0 {
			t.Fatal(r)
		}
	}
	for _, session := range e.sessions {
		for _, c := range commandsOf(session) {
			if strings.HasPrefix(c.command, "pip ") {
				continue // TestPackageInstalls
			}
			r := s.run(t, call{argv: []string{"bash", "-c", "exec 2>&1\n" + c.command}, env: env})
			if !printsAs(r.out, c.want) {
				t.Errorf("docs/%s:%d: $ %s\nprints\n%sand the page says\n%s", name, c.line, c.command, r.out, c.want)
			}
		}
	}
}
