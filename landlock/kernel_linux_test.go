package landlock

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

func TestConstantsAreTheKernels(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"execute", uint64(FSExecute), unix.LANDLOCK_ACCESS_FS_EXECUTE},
		{"write_file", uint64(FSWriteFile), unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
		{"read_file", uint64(FSReadFile), unix.LANDLOCK_ACCESS_FS_READ_FILE},
		{"read_dir", uint64(FSReadDir), unix.LANDLOCK_ACCESS_FS_READ_DIR},
		{"remove_dir", uint64(FSRemoveDir), unix.LANDLOCK_ACCESS_FS_REMOVE_DIR},
		{"remove_file", uint64(FSRemoveFile), unix.LANDLOCK_ACCESS_FS_REMOVE_FILE},
		{"make_char", uint64(FSMakeChar), unix.LANDLOCK_ACCESS_FS_MAKE_CHAR},
		{"make_dir", uint64(FSMakeDir), unix.LANDLOCK_ACCESS_FS_MAKE_DIR},
		{"make_reg", uint64(FSMakeReg), unix.LANDLOCK_ACCESS_FS_MAKE_REG},
		{"make_sock", uint64(FSMakeSock), unix.LANDLOCK_ACCESS_FS_MAKE_SOCK},
		{"make_fifo", uint64(FSMakeFifo), unix.LANDLOCK_ACCESS_FS_MAKE_FIFO},
		{"make_block", uint64(FSMakeBlock), unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK},
		{"make_sym", uint64(FSMakeSym), unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
		{"refer", uint64(FSRefer), unix.LANDLOCK_ACCESS_FS_REFER},
		{"truncate", uint64(FSTruncate), unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{"ioctl_dev", uint64(FSIoctlDev), unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{"resolve_unix", uint64(FSResolveUnix), unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
		{"bind_tcp", uint64(NetBindTCP), unix.LANDLOCK_ACCESS_NET_BIND_TCP},
		{"connect_tcp", uint64(NetConnectTCP), unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{"bind_udp", uint64(NetBindUDP), unix.LANDLOCK_ACCESS_NET_BIND_UDP},
		{"connect_send_udp", uint64(NetConnectSendUDP), unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
		{"abstract_unix_socket", uint64(ScopeAbstractUnixSocket), unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
		{"signal", uint64(ScopeSignal), unix.LANDLOCK_SCOPE_SIGNAL},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, the kernel's is %#x", c.name, c.got, c.want)
		}
	}
}

// The table by ABI must be go-landlock's, which makes the descriptor.
func TestTableIsGoLandlocks(t *testing.T) {
	for i, cfg := range []ll.Config{ll.V1, ll.V2, ll.V3, ll.V4, ll.V5, ll.V6, ll.V7, ll.V8, ll.V9, ll.V10, ll.V11} {
		a := abis[i]
		if a.version != i+1 || uint64(a.fs) != uint64(cfg.HandledAccessFS) || uint64(a.net) != uint64(cfg.HandledAccessNet) ||
			uint64(a.scopes) != uint64(cfg.Scoped) {
			t.Errorf("ABI %d: %v; %v; %v, go-landlock has %v", i+1, a.fs, a.net, a.scopes, cfg)
		}
	}
	if len(abis) != NewestABI {
		t.Errorf("%d ABIs in the table, newest is %d", len(abis), NewestABI)
	}
}

func TestRefusalNamesTheCause(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{unix.ENOSYS, "CONFIG_SECURITY_LANDLOCK"},
		{unix.EOPNOTSUPP, "lsm="},
		{unix.EPERM, "seccomp"},
		{unix.EINVAL, "invalid argument"},
	} {
		if got := refusal(c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q does not name %q", c.err, got, c.want)
		}
	}
}

func TestCreateRefusesWhatIsNotFitted(t *testing.T) {
	if fd, err := Create(Ruleset{}); !errors.Is(err, ErrNothing) || fd != -1 {
		t.Errorf("empty ruleset: %d, %v", fd, err)
	}
	if fd, err := Create(Everything()); err == nil || fd != -1 || !strings.Contains(err.Error(), "not fitted") {
		t.Errorf("unfitted ruleset: %d, %v", fd, err)
	}
}

func TestCreateStrict(t *testing.T) {
	s := need(t, 1)
	f := t.TempDir() + "/f"
	mustWrite(t, f, "x")
	fit := func(rules ...PathRule) Ruleset {
		r := Everything()
		r.Paths = rules
		r, _ = r.Fit(s)
		return r
	}
	beyond := fit()
	beyond.HandledFS |= 1 << 50
	newer, _ := Everything().DenyNet().Fit(Support{ABI: NewestABI})
	cases := map[string]struct {
		r    Ruleset
		want string
	}{
		"missing path":           {fit(PathRule{Path: f + ".gone", Access: ReadFile}), f + ".gone"},
		"folder right on a file": {fit(PathRule{Path: f, Access: ReadTree}), "invalid argument"},
		"right of no kernel":     {beyond, "unsupported access rights"},
		"rule beyond handled":    {Ruleset{ABI: s.ABI, HandledFS: FSReadFile, Paths: []PathRule{{Path: "/", Access: ReadTree}}}, "incompatible rule"},
	}
	if s.ABI < NewestABI-1 {
		cases["newer than this kernel"] = struct {
			r    Ruleset
			want string
		}{newer, "missing kernel Landlock support"}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fd, err := Create(c.r)
			if err == nil || fd != -1 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Create = %d, %v; want an error with %q", fd, err, c.want)
			}
		})
	}
	r := fit(PathRule{Path: f, Access: ReadTree, File: true})
	fd, err := Create(r)
	if err != nil {
		t.Fatalf("file rule: %v", err)
	}
	unix.Close(fd)
}

// A rule may only hold handled rights, so adding one rule a right reads back what the descriptor handles.
func TestCreateHandlesWholeABI(t *testing.T) {
	s := need(t, 1)
	for name, r := range map[string]Ruleset{"network of its own": Everything(), "host network": Everything().DenyNet()} {
		t.Run(name, func(t *testing.T) {
			r, _ := r.Fit(s)
			fd, err := Create(r)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("descriptor flags %#x, %v: not close-on-exec", flags, err)
			}
			var fs Access
			for bit := Access(1); bit != 0; bit <<= 1 {
				if err := addPath(fd, "/", bit); err == nil {
					fs |= bit
				} else if !errors.Is(err, unix.EINVAL) {
					t.Fatalf("landlock_add_rule(%v): %v", bit, err)
				}
			}
			if want := abis[s.ABI-1].fs; fs != want {
				t.Errorf("handled on files: %v, want %v", fs, want)
			}
			if s.ABI < 4 {
				return
			}
			var net Net
			for bit := Net(1); bit != 0; bit <<= 1 {
				if err := addPort(fd, 1, bit); err == nil {
					net |= bit
				} else if !errors.Is(err, unix.EINVAL) {
					t.Fatalf("landlock_add_rule(%v): %v", bit, err)
				}
			}
			want := Net(0)
			if r.HandledNet != 0 {
				want = abis[s.ABI-1].net
			}
			if net != want {
				t.Errorf("handled on ports: %v, want %v", net, want)
			}
		})
	}
}

func TestProbeKnowsThisKernel(t *testing.T) {
	s := need(t, 1)
	if s.ABI < 1 || s.ABI > NewestABI {
		t.Errorf("ABI %d", s.ABI)
	}
	if again := Probe(); !reflect.DeepEqual(again, s) {
		t.Errorf("second answer %v differs from %v", again, s)
	}
}
