package broker

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"psb/seccomp"
)

// A status whose first line tries to be another one: the kernel writes a line break in a name as two characters.
const someStatus = "Name:\tTgid:\\nTgid:\t1\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t41\nNgid:\t0\nPid:\t42\nUid:\t0\t65533\t0\t65533\n" +
	"Gid:\t0\t65532\t0\t65532\nFDSize:\t64\nGroups:\t4 27 \nNStgid:\t41\t2\nNSpid:\t42\t3\nSigPnd:\t0000000000000000\n" +
	"ShdPnd:\t0000000000002000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001000\n"

func TestStatusOfCaller(t *testing.T) {
	c, err := parseStatus([]byte(someStatus))
	if err != nil || c.tgid != 41 || c.inside != 2 || c.uid != 65533 || c.gid != 65532 || fmt.Sprint(c.groups) != "[4 27]" || !c.signals {
		t.Errorf("%+v, %v", c, err)
	}
	ignored := bytes.Replace([]byte(someStatus), []byte("1000\n"), []byte("2000\n"), 1)
	if c, err = parseStatus(ignored); err != nil || c.signals {
		t.Errorf("an ignored signal waits: %+v, %v", c, err)
	}
	for _, bad := range []string{"", "Tgid:\t41\n", "Uid:\t0\t0\nGid:\t0\t0\n"} {
		if c, err := parseStatus([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, c)
		}
	}
	if c, err = callerOf(os.Getpid()); err != nil || c.tgid != os.Getpid() || int(c.uid) != os.Geteuid() || int(c.gid) != os.Getegid() {
		t.Errorf("this process: %+v, %v", c, err)
	}
	if _, err = callerOf(0); err == nil {
		t.Error("a thread nobody sees has a status")
	}
}

func TestOwnProcess(t *testing.T) {
	const top = "root" // the link of every process to the top of its own file system
	c := caller{tid: 42, tgid: 41, inside: 2}
	for _, x := range []struct{ path, link, rest string }{
		{"/proc/self/cwd/s", "/proc/41/cwd", "s"},
		{"//proc//self//cwd//s/t", "/proc/41/cwd", "s/t"},
		{"/proc/self/" + top + "/run/s", "/proc/41/" + top, "run/s"},
		{"/proc/self/fd/7", "/proc/41/fd/7", ""},
		{"/proc/self/fd/7/", "/proc/41/fd/7", "."},
		{"/proc/thread-self/fd/7/s", "/proc/42/fd/7", "s"},
		{"/proc/2/cwd/../s", "/proc/41/cwd", "../s"},
		{"/proc/41/cwd/s", "", ""}, // a number of the host means nothing in the box
		{"/proc/3/cwd/s", "", ""},
		{"/proc/self/fd/x/s", "", ""},
		{"/proc/self/fd/../cwd/s", "", ""},
		{"/proc/self/cwdx", "", ""},
		{"proc/self/cwd/s", "", ""},
		{"/tmp/proc/self/cwd/s", "", ""},
	} {
		if link, rest := ownProcess(x.path, c); link != x.link || rest != x.rest {
			t.Errorf("%s: %q, %q; want %q, %q", x.path, link, rest, x.link, x.rest)
		}
	}
}

func TestFits(t *testing.T) {
	const unspec, local, four, six = seccomp.FamilyUnspec, seccomp.FamilyUnix, seccomp.FamilyInet, seccomp.FamilyInet6
	for _, x := range []struct {
		domain int
		family seccomp.Family
		want   error
	}{
		{unix.AF_UNIX, local, nil}, {unix.AF_UNIX, unspec, nil}, {unix.AF_UNIX, four, unix.EINVAL}, {unix.AF_UNIX, six, unix.EINVAL},
		{unix.AF_INET, four, nil}, {unix.AF_INET, unspec, nil}, {unix.AF_INET, local, unix.EAFNOSUPPORT}, {unix.AF_INET, six, unix.EAFNOSUPPORT},
		{unix.AF_INET6, six, nil}, {unix.AF_INET6, four, nil}, {unix.AF_INET6, local, unix.EAFNOSUPPORT},
		{unix.AF_NETLINK, unspec, unix.EINVAL}, {unix.AF_VSOCK, local, unix.EINVAL},
	} {
		if got := fits(x.domain, x.family); got != x.want {
			t.Errorf("socket of family %d, address of family %d: %v, want %v", x.domain, x.family, got, x.want)
		}
	}
}

