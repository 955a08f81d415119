package namespaces

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// overlaid is a box with overlays of folders of the host, at /0, /1, …
func overlaid(script string, size uint64, dirs ...string) *Spec {
	s := shellBox(script)
	s.Upper = size
	for i, dir := range dirs {
		o := Op{Kind: OpOverlay, Source: dir, Target: fmt.Sprintf("/%d", i), UserXattr: !s.LateUser}
		if s.LateUser {
			var st unix.Stat_t
			_ = unix.Stat(dir, &st)
			o.IDMap, o.IDMapUID, o.IDMapGID = true, st.Uid, st.Gid
		}
		s.Ops = append(s.Ops, o)
	}
	return s
}

// layered is a folder of the host to be overlaid.
func layered(t *testing.T) string {
	t.Helper()
	dir := hostDir(t)
	write(t, dir+"/file", "host\n", 0o644)
	write(t, dir+"/gone", "gone\n", 0o644)
	write(t, dir+"/secret", "shut\n", 0o600)
	if err := os.MkdirAll(dir+"/sub/deep", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/sub/deep/f", "deep\n", 0o644)
	return dir
}

func needOverlay(t *testing.T, spec *Spec) {
	t.Helper()
	for at, err := range ProbeOverlays(spec) {
		need(t, "userns", fmt.Errorf("overlay on %s: %w", at, err))
	}
}

// picture is all that stands in a folder, with times.
func picture(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		st := fi.Sys().(*syscall.Stat_t)
		text := ""
		if fi.Mode().IsRegular() {
			c, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text = string(c)
		}
		fmt.Fprintf(&b, "%s %v %d:%d %d.%d %d.%d %q\n", p, fi.Mode(), st.Uid, st.Gid, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOverlay: the program sees what it did, the next one does not, and the host has nothing of it.
func TestOverlay(t *testing.T) {
	needBox(t)
	for _, row := range []struct{ name, script, output string }{
		{"shows the host's", "cat /0/file /0/secret /0/sub/deep/f", "host\nshut\ndeep\n"},
		{"write", "echo more >>/0/file; cat /0/file", "host\nmore\n"},
		{"make and remove", "echo x >/0/made; rm /0/gone; mkdir /0/dir; ln -s x /0/link; ls /0", "dir\nfile\nlink\nmade\nsecret\nsub\n"},
		{"replace", "echo x >/0/new; mv /0/new /0/file; cat /0/file", "x\n"},
		{"a folder moved", "mv /0/sub /0/other; cat /0/other/deep/f; ls /0", "deep\nfile\ngone\nother\nsecret\n"},
		{"a folder removed and made anew", "rm -r /0/sub; mkdir /0/sub; ls /0/sub", ""},
		{"mode", "chmod 600 /0/file; stat -c %a /0/file", "600\n"},
		{"no way to the layers", "ls -d /upper /lower /old /new 2>/dev/null; stat -c %a /0", "755\n"},
		{"no devices", "mknod /0/null c 1 3 2>&1", "mknod: /0/null: Operation not permitted\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := layered(t)
			before := picture(t, dir)
			s := overlaid(row.script, 1<<20, dir)
			needOverlay(t, s)
			if out, _, err := run(t, s); err != nil || out != row.output {
				t.Errorf("error %v, output\n%s\nwant\n%s", err, out, row.output)
			}
			if after := picture(t, dir); after != before {
				t.Errorf("the host's folder was\n%s\nis\n%s", before, after)
			}
		})
	}
}

// TestOverlayOfManyFolders: each has layers of its own, and all of them one size.
func TestOverlayOfManyFolders(t *testing.T) {
	needBox(t)
	a, b := layered(t), layered(t)
	s := overlaid("head -c 40000 /usr/bin/sh >/0/a; head -c 40000 /usr/bin/sh >/1/b 2>/dev/null || echo full; ls /0 /1", 65536, a, b)
	needOverlay(t, s)
	out, _, err := run(t, s)
	if want := "full\n/0:\na\nfile\ngone\nsecret\nsub\n\n/1:\nb\nfile\ngone\nsecret\nsub\n"; err != nil || out != want {
		t.Errorf("error %v, output\n%s\nwant\n%s", err, out, want)
	}
}

// TestUpper: what overlays hold can be read when the box is gone, each in its folder, and only once asked for.
func TestUpper(t *testing.T) {
	needBox(t)
	a, b := layered(t), layered(t)
	s := overlaid("echo x >/0/made; rm /1/gone", 1<<20, a, b)
	needOverlay(t, s)
	var upper *os.File
	if _, _, err := run(t, s, func(box *Box) {
		var err error
		if upper, err = box.Upper(); err != nil {
			t.Error(err)
		}
		if again, err := box.Upper(); err == nil {
			again.Close()
			t.Error("it is given twice")
		}
	}); err != nil {
		t.Fatal(err)
	}
	defer upper.Close()
	var st unix.Stat_t
	if err := unix.Fstatat(int(upper.Fd()), "0/upper/made", &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Size != 2 {
		t.Errorf("0/upper/made: %v, %d bytes", err, st.Size)
	}
	if err := unix.Fstatat(int(upper.Fd()), "1/upper/gone", &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != 0 {
		t.Errorf("1/upper/gone is no mark of a removed name: %v %o %x", err, st.Mode, st.Rdev)
	}
	for _, name := range []string{"0/upper/gone", "1/upper/made"} {
		if err := unix.Fstatat(int(upper.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != unix.ENOENT {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUpperNotTaken: a caller that never asks leaves nothing open, and a box without overlays has none to give.
func TestUpperNotTaken(t *testing.T) {
	needBox(t)
	dir := layered(t)
	s := overlaid("true", 1<<20, dir)
	needOverlay(t, s)
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	for range 3 {
		want(t, overlaid("true", 1<<20, dir), "", 0)
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors, then %d", before, after)
	}
	if _, _, err := run(t, shellBox("true"), func(box *Box) {
		if f, err := box.Upper(); err == nil {
			f.Close()
			t.Error("a box without overlays has an upper")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestOverlayRefused: what is no folder, or another object than psb looked at, is an error of its stage.
func TestOverlayRefused(t *testing.T) {
	needBox(t)
	dir := layered(t)
	needOverlay(t, overlaid("true", 1<<20, dir))
	refused(t, overlaid("true", 1<<20, dir+"/file"), "mounts", syscall.ENOTDIR, "overlay of "+dir+"/file")
	refused(t, overlaid("true", 1<<20, dir+"/none"), "mounts", syscall.ENOENT, "open "+dir+"/none")
	other := overlaid("true", 1<<20, dir)
	other.Ops[len(other.Ops)-1].SourceIno = 1
	refused(t, other, "mounts", syscall.ESTALE, "another object")
	if err := os.Symlink(dir, filepath.Dir(dir)+"/link"); err != nil {
		t.Fatal(err)
	}
	refused(t, overlaid("true", 1<<20, filepath.Dir(dir)+"/link"), "mounts", syscall.ELOOP, "open")
	probed := ProbeOverlays(overlaid("", 1<<20, dir, dir+"/file"))
	if len(probed) != 1 || probed["/1"] == nil || !strings.Contains(probed["/1"].Error(), "not a directory") {
		t.Errorf("probed %v", probed)
	}
}

// TestOverlayEncoded: an overlay needs a file system to write to, and that needs acts.
func TestOverlayEncoded(t *testing.T) {
	for _, row := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Upper = 0 }, `encode: an overlay on "/0" without a file system it could write to`},
		{func(s *Spec) { s.Ops, s.Unshare.Mount = nil, true }, "encode: a file system for overlays without acts"},
		{func(s *Spec) { s.Ops[len(s.Ops)-1].Target = "/" }, `encode: target "/" of an act is not a clean absolute path below /`},
	} {
		s := overlaid("true", 1<<20, "/usr")
		s.Ops = slices.Clone(s.Ops)
		row.change(s)
		if _, err := Encode(s); err == nil || err.Error() != row.want {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
}
