// Does to the process: makes every address of the box's network the box's own, so that datagrams to any of them find psb's sockets.
// Undone: with the box's network.
// Preconditions: the netlink socket was opened while the box had its capabilities, and psb owns the box's user namespace.
// Called by: doors_linux.go.
// Proved by: TestNetworkDatagrams.

package broker

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

const loopbackIndex = 1 // of lo in a new network namespace

// route sets the routes once. Without IPv6 in the kernel those of IPv6 are not needed.
func (b *Broker) route() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.routed {
		return nil
	}
	if b.cfg.Route == nil {
		return unix.ENETUNREACH
	}
	fd := int(b.cfg.Route.Fd())
	if err := ask(fd, localDefault(unix.AF_INET, 1, []byte{198, 18, 0, 1})); err != nil {
		return fmt.Errorf("route inside: %w", err)
	}
	_ = ask(fd, localDefault(unix.AF_INET6, 2, nil))
	b.routed = true
	return nil
}

// localDefault is struct nlmsghdr with struct rtmsg: "local default dev lo", with the source address that programs see as theirs.
func localDefault(family byte, seq uint32, source []byte) []byte {
	e := binary.NativeEndian
	body := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL}
	body = e.AppendUint32(body, 0)
	attr := func(kind uint16, value []byte) {
		body = e.AppendUint16(body, uint16(4+len(value)))
		body = e.AppendUint16(body, kind)
		body = append(body, value...)
	}
	attr(unix.RTA_OIF, e.AppendUint32(nil, loopbackIndex))
	if source != nil {
		attr(unix.RTA_PREFSRC, source)
	}
	b := e.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	b = e.AppendUint16(b, unix.RTM_NEWROUTE)
	b = e.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	b = e.AppendUint32(b, seq)
	b = e.AppendUint32(b, 0)
	return append(b, body...)
}

// ask sends one request to the kernel and reads its word on it.
func ask(fd int, request []byte) error {
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var buf [4096]byte
	for {
		n, from, err := unix.Recvfrom(fd, buf[:], 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if nl, ok := from.(*unix.SockaddrNetlink); !ok || nl.Pid != 0 || n < unix.NLMSG_HDRLEN+4 {
			continue // not from the kernel
		}
		if binary.NativeEndian.Uint16(buf[4:]) != unix.NLMSG_ERROR {
			continue
		}
		if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(buf[unix.NLMSG_HDRLEN:]))); errno != 0 && errno != unix.EEXIST {
			return errno
		}
		return nil
	}
}
