package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/policy/plan"
)

// layer makes a host folder and what an overlay of it holds, and gives the look at both.
func layer(t *testing.T, host, upper []string) (list []change, missed []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	long := time.Unix(1_600_000_000, 5)
	for base, names := range map[string][]string{dir + "/host": host, dir + "/top/0/upper": upper} {
		if err := os.MkdirAll(base, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, words := range names {
			f := strings.Fields(words) // KIND NAME TEXT
			at := filepath.Join(base, f[1])
			var err error
			switch f[0] {
			case "dir":
				err = os.MkdirAll(at, 0o755)
			case "shut":
				err = errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(at+"/in", nil, 0o600), os.Chmod(at, 0))
			case "file":
				err = errors.Join(os.WriteFile(at, []byte(f[2]), 0o644), os.Chtimes(at, long, long))
			case "now":
				err = os.WriteFile(at, []byte(f[2]), 0o644)
			case "mode":
				err = errors.Join(os.WriteFile(at, []byte(f[2]), 0o600), os.Chtimes(at, long, long))
			case "link":
				err = os.Symlink(f[2], at)
			case "gone":
				err = unix.Mknod(at, unix.S_IFCHR, 0)
			case "opaque":
				if err = os.MkdirAll(at, 0o755); err == nil {
					err = unix.Setxattr(at, "trusted.overlay.opaque", []byte("y"), 0)
				}
			case "moved":
				if err = os.MkdirAll(at, 0o755); err == nil {
					err = unix.Setxattr(at, "trusted.overlay.redirect", []byte(f[2]), 0)
				}
			}
			if errors.Is(err, unix.EPERM) {
				t.Skipf("%s: %v", words, err)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	top, err := os.Open(dir + "/top")
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	j := &job{w: &world{cwd: dir + "/host"}, macros: policy.Macros{Project: dir + "/host", Home: "/none"}, plan: &plan.Plan{Overlaid: []string{dir + "/host"}}}
	list, missed = j.lookAtChanges(top)
	return list, missed, dir + "/host/"
}

func TestLookAtChanges(t *testing.T) {
	for _, row := range []struct {
		name        string
		host, upper []string
		want        []string
	}{
		{"nothing", []string{"file a x"}, nil, nil},
		{"made", nil, []string{"file a xyz", "dir d", "file d/b x", "link l /etc"}, []string{"create file a 3", "create folder d -1", "create file d/b 1", "create link l -1 /etc"}},
		{"changed", []string{"file a x", "file b x", "file c x", "file d x"}, []string{"file a xyz", "now b y", "now c x", "mode d x"},
			[]string{"change file a 3", "change file b 1", "touch file c 1", "chmod file d 1 0644, then 0600"}},
		{"opened only", []string{"file a x", "link l t"}, []string{"file a x", "link l t"}, nil},
		{"a folder on the way", []string{"dir d", "file d/a x", "file d/b x"}, []string{"dir d", "file d/a xyz"}, []string{"change file d/a 3"}},
		{"removed", []string{"file a x", "dir d", "file d/1 x", "file d/2 x"}, []string{"gone a", "gone d", "gone never"}, []string{"delete file a -1", "delete folder d -1 (2)"}},
		{"renamed", []string{"file a same"}, []string{"gone a", "file b same"}, []string{"rename file b 4 from a"}},
		{"not renamed: other bytes of the same time and size", []string{"file a same"}, []string{"gone a", "file b SAME"}, []string{"delete file a -1", "create file b 4"}},
		{"not renamed: another time", []string{"file a same"}, []string{"gone a", "now b same"}, []string{"delete file a -1", "create file b 4"}},
		{"one renamed, one copied", []string{"file a same"}, []string{"gone a", "file b same", "file c same"}, []string{"rename file b 4 from a", "create file c 4"}},
		{"a folder made anew", []string{"dir d", "file d/a x", "file d/b x", "dir d/in", "file d/in/1 x"}, []string{"opaque d", "file d/b xyz", "file d/c other"},
			[]string{"replace folder d -1", "delete file d/a -1", "change file d/b 3", "create file d/c 5", "delete folder d/in -1 (1)"}},
		{"a folder renamed", []string{"dir d", "file d/a x", "file d/b x"}, []string{"gone d", "moved e d", "file e/b xyz"}, []string{"rename folder e -1 from d", "change file e/b 3"}},
		{"a folder renamed from elsewhere", []string{"dir d", "dir d/x", "file d/x/a x"}, []string{"dir d", "gone d/x", "moved e /d/x", "gone e/a"}, []string{"rename folder e -1 from d/x", "delete file e/a -1"}},
		{"a link of the host's became a folder", []string{"link l /etc"}, []string{"dir l", "file l/passwd x"}, []string{"change folder l -1", "create file l/passwd 1"}},
		{"a folder became a file", []string{"dir d", "file d/a x"}, []string{"file d x"}, []string{"change file d 1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			list, missed, dir := layer(t, row.host, row.upper)
			var got []string
			for _, c := range list {
				l := fmt.Sprintf("%s %s %s %d", c.How, c.Kind, strings.TrimPrefix(c.Path, dir), c.After)
				if c.Held > 0 {
					l += fmt.Sprintf(" (%d)", c.Held)
				}
				if c.From != "" {
					l += " from " + strings.TrimPrefix(c.From, dir)
				}
				if c.Link+c.Mode != "" {
					l += " " + c.Link + c.Mode
				}
				got = append(got, l)
			}
			if !slices.Equal(got, row.want) || len(missed) > 0 {
				t.Errorf("got\n%s\nwant\n%s\nmissed %q", strings.Join(got, "\n"), strings.Join(row.want, "\n"), missed)
			}
		})
	}
}

// TestLayersFollowNothing: links in what the program wrote lead nowhere, and a folder that it closed to itself is looked into.
func TestLayersFollowNothing(t *testing.T) {
	list, missed, dir := layer(t, nil, []string{"link l /etc", "shut s"})
	var got []string
	for _, c := range list {
		got = append(got, c.How+" "+strings.TrimPrefix(c.Path, dir))
	}
	if want := []string{"create l", "create s", "create s/in"}; !slices.Equal(got, want) || len(missed) > 0 {
		t.Errorf("got %q, want %q, missed %q", got, want, missed)
	}
	top := t.TempDir()
	if err := os.Symlink("/etc", top+"/l"); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(top)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := layers{int(f.Fd()), "user."}
	for _, name := range []string{"l", "l/passwd", "../etc", "/etc"} {
		if list, err := l.names(name); err == nil {
			t.Errorf("%s is followed: %q", name, list)
		}
		if l.equal(name, "/etc/passwd", 1) {
			t.Errorf("%s is read", name)
		}
	}
	if _, err := l.stat("l/passwd"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("l/passwd: %v", err)
	}
	if got := l.text("l"); got != "/etc" {
		t.Errorf("the link says %q", got)
	}
}
