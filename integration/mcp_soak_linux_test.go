package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A soak: many calls, good and bad ones beside each other, of every tool, on both transports, while processes of psb and of the code are killed. Which
// acts there are and with which figures follows from the seed; how they meet is the machine's.

const (
	soakCalls   = 150 // PSB_SOAK gives another figure, or a time such as 8h
	soakRound   = 25  // acts at least, of about two calls each, until the servers rest
	soakRests   = 80  // about so often, where there are that many calls
	soakWorkers = 6
	soakWait    = 2 * time.Minute // for an answer; only a fault waits it out
)

// TestMCPSoak: every call is answered or cancelled, and answered truly, whatever goes on beside it; nothing is left of what is over, and the server
// neither grows nor keeps goroutines.
func TestMCPSoak(t *testing.T) {
	besideOthers(t)
	n, until := soakCalls, time.Now().Add(365*24*time.Hour)
	if given, err := strconv.Atoi(os.Getenv("PSB_SOAK")); err == nil {
		n = given
	} else if given, err := time.ParseDuration(os.Getenv("PSB_SOAK")); err == nil {
		n, until = 1<<30, time.Now().Add(given)
	}
	seed := uint64(1) // the short form's acts are always the same
	if os.Getenv("PSB_SOAK") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	if given, err := strconv.ParseUint(os.Getenv("PSB_SEED"), 10, 64); err == nil {
		seed = given
	}
	fmt.Printf("PSB_SOAK=%d PSB_SEED=%d gives the same acts\n", n, seed) // at once: a soak may be ended from outside
	who := people()
	k := &soak{t: t, seed: seed, tally: map[string]int{}}
	k.servers = []*soakServer{k.stdio(who[0]), k.http(who[len(who)-1])}
	for _, v := range k.servers {
		v.begin(k)
	}
	round := soakRound
	if n < 1<<30 {
		round = max(n/2/soakRests, soakRound)
	}
	for from := 0; k.made() < n && k.failed.Load() < 20 && time.Now().Before(until); from += round {
		k.round(from, from+round)
		for _, v := range k.servers {
			v.settled(k)
		}
	}
	k.mu.Lock()
	t.Logf("%d calls: %v", k.calls, k.tally)
	k.mu.Unlock()
	for _, v := range k.servers {
		v.judgeMemory(k)
		v.judgeGoroutines(k)
	}
}

type soak struct {
	t       *testing.T
	seed    uint64
	servers []*soakServer
	failed  atomic.Int64

	mu    sync.Mutex
	calls int
	tally map[string]int // of acts and ends
}

// soakServer is one psb mcp under soak.
type soakServer struct {
	name  string
	scene scene
	agent *agent      // on stdio
	web   *httpServer // on HTTP
	pid   int
	alone sync.RWMutex // held alone by acts that kill what waits for anybody's call
	first census
	rss   []int64 // KiB, at each rest
	noise int     // lines that were no message, and have to be answered
}

// soakOptions bound psb so that none of this is busy, and let memory be seen: nothing is kept for long.
var soakOptions = []string{"--slots", "8", "--queue", "100", "--sessions", "40", "--sessions-per-client", "40", "--max", "timeout_s=120"}

func (k *soak) server(name string, who person) *soakServer {
	s := newScene(k.t, who)
	s.outer, s.serving = newOuterGroup(k.t, who), 12*time.Hour
	s.put(k.t, "home/tmp/kept", "")
	s.give(k.t)
	return &soakServer{name: name, scene: s}
}

func (k *soak) stdio(who person) *soakServer {
	v := k.server("stdio as "+who.name, who)
	v.agent = v.scene.agent(k.t, soakOptions...)
	v.pid = v.agent.cmd.Process.Pid
	k.t.Cleanup(func() { // before the agent's own, which wants none
		v.agent.mu.Lock()
		defer v.agent.mu.Unlock()
		v.agent.strays = v.refusals(v.agent.strays)
	})
	return v
}

func (k *soak) http(who person) *soakServer {
	v := k.server("HTTP as "+who.name, who)
	v.web = v.scene.mcpHTTP(k.t, soakOptions...)
	v.pid = v.web.cmd.Process.Pid
	return v
}

