// Does to the process: remembers, by their cookies, sockets that were handed in while they were connecting.
// Undone: the oldest are forgotten.
// Preconditions: SO_COOKIE (Linux 4.12).
// Called by: outside_linux.go.
// Proved by: TestGiven, TestNetworkAttackHandedSocket.

package broker

import (
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"
)

// mostGiven bounds the sockets that are remembered: those whose connect was under way when they were handed in.
const mostGiven = 4096

// handed is a socket that was handed in.
type handed struct {
	asked, real netip.AddrPort // what the program said, and what that meant
	failed      bool           // its connect has failed
}

// given remembers what was handed in. The zero given is empty.
type given struct {
	mu    sync.Mutex
	by    map[uint64]handed
	order []uint64 // of the cookies, oldest first
}

func cookieOf(fd int) (uint64, bool) {
	c, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	return c, err == nil
}

func (g *given) add(fd int, h handed) {
	c, ok := cookieOf(fd)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by == nil {
		g.by = map[uint64]handed{}
	}
	g.by[c] = h
	g.order = append(g.order, c)
	for len(g.order) > mostGiven {
		delete(g.by, g.order[0])
		g.order = g.order[1:]
	}
}

func (g *given) of(fd int) (handed, bool) {
	c, ok := cookieOf(fd)
	g.mu.Lock()
	defer g.mu.Unlock()
	h, known := g.by[c]
	return h, ok && known
}

func (g *given) failed(fd int) {
	if c, ok := cookieOf(fd); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		if h, known := g.by[c]; known {
			h.failed = true
			g.by[c] = h
		}
	}
}

func (g *given) drop(fd int) {
	if c, ok := cookieOf(fd); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.by, c)
	}
}
