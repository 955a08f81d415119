// Does to the process: nothing in psb's own; stops every process of the box but the first, and lets them go on.
// Undone: Resume; the box's end ends stopped processes, too.
// Preconditions: the box has a pid namespace.
// Called by: cmd/psb, while it asks somebody a question.
// Proved by: TestPause, TestPauseKeepsStopped, TestPauseUndone.

package namespaces

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pause is what a paused box looked like.
type pause struct {
	held   map[int]bool    // processes that the program had stopped itself
	before map[thread]task // every thread once all were at rest; nil where they do not come to rest
}

type thread struct{ pid, tid int }

// task is what the kernel tells of a thread.
type task struct {
	state byte   // as in proc(5)
	runs  string // how often it has left a processor: each time it has run since
}

// atRest: it is stopped, dead, or deep in a call of the kernel, behind which its stop waits.
func (k task) atRest() bool { return strings.IndexByte("TtDZX", k.state) >= 0 }

// restless is how long Pause waits for a box to come to rest.
const restless = 2 * time.Second

// Pause stops everything in the box with SIGSTOP until Resume. It is false where the box has no pid namespace, or is gone. A program has ways to
// let its processes go on, such as a timer that sends SIGCONT: Resting tells. Parents in the box that wait for stopped children (WUNTRACED)
// see theirs; the program's own stop is told to nobody.
func (b *Box) Pause() bool {
	if !b.pids {
		return false
	}
	p := pause{held: map[int]bool{}}
	for at, k := range b.tasks() {
		if had, seen := p.held[at.pid]; !seen || had {
			p.held[at.pid] = k.state == 'T'
		}
	}
	maps.DeleteFunc(p.held, func(_ int, stopped bool) bool { return !stopped })
	select {
	case <-b.paused: // the late word of a pause that was given up
	default:
	}
	if !b.order(msgPause, 0) {
		return false
	}
	select {
	case <-b.paused:
		b.rest = p
		b.Settle()
		return true
	case <-b.done:
	case <-time.After(5 * time.Second): // the reaper is stopped itself, by somebody outside: what it does later has to be undone
		b.order(msgResume, 1)
	}
	return false
}

// Settle stops each thread of a paused box until none runs any more; false where they do not come to rest. A signal to a process is its first
// thread's to take, and one that waits for an answer of psb takes none: the others would go on.
func (b *Box) Settle() bool {
	var last map[thread]task
	b.rest.before = nil
	for end := time.Now().Add(restless); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		now := b.tasks()
		quiet := true
		for at, k := range now {
			if k.state != 'T' {
				_ = unix.Tgkill(at.pid, at.tid, unix.SIGSTOP) // ESRCH: it has just ended
			}
			quiet = quiet && k.atRest()
		}
		if quiet && maps.Equal(now, last) {
			b.rest.before = now
			return true
		}
		last = now
	}
	return false
}

// Resting reports whether nothing in the box has run since it was paused, or settled again.
func (b *Box) Resting() bool { return b.rest.before != nil && maps.Equal(b.rest.before, b.tasks()) }

// Resume undoes Pause with SIGCONT. What the program had stopped itself stays so.
func (b *Box) Resume() {
	if len(b.rest.held) == 0 {
		b.order(msgResume, 1) // to all
		return
	}
	b.order(msgResume, 0)
	var done []int
	for at := range b.tasks() {
		if !b.rest.held[at.pid] && !slices.Contains(done, at.pid) {
			done = append(done, at.pid)
			_ = unix.Kill(at.pid, unix.SIGCONT) // ESRCH: it was killed meanwhile
		}
	}
}

// tasks gives every thread of the box but those of its first process. Who belongs to it the kernel tells by parents: what has lost its own is the
// first process's, and nothing leaves. Unlike a process's namespaces, anybody may read them.
func (b *Box) tasks() map[thread]task {
	children := map[int][]int{}
	first := 0
	for _, dir := range listed("/proc/[0-9]*") {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		parent, err := strconv.Atoi(statusOf(dir)["PPid"])
		if err != nil {
			continue // it has just ended
		}
		children[parent] = append(children[parent], pid)
		if pid == b.program {
			first = parent
		}
	}
	found := map[thread]task{}
	if first == 0 {
		return found // the program is gone, and the box with it
	}
	for todo := children[first]; len(todo) > 0; todo = todo[1:] {
		pid := todo[0]
		todo = append(todo, children[pid]...)
		for _, dir := range listed(fmt.Sprintf("/proc/%d/task/[0-9]*", pid)) {
			tid, _ := strconv.Atoi(filepath.Base(dir))
			if s := statusOf(dir); s["State"] != "" {
				found[thread{pid, tid}] = task{s["State"][0], s["voluntary_ctxt_switches"] + " " + s["nonvoluntary_ctxt_switches"]}
			}
		}
	}
	return found
}

func listed(pattern string) []string {
	list, _ := filepath.Glob(pattern) // no name: no such process
	return list
}

// statusOf reads a process's or thread's status, by its lines' names.
func statusOf(dir string) map[string]string {
	b, _ := os.ReadFile(dir + "/status") // nothing: it has ended
	m := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, text, _ := strings.Cut(line, ":")
		m[name] = strings.TrimSpace(text)
	}
	return m
}

func (b *Box) order(kind, a int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.closed && send(b.control, kind, a, unix.MSG_DONTWAIT) == nil
}
