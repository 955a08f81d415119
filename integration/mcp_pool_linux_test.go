package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// warm tells whether a run's box was made ahead of need.
func (r ran) warm(t testing.TB) bool {
	t.Helper()
	observed, _ := r.Meta.Result.Receipt["observed"].(map[string]any)
	warm, ok := observed["warm"].(bool)
	if !ok && r.Meta.Result.Status != "refused" {
		t.Errorf("the receipt does not tell: %v", r.Meta.Result.Receipt)
	}
	return warm
}

// warmly runs code until a box that waited takes it.
func (a *agent) warmly(code string, more ...any) ran {
	a.t.Helper()
	var r ran
	until(a.t, "a box waits", func() bool {
		r = a.python(code, more...)
		return r.warm(a.t)
	})
	return r
}

// below are the living processes below one, itself left out, those that nobody waited for yet left out, too.
func below(t testing.TB, top int) []process {
	t.Helper()
	under := map[int]bool{top: true}
	var found []process
	all := processes(t)
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if under[p.parent] && !under[p.pid] && p.state != 'Z' && p.state != 'X' {
				under[p.pid], grew = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// waiting are the interpreters of boxes that nobody called yet, by what keeps them: nothing else of this server runs.
func (a *agent) waiting() (list []process) {
	a.t.Helper()
	for _, p := range below(a.t, a.cmd.Process.Pid) {
		if strings.Contains(p.cmdline, "/run/call/run.py") {
			list = append(list, p)
		}
	}
	return list
}

// TestMCPPoolUsesABoxOnce: whichever way a call came to its box, nothing that another one did is there: no file, no process, no variable, no draw.
func TestMCPPoolUsesABoxOnce(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t, "--preload", "random", "--slots", "4", "--queue", "50")
		code := fmt.Sprintf(`import builtins, gc, os, random, subprocess, sys
marks = ['/tmp/mark', '/dev/shm/mark', '/workspace/mark', '/run/call/mark']
found = [m for m in marks if os.path.exists(m)] + [d for d in os.listdir('/workspace')] + [n for n in ('mark', '_') if hasattr(builtins, n)] + [k for k in os.environ if k == 'MARK']
found += [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]
for m in marks:
    open(m, 'w').write('x')
builtins.mark, os.environ['MARK'], random.mark = 1, 'x', 1
subprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)
print(found, random.getrandbits(64), hash('a'), id(code_ := object()))`, s.word)
		var draws, hashes = map[string]bool{}, map[string]bool{}
		warm, cold := 0, 0
		check := func(r ran) {
			r.want(t, "ok")
			f := strings.Fields(r.part("stdout"))
			if len(f) != 4 || f[0] != "[]" {
				t.Errorf("something of another call is there: %s", r.text())
				return
			}
			if draws[f[1]] || hashes[f[2]] {
				t.Errorf("drawn twice: %s", r.text())
			}
			draws[f[1]], hashes[f[2]] = true, true
			if r.warm(t) {
				warm++
			} else {
				cold++
			}
		}
		check(a.warmly(code))
		for range 4 {
			var all []<-chan answered
			for range 6 {
				_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": code}})
				all = append(all, ch)
			}
			for _, ch := range all {
				check(a.result(a.take(ch)))
			}
			check(a.warmly(code))
		}
		if warm == 0 || cold == 0 {
			t.Errorf("%d warm, %d cold: both kinds were to be seen", warm, cold)
		}
		if left := withWord(t, s.word); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestMCPPoolReplacesTheDead: boxes that die while they wait, whichever part of them does, are replaced, and no call fails for it.
func TestMCPPoolReplacesTheDead(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		for _, part := range []string{"the interpreter", "its psb", "everything"} {
			a.warmly("1").want(t, "ok")
			until(t, "two boxes wait", func() bool { return len(a.waiting()) == 2 })
			dead := map[int]bool{}
			for _, p := range below(t, a.cmd.Process.Pid) {
				python := strings.Contains(p.cmdline, "/run/call/run.py")
				if part == "everything" || part == "the interpreter" && python || part == "its psb" && p.parent == a.cmd.Process.Pid {
					dead[p.pid] = true
					_ = syscall.Kill(p.pid, syscall.SIGKILL)
				}
			}
			if len(dead) == 0 {
				t.Fatalf("%s: none was found", part)
			}
			var all []<-chan answered
			for range 4 {
				_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": "6*7"}})
				all = append(all, ch)
			}
			for _, ch := range all {
				a.result(a.take(ch)).want(t, "ok", "42")
			}
			a.warmly("'again'").want(t, "ok", "'again'")
			for _, p := range a.waiting() {
				if dead[p.pid] {
					t.Errorf("%s: %v is still there", part, p)
				}
			}
		}
	})
}

