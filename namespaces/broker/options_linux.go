// Does to the process: copies socket options from a socket of the program to one of psb's.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: outside_linux.go, listen_linux.go.
// Proved by: TestOptionsCarryOver.

package broker

import "golang.org/x/sys/unix"

// option is one that programs set before they connect or listen.
type option struct {
	level, name int
	family      int // 0 for every one
}

// carried are options that say how a connection behaves; none that says where it goes (SO_BINDTODEVICE, SO_MARK, IP_OPTIONS) and none that
// makes a send connect (TCP_FASTOPEN_CONNECT).
func carried() []option {
	return []option{
		{unix.SOL_SOCKET, unix.SO_REUSEADDR, 0}, {unix.SOL_SOCKET, unix.SO_REUSEPORT, 0}, {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0},
		{unix.SOL_SOCKET, unix.SO_OOBINLINE, 0}, {unix.SOL_SOCKET, unix.SO_RCVLOWAT, 0},
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 0}, {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 0}, {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 0},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 0}, {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 0}, {unix.IPPROTO_TCP, unix.TCP_SYNCNT, 0},
		{unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 0}, {unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, 0}, {unix.IPPROTO_TCP, unix.TCP_LINGER2, 0},
		{unix.IPPROTO_IP, unix.IP_TOS, unix.AF_INET}, {unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, unix.AF_INET6}, {unix.IPPROTO_IPV6, unix.IPV6_TCLASS, unix.AF_INET6},
	}
}

// carryOver gives a new socket the options of the program's, as far as they differ: setting a buffer's size to what it is would fix it.
func carryOver(from, to, domain int) {
	other, err := unix.GetsockoptInt(to, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return
	}
	for _, o := range carried() {
		if o.family != 0 && (o.family != domain || o.family != other) {
			continue
		}
		is, err := unix.GetsockoptInt(from, o.level, o.name)
		now, err2 := unix.GetsockoptInt(to, o.level, o.name)
		if err == nil && err2 == nil && is != now {
			_ = unix.SetsockoptInt(to, o.level, o.name, is)
		}
	}
	for _, name := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
		is, err := unix.GetsockoptInt(from, unix.SOL_SOCKET, name)
		now, err2 := unix.GetsockoptInt(to, unix.SOL_SOCKET, name)
		if err == nil && err2 == nil && is != now {
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
