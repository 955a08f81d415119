// Does to the process: copies socket options from a socket of the program to one of psb's.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: outside_linux.go, listen_linux.go.
// Proved by: TestOptionsCarryOver.

package broker

import "golang.org/x/sys/unix"

// option is one that programs set before they connect or listen, with the value that every new socket has; what differs was set.
type option struct {
	level, name int
	usual       int
	family      int // 0 for every one
}

// Options that say how a connection behaves are carried over; none that says where it goes (SO_BINDTODEVICE, SO_MARK, IP_OPTIONS) and none
// that makes a send connect (TCP_FASTOPEN_CONNECT). Each costs a call, so what matters only with another one is asked for after it.
func ofConnections() []option {
	return []option{
		{unix.SOL_SOCKET, unix.SO_OOBINLINE, 0, 0}, {unix.IPPROTO_TCP, unix.TCP_NODELAY, 0, 0}, {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 0, 0},
		{unix.IPPROTO_IP, unix.IP_TOS, 0, unix.AF_INET}, {unix.IPPROTO_IPV6, unix.IPV6_TCLASS, 0, unix.AF_INET6},
	}
}

func ofListeners() []option {
	return []option{
		{unix.SOL_SOCKET, unix.SO_REUSEADDR, 0, 0}, {unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0, unix.AF_INET6},
		{unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 0, 0},
	}
}

func ofKeepAlive() []option {
	return []option{{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, -1, 0}, {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, -1, 0}, {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, -1, 0}}
}

// buffers are the sizes that a new socket has.
type buffers map[int]int

func buffersOf(fd int) buffers {
	b := buffers{}
	for _, name := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
		b[name], _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, name)
	}
	return b
}

// usualBuffers are those of the program's own sockets: of a new one in its network.
func (b *Broker) usualBuffers() buffers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buffers != nil {
		return b.buffers
	}
	fd, err := -1, error(nil)
	if b.cfg.Lite {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	} else {
		fd, err = b.cfg.Socket(unix.AF_INET, unix.SOCK_STREAM)
	}
	if err != nil {
		return buffers{}
	}
	defer unix.Close(fd)
	b.buffers = buffersOf(fd)
	return b.buffers
}

// carryOver gives a new socket of a family the options that the program set on its own, of the family own. usual are the sizes of buffers
// that were not set.
func carryOver(from, to, own, family int, usual buffers, also ...option) {
	carry(from, to, own, family, ofConnections())
	carry(from, to, own, family, also)
	if on, err := unix.GetsockoptInt(from, unix.SOL_SOCKET, unix.SO_KEEPALIVE); err == nil && on != 0 {
		_ = unix.SetsockoptInt(to, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		carry(from, to, own, family, ofKeepAlive())
	}
	for _, name := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} { // setting a buffer's size to what it is would fix it
		is, err := unix.GetsockoptInt(from, unix.SOL_SOCKET, name)
		if err == nil && is != usual[name] {
			_ = unix.SetsockoptInt(to, unix.SOL_SOCKET, name, is/2) // the kernel doubles what it is given
		}
	}
	for _, name := range []int{unix.SO_SNDTIMEO, unix.SO_RCVTIMEO} {
		if t, err := unix.GetsockoptTimeval(from, unix.SOL_SOCKET, name); err == nil && (t.Sec != 0 || t.Usec != 0) {
			_ = unix.SetsockoptTimeval(to, unix.SOL_SOCKET, name, t)
		}
	}
	carryLinger(from, to)
}

func carry(from, to, own, family int, list []option) {
	for _, o := range list {
		if o.family != 0 && (o.family != own || o.family != family) {
			continue
		}
		if is, err := unix.GetsockoptInt(from, o.level, o.name); err == nil && is != o.usual {
			_ = unix.SetsockoptInt(to, o.level, o.name, is)
		}
	}
}
