package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// testServer is a server of a fake Runner.
func testServer(t testing.TB, o Options, r Runner) *Server {
	t.Helper()
	o.Version = "test"
	s, err := New(o, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// overPipes serves one client as stdio does, until the end of the test.
func overPipes(t testing.TB, s *Server) mcp.Transport {
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), in, out) }()
	t.Cleanup(func() {
		theirs.Close()
		if err := <-done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	return &mcp.IOTransport{Reader: ours, Writer: theirs}
}

// connect gives a client over an in-memory transport (newest revision), or, by name, another way.
func connect(t testing.TB, s *Server, how string) *mcp.ClientSession {
	t.Helper()
	o := &mcp.ClientOptions{}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	var transport mcp.Transport
	switch how {
	case "stdio":
		transport = overPipes(t, s)
	case "http":
		h := httptest.NewServer(s.Handler(HTTPOptions{Loopback: true}))
		t.Cleanup(h.Close)
		transport = &mcp.StreamableClientTransport{Endpoint: h.URL + Endpoint}
	}
	session, err := c.Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if _, err := session.ListTools(context.Background(), nil); err != nil { // clients know by it which arguments are headers, too
		t.Fatal(err)
	}
	return session
}

func callTool(t testing.TB, c *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func textOf(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

// TestToolsByRunner: what the Runner cannot do is not in the list, nor in the instructions; the operator narrows it further, and a wrong name is an
// error.
func TestToolsByRunner(t *testing.T) {
	names := func(s *Server) (list []string) {
		for _, x := range s.tools {
			list = append(list, x.name)
		}
		return list
	}
	plain := testServer(t, Options{}, &fakeRunner{offer: testOffer()})
	if got := names(plain); !slices.Equal(got, []string{"run_python", "run_shell", "task", "describe"}) {
		t.Errorf("%v", got)
	}
	if text := plain.instructions(); strings.Contains(text, "session") || len(text) > 1500 {
		t.Errorf("%d: %s", len(text), text)
	}
	full := testServer(t, Options{}, &fakeFiles{fakeRunner: fakeRunner{offer: testOffer()}})
	if got := names(full); !slices.Equal(got, DefaultTools) {
		t.Errorf("%v", got)
	}
	few := testServer(t, Options{Tools: []string{"run_python"}}, &fakeRunner{offer: testOffer()})
	if got := names(few); !slices.Equal(got, []string{"run_python"}) {
		t.Errorf("%v", got)
	}
	if schema := string(few.tools[0].schema); strings.Contains(schema, "background") || strings.Contains(schema, `"session"`) {
		t.Errorf("%s", schema)
	}
	if _, err := New(Options{Tools: []string{"run_pyton"}}, &fakeRunner{offer: testOffer()}); err == nil || !strings.Contains(err.Error(), `no tool "run_pyton"`) {
		t.Error(err)
	}
	if _, err := New(Options{Tools: []string{"session"}}, &fakeRunner{offer: testOffer()}); err == nil {
		t.Error("a server without tools")
	}
}

// TestSchemaShowsCeilings: the operator's figures are the schema's maximum and default, and nothing beyond the arguments is allowed.
func TestSchemaShowsCeilings(t *testing.T) {
	offer := testOffer()
	for _, words := range []string{"timeout_s=7", "memory_mb=100", "cpus=0.5", "max_processes=9", "disk_mb=33", "max_output_bytes=1000"} {
		if err := offer.Ceilings.Set(words); err != nil {
			t.Fatal(err)
		}
	}
	s := testServer(t, Options{}, &fakeRunner{offer: offer})
	for _, c := range []*mcp.ClientSession{connect(t, s, "stdio"), connect(t, s, "http")} {
		tools, err := c.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			AdditionalProperties *bool
			Required             []string
			Properties           map[string]map[string]any
		}
		b, _ := json.Marshal(tools.Tools[slices.IndexFunc(tools.Tools, func(x *mcp.Tool) bool { return x.Name == "run_python" })].InputSchema)
		if err := json.Unmarshal(b, &schema); err != nil || schema.AdditionalProperties == nil || *schema.AdditionalProperties || !slices.Equal(schema.Required, []string{"code"}) {
			t.Errorf("%v %s", err, b)
		}
		for name, want := range map[string][2]float64{"timeout_s": {7, 7}, "memory_mb": {100, 100}, "cpus": {0.5, 0.5}, "max_processes": {9, 9}, "disk_mb": {33, 33}, "max_output_bytes": {1000, 1000}} {
			if p := schema.Properties[name]; p["maximum"] != want[0] || p["default"] != want[1] {
				t.Errorf("%s: %v", name, p)
			}
		}
		if got := fmt.Sprint(schema.Properties["profile"]["enum"]); got != "[default data]" {
			t.Errorf("profile: %s", got)
		}
	}
	for _, bad := range []string{"timeout", "x=1", "timeout_s=0", "timeout_s=-1", "timeout_s=NaN", "memory_mb=1", "max_output_bytes=99999999", "cpus=x"} {
		if err := offer.Ceilings.Set(bad); err == nil {
			t.Errorf("--max %s is taken", bad)
		}
	}
}

// TestRequestReachesRunner: what a client asks arrives checked and complete; what it does not ask has the operator's default.
func TestRequestReachesRunner(t *testing.T) {
	var got *Request
	run := func(_ context.Context, r *Request) (*Result, error) { got = r; return okResult(), nil }
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: run})
	c := connect(t, s, "stdio")
	callTool(t, c, "run_python", map[string]any{"code": "x"})
	d := DefaultCeilings()
	want := Limits{Memory: uint64(d.Memory.Default) << 20, CPUs: d.CPUs.Default, Processes: int(d.Processes.Default), Disk: uint64(d.Disk.Default) << 20}
	if got.Limits != want || got.Timeout != 30*time.Second || got.Profile != "default" || got.Network != "none" || !got.Return.All || got.Stdin != nil || got.Client != "local" || len(got.Asked) != 0 || len(got.ID) < 20 {
		t.Errorf("%+v", got)
	}
	callTool(t, c, "run_python", map[string]any{"code": "x", "timeout_s": 1.5, "memory_mb": 64, "image": "data", "inspect_variables": []string{"a"}, "stdin": "in", "args": []string{"1"},
		"files": []any{map[string]any{"path": "/workspace/a/../b", "content": "AAE=", "encoding": "base64"}}, "return_files": []string{"*.x"}})
	in, _ := io.ReadAll(got.Stdin)
	if got.Timeout != 1500*time.Millisecond || got.Limits.Memory != 64<<20 || got.Profile != "data" || !slices.Equal(got.Variables, []string{"a"}) || string(in) != "in" ||
		!reflect.DeepEqual(got.Asked, map[string]float64{"timeout_s": 1.5, "memory_mb": 64}) || got.Files[0].Path != "b" || string(got.Files[0].Content) != "\x00\x01" || got.Return.Wants("y") || !got.Return.Wants("d/z.x") {
		t.Errorf("%+v", got)
	}
}

