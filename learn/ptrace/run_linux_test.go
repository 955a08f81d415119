package ptrace

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"psb/learn"
)

// must skips a test that this machine cannot run, or fails it when PSB_MUST names what is missing.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), what) {
		t.Fatalf("%s is needed: %v", what, err)
	}
	t.Skipf("no %s: %v", what, err)
}

// compile builds testdata/name.c.
func compile(t *testing.T, name string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	must(t, "cc", err)
	out := filepath.Join(t.TempDir(), name)
	cmd := exec.Command(cc, "-O1", "-pthread", "-Wno-unused-result", "-o", out, filepath.Join("testdata", name+".c"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func python(t *testing.T) string {
	t.Helper()
	_, err := os.Stat("/usr/bin/python3")
	must(t, "python3", err)
	return "/usr/bin/python3"
}

// run is a traced run.
type run struct {
	t       *testing.T
	ctx     context.Context
	target  Target
	root    string // see enterRoot
	before  func() // on the tracing thread
	during  func(pid int)
	events  []learn.Event
	result  Result
	status  syscall.WaitStatus
	err     error
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	program int
}

// trace runs argv under the tracer.
func (r *run) trace(argv ...string) {
	t := r.t
	t.Helper()
	if r.ctx == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		defer cancel()
		r.ctx = ctx
	}
	pipe := func() (*os.File, *os.File) {
		a, b, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	statusR, statusW := pipe()
	readyR, readyW := pipe()
	goR, goW := pipe()
	defer statusR.Close()
	defer readyR.Close()
	defer goW.Close()
	cmd := exec.Command("/proc/self/exe", argv...)
	cmd.Env = append(os.Environ(), partVar+"=parent")
	if r.root != "" {
		cmd.Env = append(cmd.Env, "PTRACE_TEST_ROOT="+r.root)
	}
	if r.target.Refuse != nil {
		cmd.Env = append(cmd.Env, "PTRACE_TEST_EXTRA=ptrace")
	}
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	cmd.ExtraFiles = []*os.File{statusW, readyW, goR}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	lines := bufio.NewScanner(statusR)
	if !lines.Scan() {
		cmd.Wait()
		must(t, "userns", fmt.Errorf("not started: %s", r.stderr.String()))
	}
	r.program, _ = strconv.Atoi(lines.Text())
	if n, _ := readyR.Read(make([]byte, 1)); n != 1 {
		cmd.Wait()
		must(t, "userns", fmt.Errorf("not ready: %s", r.stderr.String()))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		r.target.PID = r.program
		if r.before != nil {
			r.before()
		}
		if r.target.Name == nil {
			r.target.Name = func(nr int) string { return map[int]string{unix.SYS_PTRACE: "ptrace", unix.SYS_UNAME: "uname"}[nr] }
		}
		r.result, r.err = Run(r.ctx, r.target, func() error {
			_, err := goW.Write([]byte{1})
			if r.during != nil {
				go r.during(r.program)
			}
			return err
		}, func(e learn.Event) { r.events = append(r.events, e) })
	}()
	<-done
	if lines.Scan() {
		n, _ := strconv.ParseUint(lines.Text(), 10, 32)
		r.status = syscall.WaitStatus(n)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("parent: %v", err)
	}
	if r.err != nil && r.ctx.Err() == nil {
		must(t, "ptrace", r.err)
	}
}

// ok fails the test unless the program ended with status 0.
func (r *run) ok() {
	r.t.Helper()
	if !r.status.Exited() || r.status.ExitStatus() != 0 {
		r.t.Fatalf("program: wait status %#x\n%s%s", r.status, &r.stdout, &r.stderr)
	}
}

// lines gives the accesses below dir as "op name how errno", dir left out.
func (r *run) lines(dir string) []string {
	var out []string
	for _, e := range r.events {
		a, ok := e.(learn.Accessed)
		if !ok {
			continue
		}
		object, under := strings.CutPrefix(a.Access.Object, dir)
		if !under {
			continue
		}
		out = append(out, strings.TrimRight(strings.Join([]string{string(a.Access.Op), object, string(a.How), string(a.Errno)}, " "), " "))
	}
	return out
}

func (r *run) has(dir string, want ...string) {
	r.t.Helper()
	got := r.lines(dir)
	for _, w := range want {
		if !slices.Contains(got, w) {
			r.t.Errorf("no %q below %s in\n%s", w, dir, strings.Join(got, "\n"))
		}
	}
}

// closed checks that every thread that came also went, once, and spoke only in between.
func (r *run) closed() {
	r.t.Helper()
	alive := map[int]bool{}
	tid := 0
	for _, e := range r.events {
		switch e := e.(type) {
		case learn.Spawned:
			if alive[e.Child] {
				r.t.Errorf("thread %d spawned twice", e.Child)
			}
			alive[e.Child] = true
			continue
		case learn.Exited:
			if !alive[e.TID] {
				r.t.Errorf("thread %d exited twice", e.TID)
			}
			delete(alive, e.TID)
			continue
		case learn.Accessed:
			tid = e.TID
		case learn.Noted:
			tid = e.TID
		case learn.Executed:
			tid = e.TID
		case learn.Called:
			tid = e.TID
		case learn.Refused:
			tid = e.TID
		}
		if !alive[tid] {
			r.t.Errorf("event of thread %d, which is not there: %+v", tid, e)
		}
	}
	if len(alive) > 0 {
		r.t.Errorf("threads without an end: %v", alive)
	}
}
