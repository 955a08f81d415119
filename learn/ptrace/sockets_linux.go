package ptrace

// Addresses a traced thread connects, sends and listens to.
//
// Does to the process: nothing; takes a duplicate of its socket for a moment and asks it for its type and address.
// Can it be undone: nothing to undo.
// Preconditions: the thread is stopped; pidfd_getfd(2), Linux 5.6, allowed by the ptrace relation.
// Called by: tracer_linux.go.
// Proved by: TestSockets.

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"psb/learn"
	"psb/policy"
)

// sockets remembers, by inode, which sockets asked for any free port.
type sockets map[uint64]bool

// socketInfo is what a duplicate of a socket tells.
type socketInfo struct {
	inode    uint64
	datagram bool
	local    unix.Sockaddr
}

func lookAtSocket(pid, fd int) (info socketInfo, ok bool) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return info, false
	}
	defer unix.Close(pidfd)
	dup, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		return info, false
	}
	defer unix.Close(dup)
	var st unix.Stat_t
	if unix.Fstat(dup, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return info, false
	}
	info.inode = st.Ino
	kind, err := unix.GetsockoptInt(dup, unix.SOL_SOCKET, unix.SO_TYPE)
	info.datagram = err == nil && kind == unix.SOCK_DGRAM
	info.local, _ = unix.Getsockname(dup)
	return info, true
}

// address is a decoded struct sockaddr.
type address struct {
	ip   netip.AddrPort
	path string // of a unix socket: as given; "@name" when abstract
}

// decodeAddress understands internet and unix addresses; ok is false for every other family and for what is cut short.
func decodeAddress(b []byte) (a address, ok bool) {
	if len(b) < 2 {
		return a, false
	}
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_INET:
		if len(b) < 8 {
			return a, false
		}
		ip, _ := netip.AddrFromSlice(b[4:8])
		a.ip = netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[2:]))
		return a, true
	case unix.AF_INET6:
		if len(b) < 24 {
			return a, false
		}
		ip, _ := netip.AddrFromSlice(b[8:24])
		a.ip = netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(b[2:]))
		return a, true
	case unix.AF_UNIX:
		p := b[2:]
		if len(p) == 0 {
			return a, false // autobind
		}
		if p[0] == 0 {
			a.path = "@" + string(p[1:])
			return a, len(p) > 1
		}
		a.path, _, _ = strings.Cut(string(p), "\x00")
		return a, true
	}
	return a, false
}

func readAddress(tid int, addr, size uint64) (address, bool) {
	var buf [128]byte // sizeof(struct sockaddr_storage)
	if addr == 0 || size > uint64(len(buf)) {
		return address{}, false
	}
	n := readMemory(tid, addr, buf[:size])
	return decodeAddress(buf[:n])
}

// networkObject is the policy's word for an internet address.
func networkObject(ap netip.AddrPort, datagram bool) string {
	if datagram {
		return "udp://" + ap.String()
	}
	return ap.String()
}

// enterSocket finds the object of a socket call; "" when it has none that a rule could name.
func (s sockets) enter(th *thread, c *call) (name string) {
	addr, size := c.args[1], c.args[2]
	if c.shape.kind == kindSend {
		addr, size = c.args[4], c.args[5]&0xffffffff
	}
	if c.shape.kind == kindListen {
		return "listen" // the address is the socket's, at the exit
	}
	a, ok := readAddress(th.tid, addr, size)
	if !ok {
		return ""
	}
	if a.path != "" {
		if strings.HasPrefix(a.path, "@") {
			return "unix:" + a.path
		}
		return "unix:" + entry(th.tid, text(th.tid, unix.AT_FDCWD, a.path)).name
	}
	info, ok := lookAtSocket(th.tgid, c.fd())
	c.port0 = a.ip.Port() == 0
	return networkObject(a.ip, ok && info.datagram)
}

// leave tells what a socket call did.
func (s sockets) leave(th *thread, c *call, result int64, tell func(policy.Op, string, learn.How, learn.Errno)) {
	e := errnoOf(result)
	switch c.shape.kind {
	case kindConnect, kindSend:
		tell(policy.OpConnect, c.a.name, learn.Plain, e)
	case kindBind:
		if p, isPath := strings.CutPrefix(c.a.name, "unix:/"); isPath {
			tell(policy.OpWrite, "/"+p, learn.New, e)
			return
		}
		info, ok := lookAtSocket(th.tgid, c.fd())
		if !ok || e != "" {
			if e != "" && !c.port0 {
				tell(policy.OpListen, c.a.name, learn.Plain, e)
			}
			return
		}
		s[info.inode] = c.port0
		if info.datagram && !c.port0 && !strings.HasPrefix(c.a.name, "unix:") {
			tell(policy.OpListen, c.a.name, learn.Plain, "")
		}
	case kindListen:
		info, ok := lookAtSocket(th.tgid, c.fd())
		if !ok {
			return
		}
		port0, bound := s[info.inode]
		switch l := info.local.(type) {
		case *unix.SockaddrInet4:
			tell(policy.OpListen, listenObject(netip.AddrFrom4(l.Addr), l.Port, port0 || !bound), learn.Plain, e)
		case *unix.SockaddrInet6:
			tell(policy.OpListen, listenObject(netip.AddrFrom16(l.Addr), l.Port, port0 || !bound), learn.Plain, e)
		case *unix.SockaddrUnix:
			if l.Name != "" {
				tell(policy.OpListen, "unix:"+c.unixName(th, l.Name), learn.Plain, e)
			}
		}
	}
}

// unixName makes the name a socket was bound to absolute; it is relative to where the process stood then, which is where it
// stands now in all but odd programs.
func (c *call) unixName(th *thread, name string) string {
	if strings.HasPrefix(name, "@") {
		return name
	}
	return entry(th.tid, text(th.tid, unix.AT_FDCWD, name)).name
}

// listenObject is "host:port"; port 0 stands for one the kernel chose.
func listenObject(ip netip.Addr, port int, ephemeral bool) string {
	if ephemeral {
		port = 0
	}
	host := ip.String()
	if ip.Is6() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}
