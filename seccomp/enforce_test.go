//go:build linux

package seccomp

import (
	"strings"
	"testing"
)

const upper = uint64(1) << 32

// Call by call what an enforced program gets, through the compiled bytes, not through Decide.
func TestEnforceCalls(t *testing.T) {
	plain := Options{NoteFD: testNote, Listener: true, LandlockABI: 7}
	old := Options{NoteFD: testNote, Listener: true, LandlockABI: 5}
	lite := Options{NoteFD: testNote, Listener: true, LandlockABI: 7, Lite: true}
	liteOld := Options{NoteFD: testNote, Listener: true, LandlockABI: 3, Lite: true}
	deaf := Options{NoteFD: testNote, LandlockABI: 7}
	brokered := Options{NoteFD: testNote, Listener: true, LandlockABI: 7, Broker: true}
	relayed := Options{NoteFD: testNote, Listener: true, LandlockABI: 7, Broker: true, Datagrams: true}
	noShim := Options{Listener: true, LandlockABI: 7}
	const ask = Action(retNotify)
	note := uint64(uint32(0xffffffff - 0x505342 + 1))
	nowrite := uint64(0xffffffffffffffff)

	for _, c := range []struct {
		o    Options
		call string
		args [6]uint64
		want Action
	}{
		{plain, "write", [6]uint64{1}, Allow},
		{plain, "write", [6]uint64{nowrite}, Allow}, // -1: the kernel itself says EBADF
		{plain, "write", [6]uint64{note}, ask},
		{plain, "write", [6]uint64{note | 0xffffffff<<32}, ask},
		{plain, "write", [6]uint64{note | upper}, ask},
		{plain, "write", [6]uint64{note ^ 1}, Allow},
		{deaf, "write", [6]uint64{note}, Fail(EBADF)},
		{noShim, "write", [6]uint64{0}, Allow},
		{noShim, "write", [6]uint64{note}, Allow},

		{plain, "ioctl", [6]uint64{0, 0x5401}, Allow}, // TCGETS
		{plain, "ioctl", [6]uint64{0, tiocsti}, ask},
		{plain, "ioctl", [6]uint64{0, tiocsti | upper}, ask},
		{plain, "ioctl", [6]uint64{0, tiocsti | 0xdeadbeef<<32}, ask},
		{plain, "ioctl", [6]uint64{0, tioclinux | upper}, ask},
		{plain, "ioctl", [6]uint64{0, tiocsetd}, ask},
		{plain, "ioctl", [6]uint64{0, fiosetown}, Allow},
		{lite, "ioctl", [6]uint64{0, fiosetown}, Allow},
		{liteOld, "ioctl", [6]uint64{0, fiosetown}, ask},
		{liteOld, "ioctl", [6]uint64{0, tiocsti}, ask},
		{liteOld, "ioctl", [6]uint64{0, 0x5401}, Allow},

		{plain, "clone", [6]uint64{0x3d0f00}, Allow}, // a glibc thread
		{plain, "clone", [6]uint64{0x1200011}, Allow},
		{plain, "clone", [6]uint64{0x10000000}, ask},         // NEWUSER
		{plain, "clone", [6]uint64{0x10000000 | upper}, ask}, // the kernel drops the upper half
		{plain, "clone", [6]uint64{0x20000}, ask},            // NEWNS
		{plain, "clone", [6]uint64{0x40000000 | 17}, ask},    // NEWNET
		{deaf, "clone", [6]uint64{0x10000000}, Fail(EPERM)},
		{plain, "clone3", [6]uint64{}, Fail(ENOSYS)},
		{plain, "unshare", [6]uint64{0x400}, Allow}, // CLONE_FILES
		{plain, "unshare", [6]uint64{0x80}, ask},    // NEWTIME
		{plain, "unshare", [6]uint64{0x10000000 | 0x400 | upper}, ask},

		{plain, "socket", [6]uint64{1, 1}, Allow},
		{plain, "socket", [6]uint64{2, 1 | 0o2000000, 0}, Allow},
		{plain, "socket", [6]uint64{10, 2, 17}, Allow},
		{plain, "socket", [6]uint64{16, 3, 0}, Allow}, // NETLINK_ROUTE, as glibc opens it
		{plain, "socket", [6]uint64{16, 3, upper}, Allow},
		{plain, "socket", [6]uint64{16, 3, 12}, Fail(EAFNOSUPPORT)}, // NETLINK_NETFILTER
		{plain, "socket", [6]uint64{17, 3, 0}, ask},                 // AF_PACKET
		{plain, "socket", [6]uint64{17 | upper, 3, 0}, ask},
		{plain, "socket", [6]uint64{1 | upper, 1, 0}, Allow}, // still AF_UNIX to the kernel
		{plain, "socket", [6]uint64{2, 3, 1}, ask},           // raw ICMP
		{plain, "socket", [6]uint64{2, 3 | 0o4000, 255}, ask},
		{plain, "socket", [6]uint64{2, 10, 0x300}, ask}, // SOCK_PACKET
		{plain, "socket", [6]uint64{2, 1, 262}, Fail(EPROTONOSUPPORT)},
		{plain, "socket", [6]uint64{2, 1, 132}, Fail(EPROTONOSUPPORT)},
		{plain, "socket", [6]uint64{38, 5, 0}, ask}, // AF_ALG
		{plain, "socket", [6]uint64{40, 1, 0}, ask}, // AF_VSOCK
		{deaf, "socket", [6]uint64{40, 1, 0}, Fail(EAFNOSUPPORT)},
		{deaf, "socket", [6]uint64{2, 3, 1}, Fail(EPERM)},
		{deaf, "socket", [6]uint64{17 | upper, 2, 0}, Fail(EPERM)},
		{lite, "socket", [6]uint64{2, 1, 0}, Allow},
		{lite, "socket", [6]uint64{2, 1, 132}, ask},
		{lite, "socket", [6]uint64{2, 2, 0}, ask}, // UDP
		{lite, "socket", [6]uint64{10, 2 | 0o2000000, 17}, ask},
		{plain, "socket", [6]uint64{1, 5 | 0o2004000, 0}, Allow}, // SEQPACKET
		{plain, "socket", [6]uint64{1, 2, 0}, ask},               // DGRAM
		{plain, "socket", [6]uint64{1, 2 | 0o2004000, 0}, ask},
		{plain, "socket", [6]uint64{1 | upper, 2 | upper, upper}, ask},
		{plain, "socket", [6]uint64{1, 3, 0}, ask}, // RAW, which af_unix takes for DGRAM
		{plain, "socket", [6]uint64{1, 4, 0}, ask},
		{lite, "socket", [6]uint64{1, 1, 0}, Allow},
		{lite, "socket", [6]uint64{1, 2, 0}, ask},
		{deaf, "socket", [6]uint64{1, 2, 0}, Fail(EACCES)},
		{liteOld, "socket", [6]uint64{2, 1, 0}, ask}, // no TCP rights below ABI 4
		{plain, "socketpair", [6]uint64{1, 1}, Allow},
		{plain, "socketpair", [6]uint64{1, 5 | 0o2000000}, Allow},
		{plain, "socketpair", [6]uint64{1, 2 | 0o2000000}, ask},
		{plain, "socketpair", [6]uint64{1 | upper, 3}, ask},
		{plain, "socketpair", [6]uint64{2, 1}, Fail(EAFNOSUPPORT)},
		{plain, "getsockopt", [6]uint64{3, 1, 17}, Allow}, // PEERCRED
		{plain, "getsockopt", [6]uint64{3, 1, 77}, Fail(ENOPROTOOPT)},
		{plain, "getsockopt", [6]uint64{3, 1 | upper, 77 | upper}, Fail(ENOPROTOOPT)},
		{plain, "getsockopt", [6]uint64{3, 6, 77}, Allow},

		{plain, "connect", [6]uint64{3}, ask},
		{plain, "listen", [6]uint64{3}, Allow},
		{plain, "bind", [6]uint64{3}, Allow},
		{brokered, "connect", [6]uint64{3}, ask},
		{brokered, "ioctl", [6]uint64{3, 0x8912}, Fail(EPERM)},
		{brokered, "ioctl", [6]uint64{3, 0x8927 | upper}, Fail(EPERM)},
		{brokered, "ioctl", [6]uint64{3, 0x8933}, Allow},
		{plain, "ioctl", [6]uint64{3, 0x8912}, Allow},
		{brokered, "listen", [6]uint64{3}, ask},
		{brokered, "bind", [6]uint64{3}, ask},
		{brokered, "accept4", [6]uint64{3}, Allow},
		{brokered, "sendto", [6]uint64{3, 0, 0, 0x4000}, Allow},
		{brokered, "sendto", [6]uint64{3, 0, 0, 0x4000, 1}, ask},
		{brokered, "sendto", [6]uint64{3, 0, 0, 0, upper}, ask},
		{brokered, "sendto", [6]uint64{3, 0, 0, 0x20000000, 1}, Fail(EOPNOTSUPP)},
		{brokered, "sendmsg", [6]uint64{3, 1}, Allow},
		{relayed, "sendto", [6]uint64{3}, Allow},
		{relayed, "sendmsg", [6]uint64{3, 1}, ask},
		{relayed, "sendmsg", [6]uint64{3, 1, 0x20000000}, Fail(EOPNOTSUPP)},
		{relayed, "sendmmsg", [6]uint64{3, 1}, ask},
		{deaf, "connect", [6]uint64{3}, Fail(EACCES)},
		{plain, "sendto", [6]uint64{3, 0, 0, 0x4000}, Allow},
		{plain, "sendto", [6]uint64{3, 0, 0, 0x20004000}, Fail(EOPNOTSUPP)},
		{plain, "sendto", [6]uint64{3, 0, 0, 0x20000000 | upper}, Fail(EOPNOTSUPP)},
		{plain, "sendmsg", [6]uint64{3, 0, 0x20000000}, Fail(EOPNOTSUPP)},
		{plain, "sendmsg", [6]uint64{3, 0, 0, 0x20000000}, Allow},
		{plain, "sendmmsg", [6]uint64{3, 0, 0, 0x20000000}, Fail(EOPNOTSUPP)},

		{plain, "kill", [6]uint64{0, 15}, Allow}, // the Landlock scope holds it in
		{old, "kill", [6]uint64{0, 15}, ask},
		{old, "kill", [6]uint64{upper, 15}, ask},
		{old, "kill", [6]uint64{5, 15}, Allow},
		{lite, "kill", [6]uint64{0, 15}, Allow},
		{liteOld, "kill", [6]uint64{5, 15}, ask},
		{liteOld, "kill", [6]uint64{0xffffffff, 15}, ask},
		{liteOld, "tgkill", [6]uint64{5, 5, 15}, ask},
		{liteOld, "pidfd_send_signal", [6]uint64{5}, ask},
		{liteOld, "fcntl", [6]uint64{1, 8}, ask},
		{liteOld, "fcntl", [6]uint64{1, 1}, Allow},
		{lite, "fcntl", [6]uint64{1, 8}, Allow},
		{lite, "prlimit64", [6]uint64{0, 7, 1, 1}, Allow},
		{lite, "prlimit64", [6]uint64{99, 7, 0, 1}, Allow},
		{lite, "prlimit64", [6]uint64{99, 7, upper, 1}, ask}, // a pointer is compared whole
		{plain, "prlimit64", [6]uint64{99, 7, 1, 1}, Allow},
		{lite, "shmget", [6]uint64{}, ask},
		{lite, "listen", [6]uint64{3, 1}, ask},
		{plain, "shmget", [6]uint64{}, Allow},
		{plain, "listen", [6]uint64{3, 1}, Allow},

		{plain, "chmod", [6]uint64{0, 0o755}, Allow},
		{plain, "chmod", [6]uint64{0, 0o1777}, Allow},
		{plain, "chmod", [6]uint64{0, 0o4755}, ask},
		{plain, "fchmod", [6]uint64{0, 0o2755}, ask},
		{plain, "fchmodat", [6]uint64{0, 0, 0o4755 | upper}, ask},
		{plain, "fchmodat2", [6]uint64{0, 0, 0o6755}, ask},
		{plain, "fchmodat2", [6]uint64{0, 0, 0o644}, Allow},
		{plain, "open", [6]uint64{0, 0o101, 0o4755}, ask},
		{plain, "open", [6]uint64{0, 0, 0o4755}, Allow}, // nothing is created, the mode is noise
		{plain, "openat", [6]uint64{0, 0, 0o101, 0o644}, Allow},
		{plain, "openat", [6]uint64{0, 0, 0o101 | upper, 0o2755}, ask},
		{plain, "openat", [6]uint64{0, 0, 0o20200002, 0o4600}, ask}, // O_TMPFILE
		{plain, "openat2", [6]uint64{}, Fail(ENOSYS)},
		{plain, "creat", [6]uint64{0, 0o4755}, ask},
		{plain, "mknod", [6]uint64{0, 0o010644}, Allow}, // FIFO
		{plain, "mknod", [6]uint64{0, 0o140644}, Allow}, // socket
		{plain, "mknod", [6]uint64{0, 0o100644}, Allow},
		{plain, "mknod", [6]uint64{0, 0o104755}, ask},
		{plain, "mknod", [6]uint64{0, 0o020644, 0x101}, ask},
		{plain, "mknod", [6]uint64{0, 0o020644 | 1<<16, 0x101}, ask}, // umode_t has 16 bits
		{plain, "mknodat", [6]uint64{0, 0, 0o060644 | upper, 0x800}, ask},

		{plain, "personality", [6]uint64{0xffffffff}, Allow},
		{plain, "personality", [6]uint64{0x40000}, Allow},
		{plain, "personality", [6]uint64{0x400000}, ask}, // READ_IMPLIES_EXEC
		{plain, "personality", [6]uint64{8}, ask},
		{plain, "seccomp", [6]uint64{1, 1}, Allow},
		{plain, "seccomp", [6]uint64{1, 8}, Fail(EBUSY)},
		{plain, "seccomp", [6]uint64{1, 8 | 1 | upper}, Fail(EBUSY)},
		{plain, "prctl", [6]uint64{22, 2}, Allow},
		{plain, "rseq", [6]uint64{}, Allow},
		{plain, "move_pages", [6]uint64{0}, Allow},
		{plain, "move_pages", [6]uint64{7}, Fail(EPERM)},
		{plain, "ustat", [6]uint64{}, Fail(ENOSYS)},
	} {
		for _, arch := range []Arch{AMD64, ARM64} {
			nr, ok := Number(arch, c.call)
			if !ok {
				continue
			}
			c.o.Arch = arch
			p := built(t, Enforce(c.o))
			if got, err := p.Simulate(uint32(arch), nr, c.args); err != nil || got != c.want {
				t.Errorf("%v %s%x listener=%v lite=%v abi=%d: %v (%v), want %v", arch, c.call, c.args, c.o.Listener, c.o.Lite, c.o.LandlockABI, got, err, c.want)
			}
		}
	}
}

