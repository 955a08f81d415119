package ptrace

// The loop: one stop of one thread at a time, from the seizure to the end of the last thread.
//
// Does to the process: seizes and traces the program and all it starts; they die with the tracing thread.
// Can it be undone: no; a traced program is traced until it ends.
// Preconditions: the goroutine is locked to its thread for good; the program is held and has no children yet.
// Called by: cmd/psb, learning.
// Proved by: TestPrograms, TestSignals, TestGroupStop, TestExecInThread, TestCancel.

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"psb/learn"
	"psb/policy"
)

// thread is one traced thread.
type thread struct {
	tid, tgid int
	call      *call  // whose exit stop is awaited
	cwd       string // where it stands, as of the age cwdAge of places
	cwdAge    uint64
	told      map[string]struct{} // plain opens, by their words, told since it last spoke and as of toldAge
	toldAge   uint64
	held      bool // it stopped before the event of the thread that made it, and waits for that
}

type tracer struct {
	target  Target
	emit    func(learn.Event)
	threads map[int]*thread
	named   map[int]bool // calls told already
	sockets sockets
	places  places
	scratch []byte // for the words of a call
	result  Result

	mu      sync.Mutex // guards procs: Run's watcher kills them
	procs   map[int]int
	stopped bool
}

// Run traces the program t.PID and everything it starts until the last of them is gone, telling each event on the calling
// thread. release is called once the program is seized; it must let the program go on. When ctx ends, everything traced is
// killed and Run returns its error after the last one is gone. The program's exit status stays with its real parent.
// Run must be called on a goroutine locked to its thread that is never unlocked. Errors: the seizure failed (EPERM: another
// tracer, Yama, or a program that is not dumpable), release failed, or ctx ended. See ptrace(2), seccomp(2).
func Run(ctx context.Context, t Target, release func() error, emit func(learn.Event)) (Result, error) {
	tr := &tracer{target: t, emit: emit, threads: map[int]*thread{}, named: map[int]bool{},
		sockets: sockets{}, procs: map[int]int{}, places: places{root: -1, folders: map[string]folder{}}, scratch: make([]byte, 1+unix.PathMax)}
	if t.Pin {
		defer pin(t.PID)()
	}
	defer quietStops()()
	const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if err := ptraceCall(unix.PTRACE_SEIZE, t.PID, 0, options); err != nil {
		return Result{}, fmt.Errorf("ptrace: seize process %d: %w", t.PID, err)
	}
	tr.add(0, t.PID, statusOf(t.PID))
	var err error
	if tr.places.root, err = unix.Open(fmt.Sprintf("/proc/%d/root", t.PID), unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
		defer unix.Close(tr.places.root)
	}
	defer tr.places.forget()

	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-ctx.Done():
			tr.kill()
		case <-done:
		}
	}()
	released := release()
	if released != nil {
		tr.kill()
	}
	err = tr.loop()
	if released != nil {
		return tr.result, fmt.Errorf("release the held program: %w", released)
	}
	if err == nil {
		err = ctx.Err()
	}
	return tr.result, err
}

// loop ends when nothing is traced any more.
func (t *tracer) loop() error {
	for len(t.threads) > 0 {
		var status unix.WaitStatus
		// Only what this very thread traces. __WCLONE leaves out ordinary children (those that end with SIGCHLD), which psb may have
		// started from this thread too and which somebody else waits for; a tracee is never left out by it.
		tid, err := unix.Wait4(-1, &status, unix.WCLONE|unix.WNOTHREAD, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ECHILD) {
			return nil
		}
		if err != nil {
			t.kill()
			return fmt.Errorf("wait4: %w", err)
		}
		if status.Exited() || status.Signaled() {
			t.ended(tid)
			continue
		}
		t.stop(tid, status)
	}
	return nil
}

// stop handles one stop and lets the thread go on.
func (t *tracer) stop(tid int, status unix.WaitStatus) {
	signal, event := status.StopSignal(), int(uint32(status)>>16)
	th := t.threads[tid]
	if th == nil && event == unix.PTRACE_EVENT_STOP {
		// A new thread is ahead of its parent's event. It waits, so that what it does is told after who made it.
		t.threads[tid] = &thread{tid: tid, held: true}
		return
	}
	if th == nil { // an exec whose process's first thread had ended before
		th = t.add(0, tid, statusOf(tid))
	}
	switch event {
	case unix.PTRACE_EVENT_SECCOMP:
		t.called(th)
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		t.forked(th)
	case unix.PTRACE_EVENT_EXEC:
		t.executed(th)
	case unix.PTRACE_EVENT_STOP:
		switch signal {
		case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			_ = ptraceCall(unix.PTRACE_LISTEN, tid, 0, 0) // job control: it stays stopped until SIGCONT
			return
		}
		t.resume(th, 0)
	case 0:
		if signal == unix.SIGTRAP|0x80 {
			t.returned(th)
			return
		}
		t.resume(th, int(signal)) // delivered as it came: the kernel keeps the siginfo of an unchanged number
	default:
		t.resume(th, 0)
	}
}

