package relay

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Inside makes a UDP socket in the box's network, neither bound nor connected; the relay owns it from then on. Several goroutines ask at once.
type Inside func(v6 bool) (fd int, err error)

// Where says what an address inside stands for now, as far as the policy allows: addresses of the host, of which the first that has a route is
// taken. An error is a refusal: what waits for the answer is dropped. It must return when ctx ends, and it may take its time until then.
type Where func(ctx context.Context, to netip.AddrPort) ([]netip.AddrPort, error)

// Config is what a relay needs. A limit that is not positive is its default.
type Config struct {
	Inside Inside
	Where  Where

	// Sent hears that the first datagram of a flow has left the host's socket; to is the address inside. It must not take long. May be nil.
	Sent func(to netip.AddrPort)

	// MostFlows is how many flows there may be from inside, and again as many from outside; the one used longest ago makes room. Each is one
	// descriptor. 1024.
	MostFlows int

	// MostDoors is how many doors there may be inside, where the one used longest ago makes room, and again how many outside. Each is one
	// descriptor. 512.
	MostDoors int

	// Idle ends a flow that carried nothing for so long, either way. Two minutes, the least that RFC 4787 asks of a NAT.
	Idle time.Duration
}

const (
	mostFlows   = 1024
	mostDoors   = 512
	idle        = 2 * time.Minute
	mostQueued  = 16      // datagrams of a flow that wait for Where
	mostWaiting = 4 << 20 // bytes of all of them together
)

// ErrOwn says that a socket of the box itself receives at an address, so that there is nothing to relay: the datagrams are its.
var ErrOwn = errors.New("the box itself has the address")

// Errors of Open and Publish.
var (
	errAddress = errors.New("not an address to send to")
	errFull    = errors.New("too many servers are published")
)

// Relay is the doors of one box and the flows through them.
type Relay struct {
	cfg     Config
	ctx     context.Context
	stop    context.CancelFunc
	buffers sync.Pool      // of *datagram; nobody holds one while waiting
	waiting atomic.Int64   // bytes in queues
	work    sync.WaitGroup // every goroutine and an armed timer; Add only with mu held and closed unset
	opening sync.Mutex     // one door is made at a time, so that no two are bound to one address

	mu        sync.Mutex // guards what follows, and the flows of each door
	doors     recent[netip.AddrPort, *door]
	published map[netip.AddrPort]*door
	outward   recent[client, *flow] // of doors
	inward    recent[client, *flow] // of published: peers outside push out no flow of the program's
	timer     *time.Timer           // runs sweep; nil where there is no flow
	closed    bool
}

// New gives a relay without doors.
func New(cfg Config) *Relay {
	if cfg.MostFlows <= 0 {
		cfg.MostFlows = mostFlows
	}
	if cfg.MostDoors <= 0 {
		cfg.MostDoors = mostDoors
	}
	if cfg.Idle <= 0 {
		cfg.Idle = idle
	}
	r := &Relay{cfg: cfg, published: map[netip.AddrPort]*door{}}
	r.buffers.New = func() any { return new(datagram) }
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Open makes sure that a socket of psb's receives at an address inside; where one does it costs a look into a table. The door stays until
// Close or until newer doors need its room. The error is ErrOwn, os.ErrClosed, or what Inside or the kernel said.
//
// A socket of the program that is bound to the same port of every address (0.0.0.0, ::) has the address, too: the kernel knows no sockets
// beside it. Once a door is open the program can bind such a socket if it sets SO_REUSEADDR, and datagrams to the door stay the door's.
func (r *Relay) Open(to netip.AddrPort) error {
	to = plain(to)
	if !to.IsValid() || to.Addr().IsUnspecified() || to.Port() == 0 {
		return fmt.Errorf("%v: %w", to, errAddress)
	}
	if open, err := r.isOpen(to); open || err != nil {
		return err
	}
	r.opening.Lock()
	defer r.opening.Unlock()
	if open, err := r.isOpen(to); open || err != nil {
		return err
	}
	fd, err := r.cfg.Inside(to.Addr().Is6())
	if err != nil {
		return err
	}
	s, err := bindInside(fd, to)
	if err != nil {
		return err
	}
	d := &door{relay: r, at: to, socket: s, table: &r.outward, reach: r.toHost(to)}
	if r.cfg.Sent != nil {
		d.sent = func() { r.cfg.Sent(to) }
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		s.close()
		return os.ErrClosed
	}
	var out *door
	if r.doors.len() >= r.cfg.MostDoors {
		out, _, _ = r.doors.oldest()
		r.doors.remove(out.at, out)
	}
	r.doors.put(to, d, time.Now())
	r.work.Add(1)
	go d.serve()
	r.mu.Unlock()
	if out != nil {
		out.shut()
	}
	return nil
}

func (r *Relay) isOpen(to netip.AddrPort) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, os.ErrClosed
	}
	_, ok := r.doors.get(to, time.Now())
	return ok, nil
}

