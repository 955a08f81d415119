package landlock

import (
	"strconv"
	"strings"
)

// Access is a set of LANDLOCK_ACCESS_FS_* bits: rights on files and folders.
type Access uint64

// The kernel's rights on files, with the kernel's names and numbers.
const (
	FSExecute     Access = 1 << iota // execve(2) of a file
	FSWriteFile                      // open a file for writing
	FSReadFile                       // open a file for reading
	FSReadDir                        // read the names of a folder
	FSRemoveDir                      // remove or rename an empty folder inside
	FSRemoveFile                     // unlink or rename a file inside
	FSMakeChar                       // make, rename or link a character device
	FSMakeDir                        // make or rename a folder
	FSMakeReg                        // make, rename or link a regular file
	FSMakeSock                       // make, rename or link a unix socket
	FSMakeFifo                       // make, rename or link a pipe
	FSMakeBlock                      // make, rename or link a block device
	FSMakeSym                        // make, rename or link a symbolic link
	FSRefer                          // link or rename between folders (ABI 2, Linux 5.19)
	FSTruncate                       // truncate(2), ftruncate(2), creat(2), open(2) with O_TRUNC (ABI 3, Linux 6.2)
	FSIoctlDev                       // ioctl(2) on an opened device (ABI 5, Linux 6.10)
	FSResolveUnix                    // connect(2), sendmsg(2) to a unix socket by path (ABI 9, Linux 7.1)
)

// The rights a policy's words turn into. Those with a folder's rights in them must be passed through [ForFile] when the
// object is no folder.
const (
	// ReadFile is `read` of one file.
	ReadFile = FSReadFile
	// ReadTree is `read` of a folder and everything below.
	ReadTree = FSReadFile | FSReadDir
	// ListDir is `list`: the names in a folder. The kernel knows no rule that ends at one folder: it reaches the folders
	// below too, whose names are not hidden by it.
	ListDir = FSReadDir
	// WriteFile is `write` of one file. Truncating is part of it, as most programs open with O_TRUNC.
	WriteFile = FSWriteFile | FSTruncate | FSReadFile
	// MakeIn is making and removing names in a folder, and moving them between folders that have it, without any right on
	// what the files hold: open(2) with O_CREAT makes the empty file and then fails. Device nodes are not in it: no box makes
	// any.
	MakeIn = FSMakeDir | FSMakeReg | FSMakeSock | FSMakeFifo | FSMakeSym | FSRemoveDir | FSRemoveFile | FSRefer
	// CreateIn is `create` on a folder: new names that may then be written and read. The kernel has no right that tells a
	// new file from one that was there: keeping the present entries read-only is the business of mounts.
	CreateIn = MakeIn | WriteFile | FSReadDir
	// WriteTree is `write` of a folder: everything below may be read, changed, made, removed and moved.
	WriteTree = CreateIn
	// ExecFile is `exec` of one file: it implies reading it.
	ExecFile = FSExecute | FSReadFile
	// Device is `device`: a node under /dev with its ioctls.
	Device = FSReadFile | FSWriteFile | FSIoctlDev
	// Socket is connecting to a unix socket by path.
	Socket = FSResolveUnix
)

// onFile are the rights that a rule on anything but a folder may hold.
const onFile = FSExecute | FSWriteFile | FSReadFile | FSTruncate | FSIoctlDev | FSResolveUnix

// ForFile leaves the rights that exist on an object that is no folder. landlock_add_rule(2) answers EINVAL to a folder's
// right on a file.
func ForFile(a Access) Access { return a & onFile }

// Net is a set of LANDLOCK_ACCESS_NET_* bits: rights on ports.
type Net uint64

// The kernel's rights on ports.
const (
	NetBindTCP        Net = 1 << iota // bind(2) of a TCP socket to a port (ABI 4, Linux 6.7)
	NetConnectTCP                     // connect(2) of a TCP socket to a port (ABI 4, Linux 6.7)
	NetBindUDP                        // bind(2) of a UDP socket; port 0 covers the implicit one (ABI 10, Linux 7.2)
	NetConnectSendUDP                 // connect(2), sendto(2) of a UDP socket to a port (ABI 10, Linux 7.2)
)

// TCP and UDP are the rights on the ports of one protocol.
const (
	TCP = NetBindTCP | NetConnectTCP
	UDP = NetBindUDP | NetConnectSendUDP
)

// Scope is a set of LANDLOCK_SCOPE_* bits: ways to reach processes that are not restricted by the same ruleset.
type Scope uint64

// The kernel's scopes (ABI 6, Linux 6.12).
const (
	ScopeAbstractUnixSocket Scope = 1 << iota // connecting to an abstract unix socket outside
	ScopeSignal                               // signalling a process outside
)

var (
	fsNames = []string{"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_char", "make_dir",
		"make_reg", "make_sock", "make_fifo", "make_block", "make_sym", "refer", "truncate", "ioctl_dev", "resolve_unix"}
	netNames   = []string{"bind_tcp", "connect_tcp", "bind_udp", "connect_send_udp"}
	scopeNames = []string{"abstract_unix_socket", "signal"}
)

// String lists the kernel's names in the order of their bits, "read_file,read_dir"; the empty set is "none".
func (a Access) String() string { return setString(uint64(a), fsNames) }

// String lists the kernel's names, "bind_tcp,connect_tcp"; the empty set is "none".
func (n Net) String() string { return setString(uint64(n), netNames) }

// String lists the kernel's names, "abstract_unix_socket,signal"; the empty set is "none".
func (s Scope) String() string { return setString(uint64(s), scopeNames) }

func setString(bits uint64, names []string) string {
	if bits == 0 {
		return "none"
	}
	var out []string
	for i := range 64 {
		switch {
		case bits&(1<<i) == 0:
		case i < len(names):
			out = append(out, names[i])
		default:
			out = append(out, "1<<"+strconv.Itoa(i))
		}
	}
	return strings.Join(out, ",")
}
