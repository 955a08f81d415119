// Does to the process: reads /proc of the box's processes while it runs; ends the box when a limit is reached.
// Undone: nothing to undo.
// Preconditions: the box was started.
// Called by: launch_linux.go.
// Proved by: the scripts named run_limit_*.

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"psb/cgroups"
	"psb/namespaces"
	"psb/policy/plan"
)

// stateSub and the like are folders of psb's own records.
func cacheDir(j *job) string { return stateDir(j.w.id, j.w.lookup) + "/filters" }

// startTime is a process's start in clock ticks since boot (proc_pid_stat(5), field 22): with the pid it names a process for good.
func startTime(pid int) (uint64, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat: too short", pid)
	}
	return strconv.ParseUint(f[19], 10, 64)
}

// limitWatch ends the box at its wall clock and, where no control group does, at its memory.
type limitWatch struct {
	quit   chan struct{}
	done   sync.WaitGroup
	name   atomic.Value // of the limit reached
	box    *namespaces.Box
	memory atomic.Uint64 // bytes that are held; 0: somebody else does

	mu   sync.Mutex
	wall *time.Timer
	over bool
}

// memoryRound is how often the tree's memory is looked at where the kernel does not hold it.
const memoryRound = 100 * time.Millisecond

// startLimits begins with memory; the wall clock is started by itself, as not every box begins with its program.
func startLimits(j *job, box *namespaces.Box, group *cgroups.Group) *limitWatch {
	w := &limitWatch{quit: make(chan struct{}), box: box}
	if !j.looksAtMemory(group != nil) {
		return w
	}
	w.memory.Store(j.plan.Limits["memory"].Bytes)
	w.done.Add(1)
	go func() {
		defer w.done.Done()
		t := time.NewTicker(memoryRound)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				if treeMemory(box.Keeper()) > w.memory.Load() {
					w.hit("memory")
				}
			case <-w.quit:
				return
			}
		}
	}()
	return w
}

func (w *limitWatch) hit(name string) {
	w.name.CompareAndSwap(nil, name)
	w.box.Kill()
}

// lowerMemory holds less from now on, where psb holds it at all.
func (w *limitWatch) lowerMemory(most uint64) {
	if w.memory.Load() != 0 {
		w.memory.Store(most)
	}
}

// startWall begins the time, in place of one that was begun before; zero is none.
func (w *limitWatch) startWall(most time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wall != nil {
		w.wall.Stop()
	}
	if most > 0 && !w.over {
		w.wall = time.AfterFunc(most, func() { w.hit("wall") })
	}
}

// looksAtMemory reports whether psb itself has to look at the tree's memory: no group holds the limit.
func (j *job) looksAtMemory(grouped bool) bool {
	return j.plan.Limits["memory"].Bytes != 0 && (j.facts.host.Limits["memory"] != "" || !grouped) && j.plan.Provider != plan.None
}

func (w *limitWatch) stop() {
	w.mu.Lock()
	if w.over = true; w.wall != nil {
		w.wall.Stop()
	}
	w.mu.Unlock()
	close(w.quit)
	w.done.Wait()
}

func (w *limitWatch) reached() string {
	name, _ := w.name.Load().(string)
	return name
}

// treeMemory sums the resident memory of everything below a process, in bytes, and the memory files that it holds open, mapped or not. Pages
// shared by several count for each: the figure errs to the strict side.
func treeMemory(root int) uint64 {
	var sum uint64
	files := map[uint64]bool{}
	queue := []int{root}
	for seen := 0; len(queue) > 0 && seen < 100_000; seen++ {
		pid := queue[0]
		queue = queue[1:]
		dir := "/proc/" + strconv.Itoa(pid)
		if b, err := os.ReadFile(dir + "/statm"); err == nil {
			if f := strings.Fields(string(b)); len(f) > 1 {
				pages, _ := strconv.ParseUint(f[1], 10, 64)
				sum += pages * uint64(os.Getpagesize())
			}
		}
		sum += memoryFiles(dir+"/fd", files)
		tasks, err := os.ReadDir(dir + "/task")
		if err != nil {
			continue
		}
		for _, t := range tasks {
			b, err := os.ReadFile(dir + "/task/" + t.Name() + "/children")
			if err != nil {
				continue
			}
			for _, c := range strings.Fields(string(b)) {
				if n, err := strconv.Atoi(c); err == nil {
					queue = append(queue, n)
				}
			}
		}
	}
	return sum
}

// memoryFiles sums what the memfds among a process's descriptors hold, each once.
func memoryFiles(dir string, seen map[uint64]bool) uint64 {
	var sum uint64
	list, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range list {
		name := dir + "/" + e.Name()
		if to, err := os.Readlink(name); err != nil || !strings.HasPrefix(to, "/memfd:") {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(name, &st) == nil && !seen[st.Ino] {
			seen[st.Ino] = true
			sum += uint64(st.Blocks) * 512
		}
	}
	return sum
}

// output counts what the program prints when [limits] output asks for it; otherwise psb is not in the way at all.
type output struct {
	most  uint64
	sum   atomic.Uint64
	over  atomic.Bool
	files [][2]*os.File // read end, where it goes
	own   []*os.File    // of where it goes
	ends  []*os.File
	done  sync.WaitGroup
}

func newOutput(j *job) *output { return &output{most: j.plan.Limits["output"].Bytes} }

// pipes gives the program's own 0, 1, 2.
func (o *output) pipes(stdio [3]*os.File) ([3]*os.File, error) {
	if o.most == 0 {
		return stdio, nil
	}
	for i := 1; i <= 2; i++ {
		r, w, err := os.Pipe()
		if err != nil {
			return stdio, fmt.Errorf("pipe for output: %w", err)
		}
		// Under a number above 2: on 1 and 2 the runtime takes a reader that went away for the end of psb itself, and its program, which may
		// want to go on, would be killed.
		to := stdio[i]
		if fd, err := unix.FcntlInt(to.Fd(), unix.F_DUPFD_CLOEXEC, 3); err == nil {
			to = os.NewFile(uintptr(fd), to.Name())
			o.own = append(o.own, to)
		}
		o.files, o.ends = append(o.files, [2]*os.File{r, to}), append(o.ends, w)
		stdio[i] = w
	}
	return stdio, nil
}

// begin closes psb's own copies of the program's ends and copies what comes.
func (o *output) begin(kill func()) {
	for _, w := range o.ends {
		w.Close()
	}
	for _, f := range o.files {
		o.done.Add(1)
		go func() {
			defer o.done.Done()
			buf := make([]byte, 64<<10)
			for {
				n, err := f[0].Read(buf)
				if rest := int64(o.most) - int64(o.sum.Add(uint64(n))) + int64(n); int64(n) > rest {
					n = int(max(rest, 0))
					if o.over.CompareAndSwap(false, true) {
						kill()
					}
				}
				if _, werr := f[1].Write(buf[:n]); werr != nil || err != nil {
					if err != io.EOF {
						f[0].Close() // the program gets SIGPIPE, as it would have
					}
					return
				}
			}
		}()
	}
}

func (o *output) end() {
	o.done.Wait()
	for _, f := range o.files {
		f[0].Close()
	}
	closeAll(o.own)
}

func (o *output) exceeded() bool { return o.over.Load() }
