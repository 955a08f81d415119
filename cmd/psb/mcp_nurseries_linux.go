// Does to the process: starts psb once more for each kind of box, under boxName, and hands it the pipes of each box; ends it.
// Undone: when close returns, what was started is gone or about to end.
// Preconditions: /proc is mounted.
// Called by: mcp_runner_linux.go, mcp.go.
// Proved by: TestMCPNursery*, TestMCPPoolReplacesTheDead, TestMCPGone.

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nurseries are the psbs that make boxes, one for each kind: what one of them works out for a box serves the next of its kind, and no two kinds share
// a process.
type nurseries struct {
	idle time.Duration // without a box, then it goes

	mu     sync.Mutex
	list   map[boxKind]*nursery
	closed bool
}

// nursery is one of them, as the server knows it.
type nursery struct {
	cmd  *exec.Cmd
	way  *net.UnixConn // takes the ends of each box's pipes; closing it lets the process end, after its boxes
	gone chan struct{} // closed when the process has ended
	how  error         // from gone on

	// nurseries.mu guards these.
	boxes   int
	retired bool // no more boxes come from it
	clock   *time.Timer
}

func newNurseries(idle time.Duration) *nurseries {
	return &nurseries{idle: idle, list: map[boxKind]*nursery{}}
}

func (o *boxOrder) kind() boxKind { return boxKind{o.Profile.Name, o.Network} }

// hand gives the ends of a box's pipes to the nursery of its kind, which is started where there is none.
func (n *nurseries) hand(k boxKind, ends []*os.File) (*nursery, error) {
	var numbers []int
	for _, f := range ends {
		numbers = append(numbers, int(f.Fd()))
	}
	rights := unix.UnixRights(numbers...)
	for again := false; ; again = true {
		home, err := n.of(k)
		if err != nil {
			return nil, err
		}
		if _, _, err = home.way.WriteMsgUnix([]byte{'b'}, rights, nil); err == nil {
			return home, nil
		}
		n.retire(home)
		n.left(home)
		if again || !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) { // else it was killed, and nobody has heard of it yet
			return nil, fmt.Errorf("hand a box to its psb: %w", err)
		}
	}
}

// of is the nursery of a kind, with one box more.
func (n *nurseries) of(k boxKind) (*nursery, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errors.New("the server ends")
	}
	home := n.list[k]
	if home == nil || home.retired || isClosed(home.gone) {
		var err error
		if home, err = startNursery(); err != nil {
			return nil, err
		}
		n.list[k] = home
	}
	home.boxes++
	if home.clock != nil {
		home.clock.Stop()
		home.clock = nil
	}
	return home, nil
}

// left says that a box of it is gone. One that has none is kept for a while.
func (n *nurseries) left(home *nursery) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if home.boxes--; home.boxes > 0 || home.retired {
		return
	}
	home.clock = time.AfterFunc(n.idle, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if home.boxes == 0 {
			home.retire()
		}
	})
}

// retire lets it make no more boxes; those it has go on.
func (n *nurseries) retire(home *nursery) {
	n.mu.Lock()
	defer n.mu.Unlock()
	home.retire()
}

func (home *nursery) retire() {
	if !home.retired {
		home.retired = true
		home.way.Close()
	}
}

// mostEnding is how long the end of the server waits for psbs whose boxes have ended.
const mostEnding = 2 * time.Second

// close makes no more boxes and waits for the psbs whose boxes are gone.
func (n *nurseries) close() {
	n.mu.Lock()
	n.closed = true
	var all []*nursery
	for _, home := range n.list {
		home.retire()
		all = append(all, home)
	}
	n.mu.Unlock()
	late := time.After(mostEnding)
	for _, home := range all {
		select {
		case <-home.gone:
		case <-late: // its pipes hang up when this process ends, and its boxes with them
			return
		}
	}
}

func startNursery() (*nursery, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "boxes"), os.NewFile(uintptr(pair[1]), "boxes")
	defer theirs.Close()
	defer ours.Close() // FileConn has its own
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	home := &nursery{way: conn.(*net.UnixConn), gone: make(chan struct{})}
	home.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{boxName}, Env: os.Environ(), Dir: "/", Stderr: os.Stderr, ExtraFiles: []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}} // the terminal's signals are the server's
	if err := home.cmd.Start(); err != nil {
		home.way.Close()
		return nil, fmt.Errorf("start a box: %w", err)
	}
	go func() {
		home.how = home.cmd.Wait()
		close(home.gone)
		home.way.Close() // it may have been killed, and be replaced without having been retired
	}()
	return home, nil
}
