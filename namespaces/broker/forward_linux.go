// Does to the process: accepts connections on the host and carries their bytes to a server that listens at another address.
// Undone: the listener and its connections are closed at the box's end.
// Preconditions: a listening socket.
// Called by: listen_linux.go.
// Proved by: TestNetworkServerAtTwoPlaces.

package broker

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mostCarried  = 512 // connections of one place that are carried at one time
	mostForwards = 64  // places
)

// lead makes a further place on the host lead to a server, as long as that listens.
func (b *Broker) lead(k *call, from netip.AddrPort, to listener, backlog int) error {
	select {
	case b.forwards <- struct{}{}:
	default:
		return unix.EMFILE
	}
	fd, err := b.hostListener(k, from, from, backlog)
	if err == nil {
		err = b.forward(fd, to)
	}
	if err != nil {
		<-b.forwards
	}
	return err
}

// forward serves a listening socket until the server it leads to listens no more.
func (b *Broker) forward(fd int, to listener) error {
	f := os.NewFile(uintptr(fd), "listening")
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return err
	}
	b.calls.Add(1)
	go func() {
		defer b.calls.Done()
		defer func() { <-b.forwards }()
		defer l.Close()
		slots := make(chan struct{}, mostCarried)
		for {
			// Looked at every second: whoever takes the server's address after it is not this box's.
			_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Second))
			c, err := l.Accept()
			switch {
			case b.ctx.Err() != nil || !b.listensStill(to):
				if err == nil {
					c.Close()
				}
				return
			case errors.Is(err, os.ErrDeadlineExceeded):
				continue
			case err != nil:
				return
			}
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				b.carry(c.(*net.TCPConn), to.at)
			}()
		}
	}()
	return nil
}

// carry moves bytes both ways until both ends have said theirs, or the box ends.
func (b *Broker) carry(c *net.TCPConn, to netip.AddrPort) {
	defer c.Close()
	d, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
	if err != nil {
		return
	}
	defer d.Close()
	end := make(chan struct{})
	defer close(end)
	go func() {
		select {
		case <-b.ctx.Done():
			c.Close()
			d.Close()
		case <-end:
		}
	}()
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(c, d) // splice(2)
		_ = c.CloseWrite()
	}()
	_, _ = io.Copy(d, c)
	_ = d.CloseWrite()
	<-back
}