// Every floor call, in every mode, whatever the arguments and whatever the policy asks.
func TestFloor(t *testing.T) {
	meant := `ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp io_uring_setup bpf perf_event_open userfaultfd keyctl add_key
		request_key mount umount2 pivot_root move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr chroot setns
		open_by_handle_at fanotify_init kexec_load kexec_file_load reboot init_module finit_module delete_module swapon swapoff quotactl
		quotactl_fd acct iopl ioperm modify_ldt settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname syslog vhangup`
	quiet := `io_uring_enter io_uring_register name_to_handle_at fanotify_mark lookup_dcookie nfsservctl clone3 openat2`
	extra := map[string]bool{}
	for _, n := range strings.Fields(meant + " " + quiet) {
		extra[n] = true
	}
	ones := ^uint64(0)
	for _, o := range []Options{{Listener: true, LandlockABI: 7}, {Lite: true}, {Listener: true, Extra: extra}} {
		o.Arch, o.NoteFD = AMD64, testNote
		enforce, learn := built(t, Enforce(o)), built(t, Learn(o))
		for n := range extra {
			nr, ok := Number(AMD64, n)
			if !ok {
				t.Fatalf("%s has no number", n)
			}
			for _, args := range [][6]uint64{{}, {1, 1, 1, 1, 1, 1}, {ones, ones, ones, ones, ones, ones}} {
				e, err := enforce.Simulate(uint32(AMD64), nr, args)
				l, err2 := learn.Simulate(uint32(AMD64), nr, args)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				wantE, wantL := Fail(ErrnoOf(n)), Fail(ErrnoOf(n))
				if contains(meant, n) {
					wantL = Trace
					if o.Listener {
						wantE = retNotify
					}
				}
				if e != wantE || l != wantL {
					t.Errorf("%s%x: enforce %v, learn %v; want %v, %v", n, args, e, l, wantE, wantL)
				}
			}
		}
	}
}

