package integration

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// census is what there is of a server that rests.
type census struct {
	processes   map[string]int // by command line
	groups      int
	descriptors map[string]int // of the server, by kind
	mounts      string         // that the server sees
	names       []string       // of files in its home and temporary folder
	waiting     int            // boxes
	dead        int            // processes that the server has not heard of yet
}

var inode = regexp.MustCompile(`[0-9]+`)

func (v *soakServer) census(k *soak) census {
	c := census{processes: map[string]int{}, descriptors: map[string]int{}}
	mine := v.scene.outer.pids()
	for _, p := range processes(k.t) {
		if p.parent == v.pid && p.state == 'Z' {
			c.dead++
		}
		if slices.Contains(mine, p.pid) && p.state != 'Z' {
			c.processes[p.cmdline]++
			if strings.Contains(p.cmdline, "/run/call/run.py") {
				c.waiting++
			}
		}
	}
	c.groups = len(v.scene.outer.groups())
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", v.pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		c.descriptors[inode.ReplaceAllString(to, "N")]++
	}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", v.pid))
	c.mounts = string(b)
	c.names = v.scene.lasting(k.t)
	return c
}

// differs says what there is that was not there.
func (c census) differs(from census) (list []string) {
	if !maps.Equal(c.processes, from.processes) {
		list = append(list, fmt.Sprintf("processes %v, at first %v", c.processes, from.processes))
	}
	if c.groups != from.groups {
		list = append(list, fmt.Sprintf("%d control groups, at first %d", c.groups, from.groups))
	}
	if !maps.Equal(c.descriptors, from.descriptors) {
		list = append(list, fmt.Sprintf("descriptors %v, at first %v", c.descriptors, from.descriptors))
	}
	if c.mounts != from.mounts {
		list = append(list, "other mounts:\n"+c.mounts)
	}
	if !slices.Equal(c.names, from.names) {
		list = append(list, fmt.Sprintf("files %v, at first %v", c.names, from.names))
	}
	if c.dead > 0 {
		list = append(list, fmt.Sprintf("%d children that nobody waited for", c.dead))
	}
	return list
}

// begin waits until two boxes wait, and notes what there is then.
func (v *soakServer) begin(k *soak) {
	until(k.t, "two boxes wait", func() bool {
		v.first = v.census(k)
		return v.first.waiting == 2 && v.first.groups == 2*min(v.first.groups, 1) && len(v.first.differs(v.census(k))) == 0
	})
	k.t.Logf("%s: at rest %v, %d groups, descriptors %v", v.name, v.first.processes, v.first.groups, v.first.descriptors)
}

// settled waits until there is nothing of a server but what there was at first.
func (v *soakServer) settled(k *soak) {
	var list []string
	deadline := time.Now().Add(time.Minute)
	for {
		http.DefaultClient.CloseIdleConnections()
		if list = v.census(k).differs(v.first); v.agent != nil {
			v.agent.mu.Lock()
			v.agent.strays = v.refusals(v.agent.strays)
			if v.noise != 0 || len(v.agent.strays) > 0 {
				list = append(list, fmt.Sprintf("%d lines of noise have no answer; lines that answer nothing: %.500q", v.noise, v.agent.strays))
			}
			v.agent.mu.Unlock()
		}
		if len(list) == 0 {
			break
		}
		if time.Now().After(deadline) {
			k.failed.Add(1)
			k.t.Errorf("PSB_SEED=%d, %s: after a minute of rest\n%s", k.seed, v.name, strings.Join(list, "\n"))
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if list := v.scene.outer.reached(); len(list) > 0 {
		k.t.Errorf("%s: held by the outer group alone: %v", v.name, list)
	}
	v.rss = append(v.rss, rss(v.pid))
}

// What a server may have more of at the end than after the first tenth, in KiB. On purpose it keeps what did not fit into results, 32 MiB for a client, and
// Go lets garbage come to as much as what lives; and it holds the streams of a flood or two, which nobody has collected yet.
const (
	soakKept  = 2 * 32 << 10
	soakLoose = 16 << 10
)

// judgeMemory compares the least of the rests in the first tenth with the least of the last quarter: between two collections there is more.
func (v *soakServer) judgeMemory(k *soak) {
	k.t.Logf("%s: KiB at each rest: %v", v.name, v.rss)
	first, last := slices.Min(v.rss[:max(len(v.rss)/10, 1)]), slices.Min(v.rss[len(v.rss)-max(len(v.rss)/4, 1):])
	if last > first+soakKept+soakLoose {
		k.t.Errorf("PSB_SEED=%d, %s: from %d KiB to %d", k.seed, v.name, first, last)
	}
}

// mostOfOnePlace is how many goroutines that one statement began may be there at rest: two boxes wait, with two streams each, and connections rest.
const mostOfOnePlace = 8

var begunAt = regexp.MustCompile(`(?m)^created by (.*)\n\t(\S+)`)

// judgeGoroutines makes the server tell all of its goroutines, which ends it.
func (v *soakServer) judgeGoroutines(k *soak) {
	errs := func() string {
		if v.agent != nil {
			return v.agent.errs.String()
		}
		v.web.quit = true
		return v.web.errs.String()
	}
	must(k.t, syscall.Kill(v.pid, syscall.SIGQUIT))
	until(k.t, "its goroutines are told", func() bool { return strings.Contains(errs(), "\nrip ") || dead(v.pid) })
	at := map[string]int{}
	for _, m := range begunAt.FindAllStringSubmatch(errs(), -1) {
		at[m[2]]++
	}
	k.t.Logf("%s: goroutines by where they were begun: %v", v.name, at)
	if len(at) == 0 {
		k.t.Errorf("%s: no goroutines were told: %s", v.name, errs())
	}
	for place, n := range at {
		if n > mostOfOnePlace {
			k.t.Errorf("PSB_SEED=%d, %s: %d goroutines of %s", k.seed, v.name, n, place)
		}
	}
}
