package relay

import (
	"context"
	"net/netip"
	"time"
)

// door is a socket that clients send to, inside or outside, and what it stands for on the other side.
type door struct {
	relay  *Relay
	at     netip.AddrPort
	server netip.AddrPort // what a door outside stands for; not valid where the door is inside
	socket *socket
	reach  func(context.Context) (*socket, error) // a new socket, connected to what the door stands for
	sent   func()                                 // hears that a flow's first datagram left; may be nil

	// Guarded by the relay's mutex.
	table *recent[client, *flow] // where its flows are, among those of others
	flows map[*flow]bool         // its own
	gone  bool
}

// client is who sent to a door.
type client struct {
	door  *door
	from  netip.AddrPort
	local netip.Addr // the address it sent to; not valid where the door has only one
}

// serve hands what comes to the flows until the socket is closed or fails for good.
func (d *door) serve() {
	defer d.relay.work.Done()
	defer d.shut()
	_ = d.socket.each(&d.relay.buffers, func(g *datagram) { // a socket that is neither connected nor closed has no error
		if f := d.flow(client{d, g.from, g.local}); f != nil {
			f.forward(g.data)
		}
	})
}

// flow gives the client's flow, a new one where it has none; nil where it may have none.
func (d *door) flow(c client) *flow {
	r, now := d.relay, time.Now()
	r.mu.Lock()
	if d.gone || r.closed {
		r.mu.Unlock()
		return nil
	}
	r.used(d, now)
	if f, ok := d.table.get(c, now); ok {
		r.mu.Unlock()
		return f
	}
	// A program may bind its socket to a door's address, by SO_REUSEADDR. An answer would come to the door, and be sent out, and be answered.
	if !d.server.IsValid() && r.doors.has(c.from) {
		r.mu.Unlock()
		return nil
	}
	var out *flow
	if d.table.len() >= r.cfg.MostFlows {
		out, _, _ = d.table.oldest()
		out.forget()
	}
	f := newFlow(c)
	d.table.put(c, f, now)
	if d.flows == nil {
		d.flows = map[*flow]bool{}
	}
	d.flows[f] = true
	r.arm(r.cfg.Idle)
	r.work.Add(1)
	go f.run()
	r.mu.Unlock()
	if out != nil {
		out.end()
	}
	return f
}

// shut closes the door and its flows; it may come more than once. When it returns the door's address is free.
func (d *door) shut() {
	r := d.relay
	r.mu.Lock()
	d.gone = true
	r.doors.remove(d.at, d)
	if r.published[d.at] == d {
		delete(r.published, d.at)
	}
	var flows []*flow
	for f := range d.flows {
		flows = append(flows, f)
	}
	for _, f := range flows {
		f.forget()
	}
	r.mu.Unlock()
	d.socket.close()
	for _, f := range flows {
		f.end()
	}
}

// used notes that a door carried something. r.mu is held.
func (r *Relay) used(d *door, now time.Time) {
	if !d.server.IsValid() {
		r.doors.get(d.at, now)
	}
}

// arm has sweep run in a while, unless it will run already. r.mu is held, and the relay is not closed.
func (r *Relay) arm(in time.Duration) {
	if r.timer == nil {
		r.work.Add(1)
		r.timer = time.AfterFunc(in, r.sweep)
	}
}

// sweep ends the flows that are idle, and comes again when the next one will be.
func (r *Relay) sweep() {
	defer r.work.Done()
	r.mu.Lock()
	r.timer = nil
	now := time.Now()
	next := time.Duration(-1)
	var out []*flow
	for _, t := range []*recent[client, *flow]{&r.outward, &r.inward} {
		for {
			f, last, ok := t.oldest()
			if !ok {
				break
			}
			if left := r.cfg.Idle - now.Sub(last); left > 0 {
				if next < 0 || left < next {
					next = left
				}
				break
			}
			f.forget()
			out = append(out, f)
		}
	}
	if next > 0 && !r.closed {
		r.arm(next)
	}
	r.mu.Unlock()
	for _, f := range out {
		f.end()
	}
}
