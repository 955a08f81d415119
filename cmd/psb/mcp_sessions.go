package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"psb/mcpserver"
)

// sessionRunner keeps boxes between calls, each under a name of its client's. A call that names none is for another runner.
type sessionRunner struct {
	*coldRunner
	fresh   mcpserver.Runner // of calls that name no session
	bounds  mcpserver.SessionBounds
	mu      sync.Mutex
	list    map[sessionName]*session
	closed  bool // none is made any more
	started int64
	ended   map[string]int64 // by reason
}

type sessionName struct{ client, id string }

// session is a name and, mostly, a box behind it. The runner's mu guards it.
type session struct {
	sessionName
	generation int         // of the box, or of the next one
	box        *sessionBox // nil: none
	busy       bool
	free       chan struct{} // closed when it is not busy any more
	paused     bool
	shut       bool   // its client closed it: it is there to count generations only
	lost       string // what ended the box before; "" where nothing was lost since the last call
	made, used time.Time
	order      *boxOrder // what the box is made of
	network    string
	limits     mcpserver.Limits
	clock      *time.Timer
}

// mostForgotten bounds the names that are remembered for their generation alone.
const mostForgotten = 4096

// telling is the runner as the server sees it: one that tells of boxes made ahead of need is still one.
func (r *sessionRunner) telling() mcpserver.Runner {
	if a, ok := r.fresh.(mcpserver.AheadRunner); ok {
		return aheadSessions{r, a}
	}
	return r
}

type aheadSessions struct {
	*sessionRunner
	ahead mcpserver.AheadRunner
}

// Ahead is for metrics.
func (a aheadSessions) Ahead() mcpserver.AheadFigures { return a.ahead.Ahead() }

func newSessionRunner(r *coldRunner, fresh mcpserver.Runner, bounds mcpserver.SessionBounds) *sessionRunner {
	r.offer.Sessions = &bounds
	return &sessionRunner{coldRunner: r, fresh: fresh, bounds: bounds, list: map[sessionName]*session{}, ended: map[string]int64{}}
}

// Run runs one call, in the session it names.
func (r *sessionRunner) Run(ctx context.Context, q *mcpserver.Request) (*mcpserver.Result, error) {
	if q.Session == "" {
		return r.fresh.Run(ctx, q)
	}
	s, no := r.claim(q)
	if no != nil {
		return no, nil
	}
	defer r.release(s)
	box, how, err := r.boxOf(ctx, s)
	if err != nil {
		return nil, err
	}
	asked := *q
	asked.Profile, asked.Network = s.order.Profile.Name, s.network
	if box == nil { // it was not started
		return boxResult(&asked, how.verdict, how.words, mcpserver.Text{}, mcpserver.Text{}, r.offer.Ceilings), nil
	}
	v, words, out := box.call(ctx, r.sessionCall(q), q)
	if v == nil || !v.Kept {
		r.lose(s, box, lossOf(v))
		go box.end() // it is over, or says so and is not
	}
	result := boxResult(&asked, v, words, out[0], out[1], r.offer.Ceilings)
	r.mu.Lock()
	defer r.mu.Unlock()
	state := s.state(r.bounds, time.Now())
	if state.State == "busy" {
		state.State = "idle" // this call is over
	}
	if s.box != nil {
		s.lost = "" // it was told: in the call that lost it, and in the one after
	}
	if !state.Lost && v != nil && !v.Kept { // it ended on purpose: closed, or by the server
		state.State = "closed"
	}
	result.Session = &state
	return result, nil
}

// sessionCall is a call in a session: the limits of the whole were set when it was made.
func (r *sessionRunner) sessionCall(q *mcpserver.Request) *callOrder {
	c := r.call(q)
	c.Limits = map[string]string{"wall": c.Limits["wall"]}
	c.Shell, c.Dir, c.Stdin = q.Language == mcpserver.Shell, q.Dir, q.Stdin != nil
	return c
}