// A guard that refuses in enforcement stops the tracer in learning, never runs.
func TestLearnGuards(t *testing.T) {
	p := built(t, Learn(Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 7}))
	for _, c := range []struct {
		call string
		args [6]uint64
		want Action
	}{
		{"write", [6]uint64{1}, Allow},
		{"write", [6]uint64{uint64(uint32(0xffffffff - 0x505342 + 1))}, Trace},
		{"ioctl", [6]uint64{0, tiocsti | upper}, Trace},
		{"ioctl", [6]uint64{0, 0x5401}, Allow},
		{"clone", [6]uint64{0x10000000}, Trace},
		{"socket", [6]uint64{17, 3}, Trace},
		{"socket", [6]uint64{1, 1}, Trace},
		{"socketpair", [6]uint64{1, 1}, Allow},
		{"socketpair", [6]uint64{1, 2}, Trace},
		{"getsockopt", [6]uint64{3, 1, 77}, Fail(ENOPROTOOPT)},
		{"sendto", [6]uint64{3, 0, 0, msgFastopen}, Fail(EOPNOTSUPP)},
		{"connect", [6]uint64{3}, Trace},
		{"seccomp", [6]uint64{1, newListener}, Fail(EBUSY)},
		{"execve", [6]uint64{}, Trace},
	} {
		nr, _ := Number(AMD64, c.call)
		if got, err := p.Simulate(uint32(AMD64), nr, c.args); err != nil || got != c.want {
			t.Errorf("%s%x: %v (%v), want %v", c.call, c.args, got, err, c.want)
		}
	}
	if got, err := p.Simulate(uint32(AMD64), 9999, [6]uint64{}); err != nil || got != Trace {
		t.Errorf("unknown number: %v (%v)", got, err)
	}
}

