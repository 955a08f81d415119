package namespaces

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestPause: while a box is paused none of its processes runs, nobody is told that the program stopped, and afterwards it goes on as if nothing
// had been.
func TestPause(t *testing.T) {
	needBox(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	box, err := Start(shellBox("(while :; do :; done) & read x; kill -9 $!; exit 7"), [3]*os.File{r, nil, nil})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer box.Kill()
	program, err := box.Ready()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(box.Release(), box.Started()); err != nil {
		t.Fatal(err)
	}
	child := ""
	awaitState(t, "the program's child", func() bool {
		child = strings.TrimSpace(fileText(fmt.Sprintf("/proc/%d/task/%d/children", program, program)))
		return child != ""
	})
	for round := range 3 {
		if !box.Pause() {
			t.Fatal("not paused")
		}
		for _, pid := range []string{fmt.Sprint(program), child} {
			awaitState(t, "stop of "+pid, func() bool { return stateOf(pid) == "T" })
		}
		box.Resume()
		for _, pid := range []string{fmt.Sprint(program), child} {
			awaitState(t, "going on of "+pid, func() bool { s := stateOf(pid); return s == "S" || s == "R" })
		}
		if round == 2 {
			fmt.Fprintln(w)
		}
	}
	exit, err := box.Wait()
	if err != nil || exit.Status.ExitStatus() != 7 {
		t.Errorf("%v %v, want status 7", exit.Status, err)
	}
	for job := range box.Jobs() {
		t.Errorf("told: %+v", job)
	}
	if box.Pause() {
		t.Error("a box that is gone was paused")
	}
}

// TestPauseEnds: a box that is paused ends like any other.
func TestPauseEnds(t *testing.T) {
	needBox(t)
	box := started(t, shellBox("while :; do :; done"))
	if !box.Pause() {
		t.Fatal("not paused")
	}
	box.Kill()
	select {
	case <-box.Done():
	case <-time.After(bound):
		t.Fatal("a paused box outlives its end")
	}
}

func awaitState(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func fileText(name string) string {
	b, _ := os.ReadFile(name)
	return string(b)
}

// stateOf is the letter of a process's state in /proc/PID/stat.
func stateOf(pid string) string {
	_, rest, _ := strings.Cut(fileText("/proc/"+pid+"/stat"), ") ")
	return rest[:min(1, len(rest))]
}
