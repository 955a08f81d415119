package main

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"psb/mcpserver"
)

// mostPreload bounds the modules that are imported ahead.
const mostPreload = 16

// warmRunner gives a call to a box that was made ahead of need, where one fits, and otherwise makes one for it. A box takes one call, whichever way
// it came to it.
type warmRunner struct {
	*coldRunner
	w       *world
	pool    *pool
	preload []string
	running atomic.Int64

	mu   sync.Mutex
	said map[string]bool
}

func newWarmRunner(w *world, o *mcpOptions, cold *coldRunner) *warmRunner {
	r := &warmRunner{coldRunner: cold, w: w, preload: o.preload, said: map[string]bool{}, pool: newPool(o.warm, o.warmFor)}
	r.pool.make, r.pool.tell = r.ahead, r.tell
	r.pool.calls, r.pool.cpus = func() int { return int(r.running.Load()) }, runtime.NumCPU()
	cold.changed = r.pool.dropProfile
	if first := r.offer.Profiles[0].Name; r.known[first].facts().early {
		r.pool.start(boxKind{profile: first})
	} else {
		r.pool.start()
	}
	return r
}

func (r *warmRunner) close() { r.pool.close() }

// Run runs one request.
func (r *warmRunner) Run(ctx context.Context, q *mcpserver.Request) (*mcpserver.Result, error) {
	r.running.Add(1)
	defer func() {
		r.running.Add(-1)
		r.pool.stir()
	}()
	if _, refused := r.profile(ctx, q); refused != nil {
		return refused, nil
	}
	if !r.fits(q) {
		return r.coldRunner.Run(ctx, q)
	}
	kind := boxKind{q.Profile, q.Network != r.offer.Networks[0]}
	b, ready := r.pool.take(kind)
	if b == nil {
		return r.coldRunner.Run(ctx, q)
	}
	b.give(r.call(q), q)
	b.wait(ctx)
	if !b.hasBegun() && ctx.Err() == nil { // it died while it waited, or is not what would be made now: nothing of the call was done
		if b.verdict != nil && b.verdict.Stale {
			r.pool.drop(kind)
		}
		return r.coldRunner.Run(ctx, q)
	}
	return r.result(q, b, ready), nil
}

// fits: a box that waits has what this call needs, or more of what can be taken away from it.
func (r *warmRunner) fits(q *mcpserver.Request) bool {
	about := r.known[q.Profile].facts()
	has := r.aheadLimits()
	switch {
	case q.Language != mcpserver.Python || !about.early:
		return false
	case q.Limits.Memory > has.Memory || q.Limits.CPUs > has.CPUs || q.Limits.Processes > has.Processes:
		return false
	}
	return q.Limits.Disk == has.Disk && (about.fewer || q.Limits.Processes == has.Processes)
}

// aheadLimits are those of a call that asks for none.
func (r *warmRunner) aheadLimits() mcpserver.Limits {
	c := r.offer.Ceilings
	return mcpserver.Limits{Memory: uint64(c.Memory.Default) << 20, CPUs: c.CPUs.Default, Processes: int(c.Processes.Default), Disk: uint64(c.Disk.Default) << 20}
}

// ahead starts a box for a call that nobody has made yet.
func (r *warmRunner) ahead(k boxKind) (*boxProcess, error) {
	profile, _, err := r.known[k.profile].now()
	if err != nil {
		return nil, err
	}
	limits := limitTexts(time.Hour, r.aheadLimits())
	delete(limits, "wall") // begins with the call
	return r.homes.startBox(&boxOrder{Language: string(mcpserver.Python), Profile: profile, AllowGaps: r.gaps, Network: k.network, Limits: limits, Preload: r.preload, Values: r.values, Ahead: true})
}

// tell says once what an operator can do something about.
func (r *warmRunner) tell(k boxKind, b *boxProcess, err error) {
	switch {
	case err != nil:
		r.once("profile " + k.profile + ": no box could be made ahead of need: " + plainLine(err.Error()))
	case len(b.failed) > 0:
		r.once("profile " + k.profile + ": --preload " + plainLine(strings.Join(b.failed, "; ")))
	}
}

func (r *warmRunner) once(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) < 100 && !r.said[text] {
		r.said[text] = true
		r.w.ui.say("%s", text)
	}
}

// Ahead is for metrics.
func (r *warmRunner) Ahead() mcpserver.AheadFigures {
	ready, making, c := r.pool.figures()
	return mcpserver.AheadFigures{Ready: ready, Making: making, Made: c.made, Taken: c.taken, Missed: c.missed, Died: c.died, Stale: c.stale}
}

// isModuleName: dotted words of ASCII, as Python's own are.
func isModuleName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' || strings.IndexFunc(part, func(c rune) bool {
			return !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
		}) >= 0 {
			return false
		}
	}
	return len(name) <= 100
}