// claim takes a session for a call, and makes its name where there is none.
func (r *sessionRunner) claim(q *mcpserver.Request) (*session, *mcpserver.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	no := func(status mcpserver.Status, hint, format string, args ...any) *mcpserver.Result {
		return &mcpserver.Result{Status: status, Reason: fmt.Sprintf(format, args...), Hint: hint, Cleanup: mcpserver.Cleanup{State: mcpserver.NotAttempted}}
	}
	name := sessionName{q.Client, q.Session}
	s := r.list[name]
	switch {
	case r.closed:
		return nil, no(mcpserver.Busy, "", "the server ends")
	case s != nil && s.busy:
		b := no(mcpserver.Busy, "wait, or interrupt it with the tool session", "session %s runs another call", q.Session)
		b.Retry = time.Second
		return nil, b
	case s != nil && s.paused:
		return nil, no(mcpserver.Refused, "resume it with the tool session", "session %s is paused", q.Session)
	case s != nil && s.box != nil:
		if what := s.other(q); what != "" {
			return nil, no(mcpserver.Refused, "leave that out, or close the session first", "session %s was made with %s", q.Session, what)
		}
		if refused := r.renew(s); refused != nil {
			return nil, refused
		}
		s.take()
		return s, nil
	}
	mine, all := 0, 0
	for _, x := range r.list {
		if x.box != nil || x.busy {
			all++
			if x.client == q.Client {
				mine++
			}
		}
	}
	if mine >= r.bounds.Each || all >= r.bounds.All {
		words := fmt.Sprintf("you have %d sessions, and no more at once", mine)
		if mine < r.bounds.Each {
			words = "there are as many sessions as this server keeps"
		}
		return nil, no(mcpserver.Busy, "close one with the tool session, or leave session out", "%s", words)
	}
	asked := *q
	switch {
	case asked.Profile != "":
	case s != nil && !s.shut && s.order != nil: // its box was lost: what it may do stays the same
		asked.Profile = s.order.Profile.Name
	default:
		asked.Profile = r.offer.Profiles[0].Name
	}
	profile, refused := r.profile(context.Background(), &asked)
	if refused != nil {
		return nil, refused
	}
	if s == nil {
		r.forget()
		s = &session{sessionName: name, generation: 1}
		r.list[name] = s
	}
	s.shut, s.network, s.limits = false, q.Network, q.Limits
	if s.network == "" {
		s.network = r.offer.Networks[0]
	}
	s.order = &boxOrder{Language: string(mcpserver.Python), Session: true, Profile: profile, AllowGaps: r.gaps, Network: s.network != r.offer.Networks[0], Limits: limitTexts(0, q.Limits), Values: r.values}
	delete(s.order.Limits, "wall")
	delete(s.order.Limits, "output")
	s.take()
	return s, nil
}

// renew gives a session its profile as it is now, or says why it cannot be used. A box that was made under another one is no longer the session's: what
// it goes on with, beside calls, was allowed by a policy that is gone. The caller has the lock.
func (r *sessionRunner) renew(s *session) (refused *mcpserver.Result) {
	profile, refused := r.profile(context.Background(), &mcpserver.Request{Profile: s.order.Profile.Name})
	if refused == nil && profile.same(s.order.Profile) {
		return nil
	}
	if box := s.box; box != nil {
		r.gone(s, sessionLoss{"policy", "the policy of its profile was changed"})
		go box.end()
	}
	if refused == nil {
		order := *s.order
		order.Profile, s.order = profile, &order
	}
	return refused
}

func (s *session) take() { s.busy, s.free = true, make(chan struct{}) }

// other says what a call asks for that a session does not have; "" where it fits.
func (s *session) other(q *mcpserver.Request) string {
	if q.Profile != "" && q.Profile != s.order.Profile.Name {
		return "profile " + s.order.Profile.Name
	}
	if q.Network != "" && q.Network != s.network {
		return "network " + s.network
	}
	for _, x := range []struct {
		name      string
		own, asks float64
	}{{"memory_mb", float64(s.limits.Memory >> 20), float64(q.Limits.Memory >> 20)}, {"cpus", s.limits.CPUs, q.Limits.CPUs},
		{"max_processes", float64(s.limits.Processes), float64(q.Limits.Processes)}, {"disk_mb", float64(s.limits.Disk >> 20), float64(q.Limits.Disk >> 20)}} {
		if _, asked := q.Asked[x.name]; asked && x.own != x.asks {
			return fmt.Sprintf("%s %v", x.name, x.own)
		}
	}
	return ""
}

// forget drops the oldest of the names that have no box, where there are too many.
func (r *sessionRunner) forget() {
	for len(r.list) >= mostForgotten {
		var oldest *session
		for _, x := range r.list {
			if x.box == nil && !x.busy && (oldest == nil || x.used.Before(oldest.used)) {
				oldest = x
			}
		}
		if oldest == nil {
			return
		}
		delete(r.list, oldest.sessionName)
	}
}

