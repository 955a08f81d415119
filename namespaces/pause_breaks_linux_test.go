package namespaces

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pausing starts a box for pauses: a shell with one child. Its end comes with a line on w.
func pausing(t *testing.T, script string) (box *Box, program int, child string, w *os.File) {
	t.Helper()
	needBox(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	box, err = Start(shellBox(script), [3]*os.File{r, nil, nil})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Kill)
	if program, err = box.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	awaitState(t, "the program's child", func() bool {
		child = strings.TrimSpace(fileText(fmt.Sprintf("/proc/%d/task/%d/children", program, program)))
		return child != ""
	})
	return box, program, child, w
}

// TestPauseKeepsStopped: what the program has stopped itself stays stopped after a pause, and the program goes on.
func TestPauseKeepsStopped(t *testing.T) {
	box, _, child, w := pausing(t, "(while :; do :; done) & kill -STOP $!; read x; kill -9 $!; exit 7")
	awaitState(t, "the child's stop", func() bool { return stateOf(child) == "T" })
	if !box.Pause() || !box.Resting() {
		t.Fatal("not paused")
	}
	box.Resume()
	fmt.Fprintln(w)
	awaitState(t, "the end, or the child going on", func() bool {
		select {
		case <-box.Done():
			return true
		default:
			return stateOf(child) == "R"
		}
	})
	if exit, err := box.Wait(); err != nil || exit.Status.ExitStatus() != 7 {
		t.Errorf("%v %v, want status 7", exit.Status, err)
	}
}

// TestPauseUndone: a pause that did not hold is noticed, and can be had again.
func TestPauseUndone(t *testing.T) {
	box, _, child, _ := pausing(t, "(while :; do :; done) & read x")
	if !box.Pause() || !box.Resting() {
		t.Fatal("not paused")
	}
	var pid int
	fmt.Sscan(child, &pid)
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awaitState(t, "the child going on", func() bool { return stateOf(child) != "T" })
	if box.Resting() {
		t.Error("a process runs, and the box is said to rest")
	}
	if !box.Settle() || !box.Resting() {
		t.Error("not paused again")
	}
}
