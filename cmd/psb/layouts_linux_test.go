package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"psb/namespaces"
	"psb/policy/plan"
	"psb/pythonshim"
)

// TestKeptLayout: an interpreter is found anew as soon as anything that finding it looked at is another.
func TestKeptLayout(t *testing.T) {
	python, err := filepath.EvalSymlinks("/usr/bin/python3")
	if err != nil {
		t.Skipf("no python3: %v", err)
	}
	dir := settledFolder(t)
	venv, name := dir+"/venv", dir+"/venv/bin/python"
	cfg := venv + "/pyvenv.cfg"
	write := func(file, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{venv + "/bin", dir + "/state"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(cfg, "home = /usr/bin\ninclude-system-site-packages = true\n", 0o644)
	if err := os.Symlink(python, name); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_STATE_HOME=" + dir + "/state", "PATH=/usr/bin:/bin", "HOME=" + dir}
	find := func() (version string, w *world) {
		t.Helper()
		w = &world{env: env, cwd: dir, seen: newSightings(), asked: map[string]bool{}, id: plan.Identity{Home: dir}}
		l, err := findInterpreter(w, name)
		if err != nil {
			t.Fatal(err)
		}
		return l.Version, w
	}
	kept := func() string {
		t.Helper()
		files, _ := filepath.Glob(dir + "/state/psb/layouts/*.json")
		if len(files) != 1 {
			t.Fatalf("kept: %q", files)
		}
		return files[0]
	}
	// forge makes the kept one tell itself from one that is found.
	forge := func() string {
		t.Helper()
		file := kept()
		var k keptLayout
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &k)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "/usr/bin:/bin") {
			t.Error("the value of a variable is kept")
		}
		k.Layout.Version = "kept"
		k.keep(file)
		return file
	}
	settle := func() { time.Sleep(settled + 100*time.Millisecond) }

	if version, w := find(); version == "kept" || w.seen.doubt == "" {
		t.Errorf("%s: no doubt about what was made just now", version)
	}
	if files, _ := filepath.Glob(dir + "/state/psb/layouts/*"); len(files) > 0 {
		t.Errorf("kept although it rests on what was made just now: %q", files)
	}
	settle()
	found, first := find()
	forge()
	version, second := find()
	if version != "kept" {
		t.Fatalf("%s: what was kept is not used", version)
	}
	if second.seen.doubt != "" || !second.asked["HOME"] || len(second.asked) != len(first.asked) {
		t.Errorf("doubt %q, asked %v, at first %v", second.seen.doubt, second.asked, first.asked)
	}
	a, b := first.seen.checks(), second.seen.checks()
	if strings.Join(words(a), "\n") != strings.Join(words(b), "\n") {
		t.Errorf("found: %q\nkept: %q", words(a), words(b))
	}
	again := func(what string) {
		t.Helper()
		if version, _ := find(); version != found {
			t.Errorf("%s: %s, want it found anew", what, version)
		}
	}
	env[2] = "HOME=/"
	again("another value of a variable")
	env[2] = "HOME=" + dir
	settle()
	find()
	file := forge()
	if err := os.Chmod(file, 0o622); err != nil {
		t.Fatal(err)
	}
	again("others may write it")
	forge()
	write(file, "{", 0o600)
	again("damaged")
	forge()
	write(cfg, "home = /usr/bin\nversion = 3\n", 0o644)
	again("pyvenv.cfg is written to")
	settle()
	find()
	forge()
	if err := os.MkdirAll(venv+"/lib/python"+found+"/site-packages", 0o755); err != nil {
		t.Fatal(err)
	}
	again("a folder came")

	// What can no longer be looked at, other than for being gone, is no longer the same.
	if err := os.Symlink("loop", dir+"/loop"); err != nil {
		t.Fatal(err)
	}
	k := keptLayout{Checks: []namespaces.Check{{Kind: namespaces.CheckNode, Path: dir + "/loop/x"}}}
	if k.holds(pythonshim.Host{}) {
		t.Error("a look that failed is taken for the same")
	}
}
