// Does to the process: gives one thread away to the tracer, which sees every call on files of the box end.
// Undone: the thread ends with the run.
// Preconditions: the box was started with Spec.Hold.
// Called by: run.go through watcher.
// Proved by: the scripts named run_explain_denials*.

package main

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"psb/learn"
	"psb/learn/ptrace"
	"psb/namespaces"
	"psb/policy"
	"psb/seccomp"
)

// explainer is a supervisor with a tracer beside it: it knows every file access that the kernel refused, whoever in the box asked.
type explainer struct {
	*supervisor
	tries    tries
	programs map[int]string // by thread: what it runs, "" for the program itself
	searches map[int]search
	done     chan struct{}
	err      error
	attended bool

	record *recording // of --record; nil without. Below mu, with what follows
	set    *learn.Set
	peak   int
}

func newExplainer(s *supervisor) *explainer {
	return &explainer{supervisor: s, tries: newTries(s.j), programs: map[int]string{}, searches: map[int]search{}, done: make(chan struct{})}
}

func (x *explainer) filter() (seccomp.Program, bool, error) {
	o, err := x.j.enforceOptions()
	if err != nil {
		return seccomp.Program{}, false, err
	}
	x.rules = seccomp.Enforce(o)
	var names []string
	for _, nr := range slices.Concat(ptrace.FileCalls(), ptrace.LookCalls()) {
		names = append(names, seccomp.Name(o.Arch, nr))
	}
	p, err := buildFilter(x.j, seccomp.Explain(o, names))
	x.listens = o.Listener && x.rules.Notifies()
	return p, x.listens, err
}

func (x *explainer) attend(box *namespaces.Box, program int) error {
	x.attended = true
	released := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: ptrace belongs to this thread, and the thread ends here
		defer close(x.done)
		var result ptrace.Result
		result, x.err = ptrace.Run(context.Background(), ptrace.Target{PID: program, Looks: true}, func() error {
			err := box.Release()
			released <- err
			return err
		}, x.see)
		x.peak = result.Peak
		select {
		case released <- x.err: // the seizure failed
		default:
		}
	}()
	if err := <-released; err != nil || !x.listens {
		return err
	}
	fd, err := box.Listener()
	if err != nil {
		return err
	}
	return x.listen(box, fd)
}

// records has everything that is seen written down as well, as a learning run has.
func (x *explainer) records() error {
	rec, err := x.j.startRecording()
	if rec == nil {
		return err
	}
	x.record, x.set = rec, learn.NewSet()
	rec.introduce(x.j, x.j.knowledge())
	x.did = func(tid int, a policy.Access, errno string) {
		x.write(learn.Accessed{TID: tid, Access: a, Errno: learn.Errno(errno)})
	}
	return nil
}

func (x *explainer) write(e learn.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record != nil && !x.over {
		x.record.tell(e)
		x.set.Add(e)
	}
}

// recorded ends the record of a run that is over. What learning would make of it is asked for once, so that the answers stand in it, too.
func (x *explainer) recorded(o outcome, failure error) {
	if x.record == nil {
		return
	}
	end := learn.Ended{Reason: o.reason, Status: o.status, Partial: partial(o), Peak: x.peak}
	if failure != nil {
		end = learn.Ended{Reason: "failed", Partial: failure.Error()}
	}
	if !o.started {
		x.record.spool.Close()
		return
	}
	learn.Propose(x.set, x.j.knowledge().Telling(x.record.tell), x.j.policy)
	x.j.record(x.record, end)
}

// see takes one event of the tracer over.
func (x *explainer) see(e learn.Event) {
	if x.record != nil {
		x.write(e)
	}
	switch e := e.(type) {
	case learn.Spawned:
		x.programs[e.Child] = x.programs[e.TID]
	case learn.Executed:
		delete(x.programs, e.Old)
		if x.programs[e.TID] = path.Base(e.File); strings.HasPrefix(path.Base(e.File), "python") {
			x.programs[e.TID] = "" // of Python the shim says more
		}
	case learn.Exited:
		delete(x.programs, e.TID)
		delete(x.searches, e.TID)
	case learn.Accessed:
		if e.Errno == "" || e.How == learn.Look && x.programs[e.TID] == "" {
			return // Python asks before it acts, and says itself what it could not start
		}
		if a, refused := x.tries.judge(e); refused && !x.sameSearch(e, a) {
			x.refusedFile(a, x.programs[e.TID])
		}
	}
}

// search is a program that a thread looks for: the name it tried first, and what that leads to.
type search struct {
	first string
	found policy.Access
}

// sameSearch: a look along PATH comes to one program under several names (/usr/bin and /bin); it is one refusal.
func (x *explainer) sameSearch(e learn.Accessed, a policy.Access) bool {
	if a.Op != policy.OpExec {
		return false
	}
	if s := x.searches[e.TID]; s.found == a && s.first != e.Access.Object {
		return true
	}
	x.searches[e.TID] = search{e.Access.Object, a}
	return false
}

func (x *explainer) refusedFile(a policy.Access, program string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen.add(a, program, "kernel")
}

func (x *explainer) end() {
	if x.attended {
		<-x.done
	}
	x.supervisor.end()
}
