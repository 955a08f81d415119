package main

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"psb/pythonshim/call"
	"psb/seccomp"
)

// boxMaker makes boxes of what it has worked out before.
type boxMaker struct {
	w *world

	mu     sync.Mutex
	plans  map[string]*plannedBox // by what of an order they rest on
	turn   int                    // of the use that was last
	number int                    // of the box that was last

	planning sync.Mutex // one at a time: most of what waits is of the same kind
}

// mostPlans bounds what is kept; the one that was used longest ago goes first.
const mostPlans = 8

// plannedBox is a launch that was worked out, and is never launched itself.
type plannedBox struct {
	j       *job
	code    []byte // of the program that waits for calls; nil: its text has to do
	made    *madeFrom
	filters *launchFilters
	used    int
}

// launchFilters are the filters of a launch once they are built.
type launchFilters struct {
	rules           seccomp.Filter
	program, reaper seccomp.Program
	listens         bool
}

// planOf is the plan for an order: one that was worked out before, while all that it was worked out from looks as it did.
func (m *boxMaker) planOf(o *boxOrder) (*plannedBox, error) {
	key, err := o.planKey()
	if err != nil {
		return nil, err
	}
	if p := m.kept(key); p != nil {
		return p, nil
	}
	m.planning.Lock()
	defer m.planning.Unlock()
	if p := m.kept(key); p != nil { // somebody else's, meanwhile
		return p, nil
	}
	p, err := planBox(m.w, o)
	if err == nil && p.made.doubt == "" {
		m.keep(key, p)
	}
	return p, err
}

func (m *boxMaker) kept(key string) *plannedBox {
	m.mu.Lock()
	p := m.plans[key]
	if p != nil {
		m.turn++
		p.used = m.turn
	}
	m.mu.Unlock()
	if p == nil || p.made.hold() {
		return p
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.plans[key] == p {
		delete(m.plans, key)
	}
	return nil
}

func (m *boxMaker) keep(key string, p *plannedBox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.plans) >= mostPlans {
		oldest := ""
		for k, x := range m.plans {
			if oldest == "" || x.used < m.plans[oldest].used {
				oldest = k
			}
		}
		delete(m.plans, oldest)
	}
	m.turn++
	p.used, m.plans[key] = m.turn, p
}

// planKey is what of an order its plan rests on: all but the words of a shell, which no plan looks at, and what its program is told before it
// starts.
func (o *boxOrder) planKey() (string, error) {
	k := *o
	k.Preload, k.Values = nil, nil
	if k.Shell != nil {
		k.Shell = &shellOrder{Dir: k.Shell.Dir}
	}
	text, err := json.Marshal(&k)
	return string(text), err
}

func planBox(w *world, o *boxOrder) (*plannedBox, error) {
	j, err := boxJob(w, o)
	if err != nil {
		return nil, err
	}
	j.plan.Env = j.boxEnvironment()
	j.plan.Spec.Env = j.plan.Env
	j.bare = true // no signal is for it
	code := j.callCode()
	if code != nil && o.Shell == nil {
		argv := slices.Clone(j.plan.Spec.Argv)
		argv[len(argv)-1] = call.Dir + "/" + call.CodeName
		j.plan.Command.Argv, j.plan.Spec.Argv = argv, argv
	}
	f := &launchFilters{}
	s := newSupervisor(j)
	if f.program, f.listens, err = s.filter(); err != nil {
		return nil, err
	}
	f.rules = s.rules
	if f.reaper, err = buildFilter(j, seccomp.Reaper(f.program.Arch)); err != nil {
		return nil, err
	}
	seen := j.w.seen
	checks := seen.checks()
	return &plannedBox{j: j, code: code, filters: f, made: &madeFrom{checks, seen.doubt}}, nil
}

// job is one box's: what a run changes of it is its own.
func (m *boxMaker) job(p *plannedBox, o *boxOrder) *job {
	j, w, q := *p.j, *p.j.w, *p.j.plan
	w.seen, w.asked = newSightings(), nil
	q.Limits = maps.Clone(q.Limits)
	if o.Shell != nil {
		q.Command.Argv = o.Shell.words()
		q.Spec.Argv = q.Command.Argv
	}
	j.w, j.plan, j.look, j.filters = &w, &q, newLook(w.seen), p.filters
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	j.number = m.number
	return &j
}
