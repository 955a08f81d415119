// Does to the process: gives one box order after order, reads what its program prints and says, interrupts, stops and ends it.
// Undone: all of it goes with the box.
// Preconditions: what the box says is the program's: of its words nothing counts but that an order is over, and no verdict rests on that.
// Called by: mcp_box_linux.go.
// Proved by: TestMCPSession*.

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/cgroups"
	"psb/mcpserver"
	"psb/namespaces"
	"psb/policy"
	"psb/pythonshim/call"
)

// Bounds of a session beside those of its calls.
const (
	interruptGrace = 2 * time.Second // for a program that was interrupted; then its state goes with it
	mostNoise      = 64 << 10        // bytes of words that mean nothing, in all
)

// boxSession is psb's part of a box that stays: it is boxWatcher's where there is more than one order.
type boxSession struct {
	b       *boxWatcher
	box     *namespaces.Box
	program int
	work    *workspace // of the session's files
	orders  *workspace // call.Dir
	outs    [2]*sessionOutput
	printed sync.Mutex // held while output is read and told, so that an order's end comes after all of it
	most    uint64     // bytes that one order may print
	longest policy.Limit
	answers sync.Mutex
	acts    sync.Mutex // pause and resume, one after the other
	going   sync.WaitGroup

	mu     sync.Mutex
	order  *sessionOrder // nil: idle
	paused bool
	ended  bool
	idle   uint64 // bytes printed while no order went on
	noise  int
}

// sessionOrder is one order that goes on.
type sessionOrder struct {
	ask    int
	id     string
	call   *callOrder
	given  bool // the program was told; what is printed is this order's
	open   bool // it says that it has begun: an interrupt would reach it
	over   bool // the program says so
	status int  // as it says
	begun  time.Time
	cpu    time.Duration
	usage  cgroups.Usage
	before *fileMarks
	clock  *time.Timer
	until  time.Time
	left   time.Duration // while it is paused
	why    string        // it was interrupted: wall, interrupt, cancel
	grace  *time.Timer
	input  *os.File
	count  uint64 // bytes printed
}

// newBoxSession prepares the streams; launch gives them to the box.
func (b *boxWatcher) newBoxSession() (*boxSession, error) {
	s := &boxSession{b: b, most: mostPrinted}
	limits := b.j.plan.Limits
	if l, set := limits["output"]; set {
		s.most = min(l.Bytes, s.most)
	}
	delete(limits, "output") // it counts for each order, here
	s.longest = limits["wall"]
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	b.j.w.stdio[0] = null
	for i := range s.outs {
		o, w, err := newSessionOutput(s, mcpserver.Stream(i))
		if err != nil {
			return nil, err
		}
		s.outs[i], b.j.w.stdio[i+1] = o, w
	}
	return s, nil
}

