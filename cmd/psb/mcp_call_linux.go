// Does to the process: makes pipes and files in a box's private folders, lowers its control group's limits, starts its time.
// Undone: all of it goes with the box.
// Preconditions: no code of a call has run in the box yet.
// Called by: mcp_box_linux.go.
// Proved by: TestMCPFiles, TestMCPLimits.

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
	"psb/namespaces"
	"psb/policy"
	"psb/pythonshim/call"
)

// mostStart is how long an interpreter may take to be ready for a call: its own start and the modules imported before it.
const mostStart = 2 * time.Minute

// callPipes are the two pipes between psb and the program that waits for a call. psb holds both of their ends, so nobody waits for the other to open
// them; after the call they say nothing that counts.
type callPipes struct{ words, orders *os.File }

func (p *callPipes) close() {
	if p != nil {
		p.words.Close()
		p.orders.Close()
	}
}

func (b *boxWatcher) owner() fileOwner {
	return fileOwner{int(b.j.plan.Spec.HostUID), int(b.j.plan.Spec.HostGID)}
}

// equip puts the program that waits for a call into the held box.
func (b *boxWatcher) equip() error {
	setup := call.Setup{Workspace: mcpserver.Workspace, Preload: b.order.Preload, Values: b.order.Values, Keep: b.order.Session}
	if setup.Values == nil {
		setup.Values = json.RawMessage("{}")
	}
	if setup.Preload == nil {
		setup.Preload = []string{}
	}
	text, err := json.Marshal(setup)
	if err != nil {
		return err
	}
	if err := putFile(b.folder, call.SetupName, text, false, b.owner()); err != nil {
		return err
	}
	if err := putFile(b.folder, call.ProgramName, []byte(call.Program), false, b.owner()); err != nil {
		return err
	}
	if b.code != nil {
		if err := putFile(b.folder, call.CodeName, b.code, false, b.owner()); err != nil {
			return err
		}
	}
	words, err := makePipe(b.folder, call.WordsName, b.owner())
	if err != nil {
		return err
	}
	orders, err := makePipe(b.folder, call.OrdersName, b.owner())
	if err != nil {
		words.Close()
		return err
	}
	b.pipes = &callPipes{words, orders}
	return nil
}

// makePipe makes a named pipe and opens both of its ends.
func makePipe(dir *os.File, name string, owner fileOwner) (*os.File, error) {
	if err := unix.Mknodat(int(dir.Fd()), name, unix.S_IFIFO|0o600, 0); err != nil {
		return nil, fmt.Errorf("pipe %s: %w", name, err)
	}
	if err := unix.Fchownat(int(dir.Fd()), name, owner.uid, owner.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("pipe %s: %w", name, err)
	}
	return beneath(int(dir.Fd()), name, unix.O_RDWR|unix.O_NONBLOCK, 0)
}

// serve waits until the program is ready, then for the call, and gives it. It ends with os.ErrClosed when the box does.
func (b *boxWatcher) serve(box *namespaces.Box, program int) error {
	ready, err := b.awaitReady()
	if err != nil {
		return err
	}
	ready.Doubt = b.made.doubtful()
	if err := b.link.answers.Encode(boxWord{Ready: ready}); err != nil {
		return err
	}
	if b.session != nil {
		return b.session.serve(box, program)
	}
	c := &callOrder{}
	if err := b.link.orders.Decode(c); err != nil {
		return err
	}
	if !b.made.hold() {
		return errStale
	}
	if err := b.give(c, program); err != nil {
		return err
	}
	if _, err := b.pipes.orders.WriteString(call.TaskName + "\n"); err != nil {
		return err
	}
	if word, err := b.pipes.next(); err != nil || !word.Taken {
		return err
	}
	return b.link.answers.Encode(boxWord{Begun: true})
}

