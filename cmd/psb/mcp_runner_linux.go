// Does to the process: starts psb once more for each box, under boxName, with pipes for what goes in and comes out; ends it.
// Undone: when Run returns that psb and its box are gone.
// Preconditions: /proc is mounted.
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
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"psb/mcpserver"
)

// coldRunner makes a fresh box for each call, by a psb of its own: nothing is shared between two calls, and nothing a box could do to the psb
// behind it reaches the server.
type coldRunner struct {
	offer   mcpserver.Offer
	known   map[string]*knownProfile
	gaps    []string          // that the operator accepts
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
	p, err := startBox(r.order(q, profile))
	if err != nil {
		return nil, err
	}
	p.give(r.call(q), q)
	p.wait(ctx)
	return r.result(q, p, false), nil
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

// boxProcess is a psb that runs one box.
type boxProcess struct {
	cmd     *exec.Cmd
	life    *os.File // closing it ends the box
	orders  *os.File
	stdin   *os.File
	words   *os.File
	out     [2]*capture
	told    atomic.Pointer[func(mcpserver.Stream, []byte)] // of what is printed
	reading sync.WaitGroup
	once    sync.Once
	givenUp atomic.Bool       // its psb was killed from here: it took too long to end
	say     func(*sessionSay) // told what a session says; nil for others

	// What listen learns: each is closed when it is so.
	ready, begun, over chan struct{}
	failed             []string    // from ready on: modules that could not be imported
	doubt              string      // from ready on: why it cannot be told whether what it was made from is still the same
	verdict            *boxVerdict // from over on; nil where there is none
	how                string      // and why not
}

// startBox starts it and everything that goes on beside it. Its program waits for what give tells it.
func startBox(o *boxOrder) (*boxProcess, error) { return startSaying(o, nil) }

func startSaying(o *boxOrder, say func(*sessionSay)) (*boxProcess, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var pipes pipeSet
	defer pipes.closeTheirs()
	orderR, orderW := pipes.in()
	wordsR, wordsW := pipes.out()
	lifeR, lifeW := pipes.in()
	outR, outW := pipes.out()
	errR, errW := pipes.out()
	stdinR, stdinW := pipes.in()
	p := &boxProcess{life: lifeW, orders: orderW, stdin: stdinW, words: wordsR, out: [2]*capture{newCapture(mostShown), newCapture(mostShown)},
		say: say, ready: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{boxName}, Env: os.Environ(), Dir: "/", Stdin: stdinR, Stdout: outW, Stderr: errW, ExtraFiles: []*os.File{orderR, wordsW, lifeR},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}} // the terminal's signals are the server's
	if pipes.err != nil {
		pipes.closeOurs()
		return nil, fmt.Errorf("pipe: %w", pipes.err)
	}
	if err := p.cmd.Start(); err != nil {
		pipes.closeOurs()
		return nil, fmt.Errorf("start a box: %w", err)
	}
	for i, f := range []*os.File{outR, errR} {
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
	_, _ = orderW.Write(text) // a psb that does not read it says so by its verdict
	return p, nil
}

// listen takes what that psb says until it is gone.
func (p *boxProcess) listen() {
	defer close(p.over)
	err := p.hear(p.words)
	p.words.Close()
	if p.verdict != nil { // given when nothing of the box is left, and nothing more is printed: how its psb ends says nothing of the call
		p.hangUp()
		p.reading.Wait()
		go func() { _ = p.cmd.Wait() }()
		return
	}
	p.hangUp() // one that is there and not to be understood is to end, too
	late := time.AfterFunc(cancelTime, func() { _ = p.cmd.Process.Kill() })
	state := p.cmd.Wait()
	late.Stop()
	p.reading.Wait() // nothing of the box is left that could hold them
	if p.givenUp.Load() {
		p.verdict = &boxVerdict{Cancelled: true, Reason: "cancel", GivenUp: true}
		return
	}
	if p.how = fmt.Sprintf("the verdict cannot be read: %v", err); state != nil {
		p.how = fmt.Sprintf("the psb of this box ended without a verdict: %v", state)
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

// wait waits for the end.
func (p *boxProcess) wait(ctx context.Context) {
	stop := context.AfterFunc(ctx, p.end)
	defer stop()
	<-p.over
}

// end ends it and waits until it is gone.
func (p *boxProcess) end() { p.endWithin(cancelTime) }

func (p *boxProcess) endWithin(most time.Duration) {
	p.hangUp()
	select {
	case <-p.over:
	case <-time.After(most):
		p.givenUp.Store(true)
		_ = p.cmd.Process.Kill() // its keeper ends the box
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
