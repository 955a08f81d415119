package namespaces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDigest compares with the standard library's SHA-256 at the lengths around a block.
func TestDigest(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	if _, err := os.Open("digest_linux.c"); err != nil {
		t.Skip("this person cannot read the sources: ", err)
	}
	dir := t.TempDir()
	main := `#include "prepared_linux.h"
#include <stdio.h>
int main(void) {
	unsigned char b[4096], sum[32];
	struct digest d;
	size_t n;
	psb_digest_start(&d);
	while ((n = fread(b, 1, 100, stdin)) > 0) psb_digest_add(&d, b, n);
	psb_digest_end(d, sum);
	for (int i = 0; i < 32; i++) printf("%02x", sum[i]);
}`
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/main.c", []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-Wall", "-o", dir+"/digest", "-I", here, dir+"/main.c", "digest_linux.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 4097} {
		text := bytes.Repeat([]byte("abcdefg"), n/7+1)[:n]
		cmd := exec.Command(dir + "/digest")
		cmd.Stdin = bytes.NewReader(text)
		got, err := cmd.Output()
		sum := sha256.Sum256(text)
		if want := hex.EncodeToString(sum[:]); err != nil || string(got) != want {
			t.Errorf("%d bytes: %s, want %s (%v)", n, got, want, err)
		}
	}
}

func preparedFile(t *testing.T, checks ...Check) (name string, file []byte) {
	t.Helper()
	spec := &Spec{Exec: "/bin/true", Argv: []string{"true", "more"}, Env: []string{"A=b", "SECRET=word"}, Dir: "/", Unshare: Set{PID: true}}
	name = strings.Repeat("5a", 32)
	digest, _ := hex.DecodeString(name)
	file, err := EncodePrepared(digest, &Prepared{Spec: spec, More: 1, FromCaller: []bool{false, true}, Checks: checks, Watched: []string{"/nowhere"},
		Group: "psb-0-0", Acts: []GroupAct{{ActMkdir, "/sys/psb-0-0", ""}, {ActWrite, "/sys/psb-0-0/max", "1"}}, Own: []byte("own")})
	if err != nil {
		t.Fatal(err)
	}
	return name, file
}

func TestPreparedFileHoldsNoValue(t *testing.T) {
	name, file := preparedFile(t)
	if !PreparedFits(name, file) {
		t.Error("it cannot be read back")
	}
	if bytes.Contains(file, []byte("word")) || bytes.Contains(file, []byte("more")) || !bytes.Contains(file, []byte("SECRET=")) || !bytes.Contains(file, []byte("A=b")) {
		t.Errorf("%q", file)
	}
	if PreparedFits(strings.Repeat("00", 32), file) || PreparedFits("5a", file) || PreparedFits(name, nil) {
		t.Error("another's file is taken")
	}
}

// TestPreparedHostile: no file, however damaged, is read past its end; one that is cut or longer is not taken.
func TestPreparedHostile(t *testing.T) {
	name, file := preparedFile(t, Check{Kind: CheckAbsent, Path: "/nowhere/at/all"})
	for n := range len(file) {
		if PreparedFits(name, file[:n:n]) {
			t.Fatalf("cut at %d it is taken", n)
		}
	}
	if PreparedFits(name, append(bytes.Clone(file), 0)) {
		t.Error("with a byte more it is taken")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		b := bytes.Clone(file)
		for range 1 + r.IntN(4) {
			b[44+r.IntN(len(b)-44)] = byte(r.IntN(256)) // behind the digest
		}
		PreparedFits(name, b)
	}
}

func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	file, link, gone := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "gone")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(path string, kind CheckKind, follow bool) Check {
		var st syscall.Stat_t
		stat := syscall.Lstat
		if follow {
			stat = syscall.Stat
		}
		if err := stat(path, &st); err != nil {
			t.Fatal(err)
		}
		return Check{Kind: kind, Follow: follow, Path: path, Dev: st.Dev, Ino: st.Ino, Rdev: st.Rdev, Mode: st.Mode, UID: st.Uid, GID: st.Gid, Size: uint64(st.Size),
			Modified: uint64(st.Mtim.Nano()), Changed: uint64(st.Ctim.Nano())}
	}
	for name, c := range map[string]struct {
		check  func() Check
		change func() error
		still  bool
	}{
		"nothing":            {func() Check { return seen(file, CheckContent, false) }, func() error { return nil }, true},
		"content":            {func() Check { return seen(file, CheckContent, false) }, func() error { put("longer"); return nil }, false},
		"node, content":      {func() Check { return seen(file, CheckNode, false) }, func() error { put("longer"); return nil }, true},
		"mode":               {func() Check { return seen(file, CheckNode, false) }, func() error { return os.Chmod(file, 0o640) }, false},
		"another file":       {func() Check { return seen(file, CheckNode, false) }, func() error { return os.Rename(dir+"/other", file) }, false},
		"gone":               {func() Check { return seen(file, CheckNode, false) }, func() error { return os.Remove(file) }, false},
		"absent":             {func() Check { return Check{Kind: CheckAbsent, Path: gone} }, func() error { return nil }, true},
		"absent, came":       {func() Check { return Check{Kind: CheckAbsent, Path: gone} }, func() error { return os.Mkdir(gone, 0o700) }, false},
		"absent, link came":  {func() Check { return Check{Kind: CheckAbsent, Path: gone} }, func() error { return os.Symlink("nowhere", gone) }, false},
		"behind a link":      {func() Check { return seen(link, CheckNode, true) }, func() error { return os.Rename(dir+"/other", file) }, false},
		"the link itself":    {func() Check { return seen(link, CheckContent, false) }, func() error { return os.Rename(dir+"/other", file) }, true},
		"a folder, new name": {func() Check { return seen(dir, CheckContent, false) }, func() error { return os.Mkdir(dir+"/sub", 0o700) }, false},
		"a folder's node":    {func() Check { return seen(dir, CheckNode, false) }, func() error { return os.Mkdir(dir+"/sub", 0o700) }, true},
		"text":               {func() Check { return Check{Kind: CheckText, Path: file, Text: []byte("text")} }, func() error { return nil }, true},
		"other text":         {func() Check { return Check{Kind: CheckText, Path: file, Text: []byte("text")} }, func() error { put("test"); return nil }, false},
		"shorter text":       {func() Check { return Check{Kind: CheckText, Path: file, Text: []byte("text")} }, func() error { put("tex"); return nil }, false},
		"an impossible kind": {func() Check { return Check{Kind: 9, Path: file} }, func() error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, old := range []string{gone, dir + "/sub", link, file} {
				if err := os.RemoveAll(old); err != nil {
					t.Fatal(err)
				}
			}
			put("text")
			if err := os.WriteFile(dir+"/other", []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("file", link); err != nil {
				t.Fatal(err)
			}
			who, b := preparedFile(t, c.check())
			if c.check().Kind <= CheckText && !PreparedFits(who, b) {
				t.Fatal("unchanged, it is not taken")
			}
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			if got := PreparedFits(who, b); got != c.still {
				t.Errorf("taken: %v", got)
			}
		})
	}
}