// resume lets a thread run. That it may be gone by now (ESRCH) shows as its end.
func (t *tracer) resume(th *thread, signal int) {
	request := unix.PTRACE_CONT
	if th.call != nil {
		request = unix.PTRACE_SYSCALL // to the exit of the call
	}
	_ = ptraceCall(request, th.tid, 0, uintptr(signal))
}

// called handles the entry of a traced call.
func (t *tracer) called(th *thread) {
	t.over(th)
	info, err := syscallInfoOf(th.tid)
	if err != nil || info.Op != infoSeccomp {
		t.resume(th, 0)
		return
	}
	t.result.Stops++
	nr := int(info.NR)
	if info.Arch != nativeArch || nr&x32Bit != 0 {
		t.refuse(th, "foreign-abi", unix.ENOSYS)
		return
	}
	if errno, floor := t.target.Refuse[nr]; floor {
		t.refuse(th, t.name(nr), errno)
		return
	}
	c := &call{shape: shapes[nr], args: info.Args}
	if c.shape.kind == kindOther && t.target.Looks {
		c.shape = looks[nr]
	}
	if c.shape.kind == kindWrite {
		if int32(c.args[0]) == learn.NoteFD {
			t.noted(th, c)
			return
		}
	}
	if t.target.Judge != nil {
		if errno := t.target.Judge(nr, info.Args); errno != 0 {
			t.refuse(th, t.name(nr), errno)
			return
		}
	}
	if !t.named[nr] {
		t.named[nr] = true
		t.emit(learn.Called{TID: th.tid, Name: t.name(nr)})
	}
	if t.plainOpen(th, c) {
		t.resume(th, 0)
		return
	}
	t.changing(c, 1)
	if t.enter(th, c) {
		th.call = c
	}
	t.resume(th, 0)
}

// changing is told of each call before it runs (by 1) and after it (by -1): what names lead to may be another thing then.
func (t *tracer) changing(c *call, by int) {
	switch c.shape.kind {
	case kindOpen, kindOpenat2, kindCreat, kindMkdir, kindLink, kindTruncate, kindOther, kindLook, kindConnect, kindSend, kindBind, kindListen, kindWrite, kindExec:
		return // at most a new name comes of it, or one is refused
	case kindMove:
		t.places.moving += by
	}
	t.places.forget()
}

// enter looks at a call's arguments; the result says whether its exit matters.
func (t *tracer) enter(th *thread, c *call) bool {
	switch c.shape.kind {
	case kindOther, kindWrite:
		return false
	case kindMove:
		return true
	case kindConnect, kindSend, kindBind, kindListen:
		c.a.name = t.sockets.enter(th, c)
		return c.a.name != ""
	}
	return c.enter(th.tid)
}

// returned handles the exit of a call.
func (t *tracer) returned(th *thread) {
	c := th.call
	t.over(th)
	if info, err := syscallInfoOf(th.tid); err == nil && c != nil {
		if result := int64(info.NR); !restarts(result) {
			switch c.shape.kind {
			case kindConnect, kindSend, kindBind, kindListen:
				t.sockets.leave(th, c, result, t.teller(th.tid, c))
			default:
				c.leave(th.tid, result, t.teller(th.tid, c))
			}
		}
	}
	t.resume(th, 0)
}

// over ends the waiting for a call's exit.
func (t *tracer) over(th *thread) {
	if th.call != nil {
		t.changing(th.call, -1)
	}
	th.call = nil
}

func (t *tracer) refuse(th *thread, name string, errno unix.Errno) {
	// When the registers cannot be set the thread is being killed, and then the call does not run either; anything else must not
	// let it run.
	if err := skip(th.tid, errno); err != nil && !errors.Is(err, unix.ESRCH) {
		_ = unix.Kill(th.tgid, unix.SIGKILL)
	}
	t.emit(learn.Refused{TID: th.tid, Name: name, Errno: errnoOf(-int64(errno))})
	t.resume(th, 0)
}

func (t *tracer) noted(th *thread, c *call) {
	buf := make([]byte, min(c.args[2], learn.MaxNote))
	n := readMemory(th.tid, c.args[1], buf)
	clear(th.told)
	t.emit(learn.Noted{TID: th.tid, Text: string(buf[:n])})
	t.resume(th, 0)
}

func (t *tracer) name(nr int) string {
	if t.target.Name != nil {
		if name := t.target.Name(nr); name != "" {
			return name
		}
	}
	return fmt.Sprintf("call %d", nr)
}

// teller emits accesses of one thread.
func (t *tracer) teller(tid int, c *call) func(policy.Op, string, learn.How, learn.Errno) {
	return func(op policy.Op, object string, how learn.How, errno learn.Errno) {
		if object == "" {
			return
		}
		e := learn.Accessed{TID: tid, Access: policy.Access{Op: op, Object: object}, How: how, Errno: errno}
		if c != nil && c.asked != "" && c.asked != object {
			e.Asked = c.asked
		}
		t.emit(e)
	}
}
