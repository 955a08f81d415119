package main

import (
	"slices"
	"sync"
	"time"
)

// boxKind is what boxes of a pool have in common: any of them may take any call of that kind.
type boxKind struct {
	profile string
	network bool
}

// pool keeps boxes that wait for a call. Each is taken once. One is made at a time, and calls go first: a short one is waited for, and the next box
// is made beside longer ones where they leave a processor free, or when that has taken too long. A kind that nobody asked for in a while keeps none.
type pool struct {
	size  int           // of each kind
	idle  time.Duration // without a call, then its boxes go
	make  func(boxKind) (*boxProcess, error)
	calls func() int // that run now
	cpus  int
	tell  func(boxKind, *boxProcess, error) // of a box that was made, or why it was not
	clock func() time.Time

	mu     sync.Mutex
	lots   map[boxKind]*lot
	closed bool
	wake   chan struct{}
	done   chan struct{}
	ending sync.WaitGroup
	count  poolCount
}

// lot are the boxes of a kind, the oldest first; those that are not ready yet are among them.
type lot struct {
	boxes  []*boxProcess
	asked  time.Time // when last somebody did
	short  time.Time // since when it lacks one
	fails  int       // boxes in a row that were never ready
	resume time.Time // not before
}

// poolCount is what happened until now.
type poolCount struct{ made, taken, missed, died, stale int64 }

// Times of a pool.
const (
	shortCall = 20 * time.Millisecond // what a call may take without anything being made beside it
	shortFor  = 2 * time.Second       // then one is made though calls want the processors
	firstRest = time.Second           // after a box that could not be made; doubled each time
	// A doubt because something was changed just now, as all is that psb itself writes at its first start, is over by the attempt after these.
	passingDoubts = 2
	longRest      = time.Minute
)

func newPool(size int, idle time.Duration) *pool {
	return &pool{size: size, idle: idle, clock: time.Now, lots: map[boxKind]*lot{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// start keeps the pool filled from now on, with boxes of these kinds first.
func (p *pool) start(first ...boxKind) {
	for _, k := range first {
		p.lots[k] = &lot{asked: p.clock(), short: p.clock()}
	}
	go p.fill()
}

// take gives a box, and whether it was ready already; nil where there is none. It is nobody else's.
func (p *pool) take(k boxKind) (b *boxProcess, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	l := p.lots[k]
	if l == nil {
		l = &lot{short: p.clock()}
		p.lots[k] = l
	}
	l.asked = p.clock()
	defer p.stir()
	at := -1
	for i, x := range l.boxes {
		if isClosed(x.over) {
			continue // about to be taken out
		}
		if isClosed(x.ready) {
			at = i
			break
		}
		if at < 0 {
			at = i
		}
	}
	if at < 0 {
		p.count.missed++
		return nil, false
	}
	b = l.boxes[at]
	l.remove(b, p.clock())
	p.count.taken++
	return b, isClosed(b.ready)
}

// drop ends what waits of a kind: it was made from what is another by now.
func (p *pool) drop(k boxKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lots[k]; l != nil {
		p.count.stale += int64(len(l.boxes)) + 1
		p.empty(l)
	}
	p.stir()
}

// dropProfile does so for every kind of a profile.
func (p *pool) dropProfile(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, l := range p.lots {
		if k.profile == name {
			p.count.stale += int64(len(l.boxes))
			p.empty(l)
		}
	}
	p.stir()
}

// empty ends the boxes of a lot. The lock is held.
func (p *pool) empty(l *lot) {
	for _, b := range l.boxes {
		p.ending.Add(1)
		go func() {
			defer p.ending.Done()
			b.abandon()
		}()
	}
	l.boxes, l.short = nil, p.clock()
}

func (l *lot) remove(b *boxProcess, now time.Time) bool {
	for i, x := range l.boxes {
		if x == b {
			l.boxes, l.short = append(l.boxes[:i:i], l.boxes[i+1:]...), now
			return true
		}
	}
	return false
}

// close ends all of them and makes no more.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.lots {
		p.empty(l)
	}
	p.stir()
	p.mu.Unlock()
	<-p.done
	p.ending.Wait()
}

// stir wakes fill.
func (p *pool) stir() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// fill makes one box after the other.
func (p *pool) fill() {
	defer close(p.done)
	for {
		k, at, over := p.next()
		switch {
		case over:
			return
		case k != nil:
			p.add(*k)
			continue
		}
		var later *time.Timer
		var comes <-chan time.Time
		if !at.IsZero() {
			later = time.NewTimer(at.Sub(p.clock()))
			comes = later.C
		}
		select {
		case <-p.wake:
		case <-comes:
		}
		if later != nil {
			later.Stop()
		}
	}
}

// next is the kind of which one is to be made now, or when time alone may change the answer.
func (p *pool) next() (k *boxKind, at time.Time, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, at, true
	}
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	now := p.clock()
	making := false
	for kind, l := range p.lots {
		if ends := l.asked.Add(p.idle); now.After(ends) {
			p.empty(l)
			delete(p.lots, kind)
			continue
		} else {
			sooner(ends)
		}
		making = making || slices.ContainsFunc(l.boxes, func(b *boxProcess) bool { return !isClosed(b.ready) })
		switch {
		case len(l.boxes) >= p.size:
		case now.Before(l.resume):
			sooner(l.resume)
		case k == nil || l.short.Before(p.lots[*k].short):
			k = &kind
		}
	}
	if k == nil || making { // the one in the making stirs when it is ready or dead
		return nil, at, false
	}
	wait := time.Duration(0)
	switch n := p.calls(); {
	case n >= p.cpus:
		wait = shortFor
	case n > 0:
		wait = shortCall
	}
	if due := p.lots[*k].short.Add(wait); now.Before(due) {
		sooner(due)
		return nil, at, false
	}
	return k, at, false
}

