package namespaces

// Spec is everything the stages inside the box need, as data: psb encodes it, stage 2 (C, this binary run again under
// the name StageName) decodes and walks it. Nothing in it is decided inside.
type Spec struct {
	Unshare  Set
	LateUser bool   // real root: enter the user namespace only after the mounts, so that they belong to the parent namespace; needs Unshare.User
	UID, GID uint32 // ids the program has inside
	HostUID  uint32 // ids behind them in psb's namespace (id map "UID HostUID 1"); equal to UID, GID where there is no user namespace
	HostGID  uint32
	Hostname string // kept from the host; "" leaves it; needs Unshare.UTS
	Loopback bool   // bring lo up in the fresh network namespace; needs Unshare.Net

	CgroupProcs []string // how the box comes into its groups before anything runs: cgroup.procs files of v2, tasks files of v1
	Await       bool     // the keeper waits for Box.Proceed before it makes the box: its groups are made meanwhile
	CgroupDirs  []string // groups the keeper removes, in this order, when psb is gone; while psb lives they are psb's to read and remove

	Ops   []Op   // builds the new root, in order; empty = keep the host's root (lite provider)
	Upper uint64 // bytes of the file system that the overlays of Ops write to, on memory, its files counted, too; 0 = there are none. See Box.Upper
	Root  string // host folder the new root is mounted on while it is built; any existing folder, nothing is left there

	Rlimits   []Rlimit
	Landlock  *Landlock // nil = none
	Filter    []byte    // program's seccomp filter: struct sock_filter array in host byte order, at most 4096; empty = none
	Reaper    []byte    // the reaper's own filter: it needs poll, read, write, close, wait4, kill, exit_group, without Unshare.PID pread64 and nanosleep, too
	Listener  bool      // install Filter with SECCOMP_FILTER_FLAG_NEW_LISTENER and hand it over
	Hold      bool      // the tracer seizes the program before Box.Release; it is held until then in any case
	Subreaper bool      // lite provider: Unshare.PID is off on purpose. Reaper and keeper then are child subreapers (CONFIG_PROC_CHILDREN)

	Exec    string   // absolute path inside, given to execve(2)
	Argv    []string // argv[0] included
	Env     []string // NAME=value, complete
	Ignored uint64   // bit n-1: signal n starts ignored, as psb's caller had it; see IgnoredAtStart
	Blocked uint64   // bit n-1: signal n starts blocked, as psb\'s caller had it; see BlockedAtStart
	Dir     string   // working folder inside, absolute
}

// Set says which namespaces the box gets of its own.
type Set struct{ User, Mount, PID, Net, IPC, UTS, Cgroup bool }

// Rlimit is one setrlimit(2): soft and hard get Value, or the caller's own hard limit where that is lower. It holds for the reaper, too: a
// count of processes has to leave room for it.
type Rlimit struct {
	Resource int
	Value    uint64
}

// Landlock is a ruleset made outside, to which stage 2 adds the rules whose objects exist only inside.
type Landlock struct {
	FD    int // ruleset descriptor in psb; Start passes it on
	Rules []LandlockRule
}

// LandlockRule grants Access (LANDLOCK_ACCESS_FS_* bits) beneath, or on, Path inside the box. A missing path is an error, and so is a
// link anywhere on it: it could lead the grant to another object.
type LandlockRule struct {
	Path   string
	Access uint64
}

// OpKind names one act of building the root.
type OpKind uint8

// Acts, newest mount API throughout (Linux 5.12 for mount_setattr(2)). Nothing is ever made in a folder of the host: a target missing
// there is an error. Target is a clean path inside the new root, "/" only for OpDir and OpReadOnly; its missing parent folders are made
// (0755, whatever the umask). Sources and targets are reached with openat2(RESOLVE_IN_ROOT|RESOLVE_NO_SYMLINKS|RESOLVE_NO_MAGICLINKS): a link
// anywhere on the path, its end included, is ELOOP. What is made belongs to the program's id; what is mounted, to who mounts it.
const (
	OpDir      OpKind = iota + 1 // make a folder with Mode; one that is there stays as it is
	OpFile                       // make a regular file with Mode and Data; one that is there is an error
	OpSymlink                    // make a symbolic link at Target that holds Source
	OpTmpfs                      // mount a tmpfs with Mode (0 = 1777) and Size bytes (0 = kernel default; else the files are counted, too), nosuid, nodev
	OpBind                       // mount host object Source on Target (made if missing: folder or file as the source is)
	OpBindIn                     // like OpBind, but Source is a path inside the new root (masks, protected self-binds)
	OpProc                       // mount procfs; what in it tunes the machine is read-only
	OpDevpts                     // mount a devpts instance of its own
	OpMqueue                     // mount mqueue
	OpReadOnly                   // make the mount at Target read-only (with Recursive: everything below it); Target must be a mount
	OpOverlay                    // mount an overlay (Linux 5.11) of the host folder Source on Target, like OpBind without submounts: what is changed goes to Spec.Upper, in a folder of its number among the overlays, from 0
)

// Op is one act.
type Op struct {
	Kind      OpKind
	Source    string
	Target    string
	Recursive bool // OpBind, OpBindIn: with submounts; without it, as an ordinary user, a folder that has some is EINVAL
	ReadOnly  bool // OpBind, OpBindIn, OpTmpfs, OpProc: mount_setattr(2) MOUNT_ATTR_RDONLY (recursive with Recursive)
	NoExec    bool
	Dev       bool   // OpBind, OpBindIn of a device node: leave nodev off
	Optional  bool   // OpBind, OpBindIn: skipped when Source or Target is not there (a link or another object is there, and an error)
	Mode      uint32 // permission bits
	Size      uint64
	Modified  uint64 // OpDir: its time of change in nanoseconds since 1970, where the folder is one of ours at the end; 0 leaves it
	Data      []byte
	// Identity of Source as psb saw it when it resolved the path; stage 2 opens it again without following links and stops when
	// it is another object. Zero Ino: not checked.
	SourceDev, SourceIno uint64
	// IDMap (real root only; OpOverlay needs Linux 5.19 for it): show the source's owner UID/GID IDMapUID/IDMapGID as HostUID/HostGID (id-mapped mount, Linux 5.12).
	IDMap              bool
	UserXattr          bool // OpOverlay in a user namespace: its marks are attributes that an ordinary user may set, and folders of the lower layer cannot be renamed (EXDEV)
	IDMapUID, IDMapGID uint32
}
