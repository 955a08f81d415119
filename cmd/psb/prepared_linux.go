// Does to the process: keeps a launch in psb's own folder; takes over a box that was started from one.
// Undone: a launch that no longer fits is replaced; the folder keeps the newest.
// Preconditions: none.
// Called by: launch_linux.go, main.go.
// Proved by: TestPrepared, TestPreparedHandsOver, TestPreparedFollowsTheHost.

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"psb/cgroups"
	"psb/landlock"
	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
	"psb/seccomp"
)

// ownWords is what a Go that takes over has to know before it has worked the launch out again.
type ownWords struct {
	ABI      int
	Syscalls map[string]bool
	Identity plan.Identity
	Notify   bool
	Group    cgroups.Limits
	Limits   map[string]policy.Limit
	Held     map[string]string // as plan.Host.Limits
	Watched  []string
	Brokered bool
	Relays   bool          // datagrams
	Net      []policy.Rule // of [net]: what the broker judges by
	Sockets  map[string]string
	Hostname string
}

// mostPrepared is how many launches are kept; the oldest go first.
const mostPrepared = 200

func launchesDir(w *world) string { return stateDir(w.id, w.lookup) + "/launches" }

// keepPrepared keeps the launch for later starts of the same command, where such a start would need nothing but what is kept. What cannot be
// kept costs time only.
func (j *job) keepPrepared(spec *namespaces.Spec) {
	words, more, least, ok := j.preparable()
	if !ok {
		return
	}
	name := namespaces.PreparedName(words)
	digest, err := hex.DecodeString(name)
	if err != nil || len(digest) == 0 {
		return
	}
	p, err := j.prepared(spec, more, least)
	if err != nil {
		return
	}
	b, err := namespaces.EncodePrepared(digest, p)
	if err != nil || !mayWrite(len(b)) || !namespaces.PreparedFits(name, b) {
		return
	}
	dir := launchesDir(j.w)
	if os.MkdirAll(dir, 0o700) == nil && replaceFile(filepath.Join(dir, name), b, 0o600) == nil {
		dropOldest(dir, mostPrepared)
	}
}

// mayWrite: beyond the limit on file sizes the kernel ends a process instead of failing its write.
func mayWrite(n int) bool {
	var l unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &l) == nil && l.Cur >= uint64(n)
}

// preparable says how many words of the command line a later start must share, how many at the end may differ, and how many of those there
// must be.
func (j *job) preparable() (words, more, least int, ok bool) {
	line, o := j.line, j.opts
	// Under this name words that the caller did not write stand between psb's options and the program's.
	if filepath.Base(j.w.argv[0]) == "ipython-sb" {
		return 0, 0, 0, false
	}
	if line == nil || j.plan.Mode != plan.Enforce || j.w.seen.doubt != "" || j.plan.Provider != plan.Namespaces || len(o.reports) > 0 || o.answer != "" || o.caller != "" || o.failOnDenial || len(o.inspect) > 0 || len(o.allowGaps) > 0 || o.learn || o.explain || o.ask || o.record != "" || len(j.plan.Limits["output"].Text) > 0 {
		return 0, 0, 0, false
	}
	if slices.ContainsFunc(passing, func(name string) bool { return j.w.asked[name] || slices.ContainsFunc(j.plan.Spec.Env, envName(name)) }) {
		return 0, 0, 0, false
	}
	more = len(line.args)
	switch line.form {
	case formScript, formModule:
	case formCode:
		more, least = more+1, 1
	default:
		return 0, 0, 0, false
	}
	argv := j.plan.Spec.Argv
	words = len(j.w.argv) - more
	if words < 2 || more > len(argv) || !slices.Equal(argv[len(argv)-more:], j.w.argv[words:]) {
		return 0, 0, 0, false
	}
	return words, more, least, true
}

// passing are variables that a shell sets anew for each command. They are no part of who a launch was prepared for (identity_linux.c), so none
// may rest on them.
var passing = []string{"_", "OLDPWD", "SHLVL"}

func envName(name string) func(kv string) bool {
	return func(kv string) bool { return strings.HasPrefix(kv, name+"=") }
}

func (j *job) prepared(spec *namespaces.Spec, more, least int) (*namespaces.Prepared, error) {
	s := *spec
	p := &namespaces.Prepared{Spec: &s, More: more, Least: least, Watched: j.plan.Watched, Checks: j.w.seen.checks()}
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		own, set := j.w.lookup(name)
		p.FromCaller = append(p.FromCaller, set && own == value)
	}
	if err := j.prepareGroups(p); err != nil {
		return nil, err
	}
	if s.Landlock != nil {
		rs := j.plan.Files
		if len(rs.Ports) > 0 {
			return nil, fmt.Errorf("ports are ruled")
		}
		p.Handled = namespaces.Handled{FS: uint64(rs.HandledFS), Net: uint64(rs.HandledNet), Scoped: uint64(rs.Scoped)}
		for mode := range p.Handled.Stdio {
			p.Handled.Stdio[mode] = uint64(stdioAccess(mode) & rs.HandledFS)
		}
	}
	limits := j.plan.Limits
	p.GoAtOnce = limits["wall"].Time > 0 || limits["cpu_time"].Time > 0 || j.looksAtMemory(len(s.CgroupDirs) > 0)
	var err error
	p.Own, err = json.Marshal(ownWords{j.facts.landlock.ABI, j.plan.Syscalls, j.plan.Identity, j.facts.seccomp.Notify, j.groupLimits(), limits, j.facts.host.Limits, j.plan.Watched,
		j.plan.Brokered, j.plan.Datagrams, j.netRules(), j.plan.Sockets, s.Hostname})
	return p, err
}

