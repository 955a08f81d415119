// Does to the process: interrupts, stops and ends what runs in a session's box.
// Undone: what is stopped goes on by the next order of that kind, or ends with the box.
// Preconditions: as mcp_session_linux.go.
// Called by: mcp_session_linux.go.
// Proved by: TestMCPSessionInterrupt, TestMCPSessionEnds.

package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// act is what is asked of the session beside orders.
func (s *boxSession) act(do string) error {
	switch do {
	case "interrupt", "cancel":
		s.mu.Lock()
		o, paused := s.order, s.paused
		s.mu.Unlock()
		if paused {
			_ = s.act("resume") // one that is stopped would not hear of it
		}
		return s.interrupt(o, do)
	case "pause", "resume":
		s.acts.Lock()
		defer s.acts.Unlock()
		return s.hold(do == "pause")
	}
	return fmt.Errorf("BUG: no act %q", do)
}

// interrupt asks the program to stop, and ends the box where it does not.
func (s *boxSession) interrupt(o *sessionOrder, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o == nil || s.order != o || o.over {
		return mcpserver.ErrIdle
	}
	if o.why != "" {
		return nil // it was asked already
	}
	o.why = why
	s.stopClocks(o)
	if o.open {
		s.box.Signal(unix.SIGINT, false)
	}
	o.grace = time.AfterFunc(interruptGrace, func() { s.b.limits.hit(why) })
	return nil
}

// hold stops everything in the box, or lets it go on; an order's time stands still meanwhile.
func (s *boxSession) hold(pause bool) error {
	s.mu.Lock()
	was := s.paused
	s.mu.Unlock()
	if was == pause {
		return nil
	}
	if !pause {
		s.box.Resume()
	} else if !s.box.Pause() {
		return errors.New("this box cannot be paused")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = pause
	o := s.order
	switch {
	case o == nil || !o.given || o.over || o.why != "":
	case pause:
		o.clock.Stop()
		o.left = max(time.Until(o.until), time.Millisecond)
	default:
		s.runClock(o)
	}
	return nil
}

// interrupted: whoever asked for the order gave it up, and its box ended with it. To be asked after end.
func (s *boxSession) interrupted() bool {
	return s.order != nil && (s.order.why == "cancel" || s.order.why == "interrupt")
}

// end comes after the box's end: what is left of an order is told by the verdict.
func (s *boxSession) end() {
	s.printed.Lock()
	for _, out := range s.outs {
		out.drain()
	}
	s.printed.Unlock()
	s.mu.Lock()
	s.ended = true
	o := s.order
	if o != nil {
		s.stopClocks(o)
		o.input.Close() // whoever writes to it
	}
	s.mu.Unlock()
	for _, out := range s.outs {
		out.f.Close()
	}
	s.going.Wait()
	if s.order == o && o != nil && o.given {
		s.b.call, s.b.begun = o.call, o.begun
	}
}
