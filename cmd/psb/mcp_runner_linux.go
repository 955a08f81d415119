// Does to the process: starts psb once more for each box, under boxName, with pipes for what goes in and comes out; ends it.
// Undone: when Run returns that psb and its box are gone.
// Preconditions: /proc is mounted.
// Called by: mcp.go.
// Proved by: TestMCPGone, TestMCPParallel, TestMCPOutputIsNotProtocol.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"psb/mcpserver"
)

// coldRunner makes a fresh box for each call, by a psb of its own: nothing is shared between two calls, and nothing a box could do to the psb
// behind it reaches the server.
type coldRunner struct {
	offer    mcpserver.Offer
	profiles map[string]boxProfile
	gaps     []string // that the operator accepts
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
	profile, ok := r.profiles[q.Profile]
	if !ok {
		return &mcpserver.Result{Status: mcpserver.Refused, Reason: "no profile " + q.Profile, Cleanup: mcpserver.Cleanup{State: mcpserver.NotAttempted}}, nil
	}
	if ctx.Err() != nil {
		return &mcpserver.Result{Status: mcpserver.Cancelled, Reason: "before it began", Cleanup: mcpserver.Cleanup{State: mcpserver.NotAttempted}}, nil
	}
	p, err := startBox(r.order(q, profile))
	if err != nil {
		return nil, err
	}
	p.give(r.call(q), q)
	v, how := p.wait(ctx)
	return boxResult(q, v, how, p.out[0].text(), p.out[1].text(), r.offer.Ceilings), nil
}

// boxProcess is a psb that runs one box.
type boxProcess struct {
	cmd     *exec.Cmd
	life    *os.File // closing it ends the box
	orders  *os.File
	stdin   *os.File
	verdict *os.File
	words   *json.Decoder     // of verdict
	bound   *io.LimitedReader // of what words may still read
	out     [2]*capture
	told    atomic.Pointer[func(mcpserver.Stream, []byte)] // of what is printed
	reading sync.WaitGroup
	once    sync.Once
}

// startBox starts it and everything that goes on beside it. Its program waits for what give tells it.
func startBox(o *boxOrder) (*boxProcess, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var pipes pipeSet
	defer pipes.closeTheirs()
	orderR, orderW := pipes.in()
	verdictR, verdictW := pipes.out()
	lifeR, lifeW := pipes.in()
	outR, outW := pipes.out()
	errR, errW := pipes.out()
	stdinR, stdinW := pipes.in()
	p := &boxProcess{life: lifeW, orders: orderW, stdin: stdinW, verdict: verdictR, out: [2]*capture{newCapture(mostShown), newCapture(mostShown)}}
	p.bound = &io.LimitedReader{R: verdictR, N: mostVerdict}
	p.words = json.NewDecoder(p.bound)
	p.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{boxName}, Env: os.Environ(), Dir: "/", Stdin: stdinR, Stdout: outW, Stderr: errW, ExtraFiles: []*os.File{orderR, verdictW, lifeR},
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
	_, _ = orderW.Write(text) // a psb that does not read it says so by its verdict
	return p, nil
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
		if q.Stdin != nil {
			_, _ = io.Copy(p.stdin, q.Stdin)
		}
	}()
}

// verdictOf reads words until the last one.
func (p *boxProcess) verdictOf() (*boxVerdict, error) {
	for {
		var w boxWord
		if err := p.words.Decode(&w); err != nil {
			return nil, err
		}
		if w.Verdict != nil {
			return w.Verdict, nil
		}
	}
}

// wait waits for the end. how says what is wrong where there is no verdict.
func (p *boxProcess) wait(ctx context.Context) (v *boxVerdict, how string) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		p.hangUp()
		select {
		case <-over:
		case <-time.After(cancelTime):
			_ = p.cmd.Process.Kill() // its keeper ends the box
		}
	})
	defer stop()
	v, err := p.verdictOf()
	p.verdict.Close()
	state := p.cmd.Wait()
	close(over)
	p.hangUp()
	p.reading.Wait() // nothing of the box is left that could hold them
	switch {
	case state != nil:
		return nil, fmt.Sprintf("the psb of this box ended without a verdict: %v", state)
	case err != nil:
		return nil, fmt.Sprintf("the verdict cannot be read: %v", err)
	}
	return v, ""
}

func (p *boxProcess) hangUp() { p.once.Do(func() { p.life.Close() }) }

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