// TestBadArguments: each mistake is told by its name, all at once, as a result that a model can read, and nothing runs.
func TestBadArguments(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: func(context.Context, *Request) (*Result, error) {
		t.Error("it ran")
		return okResult(), nil
	}})
	c := connect(t, s, "stdio")
	for _, x := range []struct {
		args any
		want []string
	}{
		{map[string]any{}, []string{"code: it is needed"}},
		{map[string]any{"code": 1}, []string{"code: a string is needed"}},
		{map[string]any{"code": "1", "tiemout_s": 1}, []string{`unknown argument "tiemout_s", did you mean timeout_s?`}},
		{map[string]any{"code": "1", "timeout_s": "5", "memory_mb": 1.5, "cpus": 0, "detail": "much"}, []string{"timeout_s: a number is needed", "memory_mb: 1.5 is no whole number", "cpus: 0 is below 0.01", "detail: \"much\" is none of brief, full"}},
		{map[string]any{"code": strings.Repeat("x", 256<<10+1)}, []string{"code: 262145 bytes, at most 262144"}},
		{map[string]any{"code": "1", "profile": "x\u202ey"}, []string{`profile: "x\u202ey" is none of default, data`}},
		{map[string]any{"code": "1", "session": "s"}, []string{`unknown argument "session"`}},
		{map[string]any{"code": "1", "files": []any{map[string]any{"path": "a", "content": "x"}, map[string]any{"path": "a/b", "content": "x"}, map[string]any{"path": "c", "content": "!", "encoding": "base64"}, map[string]any{"path": "d", "contents": "x"}}},
			[]string{`files[1]: "a" is a file already`, `files[2]: "c": content is no base64`, `files[3]: path and content are needed; unknown argument "contents", did you mean content?`}},
		{map[string]any{"code": "1", "return_files": []string{"[a"}}, []string{`return_files: "[a": no pattern`}},
		{map[string]any{"code": "1", "args": []any{1}}, []string{"args: a list of strings is needed"}},
		{map[string]any{"code": "1", "image": "default", "profile": "default"}, []string{"profile and image are the same argument"}},
	} {
		r := callTool(t, c, "run_python", x.args)
		for _, want := range x.want {
			if !r.IsError || !strings.Contains(textOf(r), want) {
				t.Errorf("%v: want %q in\n%s", x.args, want, textOf(r))
			}
		}
	}
	if _, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "run_ruby"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Error(err)
	}
}

