package landlock

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// walk runs steps written as "word args = answer" and compares each answer.
func walk(t *testing.T, r Ruleset, uid uint32, rules []PathRule, script string) {
	t.Helper()
	r, _ = r.Fit(Probe())
	in := inside{Rules: rules}
	var want []string
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n := len(words) - 2
		in.Steps = append(in.Steps, words[:n])
		want = append(want, words[n+1])
	}
	got := restricted(t, r, uid, in)
	if len(got) != len(want) {
		t.Fatalf("%d answers for %d steps: %q", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: %s, want %s", strings.Join(in.Steps[i], " "), got[i], want[i])
		}
	}
}

func granting(rules ...PathRule) Ruleset {
	r := Everything()
	r.Paths = rules
	return r
}

func TestFiles(t *testing.T) {
	need(t, 2)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		for _, n := range []string{"/r", "/w", "/w2", "/no", "/list", "/new"} {
			mustDir(t, d+n)
			mustWrite(t, d+n+"/f", "text")
		}
		mustWrite(t, d+"/one", "text")
		mustWrite(t, d+"/two", "text")
		mustDir(t, d+"/w/sub")
		mustWrite(t, d+"/w/move", "text")
		mustWrite(t, d+"/w/stay", "text")
		r := granting(
			PathRule{Path: d + "/r", Access: ReadTree},
			PathRule{Path: d + "/w", Access: WriteTree},
			PathRule{Path: d + "/w2", Access: WriteTree},
			PathRule{Path: d + "/list", Access: ListDir},
			PathRule{Path: d + "/new", Access: MakeIn},
			PathRule{Path: d + "/one", Access: ReadTree, File: true},
			PathRule{Path: d + "/two", Access: WriteTree, File: true},
		)
		walk(t, r, uid, nil, strings.ReplaceAll(`
			read D/r/f = ok
			list D/r = ok
			write D/r/f = EACCES
			create D/r/x = EACCES
			unlink D/r/f = EACCES
			mkdir D/r/x = EACCES
			rename D/r/f D/r/g = EACCES
			rename D/r/f D/w/stolen = EACCES
			link D/r/f D/w/stolen = EXDEV
			read D/no/f = EACCES
			list D/no = EACCES
			write D/no/f = EACCES
			unlink D/no/f = EACCES
			stat D/no/f = ok
			list D/. = EACCES
			list D/list = ok
			read D/list/f = EACCES
			read D/one = ok
			write D/one = EACCES
			read D/two = ok
			write D/two = ok
			unlink D/two = EACCES
			read D/w/f = ok
			write D/w/f = ok
			list D/w = ok
			create D/w/x = ok
			rename D/w/x D/w/y = ok
			rename D/w/y D/w/sub/y = ok
			unlink D/w/sub/y = ok
			rmdir D/w/sub = ok
			mkdir D/w/sub = ok
			symlink f D/w/s = ok
			mknod D/w/null = EACCES
			rename D/w/move D/w2/move = ok
			link D/w/stay D/w2/stay = ok
			rename D/w/stay D/no/stay = EACCES
			rename D/w/stay D/r/stay = EACCES
			create D/new/x = EACCES
			unlink D/new/x = ok
			mkdir D/new/x = ok
			read D/new/f = EACCES
			exec /bin/true true = EACCES
		`, "D/", d+"/"))
	})
}

func TestTruncateNeedsItsRight(t *testing.T) {
	need(t, 3)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		mustWrite(t, d+"/may", "text")
		mustWrite(t, d+"/not", "text")
		mustWrite(t, d+"/read", "text")
		r := granting(
			PathRule{Path: d + "/may", Access: WriteFile, File: true},
			PathRule{Path: d + "/not", Access: FSWriteFile | FSReadFile, File: true},
			PathRule{Path: d + "/read", Access: ReadFile, File: true},
		)
		walk(t, r, uid, nil, strings.ReplaceAll(`
			write D/not = ok
			empty D/not = EACCES
			truncate D/not = EACCES
			truncate D/read = EACCES
			truncate D/may = ok
			empty D/may = ok
		`, "D/", d+"/"))
		for name, want := range map[string]int64{"/may": 0, "/not": 4, "/read": 4} {
			if st, err := os.Stat(d + name); err != nil || st.Size() != want {
				t.Errorf("%s: size %v, %v, want %d", name, st.Size(), err, want)
			}
		}
	})
}

func TestDeviceIoctl(t *testing.T) {
	need(t, 5)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		r := granting(
			PathRule{Path: "/dev/zero", Access: ReadFile, File: true},
			PathRule{Path: "/dev/full", Access: Device, File: true},
		)
		walk(t, r, uid, nil, `
			read /dev/zero = ok
			ioctl /dev/zero = EACCES
			ioctl /dev/full = ENOTTY
			read /dev/null = EACCES
		`)
	})
}

