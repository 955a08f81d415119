package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Asking is whether a person is asked, through the client, before code runs. It says what becomes of calls whose client cannot ask anybody.
type Asking string

// Ways of asking.
const (
	AskNobody Asking = ""       // code runs unasked
	AskOrNot  Asking = "run"    // who cannot be asked is not
	AskAlways Asking = "refuse" // who cannot be asked runs nothing
)

// approvalKey names psb's one question among those of a request.
const approvalKey = "run"

// What a result says of approval.
const (
	approved   = "accepted"
	notAskable = "not asked: the client cannot ask"
)

// approve gives nil where a call may run now: nobody is to be asked, or the answer is there and it is yes. Otherwise it gives the question, which the SDK
// takes to the client and comes back with, or the refusal. Nothing of the call was done by then.
func (s *Server) approve(c *call, q *asked) *mcp.CallToolResult {
	if s.options.Ask == AskNobody {
		return nil
	}
	p := c.req.Params
	if len(p.InputResponses) > 0 {
		return s.answered(c, q)
	}
	if !canAsk(c.req.ClientCapabilities()) {
		if s.options.Ask == AskOrNot {
			q.approval = notAskable
			return nil
		}
		return s.refuse("a person has to agree before code runs here, and this client cannot ask (elicitation); nothing ran")
	}
	state, ok := s.approvals.ask(approval{client: c.client, call: callSum(c)})
	if !ok {
		r := &Result{Status: Busy, Reason: fmt.Sprintf("%d questions of this client have no answer yet", mostQuestions), Retry: time.Minute, Cleanup: Cleanup{State: NotAttempted}}
		return s.told(r)
	}
	return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{approvalKey: &mcp.ElicitParams{Mode: "form", Message: s.question(c, q),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}}}
}

// answered judges an answer. It counts once, and for the call that was asked about.
func (s *Server) answered(c *call, q *asked) *mcp.CallToolResult {
	if !s.approvals.take(c.req.Params.RequestState, approval{client: c.client, call: callSum(c)}) {
		return s.refuse("the answer belongs to no question about this call, or came more than %d minutes after it; nothing ran", int(answerTime.Minutes()))
	}
	r, ok := c.req.Params.InputResponses[approvalKey].(*mcp.ElicitResult)
	switch {
	case ok && r.Action == "accept":
		q.approval = approved
		return nil
	case ok && r.Action == "decline":
		return s.refuse("the person who was asked declined; nothing ran")
	}
	return s.refuse("the person who was asked gave no answer; nothing ran")
}

// canAsk: a client that declares elicitation asks by forms, unless it declares other ways alone.
func canAsk(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// mostAsked bounds the code that a question shows, in bytes.
const mostAsked = 4 << 10

// question is what a person reads before code runs. What the model wrote stands last, made harmless.
func (s *Server) question(c *call, q *asked) string {
	var b strings.Builder
	what := "this Python code"
	if q.Language == Shell {
		what = "this shell command"
	}
	fmt.Fprintf(&b, "Run %s in a psb sandbox?\n", what)
	for _, x := range [][2]string{{"session", q.Session}, {"profile", q.Profile}, {"network", q.Network}, {"folder", q.Dir}} {
		if x[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", x[0], oneLine(x[1]))
		}
	}
	fmt.Fprintf(&b, "time: at most %s\n", seconds(q.Timeout))
	if len(q.Files) > 0 {
		fmt.Fprintf(&b, "files put in: %d, the first %s\n", len(q.Files), quote(q.Files[0].Path))
	}
	if len(q.Args) > 0 {
		fmt.Fprintf(&b, "arguments: %d, the first %s\n", len(q.Args), quote(q.Args[0]))
	}
	if q.Stdin != nil {
		b.WriteString("standard input: some\n")
	}
	shown := cutHead([]byte(q.Code), mostAsked)
	if len(shown) < len(q.Code) {
		fmt.Fprintf(&b, "only the first %d of %d bytes are shown; sha256 of all: %s\n", len(shown), len(q.Code), sum([]byte(q.Code)))
	}
	b.WriteString("\n" + clean(string(shown)))
	return b.String()
}

// callSum is what a call asks for; the same for the same arguments, however they are written. "" is no sum of any call, and no answer is to it.
func callSum(c *call) string {
	d := json.NewDecoder(bytes.NewReader(c.raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	b, err := json.Marshal([]any{c.tool.name, v})
	if err != nil {
		return ""
	}
	return sum(b)
}

// Bounds of questions.
const (
	mostQuestions = 32 // of one client, without an answer
	answerTime    = 10 * time.Minute
)

// approval is one question.
type approval struct {
	client, call string
	until        time.Time
}

// approvals are the questions that have no answer yet.
type approvals struct {
	mu   sync.Mutex
	now  func() time.Time
	open map[string]approval // by a state that nobody can guess
}

func newApprovals(now func() time.Time) *approvals {
	return &approvals{now: now, open: map[string]approval{}}
}

// ask opens a question; it fails where its client has too many open ones.
func (a *approvals) ask(q approval) (state string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, mine := a.now(), 0
	for s, x := range a.open {
		if now.After(x.until) {
			delete(a.open, s)
		} else if x.client == q.client {
			mine++
		}
	}
	if mine >= mostQuestions {
		return "", false
	}
	state, q.until = newID(), now.Add(answerTime)
	a.open[state] = q
	return state, true
}

// take closes a question, and reports whether it was about this call of this client. Another client's stays open.
func (a *approvals) take(state string, q approval) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, there := a.open[state]
	if !there || x.client != q.client {
		return false
	}
	delete(a.open, state)
	return q.call != "" && x.call == q.call && !a.now().After(x.until)
}
