package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// makers are the psbs of a server that make boxes.
func (a *agent) makers() (list []int) {
	a.t.Helper()
	for _, p := range below(a.t, a.cmd.Process.Pid) {
		if p.parent == a.cmd.Process.Pid && strings.HasPrefix(p.cmdline, "psb-box") {
			list = append(list, p.pid)
		}
	}
	return list
}

// numbers runs code whose value is a list of numbers.
func (r ran) numbers(t testing.TB) (list []uint64) {
	t.Helper()
	r.want(t, "ok")
	if err := json.Unmarshal([]byte(strings.SplitN(r.text(), "\n", 2)[0]), &list); err != nil {
		t.Errorf("%v: %s", err, r.text())
	}
	return list
}

// TestMCPNurseryKeepsBoxesApart: boxes that one psb made have no descriptor of each other's, no process, no signal, no group; and one psb it stays.
func TestMCPNurseryKeepsBoxesApart(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t, "--cold")
		const open = "import os\n[n for n in map(int, os.listdir('/proc/self/fd')) if os.path.lexists(f'/proc/self/fd/{n}')]"
		const pipes = "import os\n[os.fstat(n).st_ino for n in (0, 1, 2)]"
		others := a.inside("other", pipes+"[1:]").numbers(t)
		first := a.makers()
		if len(first) != 1 {
			t.Fatalf("%d psbs make boxes of one kind", len(first))
		}
		for _, more := range [][]any{nil, {"stdin", "x"}} {
			if got := a.python(open, more...).numbers(t); !slices.Equal(got, []uint64{0, 1, 2}) {
				t.Errorf("descriptors %v", got)
			}
			for _, n := range a.python(pipes, more...).numbers(t) {
				if slices.Contains(others, n) {
					t.Errorf("a pipe of another box is there: %v", others)
				}
			}
		}
		// The descriptors of the first process and those of the other box's are out of reach, and so are their processes.
		a.python("import os\nseen = []\nfor pid in os.listdir('/proc'):\n    if pid.isdigit() and pid not in ('1', str(os.getpid())): seen.append(pid)\ntry: seen += os.listdir('/proc/1/fd')\nexcept PermissionError: pass\nseen").want(t, "ok", "[]")
		for _, whom := range []string{"0", "-1"} {
			a.python("import os, signal\nos.kill("+whom+", signal.SIGKILL)\nwhile True: pass", "timeout_s", 5)
			a.inside("other", "1").want(t, "ok")
			if got := a.makers(); !slices.Equal(got, first) {
				t.Errorf("kill(%s): the psb that makes boxes was %v and is %v", whom, first, got)
			}
		}
		groups := map[string]int{}
		_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"timeout_s": 200,
			"code": fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}})
		until(t, "the code runs", func() bool { return len(withWord(t, s.word)) > 0 }) // a call that was not begun would get another box
		for _, p := range a.waiting() {
			for _, g := range groupsNamed(p.pid) {
				groups[filepath.Base(g)]++
			}
		}
		if s.who.uid == 0 && holds("memory") && len(groups) != 2 {
			t.Errorf("groups %v, want two names", groups)
		}
		must(t, syscall.Kill(first[0], syscall.SIGKILL)) // the call's end, and the next test's beginning
		if r := a.result(a.take(ch)); r.Meta.Result.Status != "internal" || r.Meta.Result.Cleanup.State != "UNKNOWN" || !strings.Contains(r.text(), "the psb of this box ended without a verdict: signal: killed") {
			t.Errorf("a call whose psb was killed: %s", r.text())
		}
		until(t, "its boxes and groups are gone", func() bool {
			for g := range groups {
				if found, _ := filepath.Glob("/sys/fs/cgroup/*/" + g); len(found) > 0 {
					return false
				}
			}
			return len(a.waiting()) == 0
		})
		a.python("6*7").want(t, "ok", "42")
		a.inside("other", "1").want(t, "ok", "generation 2")
		if got := a.makers(); len(got) != 1 || got[0] == first[0] {
			t.Errorf("makers %v after %v was killed", got, first)
		}
	})
}

// TestMCPPlanFollowsTheHost: what a box shows is the host as it is when the box is made, though its launch was worked out before.
func TestMCPPlanFollowsTheHost(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		data := s.put(t, "home/data/there", "x")
		name := filepath.Join(filepath.Dir(data), "figures.txt")
		policy := s.put(t, "home/profiles/p.py-sandboxes", fmt.Sprintf("version = 1\n[files]\n%q = \"read\"\n", name))
		s.give(t)
		a := s.agent(t, "--cold", "--profiles", filepath.Dir(policy))
		code := fmt.Sprintf("import os\nopen(%q).read() if os.path.exists(%q) else 'absent'", name, name)
		for _, want := range []string{"absent", "absent", "one", "one", "two", "absent"} {
			switch want {
			case "absent":
				_ = syscall.Unlink(name)
			default:
				next := s.put(t, "home/data/next", want)
				s.give(t)
				must(t, syscall.Rename(next, name))
			}
			a.python(code, "profile", "p").want(t, "ok", "'"+want+"'")
		}
		if got := a.makers(); len(got) != 1 {
			t.Errorf("%d psbs made boxes of one profile", len(got))
		}
	})
}