// netRules are the policy's lines on the network.
func (j *job) netRules() (list []policy.Rule) {
	for _, r := range j.policy.Rules {
		switch r.Op {
		case policy.OpConnect, policy.OpListen, policy.OpPrivate, policy.OpDeny:
			list = append(list, r)
		}
	}
	return list
}

// placeHolder is as wide as the name of any psb's group.
var placeHolder = fmt.Sprintf("psb-%010d-%020d-0", 0, 0)

func (j *job) prepareGroups(p *namespaces.Prepared) error {
	s := p.Spec
	if len(s.CgroupDirs) == 0 {
		return nil
	}
	fitted, _ := j.groupLimits().Fit(j.facts.cgroups)
	acts, err := cgroups.Acts(j.facts.cgroups, placeHolder, fitted)
	if err != nil {
		return err
	}
	kinds := map[cgroups.ActKind]namespaces.ActKind{cgroups.Mkdir: namespaces.ActMkdir, cgroups.MkdirAny: namespaces.ActMkdirAny, cgroups.Write: namespaces.ActWrite}
	for _, a := range acts {
		p.Acts = append(p.Acts, namespaces.GroupAct{Kind: kinds[a.Kind], Path: a.Path, Value: a.Value})
	}
	p.Group, p.Refusals = placeHolder, cgroups.Refusals(j.facts.cgroups, placeHolder, fitted)
	s.CgroupDirs, s.CgroupProcs, err = cgroups.Planned(j.facts.cgroups, placeHolder, fitted)
	return err
}

// stdioAccess is what a standard descriptor's own file may be opened for again, by the access mode it has.
func stdioAccess(mode int) landlock.Access {
	return [...]landlock.Access{landlock.FSReadFile, landlock.FSWriteFile | landlock.FSTruncate, landlock.WriteFile}[mode]
}

func dropOldest(dir string, most int) {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) <= most {
		return
	}
	age := map[string]time.Time{}
	for _, e := range list {
		if fi, err := e.Info(); err == nil {
			age[e.Name()] = fi.ModTime()
		}
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return age[a.Name()].Compare(age[b.Name()]) })
	for _, e := range list[:len(list)-most] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}

// takeOver goes on with a box that the constructor started from a prepared launch and could not see to its end.
func takeOver(w *world, args []string, r *namespaces.Running) (int, error) {
	signals, release := catchSignals()
	var own ownWords
	if err := json.Unmarshal(r.Own, &own); err != nil {
		r.Box.Kill()
		return exitRefused, fmt.Errorf("the prepared launch: %w", err)
	}
	// Enough of a job to answer calls with, until there is a whole one.
	short := &job{w: w, plan: &plan.Plan{Provider: plan.Namespaces, Syscalls: own.Syscalls, Identity: own.Identity, Limits: own.Limits, Watched: own.Watched,
		Brokered: own.Brokered, Datagrams: own.Relays, Sockets: own.Sockets}, net: &policy.Policy{Rules: own.Net}}
	short.plan.Spec.Hostname = own.Hostname
	short.facts.host.Limits = own.Held
	short.facts.landlock.ABI, short.facts.seccomp.Notify = own.ABI, own.Notify
	s := newSupervisor(short)
	if err := s.takeOver(r); err != nil {
		r.Box.Kill()
		return exitRefused, err
	}
	c := &course{j: short, box: r.Box, out: newOutput(short), begin: time.Now()}
	if r.Group != "" {
		probed := cgroups.Probe()
		fitted, _ := own.Group.Fit(probed)
		var err error
		if c.group, err = cgroups.Adopt(probed, r.Group, fitted); err != nil {
			r.Box.Kill()
			return exitRefused, err
		}
	}
	o, err := c.goAlong(s, signals, func(running *atomic.Bool) (outcome, error) {
		running.Store(true)
		return ended(r.Box), nil
	})
	if c.group != nil {
		_ = c.group.Remove() // what is left of it, the next start removes
	}
	release()
	runtime.LockOSThread() // what is told now must stop at a terminal as any program would
	namespaces.FreeSignals()
	j := short
	if s.seen.any() {
		if whole, err := again(w, args); err == nil { // else the program itself, or somebody, changed its project since it started
			j, j.plan.Watched = whole, own.Watched
		}
	}
	return j.told(s, o, err)
}

// takeOver answers what a box started before Go asks.
func (s *supervisor) takeOver(r *namespaces.Running) error {
	o, err := s.j.enforceOptions()
	if err != nil {
		return err
	}
	s.rules = seccomp.Enforce(o)
	if s.listens = r.Listener != nil; !s.listens {
		return nil
	}
	return s.listen(r.Box, r.Listener)
}

// again works the launch out once more, for the words at its end; it makes, asks and starts nothing.
func again(w *world, args []string) (*job, error) {
	line, err := parseRun(args)
	if err != nil {
		return nil, err
	}
	j := &job{w: w, line: line, opts: line.options, where: locate(line, w), look: newLook(w.seen), again: true}
	return j, j.enforce(line)
}
