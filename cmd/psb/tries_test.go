package main

import (
	"os"
	"path/filepath"
	"testing"

	"psb/learn"
	"psb/policy"
)

// TestTriesJudge: a call that failed inside is the sandbox's doing only where the policy refuses what Unix and the host would have allowed.
func TestTriesJudge(t *testing.T) {
	j, dir := projectJob(t, "'seen.csv' = 'read'\n'elsewhere/' = {from = '"+t.TempDir()+"/', right = 'read'}")
	for _, name := range []string{"seen.csv", "mine.csv", "closed.csv", "elsewhere/here.csv", "other.pyc", "__pycache__/a.cpython-311.pyc"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "closed.csv"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("mine.csv", filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	tries := newTries(j)
	for _, tc := range []struct {
		op    policy.Op
		name  string
		how   learn.How
		errno learn.Errno
		want  string
	}{
		{policy.OpRead, "mine.csv", "", "ENOENT", "read mine.csv"},
		{policy.OpRead, "link.csv", "", "ENOENT", "read mine.csv"},
		{policy.OpRead, "data", "", "ENOENT", "list data/"},
		{policy.OpList, "data", "", "EACCES", "list data/"},
		{policy.OpExec, "mine.csv", "", "EACCES", ""}, // nobody may execute it
		{policy.OpRead, "seen.csv", "", "EACCES", ""}, // a line allows it
		{policy.OpWrite, "seen.csv", "", "EROFS", "write seen.csv"},
		{policy.OpRead, "closed.csv", "", "ENOENT", ""}, // Unix closes it, too
		{policy.OpRead, "none.csv", "", "ENOENT", ""},
		{policy.OpWrite, "none.csv", learn.New, "EROFS", "create none.csv"},
		{policy.OpWrite, "none.csv", learn.New, "ENOENT", "create none.csv"},
		{policy.OpWrite, "no/such/none.csv", learn.New, "ENOENT", ""},
		{policy.OpWrite, "none.csv", learn.Remove, "ENOENT", ""},
		{policy.OpWrite, "mine.csv", learn.Remove, "EROFS", "write mine.csv"},
		{policy.OpWrite, "mine.csv", learn.Meta, "EROFS", "write mine.csv"},
		{policy.OpWrite, "mine.csv", learn.Meta, "EPERM", ""}, // whose file it is decides
		{policy.OpRead, "elsewhere/here.csv", "", "ENOENT", ""},
		{policy.OpRead, "mine.csv", "", "EMFILE", ""},
		{policy.OpRead, "mine.csv", "", "ELOOP", ""},
		{policy.OpRead, "/proc/1/status", "", "ENOENT", ""}, // another /proc
		{policy.OpRead, "__pycache__/a.cpython-311.pyc", "", "ENOENT", ""},
		{policy.OpRead, "other.pyc", "", "ENOENT", "read other.pyc"},
	} {
		name := tc.name
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		for range 2 { // once worked out, once remembered
			a, refused := tries.judge(learn.Accessed{Access: policy.Access{Op: tc.op, Object: name}, How: tc.how, Errno: tc.errno})
			got := ""
			if refused {
				got = string(a.Op) + " " + shownObject(dir, a.Object)
			}
			if got != tc.want {
				t.Errorf("%s %s %s %s: %q, want %q", tc.op, tc.name, tc.how, tc.errno, got, tc.want)
			}
		}
	}
}
