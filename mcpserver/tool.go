package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool of psb's.
type tool struct {
	name, title, about string
	possible           bool // the Runner can do it
	schema             json.RawMessage
	output             json.RawMessage // of structured results; nil = none
	readOnly           bool
	destructive        bool
	idempotent         bool
	run                func(ctx context.Context, c *call) (*mcp.CallToolResult, error)
}

// call is one call of a tool.
type call struct {
	req    *mcp.CallToolRequest
	client string
	raw    json.RawMessage
	tool   *tool
}

// definition is what clients see of a tool.
func (t *tool) definition(s *Server) *mcp.Tool {
	open := len(s.offer.Networks) > 1
	d := &mcp.Tool{Name: t.name, Title: t.title, Description: t.about, InputSchema: t.schema,
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent, DestructiveHint: &t.destructive, OpenWorldHint: &open}}
	if s.options.Structured && t.output != nil {
		d.OutputSchema = t.output
	}
	return d
}

// allTools are those of this build; which of them are possible depends on the Runner.
func (s *Server) allTools() []*tool {
	return []*tool{s.pythonTool(), s.shellTool(), s.sessionTool(), s.taskTool(), s.readTool(), s.writeTool(), s.editTool(), s.findTool(), s.manageTool(), s.describeTool()}
}

// handler is what the SDK calls. What is wrong with a call is told to the model, as a result; an error of the protocol is left for what the model
// can do nothing about.
func (s *Server) handler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		begin := s.options.Now()
		ctx, untie := s.tied(ctx, req.Extra)
		defer untie()
		c := &call{req: req, client: clientOf(req.Extra), raw: req.Params.Arguments, tool: t}
		result, err = t.run(ctx, c)
		var bad *badArguments
		var away *turnedAway
		switch {
		case errors.As(err, &bad):
			result, err = s.told(&Result{Status: Refused, Reason: bad.Error(), Cleanup: Cleanup{State: NotAttempted}}), nil
		case errors.As(err, &away):
			s.metrics.turnedAway(away.reason)
			result, err = s.told(&Result{Status: Busy, Reason: away.words, Hint: away.hint, Retry: away.retry, Cleanup: Cleanup{State: NotAttempted}}), nil
		case err != nil && ctx.Err() == nil:
			result, err = s.told(&Result{Status: Internal, Reason: err.Error(), Cleanup: Cleanup{State: NotKnown}}), nil
		}
		s.metrics.called(t.name, statusOf(result, err), s.options.Now().Sub(begin))
		return result, err
	}
}

// told is a result in which nothing ran.
func (s *Server) told(r *Result) *mcp.CallToolResult {
	return assemble(r, &assembly{structured: s.options.Structured, maxOutput: leastOutput})
}

// statusOf is a result's word for metrics.
func statusOf(r *mcp.CallToolResult, err error) string {
	if err != nil || r == nil {
		return string(Cancelled)
	}
	if rec, ok := r.Meta[resultKey].(*record); ok {
		return string(rec.Status)
	}
	if r.InputRequests != nil {
		return "asked"
	}
	if r.IsError {
		return string(Failed)
	}
	return string(OK)
}

// say is an answer of a tool that runs nothing: text for the model, and the same as data.
func (s *Server) say(text string, data any) *mcp.CallToolResult {
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	if s.options.Structured && data != nil {
		r.StructuredContent = data
	} else if data != nil {
		r.Meta = mcp.Meta{resultKey: data}
	}
	return r
}

// refuse is a no of a tool that runs nothing.
func (s *Server) refuse(format string, args ...any) *mcp.CallToolResult {
	return s.told(&Result{Status: Refused, Reason: fmt.Sprintf(format, args...), Cleanup: Cleanup{State: NotAttempted}})
}

// beating sends progress to a client that gave a token, until the returned function is called: the first at once, the next at each heartbeat, and
// what the outlet has as it comes. Clients take it as a sign of life and wait on.
func (s *Server) beating(ctx context.Context, req *mcp.CallToolRequest, what func() string, out *outlet) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return func() {}
	}
	inside, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	begin := s.options.Now()
	n := 0
	tell := func(ctx context.Context, parts []piece) bool {
		p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: fmt.Sprintf("%.0f s, %s", s.options.Now().Sub(begin).Seconds(), what())}
		if len(parts) > 0 {
			p.Meta = mcp.Meta{outputKey: parts}
		}
		n++
		return req.Session.NotifyProgress(ctx, p) == nil
	}
	go func() {
		defer close(done)
		t := time.NewTicker(s.options.Heartbeat)
		defer t.Stop()
		for going := tell(inside, nil); going; {
			select {
			case <-t.C:
				going = tell(inside, nil)
			case <-out.wake():
				for parts := out.take(); going && len(parts) > 0; parts = out.take() {
					going = tell(ctx, parts) // a run that ends takes none of it back
				}
			case <-inside.Done():
				for parts := out.take(); ctx.Err() == nil && len(parts) > 0 && tell(ctx, parts); parts = out.take() { // the last of it stands before the result
				}
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
