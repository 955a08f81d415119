package mcpserver

import (
	"io"
	"sync"
)

// feed is the standard input of a task: what was sent is read once, and reading waits until more comes or it is closed.
type feed struct {
	mu     sync.Mutex
	more   *sync.Cond
	bytes  []byte
	closed bool
}

// mostFeed bounds what was sent and not read.
const mostFeed = 1 << 20

func newFeed() *feed {
	f := &feed{}
	f.more = sync.NewCond(&f.mu)
	return f
}

// send adds to what is there; false where it is closed, or would be too much.
func (f *feed) send(b []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.bytes)+len(b) > mostFeed {
		return false
	}
	f.bytes = append(f.bytes, b...)
	f.more.Broadcast()
	return true
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.more.Broadcast()
}

// Read gives io.EOF once it is closed and everything was read.
func (f *feed) Read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.bytes) == 0 && !f.closed {
		f.more.Wait()
	}
	if len(f.bytes) == 0 {
		return 0, io.EOF
	}
	n := copy(b, f.bytes)
	f.bytes = f.bytes[n:]
	return n, nil
}
