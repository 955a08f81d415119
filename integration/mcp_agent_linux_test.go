package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// agent is a client of psb mcp on its standard streams. It speaks the revision without handshake, by hand: every line that the server writes must be
// an answer to one of its requests, or a notification.
type agent struct {
	t       testing.TB
	cmd     *exec.Cmd
	in      io.WriteCloser
	errs    *lockedText
	ended   chan struct{}
	mu      sync.Mutex
	next    int
	wait    map[int]chan answered
	beats   int
	elicits bool // it says that it can ask somebody
	listen  bool // it was agreed that the client listens
	news    int  // notifications that the list of resources is another one
	told    []progressTold
	strays  []string
}

// progressTold is one notification of progress.
type progressTold struct {
	ProgressToken any
	Progress      float64
	Meta          struct {
		Output []struct {
			Stream string
			Base64 []byte
			Lost   int64 `json:"lost_bytes"`
		} `json:"psb/output"`
	} `json:"_meta"`
}

type answered struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// lockedText collects what several goroutines write.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// agent starts psb mcp. At the end of the test its input is closed, and it must end by itself and leave nothing.
func (s scene) agent(t testing.TB, args ...string) *agent {
	t.Helper()
	return s.agentOf(t, call{argv: append([]string{psb(t), "mcp"}, args...)})
}

func (s scene) agentOf(t testing.TB, c call) *agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), s.patience(3*time.Minute))
	a := &agent{t: t, ended: make(chan struct{}), wait: map[int]chan answered{}, errs: &lockedText{}}
	a.cmd = s.command(ctx, c)
	a.cmd.Stderr = a.errs
	in, err := a.cmd.StdinPipe()
	must(t, err)
	out, err := a.cmd.StdoutPipe()
	must(t, err)
	must(t, a.cmd.Start())
	a.in = in
	go a.read(out)
	t.Cleanup(func() {
		a.in.Close()
		select {
		case <-a.ended:
		case <-time.After(time.Minute):
			t.Error("psb mcp goes on after its input was closed")
		}
		cancel()
		_ = a.cmd.Wait()
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.strays) > 0 {
			t.Errorf("lines that are no answer: %q", a.strays)
		}
	})
	return a
}

func (a *agent) read(out io.Reader) {
	defer close(a.ended)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     *int
			Method string
			Params progressTold
			answered
		}
		a.mu.Lock()
		switch err := json.Unmarshal(line, &m); {
		case err == nil && m.ID != nil && a.wait[*m.ID] != nil:
			a.wait[*m.ID] <- m.answered
			delete(a.wait, *m.ID)
		case err == nil && m.Method == "notifications/progress":
			a.beats++
			a.told = append(a.told, m.Params)
		case err == nil && m.Method == "notifications/resources/list_changed":
			a.news++
		case err == nil && m.Method == "notifications/subscriptions/acknowledged":
			a.listen = true
		default:
			a.strays = append(a.strays, string(line))
		}
		a.mu.Unlock()
	}
}

// begin sends a request; the answer comes by the channel.
func (a *agent) begin(method string, params map[string]any) (int, <-chan answered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	meta, _ := params["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
	can := map[string]any{}
	if a.elicits {
		can["elicitation"] = map[string]any{}
	}
	meta["io.modelcontextprotocol/clientCapabilities"] = can
	params["_meta"] = meta
	ch := make(chan answered, 1)
	a.wait[a.next] = ch
	a.write(map[string]any{"jsonrpc": "2.0", "id": a.next, "method": method, "params": params})
	return a.next, ch
}

func (a *agent) write(message any) {
	b, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	_, _ = a.in.Write(append(b, '\n'))
}

func (a *agent) ask(method string, params map[string]any) answered {
	a.t.Helper()
	_, ch := a.begin(method, params)
	return a.take(ch)
}

func (a *agent) take(ch <-chan answered) answered {
	a.t.Helper()
	select {
	case got := <-ch:
		return got
	case <-time.After(time.Minute):
		a.t.Fatalf("no answer within a minute; stderr:\n%s", a.errs)
	case <-a.ended:
		select {
		case got := <-ch:
			return got
		default:
		}
		a.t.Fatalf("psb mcp ended without an answer; stderr:\n%s", a.errs)
	}
	return answered{}
}

// ran is a result of a tool.
type ran struct {
	Content []struct {
		Type, Text, URI, Name, MimeType string
		Data                            []byte
	}
	IsError bool
	Meta    struct {
		Result struct {
			Status string
			Exit   struct {
				Code           *int
				Signal, Reason string
			}
			Limits  []map[string]any
			Denials []map[string]any
			Cleanup struct{ State string }
			Files   []struct {
				Path, SHA256, MIME, Change, Omitted string
				Bytes                               int64
			}
			Delivery []map[string]any
			Task     string
			Receipt  map[string]any
		} `json:"psb/result"`
	} `json:"_meta"`
}

// text is everything a model reads of it.
func (r ran) text() string {
	var all []string
	for _, c := range r.Content {
		if c.Type == "text" {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

// part is the block that begins with a name, without it.
func (r ran) part(name string) string {
	for _, c := range r.Content {
		if rest, ok := strings.CutPrefix(c.Text, name+":\n"); ok {
			return rest
		}
	}
	return ""
}

func (a *agent) tool(name string, args map[string]any) ran {
	a.t.Helper()
	return a.result(a.ask("tools/call", map[string]any{"name": name, "arguments": args}))
}

func (a *agent) result(got answered) ran {
	a.t.Helper()
	if got.Error != nil {
		a.t.Fatalf("error %d: %s", got.Error.Code, got.Error.Message)
	}
	var r ran
	must(a.t, json.Unmarshal(got.Result, &r))
	return r
}

// python runs code; more are arguments in pairs.
func (a *agent) python(code string, more ...any) ran {
	a.t.Helper()
	args := map[string]any{"code": code}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return a.tool("run_python", args)
}
