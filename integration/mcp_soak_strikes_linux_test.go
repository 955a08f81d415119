package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// soakStrikes are acts in which something of psb's is killed.
var soakStrikes = []soakAct{
	{"killed box", 8, false, func(c *soakCall) { c.killed([]string{"keeper", "reaper", "python"}[c.r.IntN(3)]) }},
	{"killed psb", 2, true, func(c *soakCall) { c.killed("psb") }}, // all boxes of that kind are lost
	{"killed while it waits", 2, true, func(c *soakCall) { // nobody's call fails for it
		for _, p := range processes(c.t) {
			if p.parent == c.v.pid || strings.Contains(p.cmdline, "/run/call/run.py") && c.r.IntN(2) == 0 {
				if c.r.IntN(2) == 0 && slices.Contains(c.v.scene.outer.pids(), p.pid) {
					c.v.kill(p.pid)
				}
			}
		}
		var all sync.WaitGroup
		for range 3 {
			a := c.r.IntN(1e6)
			all.Go(func() {
				if r := c.python(fmt.Sprintf("%d + 1", a)); c.want(r, "ok") && r.value() != fmt.Sprint(a+1) {
					c.fail("%d + 1: %v", a, r)
				}
			})
		}
		all.Wait()
	}},
}

// killed kills one process of a box whose code goes on for ever.
func (c *soakCall) killed(victim string) {
	over := make(chan told, 1)
	session := c.r.IntN(3) == 0
	go func() {
		args := map[string]any{"code": fmt.Sprintf("import subprocess\nwhile True: subprocess.run(['sh', '-c', 'sleep 600; true', %q])", c.word)}
		if session {
			args["session"] = c.own
		}
		over <- c.call("run_python", args)
	}()
	var box map[string]int
	if !c.until("it runs", func() bool { box = c.v.boxOf(c); return box != nil || len(over) > 0 }) {
		return
	}
	if box == nil || !c.v.kill(box[victim]) {
		c.fail("%s of %v is not there to be killed: %v", victim, box, <-over)
		return
	}
	r := <-over
	what := fmt.Sprintf("killed %s: %s %s", victim, r.Meta.Result.Status, r.Meta.Result.Exit.Signal)
	c.count(what)
	if !slices.Contains(soakKilled[victim], r.Meta.Result.Status) || !r.IsError || r.none || r.wrong != "" {
		c.fail("%s: %v", what, r)
	}
	c.nothingRuns()
	if session {
		c.inside("1", "ok", "1")
		c.closed()
	}
}

// soakKilled are the ends that may be told of a box of which one process was killed.
var soakKilled = map[string][]string{"psb": {"internal"}, "keeper": {"killed", "internal"}, "reaper": {"killed", "internal"}, "python": {"killed"}}

// boxOf finds the box in which the act's word runs; nil where there is none.
func (v *soakServer) boxOf(c *soakCall) map[string]int {
	if !c.runs() {
		return nil
	}
	all := processes(c.t)
	byPid := map[int]process{}
	for _, p := range all {
		byPid[p.pid] = p
	}
	for _, p := range all {
		if p.state == 'Z' || !strings.Contains(p.cmdline, c.word) {
			continue
		}
		var up []int // to the server's child
		for ; p.pid > 1 && p.pid != v.pid; p = byPid[p.parent] {
			up = append(up, p.pid)
		}
		if n := len(up); n >= 4 && p.pid == v.pid {
			return map[string]int{"python": up[n-4], "reaper": up[n-3], "keeper": up[n-2], "psb": up[n-1]}
		}
	}
	return nil
}

// kill kills a process of this server's group, and nobody who has its number by now.
func (v *soakServer) kill(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil || pid == 0 {
		return false
	}
	defer unix.Close(fd)
	return slices.Contains(v.scene.outer.pids(), pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// soakNoise are lines, and bodies, that are no message.
var soakNoise = []string{"{", "hello", "[]", "\xff\xfe", "[[[[", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":5,"id":"x"}`,
	strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), "null", `"text"`, "[null]", `{} {}`, "\x00", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"\xc3\x28"}`}

// malformed sends noise. It is answered, and nothing else comes of it.
func (c *soakCall) malformed() {
	text := soakNoise[c.r.IntN(len(soakNoise))]
	if c.v.agent != nil {
		c.v.agent.mu.Lock()
		c.v.noise++
		_, _ = c.v.agent.in.Write([]byte(text + "\n"))
		c.v.agent.mu.Unlock()
		return // counted in settled
	}
	r, err := http.NewRequest(http.MethodPost, c.v.web.url, bytes.NewReader([]byte(text)))
	must(c.t, err)
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28"} {
		r.Header.Set(k, v)
	}
	if status, _, body := fetched(c.t, r); status != 400 {
		c.fail("%.40q: %d %.300q", text, status, body)
	}
}

// refusals takes the answers to noise out of lines that are no answers to requests.
func (v *soakServer) refusals(strays []string) (others []string) {
	for _, line := range strays {
		if strings.Contains(line, `"id":null`) && strings.Contains(line, `"error":{"code":-32`) || strings.Contains(line, `"id":"x"`) {
			v.noise--
			continue
		}
		others = append(others, line)
	}
	return others
}

// rss is what a process holds of its own, in KiB: not what it shares with the file it was started from.
func rss(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[0] == "RssAnon:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}
