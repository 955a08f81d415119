// Does to the process: asks the kernel, by sock_diag netlink, which sockets of the box's network are bound to files; reads mount tables.
// Undone: nothing to undo.
// Preconditions: the socket handed over by the box, from its own network namespace.
// Called by: broker_linux.go, path_linux.go, listen_linux.go.
// Proved by: TestBoundSockets, TestDumpIsRead, TestMountOf, TestUnixSocketsOfTheHost.

package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// inode is a file as the kernel itself numbers it: the device of its file system, not that of stat(2), which btrfs and overlayfs choose, and
// the lower half of its number, which is all that sock_diag tells.
type inode struct{ dev, ino uint32 }

// boxNetwork knows the box's network namespace and the sockets in it.
type boxNetwork struct {
	mu     sync.Mutex // one question at a time
	file   *os.File
	seq    uint32
	cookie uint64          // of the namespace, 0 where the kernel has none (before 5.14)
	host   map[string]bool // devices in psb's mount table at the start
	mute   bool            // the kernel has no unix_diag
}

func newBoxNetwork(f *os.File) (*boxNetwork, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err // without it nothing can be told apart
	}
	n := &boxNetwork{file: f, host: devices(table)}
	cookie, err := unix.GetsockoptUint64(int(f.Fd()), unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err == nil {
		n.cookie = cookie
	} else if err != unix.ENOPROTOOPT {
		return nil, fmt.Errorf("network of the box: %w", err)
	}
	if _, err := n.bound(true); errors.Is(err, errNoDiag) {
		n.mute = true
	} else if err != nil {
		return nil, err
	}
	return n, nil
}

func (n *boxNetwork) close() { n.file.Close() }

// has tells whether a socket belongs to the box's network: one that came in from outside does not.
func (n *boxNetwork) has(fd int) bool {
	if n.cookie != 0 {
		c, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
		return err == nil && c == n.cookie
	}
	own, err := namespaceOf(int(n.file.Fd()))
	if err != nil {
		return false
	}
	other, err := namespaceOf(fd)
	return err == nil && own == other
}

// namespaceOf is the network namespace of a socket; only who rules the namespace is told.
func namespaceOf(fd int) (id [2]uint64, err error) {
	ns, err := unix.IoctlRetInt(fd, unix.SIOCGSKNS)
	if err != nil {
		return id, err
	}
	defer unix.Close(ns)
	var st unix.Stat_t
	err = unix.Fstat(ns, &st)
	return [2]uint64{st.Dev, st.Ino}, err
}

// owns tells whether the socket at a pinned file is bound in the box's network. While the file is held its number is nobody else's, and a
// bound socket holds its file, so that equal numbers mean the same file. table is the program's mount table.
func (n *boxNetwork) owns(pin int, table []byte) (bool, error) {
	fdinfo, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pin))
	if err != nil {
		return false, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(pin, &st); err != nil {
		return false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return false, nil
	}
	mount, ino := pinned(fdinfo)
	if ino == 0 {
		ino = st.Ino // before Linux 5.14
	}
	device := deviceOf(table, mount)
	if device == "" {
		return false, nil // a mount that the program does not see
	}
	dev, err := kernelDevice(device)
	if err != nil {
		return false, err
	}
	// Subvolumes of btrfs, and layers of an overlay, share one device and number their files each for itself: there a number names nobody.
	if n.mute || ino>>32 != 0 || ino != st.Ino || dev != kernelNumber(st.Dev) {
		own, err := os.ReadFile("/proc/self/mountinfo")
		return err == nil && !n.host[device] && !devices(own)[device], err
	}
	want := inode{dev, uint32(ino)}
	for _, listening := range []bool{true, false} { // those that listen are few, and who connects wants one
		list, err := n.bound(listening)
		if err != nil {
			return false, err
		}
		if list[want] {
			return true, nil
		}
	}
	return false, nil
}

// errNoDiag says that the kernel cannot be asked for unix sockets (CONFIG_UNIX_DIAG).
var errNoDiag = errors.New("no unix_diag")

// Numbers of <linux/sock_diag.h> and <linux/unix_diag.h>.
const (
	sockDiagByFamily = 20
	udiagShowVFS     = 2
	unixDiagVFS      = 1
	stateListen      = 1 << 10
)

// listensStill asks the kernel, on the host, whether a socket that was handed in still listens: by the time somebody else may.
func (b *Broker) listensStill(l listener) bool {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, listenerRequest(l), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return false
	}
	var buf [4096]byte
	n, from, err := unix.Recvfrom(fd, buf[:], 0)
	if nl, ok := from.(*unix.SockaddrNetlink); err != nil || !ok || nl.Pid != 0 || n < unix.NLMSG_HDRLEN {
		return false
	}
	return binary.NativeEndian.Uint16(buf[4:]) == sockDiagByFamily
}

// listenerRequest is struct nlmsghdr with struct inet_diag_req_v2: the one listening socket at an address that has this cookie.
func listenerRequest(l listener) []byte {
	e := binary.NativeEndian
	b := e.AppendUint32(nil, 72)
	b = e.AppendUint16(b, sockDiagByFamily)
	b = e.AppendUint16(b, unix.NLM_F_REQUEST)
	b = e.AppendUint32(b, 1)
	b = e.AppendUint32(b, 0)
	family := byte(unix.AF_INET)
	if l.at.Addr().Is6() {
		family = unix.AF_INET6
	}
	b = append(b, family, unix.IPPROTO_TCP, 0, 0)
	b = e.AppendUint32(b, stateListen)
	b = binary.BigEndian.AppendUint16(b, l.at.Port())
	b = binary.BigEndian.AppendUint16(b, 0)
	source := make([]byte, 16)
	copy(source, l.at.Addr().AsSlice())
	b = append(b, source...)
	b = append(b, make([]byte, 16)...)
	b = e.AppendUint32(b, 0)
	b = e.AppendUint32(b, uint32(l.cookie))
	return e.AppendUint32(b, uint32(l.cookie>>32))
}

