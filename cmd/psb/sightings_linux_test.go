package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"psb/namespaces"
)

// settledFolder is a folder without links above it.
func settledFolder(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func words(list []namespaces.Check) []string {
	var out []string
	for _, c := range list {
		w := []string{"absent", "node", "content", "text"}[c.Kind] + " " + filepath.Base(c.Path)
		if c.Follow {
			w += " behind"
		}
		out = append(out, w)
	}
	return out
}

// TestSightings: one look for each object, the strictest that was asked for, and a doubt where the look cannot be relied on.
func TestSightings(t *testing.T) {
	dir := settledFolder(t, "file", "other")
	if err := os.Symlink("file", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	s := newSightings()
	s.node(dir + "/file")
	s.nodeBehind(dir + "/file")
	s.nodeBehind(dir + "/link")
	s.node(dir + "/none")
	s.node(dir + "/file/below")
	s.text("/proc/self/cgroup", []byte("text"))
	if s.doubt != "" {
		t.Error(s.doubt)
	}
	if got := words(s.checks()); !slices.Equal(got, []string{"text cgroup behind", "node file", "absent below", "content link", "node link behind", "absent none"}) {
		t.Errorf("%q", got)
	}
	s.content(dir + "/file")
	if !strings.Contains(s.doubt, "was changed just now") {
		t.Errorf("a file that was written a moment ago is relied on: %q", s.doubt)
	}
	s = newSightings()
	s.node(dir + "/file")
	if err := os.Rename(dir+"/other", dir+"/file"); err != nil {
		t.Fatal(err)
	}
	if s.content(dir + "/file"); !strings.Contains(s.doubt, "changed") {
		t.Error("another object under the same name went unseen")
	}
}

// TestSightingsOfQuietFolders: several names of a folder that has not changed for long are one look at the folder, and never hide what can
// change without it.
func TestSightingsOfQuietFolders(t *testing.T) {
	dir := settledFolder(t, "file")
	seen := func() *sightings {
		s := newSightings()
		for _, name := range []string{"a", "b", "c", "file"} {
			s.node(dir + "/" + name)
		}
		return s
	}
	if got := words(seen().checks()); !slices.Equal(got, []string{"absent a", "absent b", "absent c", "node file"}) {
		t.Errorf("a folder that just changed: %q", got)
	}
	// Its time of change cannot be set back, so that the look at it raises a doubt of its own until two seconds are over.
	long := unix.NsecToTimespec(time.Now().Add(-2 * quiet).UnixNano())
	deadline := time.Now().Add(10 * time.Second)
	for {
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, dir, []unix.Timespec{long, long}, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settled + 100*time.Millisecond)
		got := words(seen().checks())
		want := []string{"content " + filepath.Base(dir), "node file"}
		if os.Geteuid() == 0 {
			want = want[:1] // in root's own folder a file cannot be put in another's place without a change of the folder
		}
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a quiet folder: %q, want %q", got, want)
		}
	}
}
