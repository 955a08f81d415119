package ptrace

// Threads and processes as they come and go.
//
// Does to the process: resumes threads; kill ends all of them.
// Can it be undone: no.
// Preconditions: as for tracer_linux.go; kill alone may be called from any goroutine.
// Called by: tracer_linux.go.
// Proved by: TestExecInThread, TestVforkStorm, TestOrphanedGrandchild, TestCancel.

import (
	"golang.org/x/sys/unix"

	"psb/learn"
)

// add takes a new thread in; of one that is gone already nothing is known but its id.
func (t *tracer) add(parent, tid int, of status) *thread {
	tgid := of.tgid
	if tgid <= 0 {
		tgid = tid
	}
	th := &thread{tid: tid, tgid: tgid}
	t.threads[tid] = th
	t.mu.Lock()
	t.procs[tgid]++
	t.result.Peak = max(t.result.Peak, len(t.procs))
	late := t.stopped
	t.mu.Unlock()
	if late {
		_ = unix.Kill(tgid, unix.SIGKILL) // made while everything was being killed
	}
	pid := of.nstgid
	if pid == 0 {
		pid = tgid
	}
	t.emit(learn.Spawned{TID: parent, Child: tid, PID: pid})
	return th
}

func (t *tracer) drop(th *thread) {
	t.over(th)
	delete(t.threads, th.tid)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.procs[th.tgid]--; t.procs[th.tgid] <= 0 {
		delete(t.procs, th.tgid)
	}
}

// kill ends everything traced, now and later.
func (t *tracer) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for pid := range t.procs {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

func (t *tracer) ended(tid int) {
	th := t.threads[tid]
	if th == nil {
		return
	}
	t.drop(th)
	t.emit(learn.Exited{TID: tid})
	// Its child's first stop may have come before its own event, which now never comes.
	for _, other := range t.threads {
		if !other.held {
			continue
		}
		if of := statusOf(other.tid); t.procs[of.tgid] == 0 && t.threads[of.ppid] == nil {
			t.free(other, 0)
		}
	}
}

// forked takes in the child of a fork, vfork or clone.
func (t *tracer) forked(th *thread) {
	if msg, err := unix.PtraceGetEventMsg(th.tid); err == nil {
		child := int(msg)
		switch known := t.threads[child]; {
		case known == nil:
			if of := statusOf(child); of.tgid > 0 {
				t.add(th.tid, child, of)
			}
		case known.held:
			t.free(known, th.tid)
		}
	}
	t.resume(th, 0)
}

// free lets a thread go that stopped before it was known.
func (t *tracer) free(th *thread, parent int) {
	t.resume(t.add(parent, th.tid, statusOf(th.tid)), 0)
}

// executed moves a process to its new program. All its other threads are gone, the calling one now has the process's id.
func (t *tracer) executed(th *thread) {
	old := th.tid
	if msg, err := unix.PtraceGetEventMsg(th.tid); err == nil && msg != 0 {
		old = int(msg)
	}
	caller := t.threads[old]
	var c *call
	if caller != nil {
		c = caller.call
	}
	program := c.executed(th.tid, t.teller(old, c))
	for _, other := range t.threads {
		if other.tgid == th.tgid && other != th && !other.held {
			t.drop(other)
			t.emit(learn.Exited{TID: other.tid})
		}
	}
	t.over(th)
	clear(th.told)
	t.emit(learn.Executed{TID: th.tid, Old: old, File: program})
	t.resume(th, 0)
}
