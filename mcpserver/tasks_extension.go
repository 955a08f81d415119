package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The Tasks extension of the protocol: a client that declares it may get a task where it asked for a result, and asks for the result with
// tasks/get. The SDK has no part in it.

// tasksExtension is its name.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Codes of errors that the protocol gives these methods.
const (
	codeMissingCapability = -32021
	codeHeaderMismatch    = -32020
)

// takesTasks reports whether a client declared the extension, with this request or with its session.
func takesTasks(r mcp.Request) bool {
	c, ok := r.(interface {
		ClientCapabilities() *mcp.ClientCapabilities
	})
	if !ok {
		return false
	}
	caps := c.ClientCapabilities()
	if caps == nil {
		return false
	}
	_, declared := caps.Extensions[tasksExtension]
	return declared
}

// createdTask is the answer to tools/call when it goes on as a task.
type createdTask struct {
	mcp.ResultBase
	ResultType string `json:"resultType"` // "task"
	wireTask
}

// wireTask is a task as the extension writes it.
type wireTask struct {
	TaskID         string `json:"taskId"`
	Status         string `json:"status"`
	StatusMessage  string `json:"statusMessage,omitempty"`
	CreatedAt      string `json:"createdAt"`
	LastUpdatedAt  string `json:"lastUpdatedAt"`
	TTLMs          int64  `json:"ttlMs"`
	PollIntervalMs int64  `json:"pollIntervalMs"`
}

// gotTask answers tasks/get.
type gotTask struct {
	mcp.ResultBase
	ResultType string `json:"resultType"` // "complete"
	wireTask
	Result *mcp.CallToolResult `json:"result,omitempty"`
	Error  *jsonrpc.Error      `json:"error,omitempty"`
}

type acknowledged struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

type taskParams struct {
	mcp.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// addTasks puts the extension's methods beside the SDK's.
func (s *Server) addTasks(m *mcp.Server) {
	add := func(method string, f func(t *task) (mcp.Result, error)) {
		handle := func(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (mcp.Result, error) {
			t, ok := s.tasks.get(clientIn(ctx), p.TaskID)
			if !ok {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such task"}
			}
			return f(t)
		}
		_ = mcp.AddReceivingCustomMethod(m, method, handle) // fails for the protocol's own methods alone
	}
	add("tasks/get", func(t *task) (mcp.Result, error) { return s.gotTask(t), nil })
	add("tasks/cancel", func(t *task) (mcp.Result, error) {
		t.cancel()
		return &acknowledged{ResultType: "complete"}, nil
	})
	add("tasks/update", func(t *task) (mcp.Result, error) { return &acknowledged{ResultType: "complete"}, nil }) // psb asks for nothing
	m.AddReceivingMiddleware(s.tasksMiddleware)
}

type clientKey struct{}

func clientIn(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

// tasksMiddleware checks what the SDK checks for its own methods, and turns the answer "it goes on" into the extension's words.
func (s *Server) tasksMiddleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "tasks/get", "tasks/cancel", "tasks/update":
			if !takesTasks(req) {
				return nil, &jsonrpc.Error{Code: codeMissingCapability, Message: "the client did not declare " + tasksExtension,
					Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
			}
			if err := namesTask(req); err != nil {
				return nil, err
			}
			ctx = context.WithValue(ctx, clientKey{}, clientOf(req.GetExtra()))
		}
		r, err := next(ctx, method, req)
		var made *taskMade
		if errors.As(err, &made) {
			return &createdTask{ResultType: "task", wireTask: s.wireTask(made.task)}, nil
		}
		return r, err
	}
}

// namesTask checks the header that routers read: over HTTP, in the revision that has it, it names the task.
func namesTask(req mcp.Request) error {
	x := req.GetExtra()
	if x == nil || x.Header == nil || x.Header.Get("Mcp-Protocol-Version") < modernRevision {
		return nil
	}
	p, ok := req.GetParams().(*taskParams)
	if name := x.Header.Get("Mcp-Name"); ok && name != p.TaskID {
		return &jsonrpc.Error{Code: codeHeaderMismatch, Message: fmt.Sprintf("the header Mcp-Name is %q and taskId %q", name, p.TaskID)}
	}
	return nil
}

func (s *Server) wireTask(t *task) wireTask {
	status, _, updated, _ := t.state()
	return wireTask{TaskID: t.id, Status: status, CreatedAt: t.created.UTC().Format(time.RFC3339Nano), LastUpdatedAt: updated.UTC().Format(time.RFC3339Nano),
		TTLMs: (s.offer.Ceilings.Background + s.options.TaskTTL).Milliseconds(), PollIntervalMs: 1000}
}

func (s *Server) gotTask(t *task) *gotTask {
	g := &gotTask{ResultType: "complete", wireTask: s.wireTask(t)}
	status, r, _, err := t.state()
	switch {
	case status == taskCompleted:
		g.Result = r
	case status == taskFailed:
		g.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprint(err)}
	}
	return g
}
