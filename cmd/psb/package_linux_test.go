package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"psb/pythonshim"
)

// TestOwnFolderIsWholeOrRefused: what has the folder's name holds all of it, whoever made it first; what others could have written is refused.
func TestOwnFolderIsWholeOrRefused(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	dir := filepath.Join(state, "python-x")
	files := pythonshim.Package()
	if err := checkOwn(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("before: %v", err)
	}
	for range 2 { // the second finds the first's and leaves it
		if err := makeOwn(state, dir, files); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := os.ReadDir(state); err != nil || len(list) != 1 {
		t.Errorf("left beside it: %v %v", list, err)
	}
	if err := checkOwn(dir); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(state, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{dir, link} {
		if err := checkOwn(bad); err == nil || !strings.HasSuffix(err.Error(), "others could have written it") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
