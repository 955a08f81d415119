package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counting is a Runner that counts its runs.
func counting(runs *atomic.Int64) *fakeRunner {
	return &fakeRunner{offer: testOffer(), run: func(context.Context, *Request) (*Result, error) {
		runs.Add(1)
		return okResult(), nil
	}}
}

// ways are the transports and revisions by which a client may come.
func ways(t *testing.T, do func(t *testing.T, transport func(s *Server) mcp.Transport, revision string)) {
	t.Helper()
	for _, revision := range []string{modernRevision, "2025-11-25", "2025-06-18"} {
		t.Run("stdio "+revision, func(t *testing.T) {
			do(t, func(s *Server) mcp.Transport { return overPipes(t, s) }, revision)
		})
		t.Run("http "+revision, func(t *testing.T) {
			do(t, func(s *Server) mcp.Transport {
				h := httptest.NewServer(s.Handler(HTTPOptions{Loopback: true}))
				t.Cleanup(h.Close)
				return &mcp.StreamableClientTransport{Endpoint: h.URL + Endpoint}
			}, revision)
		})
	}
}

// asks gives a client whose person answers; nil is one that cannot ask.
func asks(t *testing.T, transport mcp.Transport, revision string, person func(*mcp.ElicitParams) (*mcp.ElicitResult, error)) *mcp.ClientSession {
	t.Helper()
	o := &mcp.ClientOptions{}
	if person != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return person(r.Params) }
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// TestApproval: before code runs the person is shown it, and what it may; yes runs it once, anything else runs nothing and says so. A client that cannot ask
// gets what the operator said. On every transport and revision.
func TestApproval(t *testing.T) {
	ways(t, func(t *testing.T, transport func(*Server) mcp.Transport, revision string) {
		var runs atomic.Int64
		s := testServer(t, Options{Ask: AskAlways}, counting(&runs))
		var shown, action string
		person := func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if shown = p.Message; action == "" {
				return nil, errors.New("the window was closed")
			}
			return &mcp.ElicitResult{Action: action}, nil
		}
		c := asks(t, transport(s), revision, person)
		for _, x := range []struct {
			answer, status, text string
			runs                 int64
		}{{"accept", "ok", "[psb] ok: exit 0", 1}, {"decline", "refused", "the person who was asked declined; nothing ran", 0}, {"cancel", "refused", "the person who was asked gave no answer; nothing ran", 0}, {"accept", "ok", "[psb] ok: exit 0", 1}} {
			action = x.answer
			before := runs.Load()
			r := callTool(t, c, "run_shell", map[string]any{"command": "echo \u202e\x1b[2J", "cwd": "d", "timeout_s": 2, "args": []string{"a\nb"}})
			if !strings.Contains(textOf(r), x.text) || r.IsError != (x.status != "ok") || runs.Load()-before != x.runs {
				t.Errorf("%s: %d runs, %s", x.answer, runs.Load()-before, textOf(r))
			}
			told, _ := json.Marshal(r.Meta[resultKey])
			if has := strings.Contains(string(told), `"approval":"accepted"`); has != (x.status == "ok") {
				t.Errorf("%s: %s", x.answer, told)
			}
			if want := "Run this shell command in a psb sandbox?\nprofile: default\nnetwork: none\nfolder: d\ntime: at most 2.000 s\narguments: 1, the first \"a\\nb\"\n\necho \\u202e\\x1b[2J"; shown != want {
				t.Errorf("shown\n%s\nwant\n%s", shown, want)
			}
		}
		action = ""
		if r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "run_python", Arguments: map[string]any{"code": "1"}}); err == nil || runs.Load() != 2 {
			t.Errorf("%v, %d runs", r, runs.Load())
		}
		action = "accept"
		shown = ""
		callTool(t, c, "describe", nil)
		if r := callTool(t, c, "run_python", map[string]any{"cod": "1"}); shown != "" || !r.IsError {
			t.Errorf("asked for nothing: %s", shown)
		}
		callTool(t, c, "run_python", map[string]any{"code": strings.Repeat("x = 1\n", 2000)})
		if !strings.Contains(shown, "only the first ") || !strings.Contains(shown, " of 12000 bytes are shown; sha256 of all: ") || len(shown) > mostAsked+1<<10 {
			t.Errorf("%d bytes shown: %.300s", len(shown), shown)
		}

		mute := asks(t, transport(s), revision, nil)
		before := runs.Load()
		if r := callTool(t, mute, "run_python", map[string]any{"code": "1"}); !r.IsError || !strings.Contains(textOf(r), "[psb] refused: a person has to agree before code runs here, and this client cannot ask") || runs.Load() != before {
			t.Errorf("%s", textOf(r))
		}
		open := testServer(t, Options{Ask: AskOrNot}, counting(&runs))
		r := callTool(t, asks(t, transport(open), revision, nil), "run_python", map[string]any{"code": "1"})
		if told, _ := json.Marshal(r.Meta[resultKey]); r.IsError || runs.Load() != before+1 || !strings.Contains(string(told), `"approval":"not asked: the client cannot ask"`) {
			t.Errorf("%s", told)
		}
		shown, action = "", "decline"
		if r := callTool(t, asks(t, transport(open), revision, person), "run_python", map[string]any{"code": "1"}); !r.IsError || shown == "" || runs.Load() != before+1 {
			t.Errorf("who can be asked was not: %s", textOf(r))
		}
	})
}

