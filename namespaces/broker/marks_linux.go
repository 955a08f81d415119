// Does to the process: remembers sockets of the program by their cookies.
// Undone: at the box's end.
// Preconditions: SO_COOKIE (Linux 4.12).
// Called by: bind_linux.go, listen_linux.go, connect_linux.go.
// Proved by: TestMarks.

package broker

import "sync"

// marks holds a number for sockets. The zero marks is empty.
type marks struct {
	mu sync.Mutex
	by map[uint64]uint16
}

// mostMarks bounds it: beyond that a socket counts as one without a mark.
const mostMarks = 1 << 16

func (m *marks) set(fd int, n uint16) {
	if c, ok := cookieOf(fd); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.by == nil {
			m.by = map[uint64]uint16{}
		}
		if _, had := m.by[c]; had || len(m.by) < mostMarks {
			m.by[c] = n
		}
	}
}

func (m *marks) of(fd int) (n uint16, marked bool) {
	c, ok := cookieOf(fd)
	m.mu.Lock()
	defer m.mu.Unlock()
	n, marked = m.by[c]
	return n, ok && marked
}

// take marks a socket that is not marked yet; leave takes the mark away.
func (m *marks) take(fd int) bool {
	c, ok := cookieOf(fd)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.by[c]; taken || !ok || len(m.by) >= mostMarks {
		return false
	}
	if m.by == nil {
		m.by = map[uint64]uint16{}
	}
	m.by[c] = 0
	return true
}

func (m *marks) leave(fd int) {
	if c, ok := cookieOf(fd); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.by, c)
	}
}