// toHost gives what connects a new flow from inside.
func (r *Relay) toHost(to netip.AddrPort) func(context.Context) (*socket, error) {
	return func(ctx context.Context) (*socket, error) {
		list, err := r.cfg.Where(ctx, to)
		if err != nil {
			return nil, err
		}
		err = errAddress
		for _, a := range list {
			var s *socket
			if s, err = dial(plain(a)); err == nil {
				return s, nil
			}
		}
		return nil, err
	}
}

// Publish lets peers on the host reach a UDP server of the box: psb receives at outside, and each peer gets a socket inside of its own that
// sends to inside. An unspecified address inside means loopback; outside it means all of its family, and answers leave from the address that
// the peer had sent to. Again with the same two it does nothing. The error is the kernel's own number where it refused the address:
// EADDRINUSE, also for one that stands for another server; EACCES; EADDRNOTAVAIL.
func (r *Relay) Publish(outside, inside netip.AddrPort) error {
	outside, inside = plain(outside), plain(inside)
	for _, a := range []netip.AddrPort{outside, inside} {
		if !a.IsValid() || a.Port() == 0 {
			return fmt.Errorf("%v: %w", a, errAddress)
		}
	}
	r.opening.Lock()
	defer r.opening.Unlock()
	r.mu.Lock()
	known, closed, full := r.published[outside], r.closed, len(r.published) >= r.cfg.MostDoors
	r.mu.Unlock()
	switch {
	case closed:
		return os.ErrClosed
	case known != nil && known.server == inside:
		return nil
	case known == nil && full: // else the kernel says what is wrong
		return errFull
	}
	s, err := bindOutside(outside)
	if err != nil {
		return err
	}
	d := &door{relay: r, at: outside, server: inside, socket: s, table: &r.inward, reach: func(context.Context) (*socket, error) {
		fd, err := r.cfg.Inside(inside.Addr().Is6())
		if err != nil {
			return nil, err
		}
		return connected(fd, inside)
	}}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		s.close()
		return os.ErrClosed
	}
	r.published[outside] = d
	r.work.Add(1)
	go d.serve()
	r.mu.Unlock()
	return nil
}

// Withdraw ends what Publish began at an address outside: when it returns, the address is free. Where nothing was published it does nothing.
func (r *Relay) Withdraw(outside netip.AddrPort) {
	r.opening.Lock()
	defer r.opening.Unlock()
	r.mu.Lock()
	d := r.published[plain(outside)]
	r.mu.Unlock()
	if d != nil {
		d.shut()
	}
}

// Close ends all doors and flows. When it returns, no descriptor and no goroutine of the relay is left. Where, Sent and Inside must not call it.
func (r *Relay) Close() {
	r.mu.Lock()
	var all []*door
	if !r.closed {
		r.closed = true
		for {
			d, _, ok := r.doors.oldest()
			if !ok {
				break
			}
			r.doors.remove(d.at, d)
			all = append(all, d)
		}
		for _, d := range r.published {
			all = append(all, d)
		}
		if r.timer != nil && r.timer.Stop() {
			r.work.Done()
		}
	}
	r.mu.Unlock()
	r.stop()
	for _, d := range all {
		d.shut()
	}
	r.opening.Lock() // whoever still makes a door finds the relay closed
	defer r.opening.Unlock()
	r.work.Wait()
}

// plain writes an IPv4 address in one way only.
func plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
