package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
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
		{"real/sub/..", "real", plan.Dir, 0, ""},
		{"hop/sub", "real/sub", plan.Dir, 1, ""},
	} {
		o := newLook(newSightings()).Resolve(dir + "/" + tc.ask)
		if o.Path != in(tc.path) || o.Kind != tc.kind || len(o.Links) != tc.links || o.Err != tc.err {
			t.Errorf("%s: %+v", tc.ask, o)
		}
		var ino uint64
		if fi, err := os.Lstat(o.Path); err == nil && tc.kind != plan.Absent {
			ino = fi.Sys().(*syscall.Stat_t).Ino
		}
		if o.Ino != ino {
			t.Errorf("%s: inode %d, want %d", tc.ask, o.Ino, ino)
		}
		for _, before := range []string{"real/sub/f", "far", "hop/none"} { // what was looked at in one go before changes nothing
			once := newLook(newSightings()).inOneGo()
			once.Resolve(in(before))
			if again := once.Resolve(dir + "/" + tc.ask); !reflect.DeepEqual(again, o) {
				t.Errorf("%s after %s: %+v, alone: %+v", tc.ask, before, again, o)
			}
		}
	}
}

// TestLookInOneGoEnds: what replaced a folder since the last plan is seen by the next.
func TestLookInOneGoEnds(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	look := newLook(newSightings())
	for _, n := range []string{"old", "new"} {
		if err := os.MkdirAll(filepath.Join(dir, n, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if o := look.inOneGo().Resolve(dir + "/old/sub"); o.Path != dir+"/old/sub" {
		t.Fatalf("%+v", o)
	}
	if err := os.RemoveAll(dir + "/old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("new", dir+"/old"); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*hostLook{look, look.inOneGo()} {
		if o := l.Resolve(dir + "/old/sub/x"); o.Path != dir+"/new/sub/x" {
			t.Errorf("%+v", o)
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

func TestLookWalkVisitsInOrderFollowsNoLinkAndEntersWhereToldTo(t *testing.T) {
	dir := t.TempDir()
	in := func(n string) string { return filepath.Join(dir, n) }
	for _, step := range []error{os.MkdirAll(in("b/c"), 0o755), os.MkdirAll(in("left"), 0o755), os.WriteFile(in("b/c/f"), nil, 0o600), os.WriteFile(in("left/unseen"), nil, 0o600),
		os.WriteFile(in("a"), nil, 0o600), os.Symlink("b", in("link")), os.WriteFile(in("b.x"), nil, 0o600)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	var got []string
	if !newLook(newSightings()).Walk(dir, 100, func(p string, k plan.Kind) bool {
		got = append(got, fmt.Sprint(strings.TrimPrefix(p, dir+"/"), " ", k))
		return filepath.Base(p) != "left"
	}) {
		t.Error("incomplete")
	}
	want := []string{fmt.Sprint("a ", plan.File), fmt.Sprint("b ", plan.Dir), fmt.Sprint("b/c ", plan.Dir), fmt.Sprint("b/c/f ", plan.File), fmt.Sprint("b.x ", plan.File),
		fmt.Sprint("left ", plan.Dir), fmt.Sprint("link ", plan.Other)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLookWalkOfAFolderWithMoreNamesThanOneReadGives(t *testing.T) {
	dir := t.TempDir()
	const files = 5000
	for n := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0100d", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	if !newLook(newSightings()).Walk(dir, files, func(p string, k plan.Kind) bool {
		if filepath.Base(p) != fmt.Sprintf("%0100d", seen) || k != plan.File {
			t.Fatalf("%d: %s %v", seen, p, k)
		}
		seen++
		return true
	}) || seen != files {
		t.Errorf("%d seen", seen)
	}
}

func TestLookWalkOfWhatCannotBeReadIsIncomplete(t *testing.T) {
	dir := t.TempDir()
	if newLook(newSightings()).Walk(filepath.Join(dir, "gone"), 10, func(string, plan.Kind) bool { return true }) {
		t.Error("a folder that is not there: complete")
	}
	if err := os.Symlink("/usr", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if newLook(newSightings()).Walk(filepath.Join(dir, "link"), 10, func(string, plan.Kind) bool { t.Error("visited"); return false }) {
		t.Error("a link: complete")
	}
}
