// Does to the process: finds out whose unix socket a path of the program leads to; opens one of the host's that a rule names.
// Undone: what is pinned is closed when the call is answered.
// Preconditions: Linux 5.6 (openat2).
// Called by: connect_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestUnixSocketsOfTheHost, TestUnixSocketsRuled.

package broker

import (
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"psb/policy"
	"psb/seccomp"
)

// connectUnix connects to a socket of the box's own, or to one of the host's that a rule names.
func (b *Broker) connectUnix(k *call) error {
	switch {
	case k.address.Abstract && b.rulesUnix("@"+k.address.Path):
		return b.connectAbstract(k)
	case !k.address.Abstract && k.address.Path != "": // other abstract names are the socket's own network's
		if err := b.preparePath(k); err != nil {
			return err
		}
	}
	err := b.inside(k, nil)
	if k.hosts != "" {
		b.did(k, unixAccess(k.hosts), err)
	}
	return err
}

// preparePath pins the file a path leads to and asks whose socket it is: the box's own, or one of the host's that a rule names.
func (b *Broker) preparePath(k *call) error {
	if err := k.takeCaller(); err != nil {
		return err
	}
	from, err := k.who.walk(k.address.Path)
	if err != nil {
		return k.orGone(err)
	}
	defer from.close()
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", k.r.TID))
	if err != nil {
		return k.orGone(err)
	}
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	host, ruled := b.ruledPath(from, k.address.Path)
	err = k.who.as(func() (err error) { k.pin, err = from.pin(); return err })
	if err == nil {
		k.to = toPinned(k.pin)
		var own bool
		if own, err = b.net.owns(k.pin, table); own {
			return nil
		}
	}
	if ruled {
		return b.pinHost(k, host)
	}
	if err != nil {
		return err
	}
	// Not the box's: nobody's, or somebody else's. The kernel's answer where nobody is there, or where the file's mode says no.
	if err := k.who.as(func() error { return alive(k.pin) }); err != nil {
		return err
	}
	if own, err := b.net.owns(k.pin, table); own || err != nil { // bound meanwhile
		return err
	}
	return b.refuse(unixAccess(k.nameOfPin()))
}

func unixAccess(name string) policy.Access {
	return policy.Access{Op: policy.OpConnect, Object: "unix:" + name}
}

func (b *Broker) rulesUnix(name string) bool { return b.cfg.Judge.Decide(unixAccess(name)).Allowed }

// ruledPath gives where on the host the socket stands that the program's path names and a rule allows. The rule's own spelling counts, and
// what it led to when the box was started.
func (b *Broker) ruledPath(from walk, named string) (host string, ok bool) {
	at := named
	if !strings.HasPrefix(at, "/") {
		if !strings.HasPrefix(from.text, "/") {
			return "", false
		}
		at = from.text + "/" + named
	}
	at = path.Clean(at)
	for name, led := range b.cfg.Sockets {
		if (at == name || at == led) && (b.rulesUnix(name) || b.rulesUnix(led)) {
			return led, true
		}
	}
	// Another name of it, through a link that the host has and the box may have not. Wherever links lead, only to what a rule names.
	fd, err := unix.Openat2(unix.AT_FDCWD, at, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	for name, led := range b.cfg.Sockets {
		if err == nil && real == led && (b.rulesUnix(name) || b.rulesUnix(led)) {
			return led, true
		}
	}
	return "", false
}

// pinHost opens a socket of the host. No link is followed: where one led when the box was started is in the path already.
func (b *Broker) pinHost(k *call, host string) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, host, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return err
	}
	if k.pin >= 0 {
		unix.Close(k.pin)
	}
	k.pin, k.to, k.hosts = fd, toPinned(fd), host
	if path.IsAbs(k.address.Path) {
		k.hosts = path.Clean(k.address.Path) // the name the program has for it is the one to rule
	}
	return nil
}

// connectAbstract connects to an abstract socket of the host that a rule names: its names belong to a network, so the socket does, too.
func (b *Broker) connectAbstract(k *call) error {
	if err := k.takeCaller(); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, k.kind()|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	err = k.who.as(func() error { return connectBytes(fd, k.raw) })
	b.did(k, unixAccess("@"+k.address.Path), err)
	if err != nil {
		return err
	}
	return b.place(k, fd, flags)
}

// nameOfPin is the file's name in the box, for the report.
func (k *call) nameOfPin() string {
	if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", k.pin)); err == nil {
		return name
	}
	return k.address.Path
}