// serve takes what the server asks until the box or the server is gone.
func (s *boxSession) serve(box *namespaces.Box, program int) error {
	s.box, s.program = box, program
	s.work, s.orders = &workspace{dir: s.b.workspace, owner: s.b.owner()}, &workspace{dir: s.b.folder, owner: s.b.owner()}
	if err := s.b.pipes.words.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	s.beside(s.hear)
	for _, o := range s.outs {
		s.beside(o.pump)
	}
	for {
		ask := &sessionAsk{}
		if err := s.b.link.orders.Decode(ask); err != nil {
			return err
		}
		switch {
		case ask.Call != nil:
			s.beside(func() { s.begin(ask) })
		case ask.File != nil:
			s.beside(func() { s.say(&sessionSay{ID: ask.ID, File: s.work.answer(ask.File)}) })
		case ask.Input != nil:
			s.beside(func() { s.feed(ask) })
		default:
			s.beside(func() { s.say(&sessionSay{ID: ask.ID, Wrong: errorText(s.act(ask.Do))}) })
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *boxSession) beside(act func()) {
	s.going.Add(1)
	go func() {
		defer s.going.Done()
		act()
	}()
}

func (s *boxSession) say(what *sessionSay) {
	s.answers.Lock()
	defer s.answers.Unlock()
	_ = s.b.link.answers.Encode(boxWord{Say: what}) // a server that is gone hangs up, too
}

// begin makes everything of an order true, and gives it.
func (s *boxSession) begin(ask *sessionAsk) {
	o := &sessionOrder{ask: ask.ID, id: ask.Name, call: ask.Call}
	s.mu.Lock()
	if s.order != nil || s.ended {
		s.mu.Unlock()
		return // the server asks one at a time; one that is over has its answer in the verdict
	}
	s.order = o
	s.mu.Unlock()
	err := s.give(o)
	if err == nil {
		return
	}
	s.forget(o)
	v := &boxVerdict{Kept: true, Refusal: err.Error(), Cancelled: errors.Is(err, mcpserver.ErrIdle)}
	var r *refusal
	if errors.As(err, &r) {
		v.Hint = strings.Join(r.hints, "; ")
	}
	s.mu.Lock()
	s.order = nil
	s.mu.Unlock()
	s.say(&sessionSay{ID: ask.ID, Verdict: v})
}

func (s *boxSession) give(o *sessionOrder) error {
	for _, f := range o.call.Files {
		if _, err := s.work.write(f.Path, f.Content, mcpserver.Writing{Executable: f.Executable}); err != nil {
			return refuse("fewer or smaller files, or a name where no folder or link stands", "files: %s: %v", plainText(f.Path), err)
		}
	}
	dir := ""
	if o.call.Dir != "" {
		dir = path.Join(mcpserver.Workspace, o.call.Dir)
		if err := s.work.foldersFor(o.call.Dir + "/x"); err != nil {
			return refuse("another cwd", "cwd: %s: %v", plainText(o.call.Dir), err)
		}
	}
	t := s.b.task(o.call)
	t.ID, t.Report, t.Shell, t.Dir = o.id, o.id+".report", o.call.Shell, dir
	if o.call.Stdin {
		var err error
		if o.input, err = makePipe(s.b.folder, o.id+".in", s.b.owner()); err != nil {
			return refuse("reset the session", "its own folder is full or broken: %v", err)
		}
		t.Input = o.id + ".in"
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := putFile(s.b.folder, o.id+".json", text, false, s.b.owner()); err != nil {
		return refuse("reset the session", "its own folder is full or broken: %v", err)
	}
	if o.before, err = s.work.marks(); err != nil {
		return refuse("delete files, or reset the session", "files: %v", err)
	}
	if s.b.group != nil {
		o.usage, _ = s.b.group.Usage()
	}
	o.cpu = s.processors(o.usage)
	s.b.mu.Lock()
	s.b.seen = refused{} // what was refused until now is not this call's
	s.b.mu.Unlock()
	s.printed.Lock() // what was printed until here is not, either
	for _, out := range s.outs {
		out.drain()
	}
	s.mu.Lock()
	o.begun, o.given = time.Now(), o.why == ""
	given := o.given
	if given {
		s.startClock(o)
	}
	s.mu.Unlock()
	s.printed.Unlock()
	if !given {
		return mcpserver.ErrIdle // interrupted before it began
	}
	if _, err := unix.Write(int(s.b.pipes.orders.Fd()), []byte(o.id+".json\n")); err != nil { // never waits: it is not to be read, then
		return refuse("reset the session", "the program does not take orders any more: %v", err)
	}
	return nil
}

// startClock begins the order's time; s.mu is held.
func (s *boxSession) startClock(o *sessionOrder) {
	wall, err := policy.ParseLimit("wall", o.call.Limits["wall"])
	if err != nil || wall.Time <= 0 {
		wall = s.longest
	}
	wall.Origin = policy.Origin{From: "the call"}
	if s.longest.Time > 0 && s.longest.Time < wall.Time {
		wall = s.longest
	}
	s.b.j.plan.Limits["wall"] = wall
	o.left = wall.Time
	s.runClock(o)
}

func (s *boxSession) runClock(o *sessionOrder) {
	if o.why == "" && !s.paused {
		o.until = time.Now().Add(o.left)
		o.clock = time.AfterFunc(o.left, func() { _ = s.interrupt(o, "wall") })
	}
}

// processors is the time that the session has used: of all its processes where a group tells, else of its first one.
func (s *boxSession) processors(u cgroups.Usage) time.Duration {
	if u.CPUTime > 0 {
		return u.CPUTime
	}
	return processorTime(s.program)
}

// hear reads the program's words: lines that are not the one expected mean nothing, and there may be only so many.
func (s *boxSession) hear() {
	r := bufio.NewReaderSize(s.b.pipes.words, call.MostLine)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		if s.heard(strings.Fields(string(line))) {
			continue
		}
		if s.noise += len(line); s.noise > mostNoise { // only here
			s.b.limits.hit("channel")
			return
		}
	}
}

// heard takes one line.
func (s *boxSession) heard(f []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.order
	if len(f) == 0 {
		return true // each word begins with an empty line
	}
	if o == nil || o.over || !o.given {
		return false
	}
	word, status, ok := orderWord(f, o.id)
	switch {
	case !ok || word == call.OpenWord && o.open:
		return false
	case word == call.OpenWord:
		if o.open = true; o.why != "" {
			s.box.Signal(unix.SIGINT, false)
		}
		if o.input != nil {
			s.beside(func() { s.say(&sessionSay{ID: o.ask, Opened: true}) })
		}
	default:
		o.over, o.status = true, status
		s.stopClocks(o)
		s.beside(func() { s.finish(o) })
	}
	return true
}

func (s *boxSession) stopClocks(o *sessionOrder) {
	for _, t := range []*time.Timer{o.clock, o.grace} {
		if t != nil {
			t.Stop()
		}
	}
}

// finish answers an order that the program says is over.
func (s *boxSession) finish(o *sessionOrder) {
	s.printed.Lock()
	for _, out := range s.outs {
		out.drain()
	}
	s.mu.Lock()
	o.given = false
	s.mu.Unlock()
	s.printed.Unlock()
	v := &boxVerdict{Started: true, Ordered: true, Kept: true, Status: o.status, Reason: o.why, Cancelled: o.why == "cancel" || o.why == "interrupt", Wall: time.Since(o.begun)}
	var u cgroups.Usage
	if s.b.group != nil {
		u, _ = s.b.group.Usage()
	}
	v.CPU = max(s.processors(u)-o.cpu, 0)
	u.OOMKills, u.PIDsRefused = u.OOMKills-min(o.usage.OOMKills, u.OOMKills), u.PIDsRefused-min(o.usage.PIDsRefused, u.PIDsRefused)
	s.b.mu.Lock()
	s.b.j.boxFacts(outcome{started: true, reason: o.why, usage: u}, s.b, v)
	s.b.mu.Unlock()
	s.look(o, v)
	s.forget(o)
	s.mu.Lock()
	s.order = nil
	s.mu.Unlock()
	s.say(&sessionSay{ID: o.ask, Verdict: v})
}

// look reads what an order left.
func (s *boxSession) look(o *sessionOrder, v *boxVerdict) {
	s.b.space(v)
	if err := s.work.changes(o.before, o.call, v); err != nil {
		v.LookedAt = err.Error()
	}
	if c, err := s.orders.read(o.id+".report", 0, mostReport+1); err == nil && len(c.Bytes) <= mostReport && !o.call.Shell {
		v.Report = c.Bytes
	}
}

// forget takes an order's own files away, whatever the program made of them.
func (s *boxSession) forget(o *sessionOrder) {
	s.stopClocks(o)
	o.input.Close() // nil is fine
	for _, end := range []string{".json", ".report", ".in"} {
		_ = s.orders.remove(int(s.b.folder.Fd()), o.id+end, true, new(int), 0) // not there, or the session's own loss of space
	}
}