// Numbers of another interface mean other calls, so each is death, in every filter.
func TestForeignInterface(t *testing.T) {
	const i386, arm, riscv = 0x40000003, 0x40000028, 0xc00000f3
	for title, f := range filters() {
		p := built(t, f)
		for _, arch := range []uint32{i386, arm, riscv, uint32(AMD64), uint32(ARM64), 0} {
			if arch == uint32(f.Arch) {
				continue
			}
			for nr := 0; nr < 600; nr += 7 {
				if got, err := p.Simulate(arch, nr, [6]uint64{}); err != nil || got != Kill {
					t.Fatalf("%s: arch %#x call %d: %v (%v)", title, arch, nr, got, err)
				}
			}
		}
		if f.Arch == AMD64 {
			for _, nr := range []int{x32Bit, x32Bit | 1, x32Bit | 59, x32Bit | 512, 0x7fffffff, 0x80000000, 0xfffffffe} {
				if got, err := p.Simulate(uint32(AMD64), nr, [6]uint64{}); err != nil || got != Kill {
					t.Errorf("%s: x32 call %#x: %v (%v)", title, nr, got, err)
				}
			}
		}
	}
}

func TestReaper(t *testing.T) {
	p := built(t, Reaper(AMD64))
	for _, c := range []struct {
		call string
		args [6]uint64
		want Action
	}{
		{"wait4", [6]uint64{}, Allow}, {"waitid", [6]uint64{}, Allow}, {"recvmsg", [6]uint64{}, Allow}, {"poll", [6]uint64{}, Allow},
		{"kill", [6]uint64{2, 15}, Allow}, {"exit_group", [6]uint64{}, Allow}, {"signalfd4", [6]uint64{}, Allow},
		{"mmap", [6]uint64{0, 4096, 3}, Allow}, {"mmap", [6]uint64{0, 4096, 5}, Kill}, {"mmap", [6]uint64{0, 4096, 4 | upper}, Kill},
		{"mprotect", [6]uint64{}, Kill}, {"execve", [6]uint64{}, Kill}, {"ptrace", [6]uint64{}, Kill}, {"openat", [6]uint64{}, Kill},
		{"socket", [6]uint64{}, Kill}, {"clone", [6]uint64{}, Kill}, {"mount", [6]uint64{}, Kill}, {"setns", [6]uint64{}, Kill},
		{"getuid", [6]uint64{}, Fail(ENOSYS)}, {"rseq", [6]uint64{}, Fail(ENOSYS)},
	} {
		nr, _ := Number(AMD64, c.call)
		if got, err := p.Simulate(uint32(AMD64), nr, c.args); err != nil || got != c.want {
			t.Errorf("%s%x: %v (%v), want %v", c.call, c.args, got, err, c.want)
		}
	}
}