// TestBusy: beyond slots and queue the answer comes at once, with a time to try again, and the next call finds its slot.
func TestBusy(t *testing.T) {
	hold, started := make(chan struct{}), make(chan struct{}, 9)
	run := func(ctx context.Context, _ *Request) (*Result, error) {
		started <- struct{}{}
		<-hold
		return okResult(), nil
	}
	s := testServer(t, Options{Slots: 1, Queue: 1, QueueWait: time.Hour}, &fakeRunner{offer: testOffer(), run: run})
	c := connect(t, s, "stdio")
	over := make(chan *mcp.CallToolResult, 2)
	for range 2 {
		go func() { over <- callTool(t, c, "run_python", map[string]any{"code": "1"}) }()
	}
	<-started
	for {
		if _, waiting := s.gate.figures(); waiting == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r := callTool(t, c, "run_python", map[string]any{"code": "1"})
	if !r.IsError || !strings.HasPrefix(textOf(r), "[psb] busy: 1 runs are going on, and as many wait as may; try again in 2.000 s") {
		t.Errorf("%s", textOf(r))
	}
	close(hold)
	for range 2 {
		if r := <-over; r.IsError {
			t.Errorf("%s", textOf(r))
		}
	}
}

// TestGate: rates, quotas and a client's own bound.
func TestGate(t *testing.T) {
	now := time.Unix(0, 0)
	o := Options{Slots: 9, RatePerMinute: 60, Quota: 14, PerClient: 2}
	if err := o.fill(); err != nil {
		t.Fatal(err)
	}
	g := newGate(&o, func() time.Time { return now })
	reason := func(client string) string {
		_, err := g.enter(context.Background(), client)
		var away *turnedAway
		if errors.As(err, &away) {
			return away.reason
		}
		return ""
	}
	leave1, _ := g.enter(context.Background(), "a")
	leave2, _ := g.enter(context.Background(), "a")
	if got := reason("a"); got != "client" {
		t.Errorf("third at once: %q", got)
	}
	if got := reason("b"); got != "" {
		t.Errorf("somebody else: %q", got)
	}
	leave1()
	leave1() // twice is once
	leave2()
	for range 8 {
		leave, err := g.enter(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if got := reason("a"); got != "rate" {
		t.Errorf("the eleventh in a moment: %q", got)
	}
	now = now.Add(time.Minute)
	for range 4 {
		leave, err := g.enter(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if got := reason("a"); got != "quota" {
		t.Errorf("the fifteenth: %q", got)
	}
	idle := g.close()
	if got := reason("c"); got != "draining" {
		t.Errorf("after the end: %q", got)
	}
	select {
	case <-idle:
		t.Error("b still runs")
	default:
	}
}

// TestCancelReachesRunner: a client that gives up, or goes away, ends the run's context, on each transport.
func TestCancelReachesRunner(t *testing.T) {
	for _, how := range []string{"stdio", "http"} {
		t.Run(how, func(t *testing.T) {
			started, ended := make(chan struct{}), make(chan struct{})
			s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: func(ctx context.Context, _ *Request) (*Result, error) {
				close(started)
				<-ctx.Done()
				close(ended)
				return &Result{Status: Cancelled, Cleanup: Cleanup{State: Removed}}, nil
			}})
			c := connect(t, s, how)
			ctx, cancel := context.WithCancel(context.Background())
			go func() { <-started; cancel() }()
			if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run_python", Arguments: map[string]any{"code": "1"}}); err == nil {
				t.Error("a cancelled call was answered")
			}
			<-ended
		})
	}
}

// TestStalledClient: a client that does not read is dropped, and its run ended.
func TestStalledClient(t *testing.T) {
	ended := make(chan struct{})
	s := testServer(t, Options{StallAfter: 50 * time.Millisecond}, &fakeRunner{offer: testOffer(), run: func(ctx context.Context, _ *Request) (*Result, error) {
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}})
	in, theirs := io.Pipe()
	_, out := io.Pipe() // nobody reads
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), in, out) }()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},%s}}`+"\n", meta)
	fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{%s}}`+"\n", meta)
	<-ended
	if err := <-done; !errors.Is(err, ErrStalled) {
		t.Errorf("%v", err)
	}
}