// bound lists the files that unix sockets of the box's network are bound to.
func (n *boxNetwork) bound(listening bool) (map[inode]bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fd := int(n.file.Fd())
	n.seq++
	states := ^uint32(0)
	if listening {
		states = stateListen
	}
	if err := unix.Sendto(fd, diagRequest(n.seq, states), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		if err == unix.EDESTADDRREQ || err == unix.EAFNOSUPPORT || err == unix.EINVAL || err == unix.EOPNOTSUPP {
			return nil, errNoDiag // not a netlink socket: the kernel has no sock_diag at all
		}
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	list := map[inode]bool{}
	buf := make([]byte, 64<<10)
	for {
		got, from, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
		if nl, ok := from.(*unix.SockaddrNetlink); !ok || nl.Pid != 0 {
			continue // not from the kernel
		}
		if done, err := readDump(buf[:got], n.seq, list); done || err != nil {
			return list, err
		}
	}
}

// diagRequest is struct nlmsghdr with struct unix_diag_req: all sockets in these states, with their files.
func diagRequest(seq, states uint32) []byte {
	e := binary.NativeEndian
	b := e.AppendUint32(nil, 40)
	b = e.AppendUint16(b, sockDiagByFamily)
	b = e.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b = e.AppendUint32(b, seq)
	b = e.AppendUint32(b, 0)
	b = append(b, unix.AF_UNIX, 0, 0, 0)
	b = e.AppendUint32(b, states)
	b = e.AppendUint32(b, 0)
	b = e.AppendUint32(b, udiagShowVFS)
	b = e.AppendUint32(b, ^uint32(0))
	return e.AppendUint32(b, ^uint32(0))
}

// readDump takes what one datagram of a dump says into list.
func readDump(b []byte, seq uint32, list map[inode]bool) (done bool, err error) {
	e := binary.NativeEndian
	for len(b) >= unix.NLMSG_HDRLEN {
		size := int(e.Uint32(b))
		if size < unix.NLMSG_HDRLEN || size > len(b) {
			return false, fmt.Errorf("sock_diag: a message of %d bytes in %d", size, len(b))
		}
		kind, number, body := e.Uint16(b[4:]), e.Uint32(b[8:]), b[unix.NLMSG_HDRLEN:size]
		b = b[min(len(b), (size+3)&^3):]
		if number != seq {
			continue // the rest of a dump that was given up
		}
		switch kind {
		case unix.NLMSG_DONE, unix.NLMSG_ERROR:
			if len(body) < 4 {
				return false, errors.New("sock_diag: an end without a number")
			}
			switch errno := unix.Errno(-int32(e.Uint32(body))); errno {
			case 0:
				return true, nil
			case unix.ENOENT, unix.EOPNOTSUPP, unix.EINVAL:
				return false, errNoDiag
			default:
				return false, fmt.Errorf("sock_diag: %w", errno)
			}
		case sockDiagByFamily:
			if file, ok := boundTo(body); ok {
				list[file] = true
			}
		}
	}
	return false, nil
}

// boundTo finds the file in struct unix_diag_msg and its attributes.
func boundTo(body []byte) (inode, bool) {
	const head = 16
	e := binary.NativeEndian
	for b := body[min(len(body), head):]; len(b) >= 4; {
		size := int(e.Uint16(b))
		if size < 4 || size > len(b) {
			return inode{}, false
		}
		if e.Uint16(b[2:]) == unixDiagVFS && size >= 12 { // struct unix_diag_vfs
			return inode{ino: e.Uint32(b[4:]), dev: e.Uint32(b[8:])}, true
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	return inode{}, false
}

// pinned reads the mount's and, from Linux 5.14 on, the file's own number from /proc/self/fdinfo.
func pinned(fdinfo []byte) (mount string, ino uint64) {
	for line := range bytes.Lines(fdinfo) {
		key, value, _ := strings.Cut(string(line), ":")
		switch value = strings.TrimSpace(value); key {
		case "mnt_id":
			mount = value
		case "ino":
			ino, _ = strconv.ParseUint(value, 10, 64)
		}
	}
	return mount, ino
}

// deviceOf finds a mount's device, "8:1", in a mount table; "" when it is not there.
func deviceOf(table []byte, mount string) string {
	for line := range bytes.Lines(table) {
		if f := strings.Fields(string(line)); len(f) > 2 && f[0] == mount {
			return f[2]
		}
	}
	return ""
}

func devices(table []byte) map[string]bool {
	all := map[string]bool{}
	for line := range bytes.Lines(table) {
		if f := strings.Fields(string(line)); len(f) > 2 {
			all[f[2]] = true
		}
	}
	return all
}

// kernelNumber is the kernel's dev_t of what stat(2) gives.
func kernelNumber(dev uint64) uint32 { return unix.Major(dev)<<20 | unix.Minor(dev) }

// kernelDevice makes the kernel's dev_t of "major:minor".
func kernelDevice(s string) (uint32, error) {
	major, minor, _ := strings.Cut(s, ":")
	a, err := strconv.ParseUint(major, 10, 12)
	if err != nil {
		return 0, err
	}
	b, err := strconv.ParseUint(minor, 10, 20)
	return uint32(a<<20 | b), err
}