// TestApprovalIsOfOneCall: an answer that was not asked for, that is given twice, or that belongs to other arguments or to another tool runs nothing.
func TestApprovalIsOfOneCall(t *testing.T) {
	var runs atomic.Int64
	s := testServer(t, Options{Ask: AskAlways}, counting(&runs))
	yes := mcp.InputResponseMap{approvalKey: &mcp.ElicitResult{Action: "accept"}}
	ask := func(tool, args, state string, answers mcp.InputResponseMap) *mcp.CallToolResult {
		t.Helper()
		p := &mcp.CallToolParamsRaw{Name: tool, Arguments: json.RawMessage(args), RequestState: state, InputResponses: answers,
			Meta: mcp.Meta{mcp.MetaKeyProtocolVersion: modernRevision, mcp.MetaKeyClientCapabilities: map[string]any{"elicitation": map[string]any{}}}}
		for _, x := range s.tools {
			if x.name == tool {
				r, err := s.handler(x)(context.Background(), &mcp.CallToolRequest{Params: p})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
		}
		t.Fatal(tool)
		return nil
	}
	const args = `{"code": "1", "args": ["a"]}`
	question := func() string {
		t.Helper()
		r := ask("run_python", args, "", nil)
		if r.InputRequests[approvalKey] == nil || len(r.Content) > 0 || r.RequestState == "" {
			t.Fatalf("%+v", r)
		}
		return r.RequestState
	}
	for name, r := range map[string]*mcp.CallToolResult{
		"not asked":      ask("run_python", args, "", yes),
		"invented":       ask("run_python", args, "AAAAAAAAAAAAAAAAAAAAAA", yes),
		"other code":     ask("run_python", `{"code": "2", "args": ["a"]}`, question(), yes),
		"one more":       ask("run_python", `{"code": "1", "args": ["a"], "network": "none"}`, question(), yes),
		"other tool":     ask("run_shell", `{"command": "1", "args": ["a"]}`, question(), yes),
		"other question": ask("run_python", args, question(), mcp.InputResponseMap{"x": &mcp.ElicitResult{Action: "accept"}}),
		"no such action": ask("run_python", args, question(), mcp.InputResponseMap{approvalKey: &mcp.ElicitResult{Action: "Accept"}}),
		"another kind":   ask("run_python", args, question(), mcp.InputResponseMap{approvalKey: &mcp.ListRootsResult{}}),
	} {
		if !r.IsError || runs.Load() != 0 || !strings.Contains(textOf(r), "nothing ran") {
			t.Errorf("%s: %d runs, %s", name, runs.Load(), textOf(r))
		}
	}
	state := question()
	if r := ask("run_python", `{ "args":["\u0061"],"code":"1" }`, state, yes); r.IsError || runs.Load() != 1 { // the same, written otherwise
		t.Errorf("%d runs, %s", runs.Load(), textOf(r))
	}
	if r := ask("run_python", args, state, yes); !r.IsError || runs.Load() != 1 {
		t.Errorf("twice: %d runs, %s", runs.Load(), textOf(r))
	}
}

// TestApprovals: a question is its client's, lasts ten minutes, and a client has so many at once.
func TestApprovals(t *testing.T) {
	now := time.Unix(0, 0)
	a := newApprovals(func() time.Time { return now })
	ann, bob := approval{client: "ann", call: "x"}, approval{client: "bob", call: "x"}
	state, _ := a.ask(ann)
	if a.take(state, bob) || !a.take(state, ann) || a.take(state, ann) {
		t.Error("bob answers for ann, or ann twice, or not at all")
	}
	unknown := approval{client: "ann"}
	if state, _ := a.ask(unknown); a.take(state, unknown) {
		t.Error("an answer to a call that nobody can tell from another")
	}
	var last string
	for i := range mostQuestions {
		var ok bool
		if last, ok = a.ask(ann); !ok {
			t.Error(i)
		}
	}
	if _, ok := a.ask(ann); ok {
		t.Error("one more than may be open")
	}
	if _, ok := a.ask(bob); !ok {
		t.Error("ann's questions are counted as bob's")
	}
	now = now.Add(answerTime + time.Second)
	if a.take(last, ann) {
		t.Error("an answer that came too late")
	}
	if _, ok := a.ask(ann); !ok || len(a.open) != 1 {
		t.Errorf("%d questions are open", len(a.open))
	}
}
