// Does to the process: accepts connections on the host and carries their bytes to a server that listens at another address.
// Undone: the listener and its connections are closed at the box's end.
// Preconditions: a listening socket.
// Called by: listen_linux.go.
// Proved by: TestNetworkServerAtTwoPlaces.

package broker

import (
	"io"
	"net"
	"net/netip"
	"os"
)

// mostCarried bounds the connections that are carried at one time.
const mostCarried = 512

// forward serves a listening socket until the box's end.
func (b *Broker) forward(fd int, to netip.AddrPort) error {
	f := os.NewFile(uintptr(fd), "listening")
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return err
	}
	b.atEnd(func() { l.Close() })
	b.calls.Add(1)
	go func() {
		defer b.calls.Done()
		slots := make(chan struct{}, mostCarried)
		for {
			slots <- struct{}{}
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { <-slots }()
				b.carry(c.(*net.TCPConn), to)
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
