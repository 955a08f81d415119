// Does to the process: makes cgroups, a Landlock ruleset and filters; starts the box, catches signals, may stop or end psb by a signal.
// Undone: groups are removed, the box is ended; psb itself stays unrestricted.
// Preconditions: the plan has no open gaps; called once.
// Called by: run.go, learn.go, exec.go.
// Proved by: the scripts named run_*, learn_*; the attack suite.

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"psb/cgroups"
	"psb/landlock"
	"psb/namespaces"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// outcome is how a run ended, from the kernel's side.
type outcome struct {
	status  int // psb's own exit status
	died    syscall.Signal
	reason  string // "exit", "signal", "wall", "memory", "output", "refused", "not executable", "not found"
	started bool
	exit    namespaces.Exit
	usage   cgroups.Usage
	wall    time.Duration
}

// watcher sees a run from outside while it goes on: the supervisor of an enforced run, the tracer of a learning one.
type watcher interface {
	// filter is the program's filter and whether it asks a supervisor.
	filter() (program seccomp.Program, listener bool, err error)
	// attend takes part from the moment the program is held; it must call box.Release and returns when the program is on its way.
	attend(box *namespaces.Box, program int) error
	// end waits for what the watcher still does after the box's end.
	end()
}

// launch walks the plan: cgroup → box → (watch) → release → wait. It prints nothing.
func launch(j *job, w watcher) (outcome, error) {
	p := j.plan
	spec := p.Spec
	spec.Ignored, spec.Blocked = namespaces.IgnoredAtStart(), namespaces.BlockedAtStart()

	if err := j.stdioFit(); err != nil {
		return outcome{}, err
	}
	prog, listener, err := w.filter()
	if err != nil {
		return outcome{}, fmt.Errorf("seccomp: %w", err)
	}
	spec.Filter, spec.Listener = prog.Bytes, listener
	reaper, err := j.reaperFilter(prog.Arch)
	if err != nil {
		return outcome{}, fmt.Errorf("seccomp: %w", err)
	}
	spec.Reaper = reaper.Bytes
	if p.Files.Enforces() {
		fd, rules, err := j.ruleset()
		if err != nil {
			return outcome{}, err
		}
		defer unix.Close(fd)
		spec.Landlock = &namespaces.Landlock{FD: fd, Rules: rules}
	}
	groups, err := j.plannedGroups()
	if err != nil {
		return outcome{}, err
	}
	spec.CgroupProcs, spec.CgroupDirs, spec.Await = groups.procs, groups.dirs, len(groups.dirs) > 0
	var signals <-chan os.Signal
	if !j.bare {
		var release func()
		signals, release = catchSignals()
		defer release()
	}
	out := newOutput(j)
	stdio, err := out.pipes(j.w.stdio)
	if err != nil {
		return outcome{}, err
	}
	r := &course{j: j, out: out, begin: time.Now()}
	if r.box, err = namespaces.Start(&spec, stdio); err != nil {
		return outcome{}, err
	}
	box := r.box
	group, err := groups.create()
	if err != nil {
		box.Kill()
		_, _ = box.Wait()
		return outcome{}, err
	}
	if group != nil {
		defer func() {
			if group != nil { // else it is the watcher's
				_ = group.Remove()
			}
		}()
		if err := box.Proceed(); err != nil {
			_, ended := box.Wait()
			return notStarted(err, ended)
		}
	}
	out.begin(box.Kill)
	r.group = group
	if c, ok := w.(cleaner); ok {
		c.cleans(box, group)
		group = nil
	}
	return r.goAlong(w, signals, func(running *atomic.Bool) (outcome, error) {
		return follow(box, w, running, func() { j.keepPrepared(&spec) })
	})
}

// course is one run of a box: what goes on beside the program, and what is asked at its end.
type course struct {
	j     *job
	box   *namespaces.Box
	group *cgroups.Group // nil without one
	out   *output
	begin time.Time
}

