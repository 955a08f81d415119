// Does to the process: answers for a box that shares the host's network: connects for it, binds and makes listen what rules allow.
// Undone: closing the sockets, which are the program's.
// Preconditions: Landlock refuses the program's own TCP connects and binds (ABI 4), and the filter every other kind of internet socket.
// Called by: broker_linux.go.
// Proved by: TestNetworkLite.

package broker

import (
	"net"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// actLite makes a call of a box without a network of its own. Its loopback is the host's.
func (b *Broker) actLite(k *call) (goOn bool, err error) {
	switch k.r.Name {
	case "listen":
		return false, b.listenLite(k)
	case "bind":
		return b.bindLite(k)
	case "connect":
		return false, b.connectLite(k)
	}
	return true, nil // no socket here sends by an address
}

func (b *Broker) connectLite(k *call) error {
	if err := k.takeSocket(&b.callers); err != nil {
		return err
	}
	if err := k.takeAddress(k.r.Args[1], k.r.Args[2]); err != nil {
		return err
	}
	if err := fits(k.domain, k.address.Family); err != nil {
		return err
	}
	switch k.address.Family {
	case seccomp.FamilyUnix:
		return b.later(k, func() error { return b.connectUnixLite(k) })
	case seccomp.FamilyInet, seccomp.FamilyInet6:
		if k.protocol() == unix.IPPROTO_TCP {
			return b.connectStreamLite(k, k.address.Addr)
		}
	}
	return b.refuse(policy.Access{Op: policy.OpConnect, Object: k.address.String()})
}

func (b *Broker) connectStreamLite(k *call, to netip.AddrPort) error {
	if was, ok := b.given.of(k.socket); ok && was.asked == to && !was.failed {
		return b.reconnect(k)
	}
	if _, err := unix.Getpeername(k.socket); err == nil {
		return unix.EISCONN
	}
	if at, ok := b.published.here(to, b.listensStill); ok {
		return b.handIn(k, at, policy.Access{})
	}
	t, which := b.means(to, false)
	if own(to.Addr()) {
		t = loopbackTarget(to, false)
	}
	if to.Port() == 53 && t.name == "" && !mayTry(b.cfg.Judge, t) { // a resolver, told to use TCP
		at, err := b.nameServerLite()
		if err != nil {
			return unix.ECONNREFUSED
		}
		return b.handIn(k, at, policy.Access{})
	}
	return b.outside(k, t, which)
}

// nameServerLite starts the name server on the host's loopback. Any program of the host may ask it, for names that rules allow.
func (b *Broker) nameServerLite() (netip.AddrPort, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lite.IsValid() {
		return b.lite, nil
	}
	if b.closed {
		return netip.AddrPort{}, net.ErrClosed
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return netip.AddrPort{}, err
	}
	b.closes = append(b.closes, func() { l.Close() })
	go func() { _ = b.names.ServeStream(b.ctx, l) }()
	b.lite = l.Addr().(*net.TCPAddr).AddrPort()
	return b.lite, nil
}

// connectUnixLite connects to a socket of the host that a rule names. Others are refused, whose ever they are: nothing tells them apart.
func (b *Broker) connectUnixLite(k *call) error {
	if err := k.takeCaller(); err != nil {
		return err
	}
	name := "@" + k.address.Path
	if !k.address.Abstract {
		from, err := k.who.walk(k.address.Path)
		if err != nil {
			return k.orGone(err)
		}
		defer from.close()
		host, ruled := b.ruledPath(from, k.address.Path)
		if !ruled {
			return b.refuseUnixLite(k, from)
		}
		if err := b.pinHost(k, host); err != nil {
			return err
		}
		name = host
	} else if !b.rulesUnix(name) {
		return b.refuse(unixAccess(name))
	}
	err := b.inside(k, nil)
	b.did(k, unixAccess(name), err)
	return err
}

// refuseUnixLite gives the kernel's answer where nobody is, and else refuses.
func (b *Broker) refuseUnixLite(k *call, from walk) error {
	err := k.who.as(func() (err error) {
		if k.pin, err = from.pin(); err == nil {
			err = alive(k.pin)
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.refuse(unixAccess(k.nameOfPin()))
}

// bindLite binds where a listen rule lets the program be reached. Who binds listens, sooner or later: there is no port that is the box's alone.
func (b *Broker) bindLite(k *call) (goOn bool, err error) {
	if err := k.takeSocket(&b.callers); err != nil {
		return false, err
	}
	if k.domain != unix.AF_INET && k.domain != unix.AF_INET6 {
		return true, nil
	}
	if err := k.takeAddress(k.r.Args[1], k.r.Args[2]); err != nil {
		return false, err
	}
	if f := k.address.Family; f != seccomp.FamilyInet && f != seccomp.FamilyInet6 || k.protocol() != unix.IPPROTO_TCP {
		return false, unix.EAFNOSUPPORT
	}
	asked := k.address.Addr
	places := b.cfg.Judge.PublishAt(asked, false)
	if len(places) == 0 {
		return false, b.refuse(target{addr: asked.Addr().Unmap(), port: asked.Port()}.access(policy.OpListen))
	}
	if places[0].Addr().Unmap() == asked.Addr().Unmap() {
		b.onlyRuledFamily(k.socket, asked)
		return false, bindBytes(k.socket, k.raw)
	}
	return false, b.bindTo(k, places[0])
}

func (b *Broker) bindTo(k *call, at netip.AddrPort) error {
	b.onlyRuledFamily(k.socket, at)
	if k.domain == unix.AF_INET6 {
		return unix.Bind(k.socket, &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	}
	return unix.Bind(k.socket, sockaddrOf(at))
}

// listenLite makes a bound socket listen; one that is not bound would get any free port.
func (b *Broker) listenLite(k *call) error {
	if err := k.takeSocket(&b.callers); err != nil {
		return err
	}
	if err := k.stillWaits(); err != nil {
		return err
	}
	backlog := int(int32(k.r.Args[1]))
	if k.domain == unix.AF_UNIX {
		if a, err := unix.Getsockname(k.socket); err == nil {
			if u, ok := a.(*unix.SockaddrUnix); ok && strings.HasPrefix(u.Name, "@") { // a name that every program of the host sees
				if a := (policy.Access{Op: policy.OpListen, Object: "unix:" + u.Name}); !b.cfg.Judge.Decide(a).Allowed {
					return b.refuse(a)
				}
			}
		}
		if err := k.takeCaller(); err != nil {
			return err
		}
		return k.who.as(func() error { return unix.Listen(k.socket, backlog) })
	}
	at := localOf(k.socket)
	if places := b.cfg.Judge.PublishAt(at, false); at.Port() == 0 && len(places) > 0 { // the kernel would choose every address, too
		if err := b.bindTo(k, places[0]); err != nil {
			return err
		}
		at = localOf(k.socket)
	}
	if k.protocol() != unix.IPPROTO_TCP || len(b.cfg.Judge.PublishAt(at, false)) == 0 {
		return b.refuse(target{addr: at.Addr().Unmap(), port: at.Port()}.access(policy.OpListen))
	}
	if err := unix.Listen(k.socket, backlog); err != nil {
		return err
	}
	if cookie, ok := cookieOf(k.socket); ok {
		b.published.add(localOf(k.socket), listener{at: localOf(k.socket), cookie: cookie})
	}
	b.did(k, target{addr: at.Addr().Unmap(), port: at.Port()}.access(policy.OpListen), nil)
	return nil
}