// Rules of one call are tried in order and none swallows another, whatever libseccomp makes of such sets.
func TestOrderIsExact(t *testing.T) {
	f := Filter{Arch: AMD64, Default: Fail(ENOSYS), Calls: []Call{
		{Name: "write", When: []Cond{is(0, 7), has(2, 1)}, Do: Fail(EBADF)},
		{Name: "write", When: []Cond{is(0, 7)}, Do: Allow},
		{Name: "write", When: []Cond{lacks(0, 0xf0)}, Do: Fail(EBUSY)},
		{Name: "write", Do: Trace},
		{Name: "read", When: []Cond{null(1)}, Do: Allow}, // no last word: the default
		{Name: "close", Do: Fail(ENOSYS)},                // equals the default
	}}
	p := built(t, f)
	for _, c := range []struct {
		nr   int
		args [6]uint64
		want Action
	}{
		{1, [6]uint64{7, 0, 1}, Fail(EBADF)}, {1, [6]uint64{7, 0, 2}, Allow}, {1, [6]uint64{8, 0, 1}, Fail(EBUSY)},
		{1, [6]uint64{0x17, 0, 1}, Trace}, {0, [6]uint64{0, 0}, Allow}, {0, [6]uint64{0, upper}, Fail(ENOSYS)}, {3, [6]uint64{}, Fail(ENOSYS)},
	} {
		if got, err := p.Simulate(uint32(AMD64), c.nr, c.args); err != nil || got != c.want {
			t.Errorf("call %d %x: %v (%v), want %v", c.nr, c.args, got, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for want, f := range map[string]Filter{
		"no filter for arch 0x1":       {Arch: 1, Default: Allow},
		"without a default action":     {Arch: AMD64},
		"rule without a call":          {Arch: AMD64, Default: Allow, Calls: []Call{{Do: Trace}}},
		"rule without an action":       {Arch: AMD64, Default: Allow, Calls: []Call{{Name: "read"}}},
		"after one that always":        {Arch: AMD64, Default: Allow, Calls: []Call{{Name: "read", Do: Trace}, {Name: "read", Do: Trace}}},
		"never or always holds":        {Arch: AMD64, Default: Allow, Calls: []Call{{Name: "read", When: []Cond{{Arg: 0, Mask: 1, Value: 2}}, Do: Trace}}},
		"argument 6 never or always":   {Arch: AMD64, Default: Allow, Calls: []Call{{Name: "read", When: []Cond{{Arg: 6, Mask: 1}}, Do: Trace}}},
		"read: rule without an action": {Arch: AMD64, Default: Allow, Calls: []Call{{Name: "read", Do: 5}}},
	} {
		if _, err := f.Build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", f, err, want)
		}
	}
}

// programs keeps what was built, by filter text: many rows share one.
var programs = map[string]Program{}

func built(t *testing.T, f Filter) Program {
	t.Helper()
	if p, ok := programs[f.String()]; ok {
		return p
	}
	p, err := f.Build()
	if err != nil {
		t.Fatal(err)
	}
	programs[f.String()] = p
	return p
}

// TestExplainTracesOnlyWhatIsAllowed: the calls named stop a tracer where they would have run, and nothing else differs from the filter of an
// enforced run.
func TestExplainTracesOnlyWhatIsAllowed(t *testing.T) {
	o := Options{Arch: AMD64, NoteFD: testNote, Listener: true, Extra: map[string]bool{"unlink": false}}
	plain, traced := Enforce(o), Explain(o, []string{"openat", "execve", "unlink", "mount", "write"})
	stopped := map[string]bool{}
	for i, c := range plain.Calls {
		d := traced.Calls[i]
		if c.Do == d.Do {
			continue
		}
		if c.Do != Allow || d.Do != Trace || d.Name != c.Name {
			t.Errorf("%s: %v became %v of %s", c.Name, c.Do, d.Do, d.Name)
		}
		stopped[c.Name] = true
	}
	for name, want := range map[string]bool{"openat": true, "execve": true, "unlink": false, "mount": false, "stat": false} {
		if stopped[name] != want {
			t.Errorf("%s stops a tracer: %v, want %v", name, stopped[name], want)
		}
	}
	if traced.Default != plain.Default {
		t.Errorf("what is not listed: %v, want %v", traced.Default, plain.Default)
	}
}
