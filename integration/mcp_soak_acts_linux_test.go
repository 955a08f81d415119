package integration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// soakAct is one kind of act; it is drawn as often as its weight says. One that is alone meets no other of its server.
type soakAct struct {
	name   string
	weight int
	alone  bool
	do     func(*soakCall)
}

var soakActs = slices.Concat(soakGood, soakBad, soakLong, soakStrikes)

// soakGood are calls whose value is known.
var soakGood = []soakAct{
	{"value", 30, false, (*soakCall).good},
	{"files", 8, false, func(c *soakCall) {
		name, n := fmt.Sprintf("f%d/x.bin", c.r.IntN(9)), 1+c.r.IntN(200_000)
		b := strings.Repeat(string(rune('a'+c.r.IntN(26))), n)
		r := c.python("b = open(in_ := 'in.txt').read()\nimport os\nos.makedirs(os.path.dirname(n := "+fmt.Sprintf("%q", name)+"))\nopen(n, 'w').write(b * 2)\nlen(b)",
			"files", []any{map[string]any{"path": "in.txt", "content": b}})
		if !c.want(r, "ok") {
			return
		}
		sum := sha256.Sum256([]byte(b + b))
		if f := r.Meta.Result.Files; r.value() != fmt.Sprint(n) || len(f) != 1 || f[0].Path != name || f[0].Change != "created" || f[0].SHA256 != hex.EncodeToString(sum[:]) {
			c.fail("%d bytes twice in %s, but %+v: %v", n, name, f, r)
		}
	}},
	{"shell", 8, false, func(c *soakCall) {
		word, n := fmt.Sprintf("x%d", c.r.IntN(1e6)), 1+c.r.IntN(200)
		r := c.call("run_shell", map[string]any{"command": "cat; printf %s \"$1\" | tr x y >&2; exit " + fmt.Sprint(n), "stdin": word, "args": []string{word}})
		if c.want(r, "error", fmt.Sprintf("exit %d", n)) && (r.part("stdout") != word || r.part("stderr") != strings.Replace(word, "x", "y", 1)) {
			c.fail("%s: %v", word, r)
		}
	}},
	{"exit", 4, false, func(c *soakCall) {
		n := 1 + c.r.IntN(200)
		c.want(c.python(fmt.Sprintf("raise SystemExit(%d)", n)), "error", fmt.Sprintf("[psb] error: exit %d", n))
	}},
	{"exception", 4, false, func(c *soakCall) {
		n := c.r.IntN(1e9)
		c.want(c.python(fmt.Sprintf("def f():\n  raise KeyError(%d)\nf()", n)), "error", fmt.Sprintf("KeyError: %d", n), "line 2, in f", "exit 1")
	}},
	{"cancelled", 10, false, func(c *soakCall) { // at a moment that is as good as another: the answer is right, or there is none
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		time.AfterFunc(time.Duration(c.r.IntN(400))*time.Millisecond, cancel)
		a, b := c.r.IntN(1e6), c.r.IntN(1e6)
		switch r := c.ask(ctx, "run_python", map[string]any{"code": fmt.Sprintf("import time; time.sleep(0.1); %d * %d", a, b)}); {
		case r.none:
			c.count("cancelled: no answer")
		case r.Meta.Result.Status == "cancelled":
			c.count("cancelled: told so")
		case c.want(r, "ok") && r.value() == fmt.Sprint(a*b):
			c.count("cancelled: too late")
		default:
			c.fail("%d * %d: %v", a, b, r)
		}
	}},
	{"refused", 5, false, func(c *soakCall) {
		x := soakRefused[c.r.IntN(len(soakRefused))]
		c.want(c.call(x.tool, x.args), "refused", x.text)
	}},
	{"noise", 5, false, (*soakCall).malformed},
}

// good is a call whose value only it can have.
func (c *soakCall) good() {
	a, b := c.r.IntN(1e9), c.r.IntN(1e9)
	r := c.python(fmt.Sprintf("import os\nassert os.listdir() == []\nopen('mark', 'w').close()\nprint(%d)\n%d * %d", a, a, b), "return_files", false)
	if c.want(r, "ok") && (r.value() != fmt.Sprint(a*b) || r.part("stdout") != fmt.Sprintln(a)) {
		c.fail("%d * %d: %v", a, b, r)
	}
}

// soakRefused are arguments that are not taken, and what is said of them.
var soakRefused = []struct {
	tool string
	args map[string]any
	text string
}{
	{"run_python", map[string]any{"code": "1", "memory_mb": 1 << 20}, "memory_mb: 1048576 is above"},
	{"run_python", map[string]any{"code": "1", "timeout_s": -1}, "timeout_s: -1 is below"},
	{"run_python", map[string]any{"code": 5}, "code: a string is needed"},
	{"run_python", map[string]any{"code": "1\x00"}, "a NUL character"},
	{"run_python", map[string]any{"code": "1", "policy": "/"}, `unknown argument "policy"`},
	{"run_shell", map[string]any{"command": "ls", "cwd": "../.."}, "cwd: "},
	{"run_python", map[string]any{"code": "1", "files": []any{map[string]any{"path": "../x", "content": ""}}}, "it leaves /workspace"},
	{"session", map[string]any{"action": "close", "session": "nobody"}, `no session "nobody"`},
	{"task", map[string]any{"action": "wait", "task": "none"}, "no task"},
	{"file_read", map[string]any{"session": "nobody", "path": "x"}, `no session "nobody"`},
}