// round runs some acts, several at once, and waits for all of them.
func (k *soak) round(from, to int) {
	next := make(chan int)
	var all sync.WaitGroup
	for w := range soakWorkers {
		all.Go(func() {
			for i := range next {
				k.act(w, i)
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	all.Wait()
}

// soakCall is one act.
type soakCall struct {
	*soak
	v    *soakServer
	r    *rand.Rand
	n    int
	name string
	word string // in the arguments of its processes
	own  string // a session that no other act uses now
}

func (k *soak) act(worker, i int) {
	r := rand.New(rand.NewPCG(k.seed, uint64(i)))
	c := &soakCall{soak: k, r: r, n: i, v: k.servers[r.IntN(len(k.servers))], own: fmt.Sprintf("w%d", worker)}
	c.word = fmt.Sprintf("%s-%d", c.v.scene.word, i)
	sum := 0
	for _, a := range soakActs {
		sum += a.weight
	}
	at := r.IntN(sum)
	for _, a := range soakActs {
		if at -= a.weight; at < 0 {
			c.name = a.name
			k.count(a.name)
			if a.alone {
				c.v.alone.Lock()
				defer c.v.alone.Unlock()
			} else {
				c.v.alone.RLock()
				defer c.v.alone.RUnlock()
			}
			a.do(c)
			return
		}
	}
}

// made is how many calls were made.
func (k *soak) made() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.calls
}

func (k *soak) count(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tally[what]++
}

func (c *soakCall) fail(format string, args ...any) {
	c.failed.Add(1)
	c.t.Errorf("PSB_SEED=%d, act %d, %s, %s: %s", c.seed, c.n, c.name, c.v.name, fmt.Sprintf(format, args...))
}

// told is what came of a call.
type told struct {
	ran
	none  bool   // nothing came: it was cancelled
	wrong string // an error of the protocol, or a status of HTTP
}

func (r told) String() string {
	if r.none || r.wrong != "" {
		return fmt.Sprintf("no answer %v, error %q", r.none, r.wrong)
	}
	m := r.Meta.Result
	return fmt.Sprintf("status %s, exit %+v, limits %v, cleanup %v\n%s", m.Status, m.Exit, m.Limits, m.Cleanup, r.text())
}

// ask calls a tool, and waits for the answer or for the end of ctx.
func (c *soakCall) ask(ctx context.Context, tool string, args map[string]any) told {
	c.mu.Lock()
	c.calls++
	c.mu.Unlock()
	whole, cancel := context.WithTimeout(context.Background(), soakWait)
	defer cancel()
	var got told
	if c.v.agent != nil {
		got = c.v.agent.answerTo(ctx, whole, tool, args)
	} else {
		both, stop := context.WithCancel(whole)
		defer context.AfterFunc(ctx, stop)()
		defer stop()
		var more []string
		if name, ok := args["session"].(string); ok {
			more = []string{"Mcp-Param-Session", name}
		}
		status, header, body := c.v.web.post(c.t, both, tool, args, more...)
		got = toldByHTTP(status, header.Get("Content-Type"), body)
	}
	if whole.Err() != nil {
		c.fail("%s %v: no answer within %v", tool, args, soakWait)
	} else if got.none && ctx.Err() == nil {
		c.fail("%s %v: nobody cancelled it, and no answer came: %v", tool, args, got)
	}
	return got
}

// answerTo calls a tool on stdio. What is cancelled has no answer, unless that was on its way already.
func (a *agent) answerTo(ctx, whole context.Context, tool string, args map[string]any) told {
	id, ch := a.begin("tools/call", map[string]any{"name": tool, "arguments": args})
	cancelled := ctx.Done()
	var heard <-chan answered // of a question after the cancellation, which is taken in by then
	for {
		select {
		case got := <-ch:
			if got.Error != nil {
				return told{none: ctx.Err() != nil, wrong: got.Error.Message}
			}
			return toldIn(got.Result)
		case <-cancelled:
			cancelled = nil
			a.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
			_, heard = a.begin("tools/list", map[string]any{})
		case <-heard:
			return told{none: true}
		case <-a.ended:
			return told{wrong: "the server ended: " + a.errs.String()}
		case <-whole.Done():
			return told{none: true}
		}
	}
}

func toldIn(result []byte) (r told) {
	if err := json.Unmarshal(result, &r.ran); err != nil {
		r.wrong = fmt.Sprintf("%v: %.300q", err, result)
	}
	return r
}

func toldByHTTP(status int, kind, body string) told {
	if status == 0 {
		return told{none: true, wrong: body}
	}
	text := body
	if strings.HasPrefix(kind, "text/event-stream") {
		for line := range strings.Lines(body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				text = data
			}
		}
	}
	var got answered
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return told{none: true, wrong: fmt.Sprintf("%d: %v: %.300q", status, err, body)} // cut off: the client went
	}
	if got.Error != nil {
		return told{wrong: fmt.Sprintf("%d: %s", status, got.Error.Message)}
	}
	return toldIn(got.Result)
}

func (c *soakCall) call(tool string, args map[string]any) told {
	return c.ask(context.Background(), tool, args)
}

// python runs code; more are arguments in pairs.
func (c *soakCall) python(code string, more ...any) told {
	return c.call("run_python", pairs(map[string]any{"code": code}, more))
}

func pairs(args map[string]any, more []any) map[string]any {
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return args
}

// want fails unless a run ended so, and its text holds all of these.
func (c *soakCall) want(r told, status string, texts ...string) bool {
	good := !r.none && r.wrong == "" && r.Meta.Result.Status == status && r.IsError == (status != "ok")
	if state := r.Meta.Result.Cleanup.State; good && state != "REMOVED" && state != "KEPT_SESSION" && state != "NOT_ATTEMPTED" {
		good = false
	}
	for _, text := range texts {
		good = good && strings.Contains(r.text(), text)
	}
	if !good {
		c.fail("want %s %q: %v", status, texts, r)
	}
	return good
}

// value is the first text of a result: the last expression's value.
func (r told) value() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}
