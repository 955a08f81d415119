// Does to the process: reads the addresses that datagrams are sent to; nothing is sent for the program.
// Undone: nothing to undo.
// Preconditions: the box's network leads nowhere but to the box's and psb's own sockets.
// Called by: broker_linux.go.
// Proved by: TestNetworkDatagrams, TestNetworkAttackHandedSocket.

package broker

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// mostMessages is how many messages of one sendmmsg(2) are looked at: the kernel's own bound (UIO_MAXIOV).
const mostMessages = 1024

// Sizes on 64-bit machines, see sendmsg(2), sendmmsg(2): the address and its length come first.
const (
	sizeMsghdr  = 56
	sizeMmsghdr = 64
)

// send opens what the datagrams of a call are to go to. The kernel then runs the call itself: whatever its memory says by then, nothing is there
// to receive it but the box and what psb opened for it, and a socket of the host's does not send by an address.
func (b *Broker) send(k *call) error {
	a := k.r.Args
	if k.r.Name == "sendto" {
		return b.sendTo(k, a[4], a[5])
	}
	heads := uint64(1)
	size := uint64(sizeMsghdr)
	if k.r.Name == "sendmmsg" {
		heads, size = min(a[2]&0xffffffff, mostMessages), sizeMmsghdr
	}
	for i := range heads {
		head, err := k.r.Bytes(a[1]+i*size, 12)
		switch {
		case errors.Is(err, seccomp.ErrGone):
			return err
		case err != nil:
			return nil // EFAULT is the kernel's to say
		}
		if err := b.sendTo(k, binary.NativeEndian.Uint64(head), uint64(binary.NativeEndian.Uint32(head[8:]))); err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) sendTo(k *call, at, length uint64) error {
	if at == 0 || int32(length) <= 0 {
		return nil // to the peer already connected
	}
	if err := k.takeAddress(at, length); err != nil {
		if errors.Is(err, seccomp.ErrGone) {
			return err
		}
		return nil // the kernel refuses it, too
	}
	if f := k.address.Family; f != seccomp.FamilyInet && f != seccomp.FamilyInet6 {
		return nil
	}
	if k.socket < 0 {
		if err := k.takeSocket(&b.callers); err != nil {
			return err
		}
		if err := k.stillWaits(); err != nil {
			return err
		}
	}
	if k.kind() != unix.SOCK_DGRAM {
		return nil // a stream does not send by an address
	}
	if !b.net.has(k.socket) {
		return b.refuse(target{addr: k.address.Addr.Addr().Unmap(), port: k.address.Addr.Port(), udp: true}.access(policy.OpConnect))
	}
	return b.openDoor(k.address.Addr, k.protocol(), true)
}