// TestMCPPoolGone: boxes that wait end with their server, whichever way it ends, and leave no group.
func TestMCPPoolGone(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		for _, c := range []struct {
			how string
			end func(*agent)
		}{
			{"killed", func(a *agent) { must(t, a.cmd.Process.Kill()) }},
			{"asked to end", func(a *agent) { must(t, a.cmd.Process.Signal(syscall.SIGTERM)) }},
			{"closed", func(a *agent) { a.in.Close() }},
		} {
			a := s.agent(t)
			until(t, "boxes wait", func() bool { return len(a.waiting()) == 2 })
			list := below(t, a.cmd.Process.Pid)
			groups := map[string]bool{}
			for _, p := range list {
				for _, g := range groupsNamed(p.pid) {
					groups[g] = true
				}
			}
			c.end(a)
			<-a.ended
			until(t, c.how+": nothing is left", func() bool {
				for _, p := range list {
					for _, q := range processes(t) {
						if p.pid == q.pid && p.cmdline == q.cmdline && q.state != 'Z' && q.state != 'X' {
							return false
						}
					}
				}
				for g := range groups {
					if found, _ := filepath.Glob("/sys/fs/cgroup/*/" + g); len(found) > 0 {
						return false
					}
				}
				return true
			})
		}
	})
}

// groupsNamed are the control groups of psb that a process is in, by their names below a hierarchy.
func groupsNamed(pid int) (names []string) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && strings.Contains(filepath.Base(f[2]), "psb-") {
			names = append(names, strings.TrimPrefix(f[2], "/"))
		}
	}
	return names
}

// TestMCPPoolLimits: a box that waited holds what its call asks for, from then on: less of everything, and all of the time.
func TestMCPPoolLimits(t *testing.T) {
	besideOthers(t)
	if os.Getuid() == 0 && !holds("memory") {
		t.Skip("no control groups")
	}
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		until(t, "two boxes wait", func() bool { return len(a.waiting()) == 2 })
		var old process
		for _, p := range a.waiting() {
			old = p
		}
		until(t, "one has waited for longer than its call may take", func() bool { return age(t, old.pid) > 4 })
		r := a.python("'in time'", "timeout_s", 4)
		r.want(t, "ok", "'in time'")
		a.warmly("while True: pass", "timeout_s", 1).want(t, "timeout", "limit timeout_s = 1 seconds")
		a.warmly("x = b'x' * (400 << 20)\nimport time; time.sleep(30)", "memory_mb", 150).want(t, "killed", "limit memory_mb")
		if holds("pids") && s.who.uid == 0 {
			a.warmly("import threading, time\nfor i in range(20): threading.Thread(target=time.sleep, args=(2,)).start()", "max_processes", 10).want(t, "error", "RuntimeError")
		}
		for _, more := range [][]any{{"memory_mb", 1000}, {"cpus", 2}, {"max_processes", 100}, {"disk_mb", 32}, {"disk_mb", 100}} {
			until(t, "boxes wait", func() bool { return len(a.waiting()) == 2 })
			r := a.python("import os; v = os.statvfs('/workspace'); v.f_blocks * v.f_frsize >> 20", more...)
			r.want(t, "ok")
			if r.warm(t) {
				t.Errorf("%v: a box of less took it: %s", more, r.text())
			}
			if more[0] == "disk_mb" && !strings.HasPrefix(r.text(), fmt.Sprint(more[1])+"\n") {
				t.Errorf("%v: %s", more, r.text())
			}
		}
	})
}

// age of a process in seconds.
func age(t testing.TB, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	must(t, err)
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks, err := strconv.ParseFloat(f[19], 64)
	must(t, err)
	up, err := os.ReadFile("/proc/uptime")
	must(t, err)
	now, err := strconv.ParseFloat(strings.Fields(string(up))[0], 64)
	must(t, err)
	return now - ticks/100
}

// TestMCPPoolFollowsTheHost: a profile's policy counts as it is now, for the next call already; a broken one lets nothing run; and a file that another
// one took the place of is that other one in a box that was made before.
func TestMCPPoolFollowsTheHost(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		data := s.put(t, "home/data/figures.txt", "first")
		write := func(greeting string) string {
			return s.put(t, "home/profiles/p.py-sandboxes", "version = 1\n[env]\nGREETING = \""+greeting+"\"\n[files]\n\""+data+"\" = \"read\"\n")
		}
		policy := write("one")
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy))
		code := fmt.Sprintf("import os; os.environ['GREETING'] + ' ' + open(%q).read()", data)
		a.warmly(code, "profile", "p").want(t, "ok", "'one first'")
		write("two")
		s.give(t)
		a.python(code, "profile", "p").want(t, "ok", "'two first'")
		a.warmly(code, "profile", "p").want(t, "ok", "'two first'")
		next := s.put(t, "home/data/next.txt", "second")
		s.give(t)
		must(t, os.Rename(next, data))
		a.python(code, "profile", "p").want(t, "ok", "'two second'")
		a.warmly(code, "profile", "p").want(t, "ok", "'two second'")
		s.put(t, "home/profiles/p.py-sandboxes", "version = 1\n[env\n")
		s.give(t)
		a.python(code, "profile", "p").want(t, "refused", "the policy of profile p was changed, and nothing runs under it now")
		a.python("7").want(t, "ok", "7")
		write("three")
		s.give(t)
		a.python(code, "profile", "p").want(t, "ok", "'three second'")
		must(t, os.Remove(policy))
		a.python(code, "profile", "p").want(t, "refused")
	})
}