// TestPinResolves: a path leads where the program's own root and folder say, or nowhere.
func TestPinResolves(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"root/a/b", "root/c", "outside"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for _, file := range []string{"root/a/b/f", "root/c/f", "root/f", "outside/f", "f"} {
		must(t, os.WriteFile(filepath.Join(top, file), nil, 0o644))
	}
	for name, to := range map[string]string{"root/a/b/absolute": "/c/f", "root/a/b/up": "../../f", "root/a/b/out": top + "/outside/f", "root/a/b/far": "../../../../../f",
		"root/loop": "loop", "root/magic": "/proc/self/fd/0", "root/via": "/a/b"} {
		must(t, os.Symlink(to, filepath.Join(top, name)))
	}
	for _, x := range []struct {
		base, text, path string
		want             string // below top, or an error
	}{
		{"", "", "/a/b/f", "root/a/b/f"},
		{"", "", "/a/../../../f", "root/f"},
		{"", "", "/a/b/absolute", "root/c/f"},
		{"", "", "/a/b/far", "root/f"},
		{"", "", "/a/b/out", "no such file or directory"},
		{"", "", "/via/f", "root/a/b/f"},
		{"", "", "/loop", "too many levels of symbolic links"},
		{"", "", "/f/", "not a directory"},
		{"", "", "/missing", "no such file or directory"},
		{"root/a/b", "/a/b", "f", "root/a/b/f"},
		{"root/a/b", "/a/b", "", "root/a/b"},
		{"root/a/b", "/a/b", "../../f", "root/f"},
		{"root/a/b", "/a/b", "up", "root/f"},
		{"root/a/b", "/a/b", "far", "root/f"},
		{"root/a/b", "/a/b", "absolute", "root/c/f"},
		{"root/a/b", "/a/b", "out", "no such file or directory"},
		{"root/a/b", "/a/b", "missing", "no such file or directory"},
		{"root/a/b", "/a/b (deleted)", "../../f", "permission denied"},
		{"root/a/b", "", "../../f", "permission denied"},
		{"root/a/b", "/via", "../../f", "permission denied"}, // a link is not the folder's name
		{"root/a/b", "/c", "../f", "permission denied"},
		{"outside", "/outside", "../f", "permission denied"}, // a folder that the root does not hold
		{"outside", "/outside", "f", "outside/f"},            // what the program holds open it may name
	} {
		s := walk{base: -1, text: x.text, rest: x.path, root: openPath(t, filepath.Join(top, "root"))}
		if x.base != "" {
			s.base = openPath(t, filepath.Join(top, x.base))
		}
		fd, err := s.pin()
		got := fmt.Sprint(err)
		if err == nil {
			name, rerr := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			must(t, rerr)
			got, _ = filepath.Rel(top, name)
			unix.Close(fd)
		}
		s.close()
		if got != x.want {
			t.Errorf("%q from %q (%q): %s, want %s", x.path, x.base, x.text, got, x.want)
		}
	}
}

func openPath(t *testing.T, path string) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	must(t, err)
	return fd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestBoundSockets asks this process's own network instead of a box's: its sockets are found by their files, a file that is none is not, and
// a dead one is told from a living one without a visit.
func TestBoundSockets(t *testing.T) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	must(t, err)
	n, err := newBoxNetwork(os.NewFile(uintptr(fd), "diag"))
	must(t, err)
	defer n.close()
	dir := t.TempDir()
	stream, err := net.Listen("unix", dir+"/stream")
	must(t, err)
	defer stream.Close()
	gram, err := net.ListenPacket("unixgram", dir+"/gram")
	must(t, err)
	defer gram.Close()
	dead, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	must(t, unix.Bind(dead, &unix.SockaddrUnix{Name: dir + "/dead"}))
	unix.Close(dead)
	must(t, os.WriteFile(dir+"/file", nil, 0o644))
	table, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	for name, want := range map[string]struct {
		own   bool
		alive error
	}{"stream": {true, nil}, "gram": {true, nil}, "dead": {false, unix.ECONNREFUSED}, "file": {false, unix.ECONNREFUSED}} {
		pin := openPath(t, filepath.Join(dir, name))
		own, err := n.owns(pin, table)
		if err != nil || !n.mute && own != want.own {
			t.Errorf("%s: %v, %v; want %v", name, own, err, want.own)
		}
		if got := alive(pin); got != want.alive {
			t.Errorf("%s: alive %v, want %v", name, got, want.alive)
		}
		if own, err := n.owns(pin, nil); own || err != nil {
			t.Errorf("%s in no mount of the program: %v, %v", name, own, err)
		}
		// Without unix_diag only what stands on a device of the box's alone is its own, and here every device is the host's.
		silent := &boxNetwork{mute: true, host: devices(table)}
		if own, err := silent.owns(pin, table); own || err != nil {
			t.Errorf("%s without unix_diag: %v, %v", name, own, err)
		}
		unix.Close(pin)
	}
	must(t, stream.(*net.UnixListener).SetDeadline(time.Unix(1, 0)))
	if c, err := stream.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server was visited: %v, %v", c, err)
	}
	tcp, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(tcp)
	if !n.has(tcp) {
		t.Error("a socket of this network is taken for another's")
	}
	for _, cookie := range []uint64{n.cookie, 0} { // by its cookie, and as before Linux 5.14
		n.cookie = cookie
		if os.Geteuid() == 0 && n.has(elsewhere(t)) {
			t.Errorf("cookie %d: a socket of another network is taken for one of this", cookie)
		}
	}
}

