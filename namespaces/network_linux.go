// Does to the process: takes over sockets of the box's network.
// Undone: closing them.
// Preconditions: Spec.Loopback; Ready has returned.
// Called by: cmd/psb, for the broker.
// Proved by: TestSocketsOfTheBox, TestSocketOfABoxThatIsGone.

package namespaces

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// madeSocket is what the reaper answers: a descriptor, or -1 and why not.
type madeSocket struct {
	fd    int
	errno syscall.Errno
}

func (s madeSocket) close() {
	if s.fd >= 0 {
		unix.Close(s.fd)
	}
}

// keepNetwork takes over the sockets that the reaper handed out.
func (b *Box) keepNetwork(fds []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, fd := range fds {
		switch {
		case fd < 0:
		case i < len(b.network) && b.network[i] == nil:
			b.network[i] = os.NewFile(uintptr(fd), "socket of the box's network")
		default:
			unix.Close(fd)
		}
	}
}

// Network gives, after Ready, two netlink sockets of the box's own network, nil where it has none (Spec.Loopback): diag for sock_diag(7), or
// where the kernel lacks that any socket, to compare others with; route for rtnetlink(7), opened while the box had its capabilities, so
// that psb may set addresses and routes by it. The caller closes them.
func (b *Box) Network() (diag, route *os.File) {
	b.mu.Lock()
	defer b.mu.Unlock()
	diag, route = b.network[0], b.network[1]
	b.network = [2]*os.File{}
	return diag, route
}

// Socket gives a new socket of the box's network: domain is AF_INET or AF_INET6, kind SOCK_STREAM or SOCK_DGRAM; it is non-blocking and
// close-on-exec. The reaper makes it, so it comes only once the program has been started, and an error says that the box is gone or what
// socket(2) said. The caller closes it.
func (b *Box) Socket(domain, kind int) (int, error) {
	b.asking.Lock()
	defer b.asking.Unlock()
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return -1, errGone
	}
	err := sendTwo(b.control, msgMake, domain, kind, 0)
	b.mu.Unlock()
	if err != nil {
		return -1, errGone
	}
	select {
	case s := <-b.made:
		if s.fd < 0 {
			return -1, s.errno
		}
		return s.fd, nil
	case <-b.done:
		return -1, errGone
	}
}

var errGone = errors.New("the box is gone")
