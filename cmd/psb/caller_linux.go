// Does to the process: writes to a descriptor that it was started with; waits on its own standard input; may end the box.
// Undone: stop ends the wait; what was ended stays so.
// Preconditions: standard input is the channel of the Python package.
// Called by: launch_linux.go, report.go.
// Proved by: TestPartialNothingIsLeftOfAParent.

package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/cmd/psb/report"
)

// answerCaller writes the report into a file without a name that the caller opened and handed to psb, and which no box gets.
func answerCaller(to string, r *report.Report) error {
	fd, err := strconv.ParseUint(to, 10, 16)
	if err != nil || fd < 3 {
		return fmt.Errorf("--answer %s: no descriptor", plainText(to))
	}
	format, err := report.FormatOf("answer.json")
	if err != nil {
		return err
	}
	text, err := format.Render(r)
	if err == nil {
		err = unix.Ftruncate(int(fd), 0)
	}
	if err == nil {
		_, err = unix.Pwrite(int(fd), text, 0)
	}
	if err != nil {
		return fmt.Errorf("--answer %d: %w", fd, err)
	}
	return nil
}

// leaveTime is how long a box may go on once nobody is there any more to take its answers. The half inside ends by itself; this is for
// native code that does not let it.
const leaveTime = 2 * time.Second

// whenLeft ends the box some time after the other end of the channel was closed: whoever called the box is gone.
func whenLeft(channel *os.File, kill func()) (stop func()) {
	quit, wake, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	var done sync.WaitGroup
	done.Go(func() {
		fds := []unix.PollFd{{Fd: int32(channel.Fd()), Events: unix.POLLRDHUP}, {Fd: int32(quit.Fd())}}
		if !hungUp(fds, -1) {
			return
		}
		if hungUp(fds[1:], int(leaveTime.Milliseconds())) {
			return
		}
		kill()
	})
	return func() {
		wake.Close()
		done.Wait()
		quit.Close()
	}
}

// hungUp waits for the first of fds to be closed from its other end; false when another one was, or after the time in milliseconds.
func hungUp(fds []unix.PollFd, wait int) bool {
	for {
		n, err := unix.Poll(fds, wait)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n > 0 && fds[0].Revents != 0 && (len(fds) == 1 || fds[1].Revents == 0)
	}
}