// elsewhere makes a socket in a network of its own.
func elsewhere(t *testing.T) int {
	t.Helper()
	made := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Log(err)
			made <- -1
			return
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
		}
		made <- fd
	}()
	fd := <-made
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func TestDumpIsRead(t *testing.T) {
	const seq = 7
	head := func(size, kind, number int) []byte {
		return []byte{byte(size), byte(size >> 8), 0, 0, byte(kind), byte(kind >> 8), 2, 0, byte(number), 0, 0, 0, 0, 0, 0, 0}
	}
	one := append(head(16+16+12+5, sockDiagByFamily, seq), make([]byte, 16)...)
	one = append(one, 5, 0, 0, 0, 'x', 0, 0, 0)                        // a name
	one = append(one, 12, 0, 1, 0, 0x78, 0x56, 0x34, 0x12, 1, 0, 0, 8) // its file
	one[0] = byte(len(one))
	other := append([]byte{}, one...)
	other[8] = seq - 1
	end := append(head(20, unix.NLMSG_DONE, seq), 0, 0, 0, 0)
	none := append(head(20, unix.NLMSG_ERROR, seq), 0xfe, 0xff, 0xff, 0xff) // ENOENT
	busy := append(head(20, unix.NLMSG_ERROR, seq), 0xf0, 0xff, 0xff, 0xff)
	file := inode{dev: 0x08000001, ino: 0x12345678}
	for _, x := range []struct {
		name  string
		b     []byte
		found int
		done  bool
		err   error
	}{
		{"one, and more to come", one, 1, false, nil},
		{"one, and the end", append(append([]byte{}, one...), end...), 1, true, nil},
		{"of another question", append(append([]byte{}, other...), end...), 0, true, nil},
		{"no unix_diag", none, 0, false, errNoDiag},
		{"busy", busy, 0, false, unix.EBUSY},
		{"empty", nil, 0, false, nil},
	} {
		list := map[inode]bool{}
		done, err := readDump(x.b, seq, list)
		if done != x.done || !errors.Is(err, x.err) || len(list) != x.found || x.found == 1 && !list[file] {
			t.Errorf("%s: %v, %v, %v", x.name, done, err, list)
		}
	}
	for cut := range one { // whatever is missing, nothing is found that is not there, and nothing breaks
		list := map[inode]bool{}
		_, _ = readDump(one[:cut], seq, list)
		short := append([]byte{}, one[:cut]...)
		if cut > 1 {
			short[0] = byte(cut)
		}
		_, _ = readDump(short, seq, list)
		if len(list) != 0 {
			t.Errorf("%d bytes: %v", cut, list)
		}
	}
}

func TestMountOf(t *testing.T) {
	const table = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n210 21 0:55 / /tmp rw - tmpfs tmpfs rw\n2 1 0:7 / /x rw - proc proc rw\n"
	mount, ino := pinned([]byte("pos:\t0\nflags:\t012000000\nmnt_id:\t210\nino:\t4294967299\n"))
	if mount != "210" || ino != 4294967299 {
		t.Errorf("fdinfo: %s, %d", mount, ino)
	}
	for id, want := range map[string]string{"21": "8:1", "210": "0:55", "2": "0:7", "1": "", "": ""} {
		if got := deviceOf([]byte(table), id); got != want {
			t.Errorf("mount %q: %q, want %q", id, got, want)
		}
	}
	if d := devices([]byte(table)); len(d) != 3 || !d["0:55"] {
		t.Errorf("devices: %v", d)
	}
	for s, want := range map[string]uint32{"8:1": 8<<20 | 1, "0:55": 55, "259:300": 259<<20 | 300} {
		if got, err := kernelDevice(s); err != nil || got != want {
			t.Errorf("%s: %#x, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "8", "x:1", "8:", "99999:1"} {
		if got, err := kernelDevice(bad); err == nil {
			t.Errorf("%q: %#x", bad, got)
		}
	}
}
