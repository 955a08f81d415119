package landlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Restricting is irreversible: it happens in a copy of this test binary, which gets the ruleset as descriptor 3, restricts
// its one locked thread, walks the steps of its argument on that thread and answers one word a step: "ok" or the errno.
const childMark = "psb-landlock-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childMark {
		os.Exit(child(os.Args[2]))
	}
	code := m.Run()
	if copied.dir != "" {
		os.RemoveAll(copied.dir)
	}
	os.Exit(code)
}

type inside struct {
	Rules []PathRule // added to the ruleset inside, before restricting
	Steps [][]string
}

func child(arg string) int {
	runtime.LockOSThread()
	var in inside
	if err := json.Unmarshal([]byte(arg), &in); err != nil {
		os.Stderr.WriteString(err.Error())
		return 3
	}
	for _, r := range in.Rules {
		if err := addPath(3, r.Path, r.Access); err != nil {
			os.Stderr.WriteString("add rule inside: " + err.Error())
			return 3
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		os.Stderr.WriteString("no_new_privs: " + err.Error())
		return 3
	}
	if err := llsys.LandlockRestrictSelf(3, 0); err != nil {
		os.Stderr.WriteString("restrict: " + err.Error())
		return 3
	}
	var words []string
	for _, s := range in.Steps {
		err := step(s[0], s[1:])
		var errno syscall.Errno
		switch {
		case err == nil:
			words = append(words, "ok")
		case errors.As(err, &errno):
			words = append(words, unix.ErrnoName(errno))
		default:
			words = append(words, err.Error())
		}
	}
	os.Stdout.WriteString(strings.Join(words, " "))
	return 0
}

func step(do string, a []string) error {
	open := func(flags int) error {
		fd, err := unix.Open(a[0], flags|unix.O_CLOEXEC, 0o600)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	socket := func(domain int, sa unix.Sockaddr, call func(int, unix.Sockaddr) error) error {
		fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return call(fd, sa)
	}
	port := func() *unix.SockaddrInet4 {
		n, _ := strconv.Atoi(a[0])
		return &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}
	}
	switch do {
	case "read":
		return open(unix.O_RDONLY)
	case "list":
		return open(unix.O_RDONLY | unix.O_DIRECTORY)
	case "write":
		return open(unix.O_WRONLY)
	case "create":
		return open(unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL)
	case "empty":
		return open(unix.O_WRONLY | unix.O_TRUNC)
	case "truncate":
		return unix.Truncate(a[0], 0)
	case "mkdir":
		return unix.Mkdir(a[0], 0o700)
	case "rmdir":
		return unix.Rmdir(a[0])
	case "unlink":
		return unix.Unlink(a[0])
	case "rename":
		return unix.Rename(a[0], a[1])
	case "link":
		return unix.Link(a[0], a[1])
	case "symlink":
		return unix.Symlink(a[0], a[1])
	case "mknod":
		return unix.Mknod(a[0], unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
	case "stat":
		var st unix.Stat_t
		return unix.Stat(a[0], &st)
	case "ioctl": // on a device that knows no such call: ENOTTY means the call reached it
		fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	case "exec":
		// execve(2) of this thread's process, which ends the list when it works.
		return unix.Exec(a[0], a[1:], nil)
	case "signal":
		pid, _ := strconv.Atoi(a[0])
		return unix.Kill(pid, 0)
	case "abstract":
		return socket(unix.AF_UNIX, &unix.SockaddrUnix{Name: a[0]}, unix.Connect)
	case "abstract-own":
		l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(l)
		if err := errors.Join(unix.Bind(l, &unix.SockaddrUnix{Name: a[0]}), unix.Listen(l, 1)); err != nil {
			return err
		}
		return socket(unix.AF_UNIX, &unix.SockaddrUnix{Name: a[0]}, unix.Connect)
	case "connect":
		return socket(unix.AF_INET, port(), unix.Connect)
	case "bind":
		return socket(unix.AF_INET, port(), unix.Bind)
	}
	return errors.New("unknown step " + do)
}

// copied is this test binary at a place every user may execute.
var copied struct {
	sync.Once
	dir string
	err error
}

func everyonesCopy(t *testing.T) string {
	t.Helper()
	copied.Do(func() {
		copied.dir, copied.err = os.MkdirTemp("", "psb-landlock-test")
		if copied.err != nil {
			return
		}
		copied.err = errors.Join(os.Chmod(copied.dir, 0o755), copyFile("/proc/self/exe", filepath.Join(copied.dir, "copy")))
	})
	if copied.err != nil {
		t.Fatal(copied.err)
	}
	return filepath.Join(copied.dir, "copy")
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// restricted runs the steps under r as uid (0: as this user) and returns one word a step.
func restricted(t *testing.T, r Ruleset, uid uint32, in inside) []string {
	t.Helper()
	fd, err := Create(r)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "ruleset")
	defer f.Close()
	arg, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(everyonesCopy(t), childMark, string(arg))
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{f}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("restricted copy: %v: %s", err, stderr.String())
	}
	return strings.Fields(string(out))
}

// need skips when the kernel has not this ABI, or fails when PSB_MUST says that it must.
func need(t *testing.T, abi int) Support {
	t.Helper()
	s := Probe()
	if s.ABI >= abi {
		return s
	}
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), "landlock") {
		t.Fatalf("Landlock ABI %d is needed, this kernel has %d: %s", abi, s.ABI, s.Reason)
	}
	t.Skipf("needs Landlock ABI %d, this kernel has %d: %s", abi, s.ABI, s.Reason)
	return s
}

// asUsers runs a test as this user and, for root, as an ordinary one too, with a folder that user owns.
func asUsers(t *testing.T, test func(t *testing.T, uid uint32, dir string)) {
	users := []uint32{0}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	for _, uid := range users {
		t.Run("uid "+strconv.Itoa(int(uid)), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "psb-landlock-dir")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if uid != 0 {
				if err := os.Chown(dir, int(uid), int(uid)); err != nil {
					t.Fatal(err)
				}
			}
			test(t, uid, dir)
		})
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

func mustDir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
}

func addPath(ruleset int, path string, a Access) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return llsys.LandlockAddPathBeneathRule(ruleset, &llsys.PathBeneathAttr{AllowedAccess: uint64(a), ParentFd: fd}, 0)
}

func addPort(ruleset int, port uint64, n Net) error {
	return llsys.LandlockAddNetPortRule(ruleset, &llsys.NetPortAttr{AllowedAccess: uint64(n), Port: port}, 0)
}
