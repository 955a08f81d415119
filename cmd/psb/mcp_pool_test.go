package main

import (
	"errors"
	"os"
	"testing"
	"time"
)

// idleBox is a box of a test: nothing runs, and what hangs it up ends it.
func idleBox(ready bool) *boxProcess {
	b := &boxProcess{ready: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	b.orders, b.stdin = os.NewFile(^uintptr(0), "none"), os.NewFile(^uintptr(0), "none")
	b.once.Do(func() {}) // it has no life to close
	if ready {
		close(b.ready)
	}
	close(b.over)
	return b
}

// poolOf is a pool that is not running, with so many calls going on, at a time that the test sets.
func poolOf(calls *int, now *time.Time) *pool {
	p := newPool(2, time.Hour)
	p.calls, p.cpus, p.clock = func() int { return *calls }, 2, func() time.Time { return *now }
	p.tell = func(boxKind, *boxProcess, error) {}
	return p
}

// TestPoolPutsCallsFirst: nothing is made beside a short call, nor beside as many as there are processors, but for a while only.
func TestPoolPutsCallsFirst(t *testing.T) {
	calls, now := 0, time.Unix(1000, 0)
	p := poolOf(&calls, &now)
	k := boxKind{profile: "default"}
	p.lots[k] = &lot{asked: now, short: now}
	for _, c := range []struct {
		calls int
		later time.Duration
		makes bool
	}{{0, 0, true}, {1, 0, false}, {1, shortCall, true}, {2, shortCall, false}, {2, shortFor, true}, {9, shortFor - 1, false}} {
		calls, now = c.calls, time.Unix(1000, 0).Add(c.later)
		got, at, _ := p.next()
		if (got != nil) != c.makes {
			t.Errorf("%d calls, %v later: makes one is %v, want %v", c.calls, c.later, got != nil, c.makes)
		}
		if got == nil && (at.IsZero() || !at.After(now)) {
			t.Errorf("%d calls, %v later: nothing would look again", c.calls, c.later)
		}
	}
}

// TestPoolRests: a kind whose boxes cannot be made is tried less and less often, and one that nobody asks for keeps none.
func TestPoolRests(t *testing.T) {
	calls, now := 0, time.Unix(1000, 0)
	p := poolOf(&calls, &now)
	p.make = func(boxKind) (*boxProcess, error) { return nil, errors.New("a wall is missing") }
	k := boxKind{profile: "default"}
	p.lots[k] = &lot{asked: now, short: now}
	var rests []time.Duration
	for range 9 {
		got, _, _ := p.next()
		if got == nil {
			t.Fatal("it is not tried again")
		}
		p.add(*got)
		_, at, _ := p.next()
		rests = append(rests, at.Sub(now))
		now = at
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		if rests[i] != want*time.Second {
			t.Errorf("rest %d is %v, want %v s", i, rests[i], want)
		}
	}
	now = now.Add(2 * time.Hour)
	if got, _, _ := p.next(); got != nil || len(p.lots) != 0 {
		t.Errorf("%d kinds are kept that nobody asked for", len(p.lots))
	}
}

// TestPoolGivesNoDeadBox: a box that ended while it waited is nobody's.
func TestPoolGivesNoDeadBox(t *testing.T) {
	calls, now := 0, time.Unix(1000, 0)
	p := poolOf(&calls, &now)
	k := boxKind{profile: "default"}
	p.lots[k] = &lot{asked: now, boxes: []*boxProcess{idleBox(true), idleBox(false)}}
	if b, _ := p.take(k); b != nil {
		t.Error("a dead box was given")
	}
	alive := idleBox(true)
	alive.over = make(chan struct{})
	p.lots[k].boxes = append(p.lots[k].boxes, alive)
	if b, ready := p.take(k); b != alive || !ready {
		t.Error("the living one was not given")
	}
	if b, _ := p.take(k); b != nil {
		t.Error("a box was given twice")
	}
}
