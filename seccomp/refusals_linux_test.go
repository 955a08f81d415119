// What it does to the process: nothing; starts programs that wear the filter and try forbidden calls.
// Undone: the programs end.
// Preconditions: seccomp, python3.
// Called by: go test.
// Proven by: itself.

package seccomp

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// tried is a raw call and what the program must see.
type tried struct {
	call string
	args string // python expressions
	want Errno
	loud bool // reaches the supervisor
}

var attempts = []tried{
	{"ptrace", "0, 0, 0, 0", EPERM, true},
	{"process_vm_readv", "1, 0, 0, 0, 0, 0", EPERM, true},
	{"mount", "0, 0, 0, 0, 0", EPERM, true},
	{"umount2", "0, 0", EPERM, true},
	{"bpf", "0, 0, 0", EPERM, true},
	{"io_uring_setup", "1, 0", ENOSYS, true},
	{"io_uring_enter", "0, 0, 0, 0, 0, 0", ENOSYS, false},
	{"keyctl", "0, -3, 0, 0, 0", EPERM, true},
	{"perf_event_open", "0, 0, 0, 0, 0", EPERM, true},
	{"userfaultfd", "1", EPERM, true},
	{"unshare", "0x10000000", EPERM, true},
	{"unshare", "0x10000000 | 1 << 32", EPERM, true},
	{"clone", "0x10000000 | 17, 0, 0, 0, 0", EPERM, true},
	{"clone3", "0, 0", ENOSYS, false},
	{"openat2", "-100, 0, 0, 0", ENOSYS, false},
	{"setns", "0, 0", EPERM, true},
	{"open_by_handle_at", "0, 0, 0", EPERM, true},
	{"chroot", "0", EPERM, true},
	{"seccomp", "1, 8, 0", EBUSY, false},
	{"ioctl", "0, 0x5412, 0", EPERM, true},
	{"ioctl", "0, 0x5412 | 1 << 32, 0", EPERM, true},
	{"socket", "17, 3, 0", EPERM, true},
	{"socket", "17 | 1 << 32, 3, 0", EPERM, true},
	{"socket", "2, 3, 1", EPERM, true},
	{"socket", "38, 5, 0", EAFNOSUPPORT, true},
	{"socket", "16, 3, 12", EAFNOSUPPORT, false},
	{"socket", "2, 1, 262", EPROTONOSUPPORT, false},
	{"sendto", "0, 0, 0, 0x20000000, 0, 0", EOPNOTSUPP, false},
	{"fchmod", "0, 0o4755", EPERM, true},
	{"mknodat", "-100, b'n', 0o020666, 0x103", EPERM, true},
	{"openat", "-100, b'n', 0o101, 0o4755", EPERM, true},
	{"personality", "0x400000", EPERM, true},
	{"statmount", "0, 0, 0, 0", ENOSYS, false},
	{"write", "-0x505342, b'{}', 2", EBADF, true},
	{"write", "-0x505342 & 0xffffffff, b'{}', 2", EBADF, true},
	{"write", "-1, b'{}', 2", EBADF, false}, // the kernel's own answer
	{"move_pages", "1, 0, 0, 0, 0, 0", EPERM, false},
}

// Each forbidden call fails with the number documented, with a supervisor and without; the meant ones, and only those, reach
// the supervisor.
func TestKernelRefusals(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	native, err := Native()
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	code.WriteString("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ndef t(*a):\n" +
		" a = [ctypes.c_long(x) if isinstance(x, int) else x for x in a]\n" +
		" ctypes.set_errno(0); libc.syscall.restype = ctypes.c_long; r = libc.syscall(*a); print(ctypes.get_errno() if r == -1 else 'ran')\n")
	var want, loud []string
	for _, a := range attempts {
		nr, ok := Number(native, a.call)
		if !ok {
			t.Fatalf("%s has no number", a.call)
		}
		fmt.Fprintf(&code, "t(%d, %s)\n", nr, a.args)
		want = append(want, fmt.Sprint(uint16(a.want)))
		if a.loud {
			loud = append(loud, a.call)
		}
	}
	for _, listener := range []bool{true, false} {
		t.Run(fmt.Sprintf("listener=%v", listener), func(t *testing.T) {
			var out, errs bytes.Buffer
			cmd := &exec.Cmd{Args: []string{pythons()[0], "-I", "-S", "-c", code.String()}, Dir: t.TempDir(), Stdout: &out, Stderr: &errs}
			o := Options{NoteFD: testNote, Listener: listener, LandlockABI: 7}
			var refused []string
			var err error
			if listener {
				refused, err = denials(t, o, cmd)
			} else {
				startUnder(t, o, cmd)
				err = cmd.Wait()
			}
			got := strings.Fields(out.String())
			if err != nil || len(got) != len(want) {
				t.Fatalf("%v, %d answers for %d calls\n%s", err, len(got), len(want), errs.String())
			}
			for i, a := range attempts {
				if got[i] != want[i] {
					t.Errorf("%s(%s): %s, want %v", a.call, a.args, got[i], a.want)
				}
			}
			if !listener {
				return
			}
			for i := range refused {
				refused[i], _, _ = strings.Cut(refused[i], ":")
			}
			if strings.Join(refused, " ") != strings.Join(loud, " ") {
				t.Errorf("the supervisor saw\n%v, want\n%v", refused, loud)
			}
		})
	}
}

// A call of another interface kills the program, by SIGSYS.
func TestKernelForeignInterface(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	if a, _ := Native(); a != AMD64 {
		t.Skip("amd64 machine code")
	}
	for name, code := range map[string]string{
		"x32": "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)",
		"i386": "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\n" +
			"m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n" + // mov eax, 20; int 0x80; ret
			"ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()",
	} {
		t.Run(name, func(t *testing.T) {
			control := exec.Command(pythons()[0], "-c", code)
			if out, err := control.CombinedOutput(); err != nil {
				t.Skipf("without the filter: %v %s", err, out)
			}
			cmd := &exec.Cmd{Args: []string{pythons()[0], "-c", code}}
			startUnder(t, Options{NoteFD: testNote, LandlockABI: 7}, cmd)
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) {
				t.Fatalf("ended with %v", err)
			}
			if ws := exit.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGSYS {
				t.Errorf("ended with %v, want SIGSYS", exit)
			}
		})
	}
}

// A program may add a filter of its own, and it takes nothing from psb's.
func TestKernelOwnFilter(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	code := `
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
# Everything "notify" or "trace" or "allow" in the newest filter: the older one must still refuse.
for ret in (0x7fff0000, 0x7ff00000 | 7, 0x7ffc0000):
    prog = ctypes.create_string_buffer(
        struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, PTRACE) + struct.pack("HBBI", 6, 0, 0, ret) + struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
    fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(prog)))
    assert libc.prctl(22, 2, fprog) == 0, ctypes.get_errno()
    assert libc.syscall(PTRACE, 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1, ctypes.get_errno()
print("ok")`
	native, _ := Native()
	nr, _ := Number(native, "ptrace")
	code = strings.ReplaceAll(code, "PTRACE", fmt.Sprint(nr))
	var out, errs bytes.Buffer
	cmd := &exec.Cmd{Args: []string{pythons()[0], "-c", code}, Stdout: &out, Stderr: &errs}
	refused, err := denials(t, Options{NoteFD: testNote, Listener: true, LandlockABI: 7}, cmd)
	if err != nil || out.String() != "ok\n" || len(refused) != 3 {
		t.Errorf("%v %q, refused %q\n%s", err, out.String(), refused, errs.String())
	}
}
