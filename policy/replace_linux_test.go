package policy

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Until the file stands in its place the folder shows nothing of it; an error leaves what was there.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	probe, err := os.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		t.Skipf("no files without a name in %s: %v", dir, err)
	}
	probe.Close()
	name := filepath.Join(dir, "a")
	write := func(text string, fails error) error {
		return Replace(dir, "a", 0o640, func(f *os.File) error {
			if _, err := f.WriteString(text); err != nil {
				return err
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 1 || len(list) == 1 && list[0].Name() != "a" {
				t.Errorf("while it is written: %v, %v", list, err)
			}
			return fails
		})
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		text  string
		fails error
		want  string
	}{{"no", broken, ""}, {"one", nil, "one"}, {"no", broken, "one"}, {"two", nil, "two"}} {
		if err := write(c.text, c.fails); !errors.Is(err, c.fails) {
			t.Fatalf("%q: %v", c.text, err)
		}
		if got, _ := os.ReadFile(name); string(got) != c.want {
			t.Errorf("after %q holds %q, want %q", c.text, got, c.want)
		}
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm()&^0o640 != 0 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

// What a killed writer left is taken away; a folder of that name is left alone and in nobody's way; writers at the same moment all succeed.
func TestReplaceLeftOvers(t *testing.T) {
	dir := t.TempDir()
	fill := func(f *os.File) error { _, err := f.WriteString("whole"); return err }
	left := filepath.Join(dir, ".a.psb-new")
	if err := os.WriteFile(left, []byte("part"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(dir, "a", 0o600, fill); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the left-over: %v", err)
	}
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(dir, "a", 0o600, fill); err != nil {
		t.Error(err)
	}
	if err := os.Remove(left); err != nil {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := Replace(dir, "a", 0o600, fill); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, _ := os.ReadDir(dir)
	if got, err := os.ReadFile(filepath.Join(dir, "a")); string(got) != "whole" || err != nil || len(list) != 1 {
		t.Errorf("%q, %v, %v", got, err, list)
	}
}
