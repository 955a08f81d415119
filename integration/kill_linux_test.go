package integration

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killMoments is how often psb is killed in each way; a quarter of it without PSB_ROWS=all.
const killMoments = 20

// TestKilled ends psb with SIGKILL at random moments of a run: whatever moment it was, no process, no mount and no cgroup stays, and
// the policy file holds what it held, or (learning) what a whole run would have written.
func TestKilled(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	n := killMoments
	if once() {
		n /= 4
	}
	for _, learn := range []bool{false, true} {
		name := map[bool]string{false: "enforce", true: "learn"}[learn]
		for _, who := range people() {
			t.Run(name+"/"+who.name, func(t *testing.T) {
				s := newScene(t, who)
				s.put(t, "home/code/project/long.py", "import json, subprocess, sys, time\nopen('out.txt', 'w').close()\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\ntime.sleep(60)\n")
				first := "version = 1\n[limits]\n" + map[bool]string{true: "pids = 100\n", false: ""}[who.uid == 0] + "[files]\n\"./\" = \"create\"\n\"out.txt\" = \"write\"\n"
				s.put(t, "home/code/project/.py-sandboxes", first)
				s.give(t)
				list, err := s.choose(t, "any", nil)
				ledger.Need(t, "python3", err)
				argv := []string{psb(t), "--python", list[0].path, "--policy", ".py-sandboxes"}
				if learn {
					argv = append(argv, "--learn")
				}
				seed := uint64(time.Now().UnixNano())
				t.Logf("seed %d", seed)
				moments := rand.New(rand.NewPCG(seed, 0))
				started := 0
				for range n {
					started += s.killOnce(t, append(argv, "long.py", s.word), time.Duration(moments.IntN(300))*time.Millisecond)
					if policy, _ := s.policy(t); !learn && policy != first || learn && !strings.HasPrefix(policy, first) {
						t.Fatalf("the policy was\n%s\nand is\n%s", first, policy)
					}
				}
				if started == 0 {
					t.Errorf("psb was always killed before the program ran: nothing is proved of a running box")
				}
				if left, _ := filepath.Glob(filepath.Join(s.project, ".*")); len(left) != 2 { // the policy and the bait .env
					t.Errorf("left behind in the project: %q", left)
				}
			})
		}
	}
}

// killOnce kills psb after a while, and then waits for everything of it to go. It gives 1 when the program ran already.
func (s scene) killOnce(t *testing.T, argv []string, after time.Duration) (started int) {
	t.Helper()
	known := map[int]bool{}
	for _, p := range descendants(t) {
		known[p.pid] = true
	}
	mounts := mountTable(t)
	cmd := s.command(t.Context(), call{argv: argv})
	must(t, cmd.Start())
	pid := cmd.Process.Pid
	time.Sleep(after) // the moment: any is as good as another
	if len(withWord(t, s.word)) > 1 {
		started = 1
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	cmd.Wait()
	var left []process
	until(t, fmt.Sprintf("no process is left of psb %d, killed after %v", pid, after), func() bool {
		reapOrphans(t, known)
		left = left[:0]
		for _, p := range descendants(t) {
			if !known[p.pid] {
				left = append(left, p)
			}
		}
		return len(left) == 0 && len(withWord(t, s.word)) == 0
	})
	until(t, fmt.Sprintf("no cgroup is left of psb %d, killed after %v: %q", pid, after, cgroupsOf(pid)), func() bool { return len(cgroupsOf(pid)) == 0 })
	if now := mountTable(t); now != mounts {
		t.Fatalf("mounts were\n%s\nand are\n%s", mounts, now)
	}
	return started
}

// reapOrphans waits for the dead that became our children; a zombie holds its cgroup.
func reapOrphans(t *testing.T, known map[int]bool) {
	t.Helper()
	for _, p := range processes(t) {
		if p.parent == os.Getpid() && p.state == 'Z' && !known[p.pid] {
			syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

func mountTable(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	return string(b)
}

// cgroupsOf are the control groups that carry psb's name and the process id.
func cgroupsOf(pid int) (found []string) {
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), "psb") && strings.Contains(d.Name(), strconv.Itoa(pid)) {
			found = append(found, path)
		}
		return nil // groups come and go while this walks
	})
	return found
}
