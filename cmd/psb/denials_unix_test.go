package main

import (
	"os"
	"path/filepath"
	"testing"

	"psb/policy"
	"psb/policy/plan"
)

// TestUnixPermissionsAreNotBlamedOnTheSandbox: EACCES about something that a rule gives is a denial only where the file's own mode would have
// allowed it, and where the box could have refused it that way.
func TestUnixPermissionsAreNotBlamedOnTheSandbox(t *testing.T) {
	for _, tc := range []struct {
		name   string
		mode   os.FileMode
		lines  string
		rights plan.Rights // of the mount that the project stands on
		lite   bool        // no mounts, Landlock alone
		want   string
	}{
		{"closed by its mode", 0o000, "'data/x.csv' = 'read'", plan.Read | plan.Write, false, ""},
		{"read-only by its mode", 0o444, "'data/x.csv' = 'read'", plan.Read | plan.Write, false, ""},
		{"on a writable mount, for Landlock refused it", 0o644, "'data/x.csv' = 'read'", plan.Read | plan.Write, false, "write data/x.csv"},
		{"on a read-only mount, which says EROFS", 0o644, "'data/x.csv' = 'read'", plan.Read, false, ""},
		{"Landlock alone", 0o644, "'data/x.csv' = 'read'", plan.Read, true, "write data/x.csv"},
		{"may be run by its mode, and no rule says so", 0o755, "'data/x.csv' = 'read'", plan.Read, false, "exec data/x.csv"},
		{"may be run by both", 0o755, "'data/x.csv' = ['read', 'exec']", plan.Read, false, ""},
		{"no rule", 0o000, "", plan.Read, false, "read data/x.csv"},
	} {
		j, dir := projectJob(t, tc.lines)
		j.w.id.UID, j.w.id.GID = uint32(os.Getuid()), uint32(os.Getgid())
		j.plan.Places[len(j.plan.Places)-1].Rights = tc.rights
		if tc.lite {
			j.plan.Provider = plan.LandlockOnly
		}
		if err := os.Chmod(filepath.Join(dir, "data/x.csv"), tc.mode); err != nil {
			t.Fatal(err)
		}
		a, ok := fileAccess(j, "data/x.csv", "13")
		if got := shownAccess(dir, a, ok); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	j, dir := projectJob(t, "'nd/' = 'list'")
	j.w.id.UID = uint32(os.Getuid())
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "nd"), 0o755) }) // so that it can be taken away
	if err := os.Chmod(filepath.Join(dir, "nd"), 0o100); err != nil {
		t.Fatal(err)
	}
	if a, ok := fileAccess(j, "nd", "13"); ok {
		t.Errorf("a folder that its mode closes: %v", a)
	}
}

// TestUnixModeOfOthers: whose the file is decides which bits count.
func TestUnixModeOfOthers(t *testing.T) {
	j, _ := projectJob(t, "")
	j.w.id.UID, j.w.id.GID = 77, 77
	for _, tc := range []struct {
		uid, gid, mode uint32
		want           bool
	}{{77, 1, 0o200, true}, {77, 1, 0o022, false}, {1, 77, 0o020, true}, {1, 77, 0o202, false}, {1, 4_000_000, 0o002, true}, {1, 4_000_000, 0o220, false}} {
		if got := unixAllows(j, plan.Object{UID: tc.uid, GID: tc.gid, Mode: tc.mode}, othersWrite); got != tc.want {
			t.Errorf("%d:%d %o: %v", tc.uid, tc.gid, tc.mode, got)
		}
	}
}

func shownAccess(dir string, a policy.Access, ok bool) string {
	if !ok {
		return ""
	}
	return string(a.Op) + " " + shownObject(dir, a.Object)
}
