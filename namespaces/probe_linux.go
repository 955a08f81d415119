// Does to the process: reads kernel settings; Probe starts and ends one empty box.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: cmd/psb (doctor, and a run that accepts a lower rung).
// Proved by: TestProbe, TestIDMappable.

package namespaces

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Support is what this host lets the caller do.
type Support struct {
	Namespaces bool   // a box with all of them and a root of its own can be started
	User       bool   // … in a user namespace
	Plain      bool   // … without one: the caller has CAP_SYS_ADMIN
	Reason     string // why Namespaces is false
	Remedy     string // what would make it true
}

// Settings are the kernel's switches for user namespaces; -1 where there is none.
type Settings struct {
	MaxUser, UnprivilegedClone, AppArmor int
}

// ReadSettings reads the switches.
func ReadSettings() Settings {
	return Settings{setting("user/max_user_namespaces"), setting("kernel/unprivileged_userns_clone"), setting("kernel/apparmor_restrict_unprivileged_userns")}
}

func setting(name string) int {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

// Remedy says which switch stands in the way, "" when none is known to.
func (s Settings) Remedy(root bool) string {
	switch {
	case s.MaxUser == 0:
		return "sysctl -w user.max_user_namespaces=10000"
	case root:
		return ""
	case s.UnprivilegedClone == 0:
		return "sysctl -w kernel.unprivileged_userns_clone=1"
	case s.AppArmor == 1:
		return "an AppArmor profile for psb with the rule userns (Ubuntu 24.04; psb doctor prints one), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return ""
}

// Admin reports whether the calling thread has CAP_SYS_ADMIN in effect (capget(2)).
func Admin() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective>>unix.CAP_SYS_ADMIN&1 != 0
}

// Initial reports whether the process is in the initial user namespace, where alone id-mapped mounts of host file systems can be made.
func Initial() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") == "0 0 4294967295"
}

// Probe tries for real: a box with every namespace, a procfs and a bind, ended before any program starts. It takes a few milliseconds.
func Probe() Support {
	root := os.Geteuid() == 0
	set := ReadSettings()
	s := Support{Plain: root && Admin(), Remedy: set.Remedy(root)}
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	spec := &Spec{Unshare: Set{User: true, Mount: true, PID: true, Net: true, IPC: true, UTS: true, Cgroup: true}, LateUser: s.Plain, UID: uid, GID: gid,
		HostUID: uid, HostGID: gid, Loopback: true, Root: "/tmp", Exec: "/", Argv: []string{"probe"}, Dir: "/",
		Ops: []Op{{Kind: OpProc, Target: "/proc"}, {Kind: OpBind, Source: "/usr", Target: "/usr", Recursive: true, ReadOnly: true}}}
	err := try(spec)
	if err == nil {
		s.Namespaces, s.User = true, true
		return s
	}
	if s.Plain {
		spec.Unshare.User, spec.LateUser = false, false
		if again := try(spec); again == nil {
			s.Namespaces, s.Reason = true, "user namespaces do not work: "+err.Error()
			return s
		}
	}
	s.Reason = err.Error()
	if s.Remedy == "" {
		s.Remedy = "a container or host that allows unshare(2) and mount(2), Linux 5.12"
	}
	return s
}

func try(spec *Spec) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	box, err := Start(spec, [3]*os.File{null, null, null})
	if err != nil {
		return err
	}
	_, err = box.Ready()
	go func() {
		for range box.Jobs() {
		}
	}()
	box.Kill()
	_, _ = box.Wait()
	return err
}

// ProbeIDMap says why objects at path cannot be shown through an id-mapped mount; nil when they can. It goes by the kind of file system:
// the kernel has no question for it.
func ProbeIDMap(path string) error {
	if !Initial() {
		return fmt.Errorf("id-mapped mounts need root of the initial user namespace")
	}
	if ReadSettings().MaxUser == 0 {
		return fmt.Errorf("id-mapped mounts take their map from a user namespace, and user.max_user_namespaces is 0")
	}
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return fmt.Errorf("statfs: %w", err)
	}
	var un unix.Utsname
	if err := unix.Uname(&un); err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	return idMappable(int64(st.Type), unix.ByteSliceToString(un.Release[:]))
}

// idMapSince is the first kernel whose file system of that magic number may be id-mapped (FS_ALLOW_IDMAP).
var idMapSince = map[int64]struct {
	name         string
	major, minor int
}{
	0xef53: {"ext4", 5, 12}, 0x4d44: {"vfat", 5, 12}, 0x58465342: {"xfs", 5, 12}, 0x9123683e: {"btrfs", 5, 15},
	0xf2f52010: {"f2fs", 5, 18}, 0xe0f5e1e2: {"erofs", 5, 19}, 0x73717368: {"squashfs", 6, 2}, 0x01021994: {"tmpfs", 6, 3},
	0x00c36400: {"ceph", 6, 7}, 0x2fc12fc1: {"zfs", 5, 12}, 0xca451a4e: {"bcachefs", 6, 10},
}

func idMappable(fstype int64, release string) error {
	since, ok := idMapSince[fstype&0xffffffff]
	if !ok {
		return fmt.Errorf("file system %#x knows no id-mapped mounts", fstype)
	}
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("kernel release %q: %w", release, err)
	}
	if major < since.major || major == since.major && minor < since.minor {
		return fmt.Errorf("%s knows id-mapped mounts since Linux %d.%d", since.name, since.major, since.minor)
	}
	return nil
}
