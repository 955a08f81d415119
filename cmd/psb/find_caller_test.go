package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTheCallersModuleDecides: where the policy of a box of the Python package is looked up, and what is readable without a line.
func TestTheCallersModuleDecides(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"app.py", "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/mod.py", "lib/psb/partial/child.py", "elsewhere/x"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	child, own := filepath.Join(dir, "lib/psb/partial/child.py"), filepath.Join(dir, "lib/psb")
	look := func(caller string) whereabouts {
		r, err := parseRun([]string{"--caller=" + caller, child})
		if err != nil {
			t.Fatal(err)
		}
		return locate(r, &world{cwd: filepath.Join(dir, "elsewhere"), seen: newSightings()})
	}
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return append(out, own)
	}
	for caller, want := range map[string][]string{
		filepath.Join(dir, "app.py"):         at("app.py"),
		"../app.py":                          at("app.py"),
		filepath.Join(dir, "pkg/sub/mod.py"): at("pkg/sub/mod.py", "pkg/sub/__init__.py", "pkg/__init__.py"),
		"-":                                  at("lib/psb/partial/child.py"),
	} {
		if w := look(caller); !slices.Equal(w.reads, want) || w.script != child || w.exists {
			t.Errorf("%s: reads %q, want %q; script %q, a policy: %v", caller, w.reads, want, w.script, w.exists)
		}
	}
	policy := filepath.Join(dir, policyName)
	if err := os.WriteFile(policy, []byte("version = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, caller := range []string{"../app.py", "../pkg/sub/mod.py"} {
		if w := look(caller); !w.exists || w.policy != policy || w.project != dir || w.named {
			t.Errorf("%s: %+v", caller, w)
		}
	}
	if w := look("-"); w.exists || w.project != filepath.Join(dir, "elsewhere") {
		t.Errorf("-: %+v", w)
	}
}
