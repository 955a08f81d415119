package main

import (
	"os"
	"path/filepath"
	"testing"

	"psb/policy/plan"
)

func TestLookResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(n string) string { return filepath.Join(dir, n) }
	for _, step := range []error{os.MkdirAll(in("real/sub"), 0o755), os.WriteFile(in("real/sub/f"), nil, 0o600), os.Symlink("real", in("hop")),
		os.Symlink(in("hop/sub"), in("far")), os.Symlink("loop", in("loop")), os.Symlink("../gone", in("real/dangling"))} {
		if step != nil {
			t.Fatal(step)
		}
	}
	for _, tc := range []struct {
		ask, path string
		kind      plan.Kind
		links     int
		err       string
	}{
		{"real/sub/f", "real/sub/f", plan.File, 0, ""},
		{"far/f", "real/sub/f", plan.File, 2, ""},
		{"far/../sub", "real/sub", plan.Dir, 2, ""},
		{"hop/none/below", "real/none/below", plan.Absent, 1, ""},
		{"real/dangling", "gone", plan.Absent, 1, ""},
		{"real/sub/f/x", "real/sub/f/x", plan.Absent, 0, ""},
		{"loop", "loop", plan.Absent, 40, "too many levels of symbolic links"},
	} {
		o := newLook(newSightings()).Resolve(dir + "/" + tc.ask)
		if o.Path != in(tc.path) || o.Kind != tc.kind || len(o.Links) != tc.links || o.Err != tc.err {
			t.Errorf("%s: %+v", tc.ask, o)
		}
	}
}

func TestLookWalkStopsAtItsLimit(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	visit := func(string, plan.Kind) bool { seen++; return true }
	if newLook(newSightings()).Walk(dir, 2, visit) || seen != 2 {
		t.Errorf("limit 2: %d seen", seen)
	}
	if seen = 0; !newLook(newSightings()).Walk(dir, 3, visit) || seen != 3 {
		t.Errorf("limit 3: %d seen", seen)
	}
}
