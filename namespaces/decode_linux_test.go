package namespaces

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// everything is a Spec that fills every field the stages decode, and whose acts do nothing to the host.
func everything(t testing.TB) *Spec {
	t.Helper()
	s := baseBox("/usr/bin/true", "one", "two")
	s.Hostname, s.Ignored, s.Hold = "box", 1<<9, true
	s.Ops = append(s.Ops, Op{Kind: OpFile, Target: "/a/b", Mode: 0o600, Data: []byte("\x00data")}, Op{Kind: OpBindIn, Source: "/a/b", Target: "/a/c", ReadOnly: true, Optional: true},
		Op{Kind: OpDevpts, Target: "/dev/pts"}, Op{Kind: OpReadOnly, Target: "/tmp"}, Op{Kind: OpOverlay, Source: "/usr/share", Target: "/o", UserXattr: true})
	s.Upper = 1 << 20
	s.Rlimits = []Rlimit{{unix.RLIMIT_CORE, 1}}
	s.Filter = []byte{6, 0, 0, 0, 0, 0, 0xff, 0x7f}
	s.Reaper = s.Filter
	return s
}

// child is what a keeper did with a blob: how it ended, what it said, and whether a program stood ready.
type child struct {
	status syscall.WaitStatus
	said   string
	ready  bool
}

// feed gives a keeper a blob through the descriptors Start uses, and hangs up once it said something. It never says GO.
func feed(t testing.TB, blob []byte) child {
	t.Helper()
	mem, err := unix.MemfdCreate("blob", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(mem)
	if len(blob) > 0 {
		if _, err := unix.Write(mem, blob); err != nil {
			t.Fatal(err)
		}
	}
	var ends [2][2]int
	for i := range ends {
		if ends[i], err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(ends[i][0])
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	none := ^uintptr(0)
	pid, err := syscall.ForkExec("/proc/self/exe", []string{StageName}, &syscall.ProcAttr{Env: []string{},
		Files: []uintptr{uintptr(null), none, none, uintptr(mem), uintptr(ends[0][1]), uintptr(ends[1][1])}})
	unix.Close(ends[0][1])
	unix.Close(ends[1][1])
	if err != nil {
		t.Fatal(err)
	}
	if len(blob) >= 12 && binary.LittleEndian.Uint32(blob[8:])&flagAwait != 0 { // would wait for groups and say nothing
		_ = unix.Shutdown(ends[0][0], unix.SHUT_WR)
	}
	var c child
	for { // the first message that is not the box's pidfd, or the end
		m, aside, err := receive(ends[0][0])
		if fd := descriptor(aside); fd >= 0 {
			unix.Close(fd)
		}
		if err == nil && kindOf(&m) == msgBox {
			if _, _, err := receive(ends[1][0]); err == nil {
				c.ready = true
			}
			_ = unix.Shutdown(ends[0][0], unix.SHUT_WR)
			continue
		}
		if err == nil && kindOf(&m) == msgError {
			c.said = stageError(&m).Error()
		}
		if err == io.EOF {
			break
		}
	}
	for {
		if _, err = syscall.Wait4(pid, &c.status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const misfit = "decode: BUG: the encoded launch does not fit: invalid argument"

func TestDecodeHostile(t *testing.T) {
	needBox(t)
	blob, err := Encode(everything(t))
	if err != nil {
		t.Fatal(err)
	}
	if c := feed(t, blob); !c.ready { // the control: the whole of it stands ready
		t.Fatalf("the whole blob: %+v", c)
	}
	for n := range len(blob) {
		c := feed(t, blob[:n])
		if want := misfit; !c.status.Exited() || c.status.ExitStatus() != 125 || c.ready || n > 0 && c.said != want {
			t.Fatalf("cut at %d: %+v, want exit status 125 and %q", n, c, want)
		}
	}
	if c := feed(t, append(bytes.Clone(blob), 0)); c.said != misfit {
		t.Errorf("one byte more: %+v", c)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		hostile := bytes.Clone(blob)
		for range 1 + random.IntN(4) {
			hostile[random.IntN(len(hostile))] ^= 1 << random.IntN(8)
		}
		if c := feed(t, hostile); !c.status.Exited() {
			t.Fatalf("%x: ended by %v", hostile, c.status)
		}
	}
	for at := 0; at+4 <= len(blob); at += 1 + at%7 { // counts and lengths of every size
		for _, v := range []uint32{1 << 30, 1<<32 - 1, 1 << 31} {
			hostile := bytes.Clone(blob)
			hostile[at], hostile[at+1], hostile[at+2], hostile[at+3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
			if c := feed(t, hostile); !c.status.Exited() {
				t.Fatalf("%x: ended by %v", hostile, c.status)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	if os.Geteuid() == 0 {
		f.Skip("a mutated launch that fits is acted on up to the program: not as root")
	}
	blob, err := Encode(everything(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(blob)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if c := feed(t, b); !c.status.Exited() {
			t.Errorf("%x: ended by %v", b, c.status)
		}
	})
}

// Only one name and nothing beside it makes this binary a stage, and a stage without its descriptors does nothing.
func TestEntryOnlyByName(t *testing.T) {
	for _, row := range []struct {
		argv   []string
		output string
		status int
	}{
		{[]string{StageName}, "", 125},
		{[]string{StageName, "x"}, "hello from Go\n", 0},
		{[]string{StageName + "x"}, "hello from Go\n", 0},
		{[]string{"/" + StageName}, "hello from Go\n", 0},
		{[]string{""}, "hello from Go\n", 0},
		{[]string{"psb", StageName}, "hello from Go\n", 0},
	} {
		cmd := psb(t, "hello")
		cmd.Args = row.argv
		out, err := cmd.Output()
		status := 0
		if exit, ok := err.(*exec.ExitError); ok {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if string(out) != row.output || status != row.status {
			t.Errorf("%q: status %d, output %q, want %d, %q", row.argv, status, out, row.status, row.output)
		}
	}
}

func TestMessageSize(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	for _, n := range []int{1, messageSize - 1, messageSize + 1} {
		if _, err := unix.Write(pair[1], make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := receive(pair[0]); err == nil || !strings.HasPrefix(err.Error(), "BUG: a message of ") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	// The longest cause still has its stage and its end; a long path is cut, not dropped.
	needBox(t)
	long := "/" + strings.Repeat("p", 250)
	refused(t, with(shellBox(""), Op{Kind: OpBind, Source: long, Target: "/x"}), "mounts", syscall.ENOENT, long[:150])
	unix.Close(pair[1])
	if _, _, err := receive(pair[0]); err != io.EOF {
		t.Errorf("closed: %v, want EOF", err)
	}
}
