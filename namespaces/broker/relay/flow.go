package relay

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// flow is what one client and what the door stands for say to each other.
type flow struct {
	client
	ctx  context.Context
	stop context.CancelFunc
	told atomic.Bool // door.sent was called

	mu     sync.Mutex
	socket *socket  // on the other side; nil until there is one and all that waited has left
	queue  [][]byte // what waits for it
	ended  bool
}

func newFlow(c client) *flow {
	f := &flow{client: c}
	f.ctx, f.stop = context.WithCancel(c.door.relay.ctx)
	return f
}

// run finds the other side, sends what waits, and carries answers until the flow ends.
func (f *flow) run() {
	d := f.door
	r := d.relay
	defer r.work.Done()
	defer f.close()
	s, err := d.reach(f.ctx)
	if err != nil {
		return
	}
	defer s.close()
	if !f.flush(s) {
		return
	}
	back := wayTo(f.from, f.local)
	_ = s.each(&r.buffers, func(g *datagram) { // an error says that the peer refused, or that the flow has ended: both end it
		now := time.Now()
		r.mu.Lock()
		d.table.get(f.client, now)
		r.used(d, now)
		r.mu.Unlock()
		_ = d.socket.send(g.data, back) // what the client has no room for is lost
	})
}

// flush sends what waits, in order, until nothing does, and then has new datagrams go straight out. It is false where the flow ended.
func (f *flow) flush(s *socket) bool {
	for {
		f.mu.Lock()
		if f.ended {
			f.mu.Unlock()
			return false
		}
		queue := f.queue
		f.queue = nil
		if len(queue) == 0 {
			f.socket = s
			f.mu.Unlock()
			return true
		}
		f.mu.Unlock()
		for i, b := range queue {
			f.door.relay.waiting.Add(-int64(len(b)))
			if !f.send(s, b) {
				f.drop(queue[i+1:])
				return false
			}
		}
	}
}

// forward sends a datagram of the client's on, or has it wait; one for which there is no room is lost. b is the caller's again afterwards.
func (f *flow) forward(b []byte) {
	f.mu.Lock()
	s := f.socket
	if s == nil && !f.ended && len(f.queue) < mostQueued {
		if f.door.relay.waiting.Add(int64(len(b))) <= mostWaiting {
			f.queue = append(f.queue, bytes.Clone(b))
		} else {
			f.door.relay.waiting.Add(-int64(len(b)))
		}
	}
	f.mu.Unlock()
	if s != nil && !f.send(s, b) {
		f.close()
	}
}

// send is false where the socket is of no use any more.
func (f *flow) send(s *socket, b []byte) bool {
	err := s.send(b, way{})
	if err == nil && f.door.sent != nil && f.told.CompareAndSwap(false, true) {
		f.door.sent()
	}
	return err == nil || passing(err)
}

// close ends the flow; the client's next datagram begins another.
func (f *flow) close() {
	r := f.door.relay
	r.mu.Lock()
	f.forget()
	r.mu.Unlock()
	f.end()
}

// forget takes the flow out of the tables. The relay's mutex is held.
func (f *flow) forget() {
	f.door.table.remove(f.client, f)
	delete(f.door.flows, f)
}

// end closes the flow's socket and drops what waits. It is called once the flow is forgotten, and may come more than once.
func (f *flow) end() {
	f.mu.Lock()
	f.ended = true
	queue, s := f.queue, f.socket
	f.queue = nil
	f.mu.Unlock()
	f.stop()
	f.drop(queue)
	if s != nil {
		s.close()
	}
}

func (f *flow) drop(queue [][]byte) {
	for _, b := range queue {
		f.door.relay.waiting.Add(-int64(len(b)))
	}
}
