package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"psb/mcpserver"
)

// boxOf gives a claimed session's box, and makes it where there is none.
func (r *sessionRunner) boxOf(ctx context.Context, s *session) (*sessionBox, *notStartedBox, error) {
	r.mu.Lock()
	box, order := s.box, s.order
	r.mu.Unlock()
	if box != nil {
		return box, nil, nil
	}
	box, err := startSessionBox(r.homes, order)
	if err == nil && box.neverMade(ctx) {
		box, err = startSessionBox(r.homes, order)
	}
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-box.p.ready:
	case <-box.p.over:
		return nil, &notStartedBox{box.p.verdict, box.p.how}, nil
	case <-ctx.Done():
		box.end()
		return nil, &notStartedBox{verdict: &boxVerdict{Cancelled: true, Left: leftOf(box.p.verdict)}}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		go box.end()
		return nil, &notStartedBox{verdict: &boxVerdict{Cancelled: true}}, nil
	}
	s.box, s.made, s.used = box, time.Now(), time.Now()
	r.started++
	go func() {
		<-box.p.over
		r.lose(s, box, lossOf(box.p.verdict))
	}()
	return box, nil, nil
}

func leftOf(v *boxVerdict) []string {
	if v == nil {
		return nil
	}
	return v.Left
}

// of finds a session with a box.
func (r *sessionRunner) of(client, id string) (*session, *sessionBox, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.list[sessionName{client, id}]
	if s == nil || s.box == nil {
		return nil, nil, mcpserver.ErrNoSession
	}
	if s.used = time.Now(); !s.busy {
		r.wind(s)
	}
	return s, s.box, nil
}

// Close ends a session and forgets what it knew; a call that runs in it is cancelled.
func (r *sessionRunner) Close(_ context.Context, client, id string) error {
	r.mu.Lock()
	s := r.list[sessionName{client, id}]
	if s == nil || s.shut {
		r.mu.Unlock()
		return mcpserver.ErrNoSession
	}
	box := r.close(s)
	r.mu.Unlock()
	if box != nil {
		box.end()
	}
	return nil
}

// close takes a session from its client, and gives the box that is to be ended, nil where it has none; the caller has the lock.
func (r *sessionRunner) close(s *session) *sessionBox {
	box := s.box
	if r.gone(s, sessionLoss{reason: "close"}); box == nil {
		r.ended["close"]-- // it was gone before
	}
	return box
}

// CloseAll ends the sessions of a client that are at rest.
func (r *sessionRunner) CloseAll(_ context.Context, client string) (closed, busy []string) {
	var boxes []*sessionBox
	r.mu.Lock()
	for _, s := range r.list {
		switch {
		case s.client != client || s.shut:
		case s.busy:
			busy = append(busy, s.id)
		default:
			closed = append(closed, s.id)
			if box := r.close(s); box != nil {
				boxes = append(boxes, box)
			}
		}
	}
	r.mu.Unlock()
	endAll(boxes)
	slices.Sort(closed)
	slices.Sort(busy)
	return closed, busy
}

// endAll ends boxes beside each other, and waits for the last.
func endAll(boxes []*sessionBox) {
	var each sync.WaitGroup
	for _, b := range boxes {
		each.Go(b.end)
	}
	each.Wait()
}

// Reset ends a session's box and makes another in its place.
func (r *sessionRunner) Reset(ctx context.Context, client, id string) (mcpserver.SessionState, error) {
	r.mu.Lock()
	s := r.list[sessionName{client, id}]
	if s == nil || s.shut {
		r.mu.Unlock()
		return mcpserver.SessionState{}, mcpserver.ErrNoSession
	}
	box := s.box
	if box != nil {
		r.gone(s, sessionLoss{"reset", "it was reset"})
	}
	r.mu.Unlock()
	if box != nil {
		box.end()
	}
	for {
		r.mu.Lock()
		if s.shut || r.closed {
			r.mu.Unlock()
			return mcpserver.SessionState{}, mcpserver.ErrNoSession
		}
		if !s.busy {
			if refused := r.renew(s); refused != nil {
				r.mu.Unlock()
				return mcpserver.SessionState{}, fmt.Errorf("%w: %s", mcpserver.ErrNotMade, refused.Reason)
			}
			s.take()
			r.mu.Unlock()
			break
		}
		free := s.free
		r.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return mcpserver.SessionState{}, ctx.Err()
		}
	}
	_, no, err := r.boxOf(ctx, s)
	r.release(s)
	if no != nil && no.verdict != nil && err == nil {
		err = fmt.Errorf("%w: %s", mcpserver.ErrNotMade, no.verdict.Refusal)
	} else if no != nil && err == nil {
		err = fmt.Errorf("%w: %s", mcpserver.ErrNotMade, no.words)
	}
	if err != nil {
		return mcpserver.SessionState{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	state := s.state(r.bounds, time.Now())
	s.lost = ""
	return state, nil
}

// Interrupt ends the call that runs, and waits for its end: nil says that the state is kept.
func (r *sessionRunner) Interrupt(ctx context.Context, client, id string) error {
	s, box, err := r.of(client, id)
	if err != nil {
		return err
	}
	r.mu.Lock()
	free := s.free
	r.mu.Unlock()
	if err := box.do(ctx, "interrupt"); err != nil {
		return err
	}
	select {
	case <-free:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.box != box {
		return mcpserver.ErrLost
	}
	s.paused = false
	return nil
}

// Pause stops everything in a session.
func (r *sessionRunner) Pause(ctx context.Context, client, id string) (mcpserver.SessionState, error) {
	return r.hold(ctx, client, id, true)
}

// Resume lets it go on.
func (r *sessionRunner) Resume(ctx context.Context, client, id string) (mcpserver.SessionState, error) {
	return r.hold(ctx, client, id, false)
}

func (r *sessionRunner) hold(ctx context.Context, client, id string, pause bool) (mcpserver.SessionState, error) {
	s, box, err := r.of(client, id)
	if err != nil {
		return mcpserver.SessionState{}, err
	}
	what := "resume"
	if pause {
		what = "pause"
	}
	if err := box.do(ctx, what); err != nil {
		return mcpserver.SessionState{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.box == box {
		s.paused = pause
	}
	return s.state(r.bounds, time.Now()), nil
}

// end ends all sessions; none is made any more.
func (r *sessionRunner) end() {
	r.mu.Lock()
	r.closed = true
	var all []*sessionBox
	for _, s := range r.list {
		if s.box != nil {
			all = append(all, s.box)
		}
	}
	r.mu.Unlock()
	endAll(all)
}