// TestKeptForItsOwner: what did not fit is read by whom it was kept for, and by nobody else.
func TestKeptForItsOwner(t *testing.T) {
	now := time.Unix(0, 0)
	s := newShelf(func() time.Time { return now })
	uri, ok := s.keep("ann", "run1", "files/a b.csv", "text/csv", []byte("x"))
	if !ok || uri != "psb://run/run1/files/a%20b.csv" {
		t.Fatal(uri, ok)
	}
	if _, ok := s.read("bob", uri); ok {
		t.Error("bob reads it")
	}
	if k, ok := s.read("ann", uri); !ok || string(k.content) != "x" {
		t.Error("ann does not")
	}
	big := make([]byte, 12<<20)
	for i := range 5 {
		if _, ok := s.keep("ann", "run2", fmt.Sprint(i), "x", big); !ok {
			t.Error(i)
		}
	}
	if _, ok := s.read("ann", uri); ok || s.client["ann"] > s.most {
		t.Errorf("%d bytes are kept", s.client["ann"])
	}
	if _, ok := s.keep("bob", "run3", "x", "x", make([]byte, 20<<20)); ok {
		t.Error("more than half of all")
	}
	now = now.Add(time.Hour)
	if _, ok := s.read("ann", "psb://run/run2/4"); ok || s.bytes != 0 {
		t.Errorf("an hour later %d bytes", s.bytes)
	}
}

// TestRunnerFails: an error of the Runner is a result that says so, and no error of the protocol.
func TestRunnerFails(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: func(context.Context, *Request) (*Result, error) { return nil, errors.New("no pipes left") }})
	r := callTool(t, connect(t, s, "stdio"), "run_python", map[string]any{"code": "1"})
	if !r.IsError || !strings.HasPrefix(textOf(r), "[psb] internal: no pipes left") {
		t.Errorf("%s", textOf(r))
	}
}
