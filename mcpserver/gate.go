package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// gate bounds what runs at once: so many slots, then a queue of so many that wait for at most so long, then an answer at once. It bounds each
// client, too: how many calls it has running or waiting, how many it may begin in a minute, how many in all.
type gate struct {
	slots chan struct{}
	queue int           // that may wait
	wait  time.Duration // for at most so long
	each  int           // running or waiting, of one client; 0 = no bound
	rate  float64       // calls a minute of one client; 0 = no bound
	quota int64         // calls of one client in all; 0 = no bound
	now   func() time.Time

	mu      sync.Mutex
	waiting int
	running int
	closed  bool
	idle    chan struct{} // closed when closed and nothing runs
	clients map[string]*clientUse
}

type clientUse struct {
	current int
	tokens  float64
	filled  time.Time
	total   int64
}

// mostClients bounds how many clients are remembered: those with nothing running are forgotten first, but their quota with them only where there
// is none.
const mostClients = 10_000

// turnedAway is why a call does not run now.
type turnedAway struct {
	reason string // metric label: slots, client, rate, quota, draining
	words  string
	hint   string
	retry  time.Duration
}

func (e *turnedAway) Error() string { return e.words }

func newGate(o *Options, now func() time.Time) *gate {
	return &gate{slots: make(chan struct{}, o.Slots), queue: o.Queue, wait: o.QueueWait, each: o.PerClient, rate: o.RatePerMinute, quota: o.Quota, now: now,
		idle: make(chan struct{}), clients: map[string]*clientUse{}}
}

// enter waits for a slot. leave must be called once after a nil error. An error is a *turnedAway, or the context's.
func (g *gate) enter(ctx context.Context, client string) (leave func(), err error) {
	use, away := g.admit(client)
	if away != nil {
		return nil, away
	}
	return g.await(ctx, use)
}

// await is the second half of enter, for a call that was admitted.
func (g *gate) await(ctx context.Context, use *clientUse) (leave func(), err error) {
	select {
	case g.slots <- struct{}{}:
		return g.entered(use), nil
	default:
	}
	if !g.queued() {
		g.gone(use)
		return nil, &turnedAway{"slots", fmt.Sprintf("%d runs are going on, and as many wait as may", cap(g.slots)), "end a run of yours, or try again", 2 * time.Second}
	}
	defer g.dequeued()
	t := time.NewTimer(g.wait)
	defer t.Stop()
	select {
	case g.slots <- struct{}{}:
		return g.entered(use), nil
	case <-t.C:
		g.gone(use)
		return nil, &turnedAway{"slots", fmt.Sprintf("no slot became free within %v", g.wait), "try again", 5 * time.Second}
	case <-ctx.Done():
		g.gone(use)
		return nil, ctx.Err()
	}
}

// admit counts a call of a client, or says why not.
func (g *gate) admit(client string) (*clientUse, *turnedAway) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, &turnedAway{"draining", "the server is about to end", "", 10 * time.Second}
	}
	u := g.clients[client]
	if u == nil {
		g.forget()
		u = &clientUse{tokens: max(g.rate/6, 1), filled: g.now()}
		g.clients[client] = u
	}
	switch {
	case g.quota > 0 && u.total >= g.quota:
		return nil, &turnedAway{"quota", fmt.Sprintf("this client's %d calls are used up", g.quota), "ask the operator (--quota)", 0}
	case g.each > 0 && u.current >= g.each:
		return nil, &turnedAway{"client", fmt.Sprintf("%d calls of this client are going on, and more may not", u.current), "wait for one of them", time.Second}
	}
	if g.rate > 0 {
		now := g.now()
		u.tokens = min(u.tokens+now.Sub(u.filled).Minutes()*g.rate, max(g.rate/6, 1)) // ten seconds' worth at once
		u.filled = now
		if u.tokens < 1 {
			return nil, &turnedAway{"rate", fmt.Sprintf("more than %v calls a minute", g.rate), "call less often", time.Duration((1 - u.tokens) / g.rate * float64(time.Minute))}
		}
		u.tokens--
	}
	u.total++
	u.current++
	return u, nil
}

func (g *gate) queued() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting >= g.queue {
		return false
	}
	g.waiting++
	return true
}

func (g *gate) dequeued() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}

func (g *gate) entered(u *clientUse) func() {
	g.mu.Lock()
	g.running++
	g.mu.Unlock()
	return sync.OnceFunc(func() {
		<-g.slots
		g.mu.Lock()
		g.running--
		g.mu.Unlock()
		g.gone(u)
	})
}

// gone: a call of a client is over, whether it ran or not.
func (g *gate) gone(u *clientUse) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u.current--
	g.settle()
}

// settle tells of the end once nothing is left.
func (g *gate) settle() {
	if !g.closed {
		return
	}
	for _, u := range g.clients {
		if u.current > 0 {
			return
		}
	}
	select {
	case <-g.idle:
	default:
		close(g.idle)
	}
}

// close turns every further call away; the channel is closed once nothing runs or waits.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.settle()
	return g.idle
}

// forget makes room among the clients that are remembered.
func (g *gate) forget() {
	if len(g.clients) < mostClients || g.quota > 0 {
		return
	}
	for name, u := range g.clients {
		if u.current == 0 {
			delete(g.clients, name)
		}
	}
}

// figures for metrics.
func (g *gate) figures() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, g.waiting
}