// awaitReady reads the program's first word.
func (b *boxWatcher) awaitReady() (*boxReady, error) {
	if err := b.pipes.words.SetReadDeadline(time.Now().Add(mostStart)); err != nil {
		return nil, err
	}
	word, err := b.pipes.next()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, refuse("fewer modules for --preload", "the interpreter was not ready within %v", mostStart)
	}
	if err != nil {
		return nil, err
	}
	if !word.Ready {
		return nil, errors.New("the interpreter was not ready")
	}
	return &boxReady{Failed: word.Failed}, b.pipes.words.SetReadDeadline(time.Time{})
}

// next reads a word. No code of a call has run: it is psb's own program that speaks, or one of the operator's modules.
func (p *callPipes) next() (word call.Word, err error) {
	line, err := bufio.NewReader(io.LimitReader(p.words, call.MostWord)).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &word)
	}
	return word, err
}

// give makes everything of a call true but the word to begin: limits, files, the task. From here on its time counts.
func (b *boxWatcher) give(c *callOrder, program int) error {
	b.begun = time.Now()
	b.before = processorTime(program)
	if err := b.lower(c.Limits); err != nil {
		return err
	}
	for _, f := range c.Files {
		if err := putFile(b.workspace, f.Path, f.Content, f.Executable, b.owner()); err != nil {
			return refuse("fewer or smaller files, or a larger disk_mb", "files: %s: %v", plainText(f.Path), err)
		}
	}
	if b.order.Shell == nil {
		if err := b.putTask(c); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.seen = refused{} // what was refused until now is not the call's
	b.mu.Unlock()
	b.call = c
	b.limits.startWall(b.j.plan.Limits["wall"].Time)
	return nil
}

func (b *boxWatcher) putTask(c *callOrder) error {
	text, err := json.Marshal(b.task(c))
	if err != nil {
		return err
	}
	return putFile(b.folder, call.TaskName, text, false, b.owner())
}

// task is a call in the words of the program that runs it.
func (b *boxWatcher) task(c *callOrder) *call.Task {
	t := &call.Task{Code: c.Code, Args: c.Args, Variables: c.Variables, Figures: c.Figures, MostText: 1 << 20, MostReport: mostReport, Report: call.ReportName}
	if t.Args == nil {
		t.Args = []string{}
	}
	if t.Variables == nil {
		t.Variables = []string{}
	}
	return t
}

// lower makes the call's limits those of the box, where they are lower.
func (b *boxWatcher) lower(asked map[string]string) error {
	fewer := false
	for name, text := range asked {
		l, err := policy.ParseLimit(name, text)
		if err != nil {
			return refuse("", "%s", err)
		}
		own, set := b.j.plan.Limits[name]
		if set && !lower(l, own) {
			continue
		}
		if !b.j.lowersLater(name) {
			return fmt.Errorf("limit %s cannot be lowered once a box is made", name)
		}
		if l.Origin = own.Origin; !set {
			l.Origin = policy.Origin{From: "the call"}
		}
		b.j.plan.Limits[name] = l
		fewer = fewer || name != "wall"
	}
	if !fewer {
		return nil
	}
	b.limits.lowerMemory(b.j.plan.Limits["memory"].Bytes)
	if b.group == nil {
		return nil
	}
	fitted, _ := b.j.groupLimits().Fit(b.j.facts.cgroups)
	return b.group.Lower(b.j.facts.cgroups, fitted)
}

// lowersLater: a limit that psb holds outside the box, or nobody. The others are walls of the box itself.
func (j *job) lowersLater(name string) bool {
	switch name {
	case "wall", "memory", "cpus":
		return true
	case "pids":
		return j.facts.host.Limits[name] == ""
	}
	return false
}

// processorTime is what a process has used, all its threads together; 0 where it cannot be told.
func processorTime(pid int) time.Duration {
	const ofProcess = 2 // CPUCLOCK_SCHED, see clock_getcpuclockid(3)
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|ofProcess, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
