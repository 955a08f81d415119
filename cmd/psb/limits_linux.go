// Does to the process: reads /proc of the box's processes while it runs; ends the box when a limit is reached.
// Undone: nothing to undo.
// Preconditions: the box was started.
// Called by: launch_linux.go.
// Proved by: the scripts named run_limit_*.

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

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
