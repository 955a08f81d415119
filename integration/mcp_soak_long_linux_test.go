package integration

import (
	"fmt"
	"strings"
)

// soakLong are acts of several calls: sessions, their files, and tasks.
var soakLong = []soakAct{
	{"session", 14, false, func(c *soakCall) {
		defer c.closed()
		n, b := c.r.IntN(1e6), c.r.IntN(1e6)
		if !c.inside(fmt.Sprintf("n = %d; open('kept', 'w').write('x')", n), "ok", "") {
			return
		}
		c.says(c.call("run_shell", map[string]any{"session": c.own, "command": "cat kept; echo two >>kept"}), false, "stdout:\nx")
		ends := soakEnds
		if !c.v.countsMemory() {
			ends = ends[1:]
		}
		switch c.r.IntN(4) {
		case 0: // kept through an interrupt
			c.interrupted()
			c.inside(fmt.Sprint("n + ", b), "ok", fmt.Sprint(n+b))
		case 1: // lost, and told so
			x := ends[c.r.IntN(len(ends))]
			c.want(c.python(x.code, "session", c.own), x.status, "its state was lost", x.why)
			c.inside("'n' in globals()", "ok", "False")
		case 2: // reset
			c.says(c.tool("session", "action", "reset"), false, "its state is gone")
			c.inside("'n' in globals()", "ok", "False")
		default:
			c.inside(fmt.Sprint("n + ", b), "ok", fmt.Sprint(n+b))
		}
	}},
	{"files of a session", 10, false, func(c *soakCall) {
		defer c.closed()
		text := fmt.Sprintf("one %d\ntwo\n", c.r.IntN(1e6))
		if !c.inside("1", "ok", "1") {
			return
		}
		c.says(c.tool("file_write", "path", "a/b.txt", "content", text), false, fmt.Sprintf(`[psb] wrote "a/b.txt", %d bytes`, len(text)))
		c.inside("open('a/b.txt').read() == "+fmt.Sprintf("%q", text), "ok", "True")
		c.says(c.tool("file_edit", "path", "a/b.txt", "old", "two", "new", "three"), false, "replaced 1")
		c.says(c.tool("file_read", "path", "a/b.txt"), false, strings.Replace(text, "two", "three", 1))
		c.says(c.tool("file_find", "glob", "*.txt"), false, `"a/b.txt"`)
		c.says(c.tool("file_manage", "action", "move", "path", "a/b.txt", "to", "c"), false, "[psb] move")
		c.says(c.tool("file_read", "path", "a/b.txt"), true, "no such file")
		c.inside("import os; os.symlink('/etc/passwd', 'link'); sorted(os.listdir())", "ok", "['a', 'c', 'link']")
		c.says(c.tool("file_read", "path", "link"), true, "links are not followed")
	}},
	{"task", 6, false, func(c *soakCall) {
		n := c.r.IntN(1e9)
		id := c.begun("import sys\nfor line in sys.stdin: print('got', line, end='')\n'over'")
		if id == "" {
			return
		}
		c.says(c.call("task", map[string]any{"action": "send", "task": id, "text": fmt.Sprintln(n), "close": true}), false, "sent")
		c.want(c.call("task", map[string]any{"action": "wait", "task": id, "timeout_s": 50}), "ok", "'over'", fmt.Sprintf("got %d\n", n))
	}},
	{"cancelled task", 4, false, func(c *soakCall) { // its standard input is never closed
		id := c.begun(fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", c.word))
		if id == "" {
			return
		}
		if c.r.IntN(2) == 0 {
			c.until("it runs", func() bool { return c.runs() })
		}
		c.says(c.call("task", map[string]any{"action": "cancel", "task": id}), false, "cancelled")
		c.nothingRuns()
	}},
	{"task that ends by itself", 3, false, func(c *soakCall) { // so is the standard input of this one
		id := c.begun(fmt.Sprint("print(", c.n, ")"))
		if id != "" {
			c.want(c.call("task", map[string]any{"action": "wait", "task": id, "timeout_s": 50}), "ok", fmt.Sprintf("stdout:\n%d\n", c.n))
		}
	}},
}

// soakEnds are calls that lose their session; the first only where a control group holds memory.
var soakEnds = []struct{ code, status, why string }{
	{"a = []\nwhile True: a.append(bytearray(8 << 20))", "killed", "the memory limit ended it"},
	{"import os; os._exit(5)", "error", "its interpreter ended with status 5"},
	{"import ctypes; ctypes.string_at(0)", "killed", "ended by SIGSEGV"},
	{"f = open('/run/call/words', 'w')\nwhile True: f.write('over 1 0\\n' * 1000)", "killed", "wrote nonsense to psb's pipe"},
}

func (v *soakServer) countsMemory() bool { return v.scene.who.uid == 0 && holds("memory") }

// inside runs code in the act's own session; the value is the first text, unless it is "".
func (c *soakCall) inside(code, status, value string) bool {
	r := c.python(code, "session", c.own, "memory_mb", 200)
	good := c.want(r, status)
	if good && value != "" && r.value() != value {
		c.fail("%s: %v, want %s", code, r, value)
	}
	return good
}

// tool calls one on the act's own session.
func (c *soakCall) tool(name string, more ...any) told {
	return c.call(name, pairs(map[string]any{"session": c.own}, more))
}

// says fails unless a tool answers with all of these, as an error or not.
func (c *soakCall) says(r told, bad bool, texts ...string) {
	good := !r.none && r.wrong == "" && r.IsError == bad
	for _, text := range texts {
		good = good && strings.Contains(r.text(), text)
	}
	if !good {
		c.fail("want %q, an error: %v: %v", texts, bad, r)
	}
}

func (c *soakCall) closed() {
	c.says(c.tool("session", "action", "close"), false, "is closed")
	c.nothingRuns()
}

// interrupted runs something endless in the session and interrupts it once it runs.
func (c *soakCall) interrupted() {
	over := make(chan told, 1)
	go func() {
		over <- c.python(fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", c.word), "session", c.own)
	}()
	if c.until("it runs", func() bool { return c.runs() || len(over) > 0 }) {
		c.says(c.tool("session", "action", "interrupt"), false, "the state is kept")
	}
	c.want(<-over, "cancelled", "interrupted")
}

// begun gives the id of a task.
func (c *soakCall) begun(code string) string {
	r := c.python(code, "background", true)
	id := r.Meta.Result.Task
	if id == "" {
		c.fail("no task: %v", r)
	}
	return id
}