// soakBad are calls of code that attacks; each is told as what it was.
var soakBad = []soakAct{
	{"fork bomb", 4, false, func(c *soakCall) {
		r := c.python("import os\nwhile True:\n  try: os.fork()\n  except OSError: os._exit(5)", "max_processes", 10+c.r.IntN(20))
		if c.want(r, "error", "exit 5") && c.v.countsProcesses() && r.Meta.Result.Exit.Reason != "pids" {
			c.fail("%v", r)
		}
	}},
	{"endless fork bomb", 3, false, func(c *soakCall) {
		most := 10 + c.r.IntN(20)
		r := c.python("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", "max_processes", most, "timeout_s", 1, "cpus", 0.5)
		if !c.want(r, "timeout", "limit timeout_s = 1 seconds") || !c.v.countsProcesses() {
			return
		}
		for _, l := range r.Meta.Result.Limits { // how far it comes is the machine's
			if peak, _ := l["peak"].(float64); l["name"] == "max_processes" && peak > float64(most+1) { // psb's own is among them
				c.fail("peak %v of %d: %v", peak, most, r)
			}
		}
	}},
	{"threads", 2, false, func(c *soakCall) {
		c.want(c.python("import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", "max_processes", 20), "error", "can't start new thread")
	}},
	{"memory bomb", 4, false, func(c *soakCall) {
		r := c.python("a = []\nwhile True: a.append(bytearray(8 << 20))", "memory_mb", 60+c.r.IntN(100))
		if c.want(r, "killed", "limit memory_mb") && r.Meta.Result.Exit.Reason != "memory" {
			c.fail("%v", r)
		}
	}},
	{"memory bomb in files", 2, false, func(c *soakCall) {
		r := c.python("f = open('/tmp/x', 'wb')\ntry:\n  while True: f.write(bytes(1 << 20)); f.flush()\nexcept OSError as e: raise SystemExit(e.errno)", "disk_mb", 8)
		c.want(r, "error", "exit 28")
	}},
	{"flood", 3, false, func(c *soakCall) {
		code := "import os\nb = b'x' * 4095 + b'\\n'\nwhile True: os.write(%d, b)"
		r := c.python(fmt.Sprintf(code, 1+c.r.IntN(2)))
		if c.want(r, "killed", "limit output", "bytes left out here") && len(r.text()) > 200<<10 {
			c.fail("%d bytes of text", len(r.text()))
		}
	}},
	{"full disk", 2, false, func(c *soakCall) {
		c.want(c.python("f = open('big', 'wb')\ntry:\n  while True: f.write(bytes(1 << 16)); f.flush()\nexcept OSError as e: os = __import__('os'); os._exit(e.errno)", "disk_mb", 4), "error", "exit 28", "limit disk_mb = 4 MiB")
	}},
	{"timeout", 6, false, func(c *soakCall) {
		code := []string{"while True: pass", "import time; time.sleep(999)", "import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\nwhile True:\n  try: signal.pause()\n  except BaseException: pass",
			fmt.Sprintf("import subprocess, time\nsubprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)\ntime.sleep(999)", c.word)}[c.r.IntN(4)]
		c.want(c.python("print('so far')\n"+code, "timeout_s", 0.4, "cpus", 0.3), "timeout", "so far\n", "limit timeout_s = 0.4 seconds")
		c.nothingRuns()
	}},
	{"crash", 4, false, func(c *soakCall) {
		x := [][2]string{{"import os; os.kill(os.getpid(), 9)", "SIGKILL"}, {"import ctypes; ctypes.string_at(0)", "SIGSEGV"}, {"import os; os.abort()", "SIGABRT"}}[c.r.IntN(3)]
		if r := c.python(x[0]); c.want(r, "killed", "ended by "+x[1]) && r.Meta.Result.Exit.Signal != x[1] {
			c.fail("%v", r)
		}
	}},
	{"lies", 3, false, func(c *soakCall) {
		c.want(c.python("import os\nopen('/run/call/report.json','w').write('{\"status\":\"ok\",\"Started\":true}')\nprint('[psb] ok: exit 0')\nos._exit(7)"), "error", " |[psb] ok", "[psb] error: exit 7")
	}},
	{"gone", 5, false, func(c *soakCall) { // the tree of a client that gives up goes with it
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		over := make(chan told, 1)
		go func() {
			over <- c.ask(ctx, "run_python", map[string]any{"code": fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)", c.word)})
		}()
		if c.until("it runs", func() bool { return c.runs() || len(over) > 0 }) {
			cancel()
			if r := <-over; !r.none && r.Meta.Result.Status != "cancelled" {
				c.fail("%v", r)
			}
			c.nothingRuns()
		}
	}},
}

// countsProcesses: a control group holds the number of processes, and psb hears of those it refused.
func (v *soakServer) countsProcesses() bool { return v.scene.who.uid == 0 && holds("pids") }

// runs tells whether a process has the act's word.
func (c *soakCall) runs() bool {
	return slices.ContainsFunc(c.v.scene.outer.pids(), func(pid int) bool { return strings.Contains(commandLine(pid), c.word) })
}

// nothingRuns waits until no process has the act's word.
func (c *soakCall) nothingRuns() {
	c.until("the tree is gone", func() bool { return !c.runs() })
}

// until is like until of tests, from a goroutine that is not the test's.
func (c *soakCall) until(what string, yes func() bool) bool {
	deadline := time.Now().Add(time.Minute)
	for !yes() {
		if time.Now().After(deadline) {
			c.fail("after a minute still not: %s", what)
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}
