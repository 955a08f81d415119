package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "p")
	if err := os.WriteFile(name, []byte("version = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(name); err != nil || string(b) != "version = 1\n" {
		t.Errorf("%q %v", b, err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pipe": "a pipe, not a regular file", ".": "a folder, not a regular file", "sock": "no such device or address", "big": "larger than 1048576 bytes", "none": "no such file or directory",
	} {
		if _, err := ReadFile(filepath.Join(dir, name)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := ReadFile("/dev/zero"); err == nil || err.Error() != `policy "/dev/zero": a device, not a regular file` {
		t.Error(err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// only gives the names in dir, so that litter shows.
func only(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ".py-sandboxes")
	err := Update(name, func(old []byte, exists bool) ([]byte, error) {
		if old != nil || exists {
			t.Errorf("old %q exists %v", old, exists)
		}
		return []byte("one\n"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(name, []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(name)
	if b, _ := os.ReadFile(name); err != nil || string(b) != "two\n" || st.Mode() != 0o640 {
		t.Errorf("%q %v %v", b, st.Mode(), err)
	}
	ino := st.Sys().(*syscall.Stat_t).Ino
	if err := WriteFile(name, []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if st, _ = os.Stat(name); st.Sys().(*syscall.Stat_t).Ino != ino {
		t.Error("the same text was written again")
	}
	stop := errors.New("stop")
	if err := Update(name, func([]byte, bool) ([]byte, error) { return []byte("three"), stop }); err != stop {
		t.Error(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "two\n" {
		t.Errorf("an error of change, and yet %q", b)
	}
	if got := only(t, dir); got != ".py-sandboxes" {
		t.Errorf("litter: %s", got)
	}
}

func TestUpdateRefuses(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"link": "a symbolic link, not a regular file", "pipe": "a pipe, not a regular file", "none/x": "no such file or directory", "target/x": "not a directory"} {
		full := filepath.Join(dir, name)
		if err := WriteFile(full, []byte("y")); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("cannot write %q: ", full)) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want … %s", name, err, want)
		}
	}
	if b, _ := os.ReadFile(target); string(b) != "x" {
		t.Errorf("the link's target became %q", b)
	}
}

// Many writers at once lose nothing and leave nothing behind.
func TestUpdateTogether(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p")
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			err := Update(name, func(old []byte, _ bool) ([]byte, error) {
				out, _, err := Edit(old, []Rule{{Op: OpRead, Pattern: Pattern{Text: fmt.Sprintf("f%02d", i)}}})
				return out, err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if p := mustParse(t, string(src)); len(p.Rules) != 12 {
		t.Errorf("%d of 12 rules:\n%s", len(p.Rules), src)
	}
	if got := only(t, filepath.Dir(name)); got != "p" {
		t.Errorf("litter: %s", got)
	}
}

// What root could write anyway is tried as an ordinary user, in a copy of the test binary.
func TestUpdateUnwritableFolder(t *testing.T) {
	if name := os.Getenv("POLICY_TEST_WRITE"); name != "" {
		fmt.Println(WriteFile(name, []byte("y")))
		return
	}
	dir, err := os.MkdirTemp("/tmp", "policy")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "p")
	if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "test")
	if b, err := os.ReadFile(os.Args[0]); err != nil || os.WriteFile(exe, b, 0o755) != nil {
		t.Fatal("cannot copy the test binary")
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestUpdateUnwritableFolder$")
	cmd.Env = append(os.Environ(), "POLICY_TEST_WRITE="+name)
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	want := fmt.Sprintf("cannot write %q: folder %q is not writable: permission denied\n", name, dir)
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%s%v, want %s", out, err, want)
	}
	if b, _ := os.ReadFile(name); string(b) != "x" {
		t.Errorf("the file became %q", b)
	}
	os.Chmod(dir, 0o755)
}
