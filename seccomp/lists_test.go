//go:build linux

package seccomp

import (
	"slices"
	"strings"
	"testing"

	lib "github.com/seccomp/libseccomp-golang"
)

// Every call that libseccomp knows for an architecture, and every newer one, is in exactly one list. A new library or number
// table that brings a call nobody has judged fails here.
func TestEveryCallHasAPlace(t *testing.T) {
	seen := map[string]int{}
	for _, n := range Names() {
		seen[n]++
	}
	for n, times := range seen {
		if times != 1 {
			t.Errorf("%s stands in %d lists", n, times)
		}
	}
	for _, arch := range []Arch{AMD64, ARM64} {
		for nr := range 600 {
			if name := Name(arch, nr); name != "" && seen[name] == 0 {
				t.Errorf("%v %d %s: in no list", arch, nr, name)
			}
		}
	}
	for _, n := range Names() {
		_, amd := Number(AMD64, n)
		_, arm := Number(ARM64, n)
		if !amd && !arm {
			t.Errorf("%s: no number on any architecture", n)
		}
	}
}

// Names and numbers are each other's inverse.
func TestNumbers(t *testing.T) {
	for _, arch := range []Arch{AMD64, ARM64} {
		for _, name := range Names() {
			if nr, ok := Number(arch, name); ok && Name(arch, nr) != name {
				t.Errorf("%v %s is %d, and %d is %q", arch, name, nr, nr, Name(arch, nr))
			}
		}
	}
	for _, c := range []struct {
		arch Arch
		name string
		nr   int
		ok   bool
	}{
		{AMD64, "write", 1, true}, {ARM64, "write", 64, true},
		{AMD64, "open", 2, true}, {ARM64, "open", 0, false},
		{AMD64, "mseal", 462, true}, {ARM64, "mseal", 462, true},
		{AMD64, "uprobe", 336, true}, {ARM64, "uprobe", 0, false},
		{AMD64, "no such call", 0, false}, {0, "write", 0, false},
	} {
		nr, ok := Number(c.arch, c.name)
		if ok != c.ok || ok && nr != c.nr {
			t.Errorf("Number(%v, %s) = %d, %v", c.arch, c.name, nr, ok)
		}
	}
	if got := Name(AMD64, 9999); got != "" {
		t.Errorf("call 9999 is called %q", got)
	}
}

// The calls libseccomp has no name for. They are known by this package's own numbers and compiled in front.
func TestNewerThanTheLibrary(t *testing.T) {
	var unknown []string
	for _, n := range Names() {
		if _, err := lib.GetSyscallFromName(n); err != nil {
			unknown = append(unknown, n)
			if _, ok := newer[n]; !ok && onlyAMD64[n] == 0 {
				t.Errorf("%s: neither the library nor newer has a number", n)
			}
		}
	}
	t.Logf("libseccomp %s does not know: %s", LibVersion(), strings.Join(unknown, " "))
	for n, nr := range newer {
		if got, err := lib.GetSyscallFromName(n); err == nil && int(got) != nr {
			t.Errorf("%s is %d here and %d in libseccomp", n, nr, got)
		}
	}
}

