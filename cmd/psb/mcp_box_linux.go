// Does to the process: runs one box for psb mcp, as any run does; writes into and reads from its private folders.
// Undone: the box is gone when it ends.
// Preconditions: started by psb mcp, under boxName: descriptor 3 brings the order, 4 takes the verdict, 5 hangs up when the run is to end.
// Called by: main.go.
// Proved by: TestMCPLimits, TestMCPVerdictIsNotThePrograms, TestMCPGone.

package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
	"psb/namespaces"
	"psb/pythonshim/call"
)

// boxName is the name under which psb runs one box for psb mcp.
const boxName = "psb-box"

// Descriptors that psb mcp gives it.
const (
	orderFD   = 3
	verdictFD = 4
	lifeFD    = 5
)

// boxRun is the psb behind one call: order → plan → launch → look → verdict. Its own standard descriptors are the program's, so it says nothing.
func boxRun(w *world) (int, error) {
	for fd := orderFD; fd <= lifeFD; fd++ {
		unix.CloseOnExec(fd)
	}
	order, verdict, life := os.NewFile(orderFD, "order"), os.NewFile(verdictFD, "verdict"), os.NewFile(lifeFD, "life")
	var o boxOrder
	if err := json.NewDecoder(order).Decode(&o); err != nil {
		return exitRefused, &usageError{"this name is psb mcp's own", "psb --help"}
	}
	order.Close()
	v := runBox(w, &o, life)
	if err := json.NewEncoder(verdict).Encode(v); err != nil {
		return exitRefused, nil // the server is gone
	}
	return 0, nil
}

func runBox(w *world, o *boxOrder, life *os.File) *boxVerdict {
	v := &boxVerdict{}
	j, err := boxJob(w, o)
	if err == nil {
		err = j.launchBox(o, life, v)
	}
	if err != nil && !v.Started {
		v.Refusal = err.Error()
		var r *refusal
		var stage *namespaces.StageError
		switch {
		case errors.As(err, &r) && len(r.hints) > 0:
			v.Hint = strings.Join(r.hints, "; ")
		case errors.As(err, &stage):
			v.Hint = "psb doctor says what this host lacks"
		}
	}
	return v
}

// launchBox runs it and fills the verdict.
func (j *job) launchBox(o *boxOrder, life *os.File, v *boxVerdict) error {
	j.plan.Env = boxEnvironment(j.plan.Env, j.plan.Command.Env)
	j.plan.Spec.Env = j.plan.Env
	j.bare = true // no signal is for it
	b := &boxWatcher{supervisor: newSupervisor(j), order: o, life: life}
	defer b.close()
	begin := time.Now()
	out, err := launch(j, b)
	v.Cancelled = b.cancelled.Load()
	v.Wall = time.Since(begin)
	j.left(v)
	if err != nil || !out.started {
		if err == nil {
			err = errors.New("the program was not started")
		}
		return err
	}
	v.Started, v.Status, v.Reason, v.Wall = true, out.status, out.reason, out.wall
	if out.died != 0 {
		v.Signal = unix.SignalName(out.died)
	}
	v.User, v.Sys = out.exit.User, out.exit.System
	j.boxFacts(out, b, v)
	b.collect(v)
	return nil
}

// left looks for what should be gone.
func (j *job) left(v *boxVerdict) {
	g, err := j.plannedGroups()
	if err != nil {
		return
	}
	for _, dir := range g.dirs {
		if present(dir) {
			v.Left = append(v.Left, "control group "+dir)
		}
	}
}

// boxWatcher is the supervisor of an enforced run that also fills the box's private folders before the program starts, and keeps them to be read
// when it is gone.
type boxWatcher struct {
	*supervisor
	order     *boxOrder
	life      *os.File
	workspace *os.File
	call      *os.File
	cancelled atomic.Bool
}

func (b *boxWatcher) attend(box *namespaces.Box, program int) error {
	var err error
	if b.workspace, err = openInside(program, mcpserver.Workspace); err != nil {
		return err
	}
	if b.call, err = openInside(program, call.Dir); err != nil {
		return err
	}
	if err := b.fill(); err != nil {
		return err
	}
	go func() {
		var one [1]byte
		_, _ = b.life.Read(one[:]) // nothing is ever written: it returns when the server hangs up
		b.cancelled.Store(true)
		box.Kill()
	}()
	return b.supervisor.attend(box, program)
}

// fill puts the call's files and, for Python, its program into the box.
func (b *boxWatcher) fill() error {
	owner := fileOwner{int(b.j.plan.Spec.HostUID), int(b.j.plan.Spec.HostGID)}
	for _, f := range b.order.Files {
		if err := putFile(b.workspace, f.Path, f.Content, f.Executable, owner); err != nil {
			return refuse("fewer or smaller files, or a larger disk_mb", "files: %s: %v", plainText(f.Path), err)
		}
	}
	if b.order.Language == string(mcpserver.Shell) {
		return nil
	}
	t := call.Task{Code: b.order.Code, Args: b.order.Args, Variables: b.order.Variables, Figures: b.order.Figures, MostText: 1 << 20, MostReport: mostReport, Workspace: mcpserver.Workspace}
	if t.Args == nil {
		t.Args = []string{}
	}
	if t.Variables == nil {
		t.Variables = []string{}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := putFile(b.call, call.TaskName, text, false, owner); err != nil {
		return err
	}
	return putFile(b.call, call.ProgramName, []byte(call.Program), false, owner)
}

// mostReport bounds what the program may write about itself.
const mostReport = 12 << 20

// collect reads what is new in the workspace, and the program's report.
func (b *boxWatcher) collect(v *boxVerdict) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(b.workspace.Fd()), &st) == nil {
		v.DiskUsed, v.DiskFull = (st.Blocks-st.Bfree)*uint64(st.Bsize), st.Bavail == 0
	}
	if err := collectFiles(b.workspace, b.order, v); err != nil {
		v.LookedAt = err.Error()
	}
	if b.order.Language != string(mcpserver.Shell) {
		if text, size, err := readPlain(b.call, call.ReportName, mostReport); err == nil && size <= mostReport {
			v.Report = text
		}
	}
}

func (b *boxWatcher) close() {
	b.workspace.Close() // nil is fine
	b.call.Close()
}
