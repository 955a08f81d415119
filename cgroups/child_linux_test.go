package cgroups

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is to be limited runs in a copy of this test binary, or in a shell, that first writes itself into the group.
const childMark = "psb-cgroups-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == childMark {
		os.Exit(child(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func child(act string, args []string) int {
	fail := func(err error) int {
		os.Stderr.WriteString(err.Error())
		return 3
	}
	switch act {
	case "hog": // MEBIBYTES FILE...: join the groups, then touch that much memory
		mib, err := strconv.Atoi(args[0])
		if err != nil {
			return fail(err)
		}
		for _, f := range args[1:] {
			if err := os.WriteFile(f, []byte("0"), 0); err != nil {
				return fail(err)
			}
		}
		for range mib {
			b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				return fail(err)
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
		}
		return 0
	case "hand-down": // DIR CONTROLLER: from within DIR, without and with the move into a leaf
		if err := os.WriteFile(args[0]+"/cgroup.procs", []byte("0"), 0); err != nil {
			return fail(err)
		}
		d, err := openFolder(args[0])
		if err != nil {
			return fail(err)
		}
		s := Support{Controllers: map[string]Controller{args[1]: {enable: true}}}
		if err := handDown(d, s, args[1:]); err == nil || !strings.Contains(err.Error(), unix.EBUSY.Error()) {
			os.Stderr.WriteString("a group with a process handed a controller down")
			return 4
		}
		s.leave = args[0]
		for range 2 { // every further box does it again
			if err := handDown(d, s, args[1:]); err != nil {
				return fail(err)
			}
		}
		text, err := d.read("cgroup.subtree_control")
		if err != nil {
			return fail(err)
		}
		os.Stdout.WriteString(string(bytes.TrimSpace(text)))
		return 0
	}
	return 2
}

func runChild(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{childMark}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// need skips when psb may not use these controllers here, or fails when PSB_MUST says that it must.
func need(t *testing.T, controllers ...string) Support {
	t.Helper()
	s := Probe()
	for _, name := range controllers {
		if c := s.Controllers[name]; !c.Writable {
			missing(t, "cgroup controller "+name+": "+c.Reason)
		}
	}
	return s
}

func missing(t *testing.T, what string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), "cgroup") {
		t.Fatal("needed: " + what)
	}
	t.Skip(what)
}

var groupsMade atomic.Int32

// ownName is a name as a living psb would give it, so that no psb on this host sweeps the group under test away.
func ownName(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	start, _, err := parseStat(text)
	if err != nil {
		t.Fatal(err)
	}
	return Name(os.Getpid(), start, int(groupsMade.Add(1)))
}

func mustCreate(t *testing.T, s Support, name string, l Limits) *Group {
	t.Helper()
	g, err := Create(s, name, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// shell starts a script in the group; the script is killed with the group, so it is waited for and its error dropped.
func shell(t *testing.T, g *Group, script string) *exec.Cmd {
	t.Helper()
	var join strings.Builder
	for _, f := range g.ProcsFiles() {
		join.WriteString("echo 0 > '" + f + "' || exit 9\n")
	}
	cmd := exec.Command("/bin/sh", "-c", join.String()+script)
	return cmd
}

// fakeDir is a folder whose path holds no link.
func fakeDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func members(t *testing.T, g *Group) []string {
	t.Helper()
	d, err := openFolder(g.parts[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	list, err := d.processes()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// waitFor polls a condition that must come true, at most ten seconds.
func waitFor(t *testing.T, true func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !true(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

// asUID runs f on a thread of its own whose effective id is uid; the thread ends with it.
func asUID(uid int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with this goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			done <- errors.New("setresuid: " + errno.Error())
			return
		}
		done <- f()
	}()
	return <-done
}

func parseOwn() (membership, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return membership{}, err
	}
	return parseCgroup(text)
}

func itoa(n int) string { return strconv.Itoa(n) }

func second(_ *Group, err error) error { return err }
