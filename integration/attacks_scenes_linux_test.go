package integration

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Most attacks want one of three things: the content of a file, a change of one, a new name. What follows sets those scenes up.

// outside is the file of another folder that no rule names; its content is "# " and the token.
func (s scene) outside() string { return filepath.Join(s.sibling, s.token+".txt") }

// folders makes folders of the project, each with one file.
func (s scene) folders(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		s.put(t, "home/code/project/"+name+"/kept", "kept\n")
	}
	s.give(t)
}

// tells says what was reached when the program repeats the token as a file's content.
func (s scene) tells(what string) func(result) string {
	return func(r result) string {
		if strings.Contains(r.out, "# "+s.token) {
			return what
		}
		return ""
	}
}

// reading is an attack on the content of the file outside; it may write in/.
func reading(args func(s scene) []string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "in")
		return attempt{args: args(s), got: s.tells("the content of a file")}
	}
}

// changing is an attack on files that are in the project: it is given names, and must change none of those watched, nor their folders.
func changing(files []string, args []string, watched ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "in", "out")
		for _, name := range files {
			s.put(t, "home/code/project/"+name, "# kept\n")
		}
		s.give(t)
		if len(watched) == 0 {
			watched = files
		}
		var paths []string
		for _, name := range watched {
			paths = append(paths, filepath.Join(s.project, name))
		}
		return attempt{args: args, got: unchanged(t, paths...)}
	}
}

// unchanged remembers everything about files and folders: what they are, whose, their times, attributes, names or content.
func unchanged(t *testing.T, paths ...string) func(result) string {
	t.Helper()
	before := map[string]string{}
	for _, p := range paths {
		before[p] = portrait(p)
		if strings.HasPrefix(before[p], "absent") {
			t.Fatalf("%s is not there: %s", p, before[p])
		}
	}
	return func(result) string {
		var changed []string
		for _, p := range paths {
			if after := portrait(p); after != before[p] {
				changed = append(changed, fmt.Sprintf("%s, was %s, is %s", p, before[p], after))
			}
		}
		return strings.Join(changed, "; ")
	}
}

func portrait(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "absent: " + err.Error()
	}
	st := info.Sys().(*syscall.Stat_t)
	text := fmt.Sprintf("%v inode %d owner %d:%d device %#x mtime %d.%d ctime %d.%d", info.Mode(), st.Ino, st.Uid, st.Gid, st.Rdev, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec)
	names := make([]byte, 4096)
	if n, err := unix.Llistxattr(path, names); err == nil && n > 0 {
		text += fmt.Sprintf(" attributes %q", names[:n])
	}
	switch {
	case info.Mode().IsRegular():
		b, err := os.ReadFile(path)
		text += fmt.Sprintf(" holds %.100q (%v)", b, err)
	case info.IsDir():
		list, err := os.ReadDir(path)
		text += fmt.Sprintf(" names %v (%v)", list, err)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		text += fmt.Sprintf(" to %s (%v)", to, err)
	}
	return text
}

// absent looks for names that must not come to be; a pattern stands for any.
func absent(t *testing.T, patterns ...string) func(result) string {
	t.Helper()
	look := func() (list []string) {
		for _, p := range patterns {
			found, err := filepath.Glob(p)
			must(t, err)
			list = append(list, found...)
		}
		return list
	}
	if there := look(); len(there) > 0 {
		t.Fatalf("already there: %q", there)
	}
	return func(result) string {
		if made := look(); len(made) > 0 {
			return fmt.Sprintf("new names: %q", made)
		}
		return ""
	}
}

// both asks two looks.
func both(a, b func(result) string) func(result) string {
	return func(r result) string { return strings.Trim(a(r)+"; "+b(r), "; ") }
}