// add makes one and watches over it until it is taken or dies.
func (p *pool) add(k boxKind) {
	b, err := p.make(k)
	p.mu.Lock()
	l := p.lots[k]
	switch {
	case err != nil:
		if l != nil {
			l.failed(p.clock())
		}
		p.mu.Unlock()
		p.tell(k, nil, err)
		return
	case l == nil || p.closed:
		p.mu.Unlock()
		b.abandon()
		return
	}
	l.boxes = append(l.boxes, b)
	p.count.made++
	p.mu.Unlock()
	go p.watch(k, b)
}

// watch takes a box out again that dies while it waits, or that nobody may rely on. One that was taken is no longer its business.
func (p *pool) watch(k boxKind, b *boxProcess) {
	select {
	case <-b.ready:
	case <-b.over:
	}
	if isClosed(b.ready) && b.doubt == "" {
		p.mu.Lock()
		if l := p.lots[k]; l != nil {
			l.fails = 0
		}
		p.stir()
		p.mu.Unlock()
		p.tell(k, b, nil)
		<-b.over
	}
	p.mu.Lock()
	l := p.lots[k]
	ours := l != nil && l.remove(b, p.clock())
	useless := !isClosed(b.ready) || b.doubt != ""
	told := useless
	if ours {
		p.count.died++
		if useless {
			l.failed(p.clock())
			told = b.doubt == "" || l.fails > passingDoubts
		}
		p.stir()
	}
	p.mu.Unlock()
	if ours {
		b.abandon()
		if told {
			p.tell(k, b, b.trouble())
		}
	}
}

// failed puts the next attempt off, longer each time.
func (l *lot) failed(now time.Time) {
	rest := longRest
	if l.fails < 6 {
		rest = firstRest << l.fails
	}
	l.fails++
	l.resume = now.Add(rest)
}

// figures are for metrics: boxes that are ready, boxes in the making, and what happened.
func (p *pool) figures() (ready, making int, c poolCount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lots {
		for _, b := range l.boxes {
			if isClosed(b.ready) {
				ready++
			} else {
				making++
			}
		}
	}
	return ready, making, p.count
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
