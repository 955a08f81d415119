package ptrace

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"psb/learn"
	"psb/policy"
)

// placesTree makes two folders with a file of the same name and a link to the first.
func placesTree(t *testing.T) string {
	t.Helper()
	dir := tempDir(t)
	if err := errors.Join(os.Mkdir(dir+"/a", 0o755), os.Mkdir(dir+"/c", 0o755), os.Symlink("a", dir+"/way")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/a/f", "/c/f"} {
		if err := os.Chmod(write(t, dir+name, "x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reads runs a program in a tree whose every file may be read and gives what it read there, in order.
func reads(t *testing.T, dir, program string) []string {
	t.Helper()
	r := &run{t: t, target: Target{Readable: func(name string, _ bool) bool { return strings.HasPrefix(name, dir) }}}
	r.trace(python(t), "-I", "-S", "-c", "import os, sys, threading\nos.chdir(sys.argv[1])\ndef read(name, **more):\n    os.close(os.open(name, os.O_RDONLY, **more))\n"+program, dir)
	r.ok()
	r.closed()
	var got []string
	for _, e := range r.events {
		switch e := e.(type) {
		case learn.Accessed:
			if e.Access.Op == policy.OpRead && strings.HasPrefix(e.Access.Object, dir) {
				got = append(got, strings.TrimPrefix(e.Access.Object, dir))
			}
		case learn.Noted:
			got = append(got, "note")
		}
	}
	return got
}

// The words stay the same and lead elsewhere: each open is told under the name of what it opens.
func TestNamesThatComeToLeadElsewhere(t *testing.T) {
	got := reads(t, placesTree(t), `
read("way/f"); os.unlink("way"); os.symlink("c", "way"); read("way/f")
os.symlink("a", "other"); os.rename("other", "way"); read("way/f")
read("a/f"); os.rename("a", "aside"); os.rename("c", "a"); read("a/f")
read("aside/f")
os.rename("aside/f", "a/f"); os.symlink("../a/f", "aside/f"); read("aside/f")
`)
	want := []string{"/a/f", "/c/f", "/a/f", "/a/f", "/a/f", "/aside/f", "/a/f"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhereAThreadStands(t *testing.T) {
	got := reads(t, placesTree(t), `
top = os.open(".", os.O_RDONLY)
os.chdir("a"); read("f")
os.chdir("../c"); read("f")
os.fchdir(top); read("way/f"); read("f", dir_fd=os.open("c", os.O_RDONLY))
os.chdir("c"); read("f")
def other():
    read("f")
    os.chdir("../a")
t = threading.Thread(target=other); t.start(); t.join()
read("f")
if os.fork() == 0:
    os.chdir("../c"); read("f")
    os._exit(0)
os.wait()
read("./../c/f")
`)
	got = slices.DeleteFunc(got, func(name string) bool { return name == "" })
	want := []string{"/a/f", "/c/f", "/a/f", "/c/f", "/c/f", "/c/f", "/a/f", "/c/f", "/c/f"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An open that was told is told again after a note, whose reason may be another, and after a change of what it opens.
func TestAnOpenIsToldAgainAfterANoteAndAChange(t *testing.T) {
	got := reads(t, placesTree(t), `
def note():
    try:
        os.write(-0x505342, b"{}")
    except OSError:
        pass
note(); read("a/f")
note(); read("a/f")
note(); os.chmod("a/f", 0o604); read("a/f")
note(); os.unlink("a/f"); os.mkfifo("a/f"); os.close(os.open("a/f", os.O_RDONLY | os.O_NONBLOCK))
`)
	want := []string{"note", "/a/f", "note", "/a/f", "note", "/a/f", "note", "/a/f"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
