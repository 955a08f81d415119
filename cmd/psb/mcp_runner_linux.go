// Does to the process: makes the pipes of each box, for what goes in and comes out, and has a psb of its kind run it; ends it.
// Undone: when Run returns the box is gone.
// Preconditions: none.
// Called by: mcp.go.
// Proved by: TestMCPGone, TestMCPParallel, TestMCPOutputIsNotProtocol.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"psb/mcpserver"
)

// coldRunner makes a fresh box for each call, by a psb that runs boxes of one kind only: nothing is shared between two kinds of call, and nothing a
// box could do to the psb behind it reaches the server.
type coldRunner struct {
	homes   *nurseries
	offer   mcpserver.Offer
	known   map[string]*knownProfile
	gaps    []string          // that the operator accepts
	values  json.RawMessage   // of the operator, that code finds as names; may be nil
	changed func(name string) // told of a profile that is another one now; may be nil
}

func (r *coldRunner) Offer() mcpserver.Offer { return r.offer }

// Bounds beside the operator's ceilings.
const (
	mostPrinted  = 64 << 20 // bytes that a program may print before it is ended
	mostShown    = 1 << 20  // bytes of the beginning, and of the end, of each stream that are kept
	mostReturned = 24 << 20 // bytes of all files that come back
	mostVerdict  = 96 << 20 // bytes of a verdict: the files in base64, the report
	cancelTime   = 5 * time.Second
)

// Run runs one request in a fresh box.
func (r *coldRunner) Run(ctx context.Context, q *mcpserver.Request) (*mcpserver.Result, error) {
	profile, refused := r.profile(ctx, q)
	if refused != nil {
		return refused, nil
	}
	for again := false; ; again = true {
		p, err := r.homes.startBox(r.order(q, profile))
		if err != nil {
			return nil, err
		}
		p.give(r.call(q), q)
		p.wait(ctx)
		if again || !p.orphan() || p.hasBegun() || ctx.Err() != nil {
			return r.result(q, p, false), nil
		}
	}
}

// profile is the call's, or why it is not run.
func (r *coldRunner) profile(ctx context.Context, q *mcpserver.Request) (boxProfile, *mcpserver.Result) {
	refused := &mcpserver.Result{Status: mcpserver.Refused, Cleanup: mcpserver.Cleanup{State: mcpserver.NotAttempted}}
	if ctx.Err() != nil {
		refused.Status, refused.Reason = mcpserver.Cancelled, "before it began"
		return boxProfile{}, refused
	}
	k := r.known[q.Profile]
	if k == nil {
		refused.Reason = "no profile " + q.Profile
		return boxProfile{}, refused
	}
	profile, changed, err := k.now()
	if changed && r.changed != nil {
		r.changed(q.Profile)
	}
	if err != nil {
		refused.Reason, refused.Hint = "the policy of profile "+q.Profile+" was changed, and nothing runs under it now: "+plainLine(err.Error()), "another profile, or ask the operator"
		return boxProfile{}, refused
	}
	return profile, nil
}

// result is what came of a box. warm: it waited for the call.
func (r *coldRunner) result(q *mcpserver.Request, p *boxProcess, warm bool) *mcpserver.Result {
	out := boxResult(q, p.verdict, p.how, p.out[0].text(), p.out[1].text(), r.offer.Ceilings)
	if out.Receipt.Observed != nil {
		out.Receipt.Observed["warm"] = warm
	}
	return out
}

// boxProcess is one box, as the server knows it.
type boxProcess struct {
	homes   *nurseries
	home    *nursery
	life    *os.File // closing it ends the box
	orders  *os.File
	stdin   *os.File
	words   *os.File
	out     [2]*capture
	from    [2]*os.File                                    // what they capture
	told    atomic.Pointer[func(mcpserver.Stream, []byte)] // of what is printed
	reading sync.WaitGroup
	once    sync.Once
	givenUp atomic.Bool       // it took too long to end, and nobody waits for that any more
	say     func(*sessionSay) // told what a session says; nil for others

	// What listen learns: each is closed when it is so.
	ready, begun, over chan struct{}
	failed             []string    // from ready on: modules that could not be imported
	doubt              string      // from ready on: why it cannot be told whether what it was made from is still the same
	verdict            *boxVerdict // from over on; nil where there is none
	how                string      // and why not
}

// startBox starts it and everything that goes on beside it. Its program waits for what give tells it.
func (n *nurseries) startBox(o *boxOrder) (*boxProcess, error) { return n.startSaying(o, nil) }

