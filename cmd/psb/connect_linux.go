// Does to the process: connects the program's own sockets for it, to what belongs to the box; a blocking one gets O_NONBLOCK for a moment.
// Undone: a connect is not; the flag is set back, duplicates are closed.
// Preconditions: the call waits at the listener; Linux 5.6.
// Called by: supervise_linux.go.
// Proved by: TestUnixSocketsOfTheBox, TestUnixSocketsOfTheHost, TestFits.

package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/seccomp"
)

const (
	mostAttempts = 16  // connects that are tried at one time; each takes a few descriptors
	mostWaiting  = 256 // blocking connects whose server is not ready; each keeps a few
)

// connector makes the connects of a box. The kernel never runs the program's own call: between a look at its memory and its descriptors and the
// kernel's, another thread could change both.
type connector struct {
	net      *boxNetwork
	refused  func(object string) // hears of what the policy does not allow
	attempts chan struct{}
	waiting  chan struct{}
	flags    sync.Mutex // held while a socket's O_NONBLOCK is not the program's
}

func newConnector(net *boxNetwork, refused func(string)) *connector {
	return &connector{net: net, refused: refused, attempts: make(chan struct{}, mostAttempts), waiting: make(chan struct{}, mostWaiting)}
}

// connect is one call: the socket and the address are the program's, taken once.
type connect struct {
	r       *seccomp.Request
	who     caller
	socket  int
	domain  int
	raw     []byte // the address as given
	address seccomp.Sockaddr
	pin     int    // of a unix socket by path
	to      []byte // what the socket is connected to: raw, or the pin
}

func (k *connect) close() {
	for _, fd := range []int{k.socket, k.pin} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// serve answers one call. It runs in a goroutine of its own and ends when the caller does.
func (c *connector) serve(r *seccomp.Request) {
	k := &connect{r: r, socket: -1, pin: -1}
	defer k.close()
	if !c.enter(r) {
		return
	}
	err := c.prepare(k)
	blocking := false
	if err == nil {
		blocking, err = c.attempt(k)
	}
	<-c.attempts
	if blocking && k.unfinished(err) {
		err = c.wait(k, err)
	}
	var errno unix.Errno
	switch {
	case err == nil:
		_ = r.Answer(seccomp.Answer{Done: true}) // where nobody waits any more, nobody is answered
	case errors.Is(err, seccomp.ErrGone):
	case errors.As(err, &errno):
		_ = r.Answer(seccomp.Answer{Errno: seccomp.Errno(errno)})
	default:
		_ = r.Answer(seccomp.Answer{Errno: seccomp.EACCES})
	}
}

// enter waits for a turn, as long as the caller does.
func (c *connector) enter(r *seccomp.Request) bool {
	for {
		select {
		case c.attempts <- struct{}{}:
			return true
		case <-time.After(50 * time.Millisecond):
			if !r.Valid() {
				return false
			}
		}
	}
}

// prepare takes the socket and the address and judges them.
func (c *connector) prepare(k *connect) (err error) {
	if k.who, err = callerOf(k.r.TID); err != nil {
		return k.orGone(err)
	}
	if k.socket, err = k.who.socket(int32(k.r.Args[0])); err != nil {
		return k.orGone(err)
	}
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	if k.domain, err = unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		return err // ENOTSOCK
	}
	n := int32(k.r.Args[2])
	if n < 0 || n > seccomp.MaxSockaddr {
		return unix.EINVAL
	}
	if k.raw, err = k.r.Bytes(k.r.Args[1], int(n)); err != nil {
		if errors.Is(err, seccomp.ErrGone) {
			return err
		}
		return unix.EFAULT
	}
	if k.address, err = seccomp.DecodeSockaddr(k.raw); err != nil {
		return unix.EINVAL
	}
	if !c.net.has(k.socket) {
		return c.refuse(k.address.String())
	}
	if err := fits(k.domain, k.address.Family); err != nil {
		return err
	}
	k.to = k.raw
	switch a := k.address; a.Family {
	case seccomp.FamilyInet, seccomp.FamilyInet6:
		if ip := a.Addr.Addr().Unmap(); !ip.IsLoopback() && !ip.IsUnspecified() {
			return c.refuse(a.String())
		}
	case seccomp.FamilyUnix:
		if !a.Abstract && a.Path != "" { // abstract names are the socket's own network's
			return c.preparePath(k)
		}
	}
	return nil
}