// A path may be named by a descriptor already open, which is how a policy's objects arrive.
func TestRuleByDescriptor(t *testing.T) {
	need(t, 1)
	d := t.TempDir()
	mustWrite(t, d+"/f", "text")
	fd, err := unix.Open(d+"/f", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := os.Rename(d+"/f", d+"/g"); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, d+"/f", "another")
	walk(t, granting(PathRule{Path: fmt.Sprintf("/proc/self/fd/%d", fd), Access: ReadFile, File: true}), 0, nil,
		fmt.Sprintf("read %s/g = ok\nread %s/f = EACCES", d, d))
}

func TestRuleAddedInside(t *testing.T) {
	need(t, 1)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		mustDir(t, d+"/late")
		mustWrite(t, d+"/late/f", "text")
		walk(t, granting(), uid, []PathRule{{Path: d + "/late", Access: ReadTree}},
			fmt.Sprintf("read %s/late/f = ok\nwrite %s/late/f = EACCES\nlist %s = EACCES", d, d, d))
	})
}

func TestExec(t *testing.T) {
	need(t, 1)
	// /bin/true has an ELF interpreter and a library, which need their own rules: only the refusal and the right itself are
	// looked at here, with a file that is no program (ENOEXEC means that Landlock let it through).
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		for _, n := range []string{"/may", "/not"} {
			mustWrite(t, d+n, "no program")
			if err := os.Chmod(d+n, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		r := granting(PathRule{Path: d + "/may", Access: ExecFile, File: true}, PathRule{Path: d + "/not", Access: ReadFile, File: true})
		walk(t, r, uid, nil, fmt.Sprintf("exec %s/may may = ENOEXEC\nexec %s/not not = EACCES", d, d))
	})
}

func TestSingleFileBindNeedsItsOwnRule(t *testing.T) {
	need(t, 1)
	if os.Getuid() != 0 {
		t.Skip("binding a file needs root")
	}
	d := t.TempDir()
	mustDir(t, d+"/src")
	mustDir(t, d+"/dst")
	mustWrite(t, d+"/src/f", "text")
	mustWrite(t, d+"/dst/f", "")
	if err := unix.Mount(d+"/src/f", d+"/dst/f", "", unix.MS_BIND, ""); err != nil {
		t.Skipf("bind mount: %v", err)
	}
	defer unix.Unmount(d+"/dst/f", unix.MNT_DETACH)
	walk(t, granting(PathRule{Path: d + "/src", Access: ReadTree}), 0, nil,
		fmt.Sprintf("read %s/src/f = ok\nread %s/dst/f = EACCES", d, d))
	walk(t, granting(PathRule{Path: d + "/dst/f", Access: ReadFile, File: true}), 0, nil,
		fmt.Sprintf("read %s/dst/f = ok", d))
}

func TestScopes(t *testing.T) {
	need(t, 6)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		name := "@psb-landlock-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(int(uid))
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		// Control: without the scopes both work (as another user, the signal is refused by ordinary rights anyhow).
		open := granting()
		open.Scoped = 0
		signal := "ok"
		if uid != 0 {
			signal = "EPERM"
		}
		script := fmt.Sprintf("signal %d = %%s\nabstract %s = %%s\nabstract-own %s-own = ok", os.Getpid(), name, name)
		walk(t, open, uid, nil, fmt.Sprintf(script, signal, "ok"))
		walk(t, granting(), uid, nil, fmt.Sprintf(script, "EPERM", "EPERM"))
	})
}

func TestLite(t *testing.T) {
	need(t, 4)
	asUsers(t, func(t *testing.T, uid uint32, d string) {
		port := func() (net.Listener, int) {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			return l, l.Addr().(*net.TCPAddr).Port
		}
		granted, may := port()
		defer granted.Close()
		other, not := port()
		defer other.Close()
		freed, free := port()
		freed.Close()
		r := granting().DenyNet(PortRule{uint16(may), NetConnectTCP}, PortRule{uint16(free), NetBindTCP})
		walk(t, r, uid, nil, fmt.Sprintf(`
			connect %d = ok
			connect %d = EACCES
			connect %d = EACCES
			bind %d = ok
			bind %d = EACCES
			bind 0 = EACCES
		`, may, not, free, free, not))
		// A box with a network of its own leaves ports alone.
		walk(t, granting(), uid, nil, fmt.Sprintf("connect %d = ok\nbind 0 = ok", not))
	})
}