func (n *nurseries) startSaying(o *boxOrder, say func(*sessionSay)) (*boxProcess, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var pipes pipeSet
	defer pipes.closeTheirs()
	theirs := make([]*os.File, allEnds)
	p := &boxProcess{homes: n, out: [2]*capture{newCapture(mostShown), newCapture(mostShown)}, say: say, ready: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	theirs[orderEnd], p.orders = pipes.in()
	p.words, theirs[wordsEnd] = pipes.out()
	theirs[lifeEnd], p.life = pipes.in()
	theirs[stdinEnd], p.stdin = pipes.in()
	p.from[0], theirs[stdoutEnd] = pipes.out()
	p.from[1], theirs[stderrEnd] = pipes.out()
	if pipes.err != nil {
		pipes.closeOurs()
		return nil, fmt.Errorf("pipe: %w", pipes.err)
	}
	if p.home, err = n.hand(o.kind(), theirs); err != nil {
		pipes.closeOurs()
		return nil, err
	}
	pipes.closeTheirs() // a psb that is killed must not leave this process waiting for itself
	for i, f := range p.from {
		p.reading.Add(1)
		go func() {
			defer p.reading.Done()
			defer f.Close()
			p.out[i].read(f, func(b []byte) {
				if tell := p.told.Load(); tell != nil {
					(*tell)(mcpserver.Stream(i), b)
				}
			})
		}()
	}
	go p.listen()
	_, _ = p.orders.Write(text) // a psb that does not read it says so by its verdict
	return p, nil
}

// listen takes what that psb says of the box until it is gone.
func (p *boxProcess) listen() {
	defer close(p.over)
	err := p.hear(p.words)
	p.words.Close()
	p.hangUp() // what is there and not to be understood is to end, too
	defer p.homes.left(p.home)
	switch {
	case p.verdict != nil:
	case p.givenUp.Load():
		p.unread()
		p.verdict = &boxVerdict{Cancelled: true, Reason: "cancel", GivenUp: true}
	default:
		p.how = p.whyNone(err)
	}
	p.reading.Wait() // nothing of the box is left that could hold them, or nobody waits for that any more
}

// unread gives the box up: nobody waits for its end any more, and no further box comes from the psb behind it.
func (p *boxProcess) unread() {
	p.homes.retire(p.home)
	for _, f := range p.from {
		_ = f.SetReadDeadline(time.Now())
	}
}

// whyNone is why there is no verdict.
func (p *boxProcess) whyNone(err error) string {
	select {
	case <-p.home.gone:
		return fmt.Sprintf("the psb of this box ended without a verdict: %v", p.home.how)
	case <-time.After(cancelTime):
		p.unread()
		return fmt.Sprintf("the verdict cannot be read: %v", err)
	}
}

// give tells the box its call, once.
func (p *boxProcess) give(c *callOrder, q *mcpserver.Request) {
	if q.Output != nil {
		p.told.Store(&q.Output)
	}
	go func() {
		defer p.orders.Close()
		_ = json.NewEncoder(p.orders).Encode(c) // as above
	}()
	go func() {
		defer p.stdin.Close()
		select {
		case <-p.begun:
		case <-p.over:
			return // what was not begun may be given to another box, and what is read from a client can be read once
		}
		if q.Stdin != nil {
			_, _ = io.Copy(p.stdin, q.Stdin)
		}
	}()
}

// hasBegun: something of the call was done.
func (p *boxProcess) hasBegun() bool {
	select {
	case <-p.begun:
		return true
	default:
		return false
	}
}

// orphan: the psb of this box ended before the box did. It may have been on its way to its end when it was given the box, so that nothing of it was ever
// made; where nothing was begun another psb may do it. It is over.
func (p *boxProcess) orphan() bool { return p.verdict == nil && isClosed(p.home.gone) }

// wait waits for the end.
func (p *boxProcess) wait(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.end)
	defer stop()
	<-p.over
}

// end ends it and waits until it is gone, or given up.
func (p *boxProcess) end() { p.endWithin(cancelTime) }

func (p *boxProcess) endWithin(most time.Duration) {
	p.hangUp()
	select {
	case <-p.over:
	case <-time.After(most):
		p.givenUp.Store(true)
		_ = p.words.SetReadDeadline(time.Now())
		<-p.over
	}
}

func (p *boxProcess) hangUp() { p.once.Do(func() { p.life.Close() }) }

// trouble is why a box that was given no call was of no use; it is over, or to be.
func (p *boxProcess) trouble() error {
	switch {
	case p.doubt != "":
		return errors.New(p.doubt)
	case p.verdict == nil:
		return errors.New(p.how)
	case p.verdict.Refusal != "":
		return errors.New(p.verdict.Refusal)
	}
	text := p.out[1].text()
	lines := strings.Split(strings.TrimSpace(string(append(text.Head, text.Tail...))), "\n")
	return fmt.Errorf("its interpreter ended with %d: %s", p.verdict.Status, plainLine(lines[len(lines)-1]))
}

// abandon ends a box that was given no call.
func (p *boxProcess) abandon() {
	p.orders.Close()
	p.stdin.Close()
	p.end()
}

// pipeSet makes pipes until one fails.
type pipeSet struct {
	ours, theirs []*os.File
	err          error
}

func (s *pipeSet) pipe() (r, w *os.File) {
	if s.err == nil {
		if r, w, s.err = os.Pipe(); s.err == nil {
			return r, w
		}
	}
	return nil, nil
}

// in is a pipe that psb writes to.
func (s *pipeSet) in() (theirs, ours *os.File) {
	r, w := s.pipe()
	s.theirs, s.ours = append(s.theirs, r), append(s.ours, w)
	return r, w
}

// out is a pipe that psb reads from.
func (s *pipeSet) out() (ours, theirs *os.File) {
	r, w := s.pipe()
	s.ours, s.theirs = append(s.ours, r), append(s.theirs, w)
	return r, w
}

func (s *pipeSet) closeTheirs() { closeAll(s.theirs) }
func (s *pipeSet) closeOurs()   { closeAll(s.ours) }

func closeAll(list []*os.File) {
	for _, f := range list {
		f.Close() // nil is fine
	}
}
