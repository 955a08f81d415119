// Does to the process: binds the program's own sockets for it, inside the box's network; publishes servers of datagrams.
// Undone: closing the socket.
// Preconditions: the call waits at the listener.
// Called by: broker_linux.go.
// Proved by: TestNetworkServer, TestNetworkDatagramServer, TestNetworkAttackHandedSocket.

package broker

import (
	"net/netip"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// bind answers bind(2). goOn: the kernel runs the program's own call. It does for sockets that are no internet ones, whatever the program
// makes of them meanwhile: Landlock refuses its own TCP binds, and a datagram socket of the host's is never handed in.
func (b *Broker) bind(k *call) (goOn bool, err error) {
	if err := k.takeSocket(&b.callers); err != nil {
		return false, err
	}
	if k.domain == unix.AF_UNIX && !b.net.has(k.socket) {
		return false, unix.EINVAL // an abstract name would be the host's
	}
	if k.domain != unix.AF_INET && k.domain != unix.AF_INET6 { // what it is now does not matter: the kernel runs the program's own call
		if k.domain == unix.AF_UNIX && b.cfg.Did != nil && k.takeAddress(k.r.Args[1], k.r.Args[2]) == nil {
			b.tellUnixBind(k)
		}
		return true, nil
	}
	if err := k.takeAddress(k.r.Args[1], k.r.Args[2]); err != nil {
		return false, err
	}
	if !b.net.has(k.socket) {
		return false, unix.EINVAL // as of a socket that is bound already
	}
	if k.address.Family != seccomp.FamilyInet && k.address.Family != seccomp.FamilyInet6 && k.address.Family != seccomp.FamilyUnspec {
		return false, unix.EAFNOSUPPORT
	}
	if to := k.address.Addr; to.IsValid() && !own(to.Addr()) && len(b.cfg.Judge.PublishAt(to, k.protocol() == unix.IPPROTO_UDP)) > 0 {
		_ = b.route() // an address of the host, where it is to be reached: inside every address is the box's own then
	}
	if err := bindBytes(k.socket, k.raw); err != nil {
		return false, err
	}
	if k.address.Addr.Port() == 0 {
		b.free.set(k.socket, localOf(k.socket).Port())
	} else {
		b.free.leave(k.socket)
	}
	if k.protocol() == unix.IPPROTO_UDP && k.address.Addr.Port() != 0 {
		return false, b.publishDatagrams(k, localOf(k.socket))
	}
	return false, nil
}

// publishDatagrams makes a server of datagrams reachable from the host, where a rule says so.
func (b *Broker) publishDatagrams(k *call, asked netip.AddrPort) (err error) {
	if b.cfg.Did != nil {
		defer func() {
			if err == nil {
				b.did(k, target{addr: asked.Addr(), port: asked.Port(), udp: true}.access(policy.OpListen), nil)
			}
		}()
	}
	inside := netip.AddrPortFrom(loopbackTarget(asked, true).addr, asked.Port())
	for _, at := range b.cfg.Judge.PublishAt(asked, true) {
		if err = b.relay.Publish(at, inside); err != nil {
			return err
		}
	}
	return nil
}

// tellUnixBind tells of the file that a bind makes. The kernel runs the call, so what came of it is looked at shortly after; a file that is
// gone by then is not told of.
func (b *Broker) tellUnixBind(k *call) {
	if k.address.Family != seccomp.FamilyUnix || k.address.Abstract || k.address.Path == "" || k.takeCaller() != nil {
		return
	}
	from, err := k.who.walk(k.address.Path)
	if err != nil {
		return
	}
	at := k.address.Path
	if !strings.HasPrefix(at, "/") {
		at = path.Join(from.text, at)
	}
	a := policy.Access{Op: policy.OpWrite, Object: path.Clean(at)}
	tid := k.r.TID
	if fd, err := from.pin(); !os.IsNotExist(err) { // it is there already, or out of reach
		if err == nil {
			unix.Close(fd)
		}
		from.close()
		return
	}
	b.calls.Add(1)
	go func() {
		defer b.calls.Done()
		defer from.close()
		for pause := 100 * time.Microsecond; pause < 200*time.Millisecond; pause *= 2 {
			time.Sleep(pause)
			if fd, err := from.pin(); err == nil {
				unix.Close(fd)
				b.cfg.Did(tid, a, "")
				return
			}
		}
		b.cfg.Did(tid, a, "EACCES")
	}()
}