// goAlong does everything that goes on beside the program, until follow says how it ended.
func (r *course) goAlong(w watcher, signals <-chan os.Signal, follow func(running *atomic.Bool) (outcome, error)) (outcome, error) {
	limits := startLimits(r.j, r.box, r.group)
	if l, ok := w.(interface {
		limited(*limitWatch, *cgroups.Group)
	}); ok {
		l.limited(limits, r.group) // the time is the watcher's to start
	} else {
		limits.startWall(r.j.plan.Limits["wall"].Time)
	}
	f := &forwarder{box: r.box, atShell: r.j.opts.caller == "" && hasTerminal()}
	if h, ok := w.(interface{ heard() }); ok {
		f.heard = h.heard
	}
	go f.run(signals)
	if r.j.opts.caller != "" {
		defer whenLeft(r.j.w.stdio[0], r.box.Kill)()
	}
	o, err := follow(&f.started)
	if s := f.ended(); s != 0 {
		o, err = outcome{status: 128 + int(s), died: s, reason: "signal"}, nil // asked to end before there was a program to ask
	}
	o.wall = time.Since(r.begin)
	limits.stop()
	r.out.end()
	w.end()
	if r.group != nil {
		o.usage, _ = r.group.Usage() // what it cannot tell stands in Usage.Unknown
	}
	if err != nil || !o.started {
		return o, err
	}
	_, cpuLimited := r.j.plan.Limits["cpu_time"]
	o.judge(limits.reached(), r.out.exceeded(), cpuLimited)
	return o, nil
}

// follow goes along from the held program to the end of the box.
func follow(box *namespaces.Box, w watcher, running *atomic.Bool, onTheWay func()) (outcome, error) {
	program, err := box.Ready()
	if err == nil {
		err = w.attend(box, program)
	}
	if err == nil {
		err = box.Started()
	}
	if err != nil {
		box.Kill()
		_, ended := box.Wait()
		return notStarted(err, ended)
	}
	running.Store(true)
	onTheWay()
	if _, ok := w.(cleaner); ok {
		select {
		case <-box.Ended():
			return outcome{started: true, exit: box.Exit()}, nil
		case <-box.Done():
		}
	}
	return ended(box), nil
}

// ended waits for the end of a box whose program runs.
func ended(box *namespaces.Box) outcome {
	exit, err := box.Wait()
	o := outcome{started: true, exit: exit}
	if err != nil {
		// Ended from outside: by a limit, by a signal to psb, or by somebody's kill.
		o.exit.Status = syscall.WaitStatus(syscall.SIGKILL)
	}
	return o
}

// notStarted tells an executable that cannot be run (126, 127) from a stage that failed (125).
func notStarted(err, ended error) (outcome, error) {
	var stage *namespaces.StageError
	var first *namespaces.StageError
	if !errors.As(err, &stage) && errors.As(ended, &first) && first.Stage != "box" {
		err = ended // a stage that failed says more than the connection it closed
	}
	if errors.As(err, &stage) && stage.Stage == "exec" {
		switch stage.Errno {
		case syscall.ENOENT, syscall.ENOTDIR:
			return outcome{status: exitNotFound, reason: "not found"}, &refusal{what: fmt.Sprintf("%s: no such file", plainText(stage.Cause)), status: exitNotFound}
		case syscall.EACCES, syscall.ENOEXEC, syscall.EPERM, syscall.EISDIR, syscall.ELIBBAD:
			return outcome{status: exitNotExec, reason: "not executable"}, &refusal{what: fmt.Sprintf("%s: cannot be executed: %v", plainText(stage.Cause), stage.Errno), status: exitNotExec}
		}
	}
	return outcome{status: exitRefused, reason: "refused"}, err
}

// judge turns the kernel's word into psb's status.
func (o *outcome) judge(limit string, flooded, cpuLimited bool) {
	ws := o.exit.Status
	switch {
	case flooded:
		limit = "output"
	case limit == "" && o.usage.OOMKills > 0 && ws.Signaled() && ws.Signal() == syscall.SIGKILL:
		limit = "memory"
	}
	if limit == "" && ws.Signaled() && ws.Signal() == syscall.SIGXCPU && cpuLimited {
		limit = "cpu_time"
	}
	o.reason = "exit"
	if ws.Signaled() {
		o.reason, o.died, o.status = "signal", ws.Signal(), 128+int(ws.Signal())
	} else {
		o.status = ws.ExitStatus()
	}
	if limit != "" {
		o.reason = limit
	}
	if flooded && o.status == 0 { // it was done before it was killed; what it printed was cut all the same
		o.status, o.died = 128+int(syscall.SIGKILL), syscall.SIGKILL
	}
	if limit == "wall" {
		o.status, o.died = exitTimeout, 0
	}
}

// askedToEnd tells the signals by which servers and people end a program from a crash.
func (o outcome) askedToEnd() bool {
	return o.reason == "signal" && (o.died == syscall.SIGINT || o.died == syscall.SIGTERM)
}