// TestMCPPreload: modules of the operator's are there when the call comes, what they print is nobody's, and what cannot be imported is said once.
func TestMCPPreload(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t, "--preload", "decimal,this,no_such_module")
		r := a.warmly("import sys; print([m in sys.modules for m in ('decimal', 'this', 'no_such_module', 'fractions')])")
		if got, want := r.part("stdout"), "[True, True, False, False]\n"; got != want {
			t.Errorf("stdout %q, want %q", got, want)
		}
		if r.part("stderr") != "" {
			t.Errorf("stderr: %s", r.text())
		}
		until(t, "it is said", func() bool {
			return strings.Contains(a.errs.String(), "psb: profile default: --preload no_such_module: ModuleNotFoundError")
		})
		if n := strings.Count(a.errs.String(), "no_such_module: "); n != 1 {
			t.Errorf("said %d times:\n%s", n, a.errs)
		}
		b := s.agent(t, "--cold")
		if r := b.python("1"); r.warm(t) || len(b.waiting()) > 0 {
			t.Errorf("--cold made boxes ahead of need: %s", r.text())
		}
	})
}

// TestMCPEndOfCode: what an interpreter does at its end is done: what was not closed is written, threads are waited for, and what asked to be called is
// called, while what it stands on is there.
func TestMCPEndOfCode(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t, "--python", systemPython)
	for _, c := range []struct{ code, out string }{
		{"f = open('left', 'w'); f.write('x' * 5000)\ndef g(): return f", ""},
		{"import gzip\nz = gzip.open('left.gz', 'wt'); z.write('hello')\nme = [z]; me.append(me)", ""},
		{"import os\nclass A:\n    def __del__(self): print('gone', os.sep)\na = A()\ndef g(): return a", "gone /\n"},
		{"import atexit\nf = open('left', 'w')\natexit.register(lambda: (f.write('last'), print('called')))\n1", "called\n"},
		{"import threading, time\ndef late():\n    time.sleep(0.3); print('late'); open('left', 'w').write('late')\nthreading.Thread(target=late).start()", "late\n"},
		{"from concurrent.futures import ThreadPoolExecutor\nimport time\npool = ThreadPoolExecutor(2)\n_ = pool.submit(lambda: (time.sleep(0.2), print('pooled')))\nNone", "pooled\n"},
		{"open('mine.py', 'w').write('f = open(\"left\", \"w\"); f.write(\"of a module\")')\nimport mine", ""},
		{"import ctypes\nctypes.CDLL(None).puts(b'by C')\nNone", "by C\n"},
		{"import sys\nclass Out:\n    def __init__(self): self.kept = []\n    def write(self, s): self.kept.append(s)\n    def flush(self): sys.__stdout__.write(''.join(self.kept)); self.kept = []\nsys.stdout = Out()\nprint('held back')", "held back\n"},
	} {
		r := a.python(c.code)
		r.want(t, "ok")
		if got := r.part("stdout"); got != c.out {
			t.Errorf("%q: stdout %q, want %q\n%s", c.code, got, c.out, r.text())
		}
		for _, f := range r.Meta.Result.Files {
			if f.Bytes == 0 {
				t.Errorf("%q: %s is empty", c.code, f.Path)
			}
		}
		if strings.Contains(c.code, "'left") && !strings.Contains(r.text(), "left") {
			t.Errorf("%q: nothing is left\n%s", c.code, r.text())
		}
	}
	r := a.python("import gzip\nz = gzip.open('left.gz', 'wt'); z.write('hello')\ndef g(): return z")
	for _, c := range r.Content {
		if c.Name != "left.gz" {
			continue
		}
		var read struct{ Contents []struct{ Blob []byte } }
		must(t, json.Unmarshal(a.ask("resources/read", map[string]any{"uri": c.URI}).Result, &read))
		z, err := gzip.NewReader(bytes.NewReader(read.Contents[0].Blob))
		must(t, err)
		if text, err := io.ReadAll(z); err != nil || string(text) != "hello" {
			t.Errorf("%q, %v", text, err)
		}
		return
	}
	t.Errorf("%s", r.text())
}