// Baseline is a part of base, and nothing in it opens, makes, changes, executes, connects, binds, kills or limits.
func TestBaseline(t *testing.T) {
	for _, g := range baseline {
		g.each(func(n string) {
			if c, _ := ClassOf(n); c != Base {
				t.Errorf("%s is fast in learning and %v in enforcing", n, c)
			}
		})
	}
	f := Learn(Options{Arch: AMD64, NoteFD: testNote, LandlockABI: 7})
	for _, n := range strings.Fields(`open openat chdir fchdir creat unlink rename mkdir symlink link chmod chown
		truncate execve execveat connect bind listen socket kill tgkill tkill pidfd_send_signal setrlimit
		sendmsg sendmmsg mknod inotify_add_watch setxattr utimensat mq_open shmget seccomp
		landlock_restrict_self memfd_create personality unshare ptrace mount bpf io_uring_setup ustat no_such_call`) {
		if a, _ := f.Decide(n, [6]uint64{}); a != Trace {
			t.Errorf("learning answers %s with %v", n, a)
		}
	}
	for n, want := range map[string]Action{
		"read": Allow, "mmap": Allow, "futex": Allow, "clone": Allow, "sendto": Allow, "newfstatat": Allow, "statx": Allow, "access": Allow, "readlink": Allow,
		"clone3": Fail(ENOSYS), "openat2": Fail(ENOSYS), "io_uring_enter": Fail(ENOSYS),
	} {
		if a, _ := f.Decide(n, [6]uint64{}); a != want {
			t.Errorf("learning answers %s with %v, want %v", n, a, want)
		}
	}
	if a, _ := f.Decide("prlimit64", [6]uint64{0, 7, 1, 0}); a != Trace {
		t.Errorf("prlimit64 that sets a limit: %v", a)
	}
	if a, _ := f.Decide("prlimit64", [6]uint64{0, 7, 0, 1}); a != Allow {
		t.Errorf("prlimit64 that asks: %v", a)
	}
	if a, _ := f.Decide("sendto", [6]uint64{3, 0, 0, 0, 0x7fff00000000}); a != Trace {
		t.Errorf("sendto with an address: %v", a)
	}
	if f.Notifies() {
		t.Error("a learning filter asks a supervisor")
	}
}

// A filter without a listener must hold no notify action: the kernel would answer it with ENOSYS.
func TestNotifies(t *testing.T) {
	for _, lite := range []bool{false, true} {
		for abi := range 8 {
			o := Options{Arch: AMD64, NoteFD: testNote, Lite: lite, LandlockABI: abi}
			if Enforce(o).Notifies() || Learn(o).Notifies() {
				t.Errorf("%+v: notifies without a listener", o)
			}
			o.Listener = true
			if !Enforce(o).Notifies() || Learn(o).Notifies() {
				t.Errorf("%+v: enforce must notify, learn must not", o)
			}
		}
	}
	if Reaper(AMD64).Notifies() {
		t.Error("the reaper's filter notifies")
	}
}

func TestExtra(t *testing.T) {
	o := Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 7, Extra: map[string]bool{
		"ustat": true, "socket": false, "statmount": false, // can be done
		"ptrace": true, "clone3": true, "execve": false, "open_file": true, // cannot
		"ioctl": true, "mount": false, // change nothing
	}}
	var got []string
	for _, p := range o.Problems() {
		got = append(got, p.Name+": "+p.Why)
	}
	want := []string{
		"clone3: never granted: its flags stand in memory, where a filter cannot read them; every C library falls back to clone",
		"execve: psb needs it to start the program",
		"open_file: no such kernel call",
		"ptrace: never granted: looks into or changes another process",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	f := Enforce(o)
	for _, c := range []struct {
		name string
		arg1 uint64
		want Action
	}{
		{"ustat", 0, Allow}, {"socket", 0, Notify(EPERM)}, {"statmount", 0, Notify(EPERM)}, {"listmount", 0, Fail(ENOSYS)},
		{"ptrace", 0, Notify(EPERM)}, {"clone3", 0, Fail(ENOSYS)}, {"execve", 0, Allow}, {"open_file", 0, Fail(ENOSYS)},
		{"ioctl", tiocsti, Notify(EPERM)}, {"ioctl", 0x5401, Allow}, {"mount", 0, Notify(EPERM)},
	} {
		if a, why := f.Decide(c.name, [6]uint64{0, c.arg1}); a != c.want || why == "" {
			t.Errorf("%s(%#x): %v (%s), want %v", c.name, c.arg1, a, why, c.want)
		}
	}
}

func TestErrnoOf(t *testing.T) {
	for name, want := range map[string]Errno{"ptrace": EPERM, "io_uring_setup": ENOSYS, "name_to_handle_at": EOPNOTSUPP, "socket": EPERM, "ustat": ENOSYS, "nothing": ENOSYS} {
		if got := ErrnoOf(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
