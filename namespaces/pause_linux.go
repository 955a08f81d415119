// Does to the process: nothing in psb's own; stops every process of the box but the first, and lets them go on.
// Undone: Resume; the box's end ends stopped processes, too.
// Preconditions: the box has a pid namespace.
// Called by: cmd/psb, while it asks somebody a question.
// Proved by: TestPause.

package namespaces

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
		b.stopThreads()
		return true
	case <-b.done:
	case <-time.After(5 * time.Second): // the reaper is stopped itself, by somebody outside
	}
	return false
}

// stopThreads sends SIGSTOP to each thread of the box. A signal to a process is its first thread's to take, and one that waits for an answer of
// psb takes none: the others would go on.
func (b *Box) stopThreads() {
	space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", b.program))
	if err != nil {
		return // it is gone, and the box with it
	}
	list, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	if err != nil {
		return
	}
	for _, task := range list {
		if in, err := os.Readlink(task + "/ns/pid"); err != nil || in != space {
			continue
		}
		words := strings.Split(task, "/")
		pid, _ := strconv.Atoi(words[2])
		tid, _ := strconv.Atoi(words[4])
		if firstInside(pid) {
			continue
		}
		_ = unix.Tgkill(pid, tid, unix.SIGSTOP) // ESRCH: it has just ended
	}
}

// firstInside: the process is number 1 of its pid namespace (proc(5), NSpid).
func firstInside(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return true // it is gone: there is nothing to stop
	}
	for line := range strings.Lines(string(b)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			all := strings.Fields(numbers)
			return len(all) > 0 && all[len(all)-1] == "1"
		}
	}
	return true
}

// Resume undoes Pause with SIGCONT.
func (b *Box) Resume() { b.order(msgResume) }

func (b *Box) order(kind int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.closed && send(b.control, kind, 0, unix.MSG_DONTWAIT) == nil
}
