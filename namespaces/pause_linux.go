// Does to the process: nothing in psb's own; stops every process of the box but the first, and lets them go on.
// Undone: Resume; the box's end ends stopped processes, too.
// Preconditions: the box has a pid namespace.
// Called by: cmd/psb, while it asks somebody a question.
// Proved by: TestPause.

package namespaces

import (
	"time"

	"golang.org/x/sys/unix"
)

// Pause stops everything in the box with SIGSTOP until Resume. It returns once every process has the signal; false where the box has no pid
// namespace, or is gone. Parents in the box that wait for stopped children (WUNTRACED) see theirs; the program's own stop is told to nobody.
func (b *Box) Pause() bool {
	if !b.pids || !b.order(msgPause) {
		return false
	}
	select {
	case <-b.paused:
		return true
	case <-b.done:
	case <-time.After(5 * time.Second): // the reaper is stopped itself, by somebody outside
	}
	return false
}

// Resume undoes Pause with SIGCONT.
func (b *Box) Resume() { b.order(msgResume) }

func (b *Box) order(kind int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.closed && send(b.control, kind, 0, unix.MSG_DONTWAIT) == nil
}
