// Does to the process: runs one box for psb mcp, as any run does; writes into and reads from its private folders.
// Undone: the box is gone when it ends.
// Preconditions: the pipes of the box are psb mcp's.
// Called by: mcp_nursery_linux.go.
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

// boxLink is the way to the server: the order and the call come in, words go out, and its end ends the box.
type boxLink struct {
	file    *os.File
	orders  *json.Decoder
	answers *json.Encoder
	life    *os.File
}

// runBox runs one and tells of it; leave is to be called when that was passed on.
func (m *boxMaker) runBox(o *boxOrder, link *boxLink, stdio [3]*os.File) (v *boxVerdict, leave func()) {
	v, leave = &boxVerdict{}, func() {}
	p, err := m.planOf(o)
	if err == nil {
		j := m.job(p, o)
		j.w.stdio = stdio
		b := &boxWatcher{supervisor: newSupervisor(j), order: o, link: link, code: p.code}
		if o.Ahead {
			b.made = p.made
		}
		leave = b.leave
		err = b.launch(v)
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
	return v, leave
}

// launch runs it and fills the verdict.
func (b *boxWatcher) launch(v *boxVerdict) error {
	j, o := b.j, b.order
	defer b.close()
	if o.Session {
		var err error
		if b.session, err = b.newBoxSession(); err != nil {
			return err
		}
	}
	out, err := launch(j, b)
	defer func() { v.Left = b.remove() }() // last of all: the program's end takes the kernel about as long as psb's look at what it left
	v.Cancelled, v.Ordered = b.cancelled.Load(), b.call != nil
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

// cleaner is a watcher that waits for the box's last process and removes its groups itself, when it has looked at what the program left. follow then
// goes on as soon as nothing of the program runs any more.
type cleaner interface {
	cleans(box *namespaces.Box, group *cgroups.Group) // nil: there is none
}

// cleans remembers what is to be waited for and removed.
func (b *boxWatcher) cleans(box *namespaces.Box, group *cgroups.Group) { b.box, b.group = box, group }

// remove waits until the box is gone, removes its groups, and tells what is left.
func (b *boxWatcher) remove() (left []string) {
	if b.box == nil { // it was never started
		return nil
	}
	if !isClosed(b.box.Done()) {
		select {
		case <-b.box.Ended():
			b.box.Last()
		case <-b.box.Done():
		}
	}
	if b.group == nil || b.group.Remove() == nil {
		return nil
	}
	b.stuck = true
	for _, dir := range b.group.Dirs() {
		if present(dir) {
			left = append(left, "control group "+dir)
		}
	}
	return left
}

// retryTime is between two attempts to remove groups that could not be: as long as this psb runs, no other one takes them for a dead one's.
const retryTime = time.Minute

// leave does what nobody waits for: psb's process outside the box ends, and what could not be removed is tried again.
func (b *boxWatcher) leave() {
	if b.box == nil {
		return
	}
	_, _ = b.box.Wait() // told already
	if b.stuck {
		go func() {
			for b.group.Remove() != nil {
				time.Sleep(retryTime)
			}
		}()
	}
}

// boxWatcher is the supervisor of an enforced run that also gives the program its call, and keeps the box's private folders to be read when it is
// gone.
type boxWatcher struct {
	*supervisor
	order     *boxOrder
	link      *boxLink
	made      *madeFrom // nil: it is nobody's business
	code      []byte    // call.Program's; nil: there is none
	limits    *limitWatch
	box       *namespaces.Box
	group     *cgroups.Group // nil without one
	workspace *os.File
	folder    *os.File // call.Dir
	pipes     *callPipes
	session   *boxSession // nil: there is one call
	cancelled atomic.Bool
	stuck     bool // groups are left

	// What serve finds; read by others once end has waited for it.
	served  chan struct{} // nil: it was not begun
	call    *callOrder    // nil: there was none
	begun   time.Time
	ended   time.Time
	before  time.Duration // processor time that the program had used when the call was there
	refused error         // why the call could not be given
}

func (b *boxWatcher) limited(l *limitWatch, _ *cgroups.Group) { b.limits = l }

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
