package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestShimFoldersAreSwept: the least used go, those that a psb holds stay, and nothing else of psb's folder is touched.
func TestShimFoldersAreSwept(t *testing.T) {
	parent := t.TempDir()
	name := func(i int) string { return filepath.Join(parent, fmt.Sprintf("%s%03d", shimFolderPrefix, i)) }
	for i := range mostShimFolders + 5 {
		if err := os.MkdirAll(name(i), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name(i), "sitecustomize.py"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(name(i), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := holdShimFolder(name(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name(0), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"launches", "shim"} {
		if err := os.Mkdir(filepath.Join(parent, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweepShimFolders(parent)
	for i := range mostShimFolders + 5 {
		_, err := os.Stat(filepath.Join(name(i), "sitecustomize.py"))
		if there, want := err == nil, i == 0 || i >= 5; there != want {
			t.Errorf("folder %d: there %v, want %v", i, there, want)
		}
	}
	list, err := os.ReadDir(parent)
	if err != nil || len(list) != mostShimFolders+1+2 {
		t.Errorf("%d entries are left, %v", len(list), err)
	}
}

// TestShimFolderThatIsUsedAgainIsTheNewest: what is used is not the next to go.
func TestShimFolderThatIsUsedAgainIsTheNewest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), shimFolderPrefix+"x")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1000, 0)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	if err := holdShimFolder(dir); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(dir); err != nil || !fi.ModTime().After(old) {
		t.Error(fi, err)
	}
	if err := holdShimFolder(dir + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if holdShimFolder(link) == nil {
		t.Error("a link was followed")
	}
}