// fits compares an address with a socket: what is judged as one family must not be read by the kernel as another.
func fits(domain int, f seccomp.Family) error {
	switch domain {
	case unix.AF_UNIX:
		if f != seccomp.FamilyUnix && f != seccomp.FamilyUnspec {
			return unix.EINVAL
		}
	case unix.AF_INET:
		if f != seccomp.FamilyInet && f != seccomp.FamilyUnspec {
			return unix.EAFNOSUPPORT
		}
	case unix.AF_INET6:
		if f != seccomp.FamilyInet && f != seccomp.FamilyInet6 && f != seccomp.FamilyUnspec {
			return unix.EAFNOSUPPORT
		}
	default:
		return unix.EINVAL
	}
	return nil
}

func (c *connector) refuse(object string) error {
	c.refused(object)
	return unix.EACCES
}

// orGone: what was looked for by number may be missing because the caller is.
func (k *connect) orGone(err error) error {
	if !k.r.Valid() {
		return seccomp.ErrGone
	}
	if err == unix.EPERM {
		return unix.EACCES
	}
	return err
}

// preparePath pins the file a path leads to and asks whose socket it is.
func (c *connector) preparePath(k *connect) error {
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
	if err := k.who.as(func() (err error) { k.pin, err = from.pin(); return err }); err != nil {
		return err
	}
	k.to = toPinned(k.pin)
	own, err := c.net.owns(k.pin, table)
	if own || err != nil {
		return err
	}
	// Not the box's: nobody's, or somebody else's. The kernel's answer where nobody is there, or where the file's mode says no.
	if err := k.who.as(func() error { return alive(k.pin) }); err != nil {
		return err
	}
	if own, err = c.net.owns(k.pin, table); own || err != nil { // bound meanwhile
		return err
	}
	return c.refuse("unix:" + k.nameOfPin())
}

// nameOfPin is the file's name in the box, for the report.
func (k *connect) nameOfPin() string {
	if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", k.pin)); err == nil {
		return name
	}
	return k.address.Path
}

// attempt connects without waiting, and tells whether the program would have waited.
func (c *connector) attempt(k *connect) (blocking bool, err error) {
	connect := func() error { return connectBytes(k.socket, k.to) }
	if k.domain == unix.AF_UNIX {
		plain := connect
		connect = func() error { return k.who.as(plain) } // the peer is told who connects
	}
	c.flags.Lock()
	defer c.flags.Unlock()
	flags, err := unix.FcntlInt(uintptr(k.socket), unix.F_GETFL, 0)
	if err != nil {
		return false, err
	}
	if flags&unix.O_NONBLOCK != 0 || !k.mayWait() {
		return false, connect()
	}
	if _, err := unix.FcntlInt(uintptr(k.socket), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return false, err
	}
	err = connect()
	if _, back := unix.FcntlInt(uintptr(k.socket), unix.F_SETFL, flags); back != nil && err == nil {
		err = back
	}
	return true, err
}

// mayWait: a socket whose connect can wait is one nobody reads from yet, so that the borrowed flag is seen by nobody.
func (k *connect) mayWait() bool {
	kind, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM && kind != unix.SOCK_SEQPACKET || k.address.Family == seccomp.FamilyUnspec {
		return false
	}
	if listens, err := unix.GetsockoptInt(k.socket, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || listens != 0 {
		return false
	}
	_, err = unix.Getpeername(k.socket)
	return err == unix.ENOTCONN
}

// unfinished: a connect that would still wait.
func (k *connect) unfinished(err error) bool {
	switch err {
	case unix.EAGAIN: // the server's queue is full
		return k.domain == unix.AF_UNIX
	case unix.EINPROGRESS, unix.EALREADY:
		return k.domain != unix.AF_UNIX
	}
	return false
}

var errWaits = errors.New("still waits")

// wait goes on with a connect that the program waits in, until it ends, a signal comes or the socket's own time is over. No thread is held meanwhile.
func (c *connector) wait(k *connect, last error) error {
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
	default:
		return unix.EAGAIN
	}
	var until time.Time
	if t, err := unix.GetsockoptTimeval(k.socket, unix.SOL_SOCKET, unix.SO_SNDTIMEO); err == nil && (t.Sec != 0 || t.Usec != 0) {
		until = time.Now().Add(time.Duration(t.Nano()))
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 64*time.Millisecond) {
		time.Sleep(pause)
		who, err := callerOf(k.r.TID)
		switch {
		case !c.enter(k.r):
			return seccomp.ErrGone
		case !k.r.Valid():
			err = seccomp.ErrGone
		case err == nil && who.signals:
			err = unix.EINTR
		case !until.IsZero() && time.Now().After(until):
			err = last
		default:
			_, err = c.attempt(k)
			if k.unfinished(err) {
				err = errWaits
			}
		}
		<-c.attempts
		if err != errWaits {
			return err
		}
	}
}
