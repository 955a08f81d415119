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

	"psb/cgroups"
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

// boxRun is the psb behind one call: order → plan → launch → call → look → verdict. Its own standard descriptors are the program's, so it says nothing.
func boxRun(w *world) (int, error) {
	for fd := orderFD; fd <= lifeFD; fd++ {
		unix.CloseOnExec(fd)
	}
	if err := unix.SetNonblock(orderFD, true); err != nil { // so that a wait for the call ends when the box does
		return exitRefused, notByHand
	}
	link := &boxLink{file: os.NewFile(orderFD, "order"), answers: json.NewEncoder(os.NewFile(verdictFD, "verdict")), life: os.NewFile(lifeFD, "life")}
	link.orders = json.NewDecoder(link.file)
	var o boxOrder
	if err := link.orders.Decode(&o); err != nil {
		return exitRefused, notByHand
	}
	v := runBox(w, &o, link)
	closeAll(w.stdio[:]) // nothing more is printed: the server need not wait for this process to know it
	if err := link.answers.Encode(boxWord{Verdict: v}); err != nil {
		return exitRefused, nil // the server is gone
	}
	return 0, nil
}

var notByHand = &usageError{"this name is psb mcp's own", "psb --help"}

// boxLink is the way to the server: the order and the call come in, words go out, and its end ends the box.
type boxLink struct {
	file    *os.File
	orders  *json.Decoder
	answers *json.Encoder
	life    *os.File
}

func runBox(w *world, o *boxOrder, link *boxLink) *boxVerdict {
	v := &boxVerdict{}
	j, err := boxJob(w, o)
	if err == nil {
		err = j.launchBox(o, link, v)
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
func (j *job) launchBox(o *boxOrder, link *boxLink, v *boxVerdict) error {
	j.plan.Env = j.boxEnvironment()
	j.plan.Spec.Env = j.plan.Env
	j.bare = true // no signal is for it
	b := &boxWatcher{supervisor: newSupervisor(j), order: o, link: link}
	defer b.close()
	if o.Session {
		var err error
		if b.session, err = b.newBoxSession(); err != nil {
			return err
		}
	}
	out, err := launch(j, b)
	v.Cancelled, v.Ordered = b.cancelled.Load(), b.call != nil
	b.left(v)
	switch {
	case errors.Is(b.refused, errStale):
		v.Stale = true
		return b.refused
	case b.refused != nil:
		return b.refused // it was ended because of that
	case err != nil:
		return err
	case !out.started:
		return errors.New("the program was not started")
	case v.Cancelled && !v.Ordered && !o.Session:
		return errors.New("it was ended before its call was there")
	}
	v.Started, v.Status, v.Reason = true, out.status, out.reason
	if out.died != 0 {
		v.Signal = unix.SignalName(out.died)
	}
	v.CPU = max(out.exit.User+out.exit.System-b.before, 0)
	if v.Ordered {
		v.Wall = b.ended.Sub(b.begun)
	}
	if b.session != nil && b.session.interrupted() {
		v.Cancelled = true
	}
	j.boxFacts(out, b, v)
	b.collect(v)
	return nil
}

// left looks for what should be gone.
func (b *boxWatcher) left(v *boxVerdict) {
	if b.group == nil {
		return
	}
	for _, dir := range b.group.Dirs() {
		if present(dir) {
			v.Left = append(v.Left, "control group "+dir)
		}
	}
}

// boxWatcher is the supervisor of an enforced run that also gives the program its call, and keeps the box's private folders to be read when it is
// gone.
type boxWatcher struct {
	*supervisor
	order     *boxOrder
	link      *boxLink
	limits    *limitWatch
	group     *cgroups.Group // nil without one
	workspace *os.File
	folder    *os.File // call.Dir
	pipes     *callPipes
	session   *boxSession // nil: there is one call
	cancelled atomic.Bool

	// What serve finds; read by others once end has waited for it.
	served  chan struct{} // nil: it was not begun
	call    *callOrder    // nil: there was none
	begun   time.Time
	ended   time.Time
	before  time.Duration // processor time that the program had used when the call was there
	refused error         // why the call could not be given
}

func (b *boxWatcher) limited(l *limitWatch, g *cgroups.Group) { b.limits, b.group = l, g }

func (b *boxWatcher) attend(box *namespaces.Box, program int) error {
	var err error
	if b.workspace, err = openInside(program, mcpserver.Workspace); err != nil {
		return err
	}
	if b.folder, err = openInside(program, call.Dir); err != nil {
		return err
	}
	go func() {
		var one [1]byte
		_, _ = b.link.life.Read(one[:]) // nothing is ever written: it returns when the server hangs up
		b.cancelled.Store(true)
		box.Kill()
	}()
	if b.order.Shell != nil {
		c := &callOrder{}
		if err := b.link.orders.Decode(c); err != nil {
			return err
		}
		if err := b.give(c, program); err != nil {
			return err
		}
		if err := b.link.answers.Encode(boxWord{Begun: true}); err != nil {
			return err
		}
		return b.supervisor.attend(box, program)
	}
	if err := b.equip(); err != nil {
		return err
	}
	if err := b.supervisor.attend(box, program); err != nil {
		return err
	}
	b.served = make(chan struct{})
	go func() {
		defer close(b.served)
		if err := b.serve(box, program); err != nil && !errors.Is(err, os.ErrClosed) { // closed: the box ended by itself
			b.refused = err
			box.Kill()
		}
	}()
	return nil
}

// end waits until nothing is given any more.
func (b *boxWatcher) end() {
	b.ended = time.Now()
	b.link.file.Close()
	b.pipes.close()
	if b.served != nil {
		<-b.served
	}
	if b.session != nil {
		b.session.end()
	}
	b.supervisor.end()
}

// mostReport bounds what the program may write about itself.
const mostReport = 12 << 20

// collect reads what is new in the workspace, and the program's report.
func (b *boxWatcher) collect(v *boxVerdict) {
	b.space(v)
	switch {
	case b.call == nil:
		return
	case b.session != nil:
		b.session.look(b.session.order, v)
		return
	}
	if err := collectFiles(b.workspace, b.call, v); err != nil {
		v.LookedAt = err.Error()
	}
	if b.order.Shell == nil {
		if text, size, err := readPlain(b.folder, call.ReportName, mostReport); err == nil && size <= mostReport {
			v.Report = text
		}
	}
}

// space tells how full the workspace is: of bytes, or of names.
func (b *boxWatcher) space(v *boxVerdict) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(b.workspace.Fd()), &st) == nil {
		v.DiskUsed, v.DiskFull = (st.Blocks-st.Bfree)*uint64(st.Bsize), st.Bavail == 0 || st.Ffree == 0
	}
}

func (b *boxWatcher) close() {
	b.workspace.Close() // nil is fine
	b.folder.Close()
}