// release ends a call's hold on its session.
func (r *sessionRunner) release(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.busy, s.used = false, time.Now()
	close(s.free)
	r.wind(s)
	if s.box == nil && s.generation == 1 && s.lost == "" {
		delete(r.list, s.sessionName) // nothing ever ran under it
	}
}

// wind sets the clock by which a session ends.
func (r *sessionRunner) wind(s *session) {
	if s.clock != nil {
		s.clock.Stop()
	}
	if box := s.box; box != nil {
		s.clock = time.AfterFunc(s.left(r.bounds, time.Now()), func() { r.expire(s, box) })
	}
}

// left is how long a session goes on where nobody uses it.
func (s *session) left(b mcpserver.SessionBounds, now time.Time) time.Duration {
	return max(min(b.Idle-now.Sub(s.used), b.Life-now.Sub(s.made)), 0)
}

func (r *sessionRunner) expire(s *session, box *sessionBox) {
	r.mu.Lock()
	now := time.Now()
	over := s.box == box && !s.busy && s.left(r.bounds, now) == 0
	why := sessionLoss{"idle", fmt.Sprintf("it was not used for %v", r.bounds.Idle)}
	if now.Sub(s.made) >= r.bounds.Life {
		why = sessionLoss{"age", fmt.Sprintf("it was older than %v", r.bounds.Life)}
	}
	if over {
		r.gone(s, why)
	}
	r.mu.Unlock()
	if over {
		box.end()
	}
}

// sessionLoss is why a session's box is gone: a word for metrics, and in words.
type sessionLoss struct{ reason, words string }

// lossOf reads it from the verdict.
func lossOf(v *boxVerdict) sessionLoss {
	if v == nil {
		return sessionLoss{"internal", "the psb behind it ended"}
	}
	for _, x := range []sessionLoss{{"wall", "a call did not stop at its time limit"}, {"memory", "the memory limit ended it"}, {"output", "it printed too much"}, {"channel", "its program wrote nonsense to psb's pipe"},
		{"cpu_time", "its processor time was used up"}, {"cancel", "a call did not stop when it was given up"}, {"interrupt", "a call did not stop when it was interrupted"}} {
		if v.Reason == x.reason {
			return x
		}
	}
	if v.Signal != "" {
		return sessionLoss{"signal", "its interpreter was ended by " + v.Signal}
	}
	return sessionLoss{"exit", fmt.Sprintf("its interpreter ended with status %d", v.Status)}
}

// lose takes the box from its session: what it knew is lost.
func (r *sessionRunner) lose(s *session, box *sessionBox, why sessionLoss) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.box == box {
		r.gone(s, why)
	}
}

func (r *sessionRunner) gone(s *session, why sessionLoss) {
	s.box, s.paused, s.lost = nil, false, why.words
	s.generation++
	if why.reason == "close" {
		s.shut, s.lost = true, ""
	}
	r.ended[why.reason]++
}

// state tells of a session; the caller has the lock.
func (s *session) state(b mcpserver.SessionBounds, now time.Time) mcpserver.SessionState {
	x := mcpserver.SessionState{ID: s.id, Generation: s.generation, State: "idle", Idle: now.Sub(s.used), Expires: s.left(b, now), Lost: s.lost != "", Why: s.lost}
	if s.order != nil {
		x.Profile = s.order.Profile.Name
	}
	switch {
	case s.box == nil && !s.busy:
		x.State, x.Expires = "lost", 0
	case s.paused:
		x.State = "paused"
	case s.busy:
		x.State, x.Idle = "busy", 0
	}
	return x
}

// Sessions lists those of a client, by name.
func (r *sessionRunner) Sessions(client string) []mcpserver.SessionState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []mcpserver.SessionState
	for _, s := range r.list {
		if s.client == client && !s.shut {
			out = append(out, s.state(r.bounds, time.Now()))
		}
	}
	slices.SortFunc(out, func(a, b mcpserver.SessionState) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Session tells of one.
func (r *sessionRunner) Session(client, id string) (mcpserver.SessionState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.list[sessionName{client, id}]
	if s == nil || s.shut {
		return mcpserver.SessionState{}, mcpserver.ErrNoSession
	}
	return s.state(r.bounds, time.Now()), nil
}

// SessionCounts are for metrics.
func (r *sessionRunner) SessionCounts() mcpserver.SessionCounts {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := mcpserver.SessionCounts{Started: r.started, Ended: map[string]int64{}}
	for k, n := range r.ended {
		c.Ended[k] = n
	}
	for _, s := range r.list {
		if s.box != nil {
			c.Live++
		}
	}
	return c
}