// ruleset makes the Landlock ruleset outside; rules on objects of the box's own root are added inside.
func (j *job) ruleset() (int, []namespaces.LandlockRule, error) {
	rs := j.plan.Files
	var inside []namespaces.LandlockRule
	if j.plan.Provider == plan.Namespaces {
		for _, r := range rs.Paths {
			a := r.Access
			if r.File {
				a = landlock.ForFile(a)
			}
			if a != 0 {
				inside = append(inside, namespaces.LandlockRule{Path: r.Path, Access: uint64(a)})
			}
		}
		rs.Paths = nil
	}
	rs.Paths = append(rs.Paths, j.stdioRules(rs.HandledFS)...)
	fd, err := landlock.Create(rs)
	if err != nil {
		return -1, nil, fmt.Errorf("landlock: %w", err)
	}
	return fd, inside, nil
}

// stdioRules lets the program open /dev/stdin and the like again: each of its objects gets a rule of its own.
func (j *job) stdioRules(handled landlock.Access) []landlock.PathRule {
	var out []landlock.PathRule
	for _, f := range j.w.stdio {
		var st unix.Stat_t
		if unix.Fstat(int(f.Fd()), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue // pipes, sockets and terminals need none
		}
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
		if err != nil {
			continue
		}
		mode := flags & unix.O_ACCMODE
		if mode > unix.O_RDWR || memoryOnly(f) {
			continue
		}
		if access := stdioAccess(mode) & handled; access != 0 {
			out = append(out, landlock.PathRule{Path: fmt.Sprintf("/proc/self/fd/%d", f.Fd()), Access: access, File: true})
		}
	}
	return out
}

// memoryOnly: a memfd stands on no mount that a rule could name (EBADFD); it cannot be opened again.
func memoryOnly(f *os.File) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return err == nil && strings.HasPrefix(name, "/memfd:")
}

// stdioFit refuses descriptors that would be a way out: a folder can be walked from, an unconnected socket can be connected.
func (j *job) stdioFit() error {
	for i, f := range j.w.stdio {
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			continue // closed: namespaces.Start decides
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			return refuse("redirect it to a file, a pipe or /dev/null", "descriptor %d is a folder", i)
		case unix.S_IFSOCK:
			if !stream(int(f.Fd())) {
				return refuse("put cat between, or redirect it to a file, a pipe or /dev/null", "descriptor %d is a socket that can be connected elsewhere: only a connected unix stream socket goes in", i)
			}
		}
	}
	return nil
}

// stream reports a unix stream or seqpacket socket that has its peer for good. An IP socket belongs to the host's network whoever holds it
// and can be dissolved and connected again (AF_UNSPEC); a unix datagram socket, too, to names of the host.
func stream(fd int) bool {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil || domain != unix.AF_UNIX {
		return false
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM && kind != unix.SOCK_SEQPACKET {
		return false
	}
	_, err = unix.Getpeername(fd)
	return err == nil
}

// enforceOptions says what an enforced run's filter must hold.
func (j *job) enforceOptions() (seccomp.Options, error) {
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return seccomp.Options{}, err
	}
	return seccomp.Options{Arch: arch, NoteFD: pythonshim.NoteFD, Listener: j.facts.seccomp.Notify, Broker: j.plan.Brokered, Datagrams: j.plan.Datagrams, Lite: j.plan.Provider == plan.LandlockOnly,
		LandlockABI: j.facts.landlock.ABI, Extra: j.plan.Syscalls, IDs: &seccomp.IDs{UID: j.plan.Identity.UID, GID: j.plan.Identity.GID}}, nil
}

func (j *job) reaperFilter(arch seccomp.Arch) (seccomp.Program, error) {
	if j.filters != nil {
		return j.filters.reaper, nil
	}
	return buildFilter(j, seccomp.Reaper(arch))
}

// buildFilter compiles a filter, or takes it from psb's own cache, which no box can write.
func buildFilter(j *job, f seccomp.Filter) (seccomp.Program, error) {
	dir := cacheDir(j)
	key := seccomp.CacheKey(f, seccomp.LibVersion())
	if p, err := seccomp.Load(dir, key); err == nil {
		return p, nil
	}
	p, err := f.Build()
	if err != nil {
		return p, err
	}
	if !j.w.traceless && os.MkdirAll(dir, 0o700) == nil {
		_ = seccomp.Store(dir, key, p) // a cache that cannot be written costs time only
	}
	return p, nil
}
