package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (s *Server) pythonTool() *tool {
	about := "Run Python in a sandbox. Each call gets a fresh box: no state from earlier calls, no network, files in " + Workspace + " only. " +
		"Returns the value of the last expression, stdout, stderr, a traceback with your line numbers, figures drawn with matplotlib, and new files."
	if s.sessions != nil {
		about = "Run Python in a sandbox with files in " + Workspace + ". Without session each call gets a fresh box without state; with one, variables and files stay between calls. " +
			"Returns the value of the last expression, stdout, stderr, a traceback with your line numbers, figures drawn with matplotlib, and new files."
	}
	if names := s.givenNames(); names != "" {
		about += " Names that are there from the start, given by the operator: " + names + "."
	}
	return &tool{name: "run_python", title: "Run Python", possible: true, about: about, schema: s.pythonSchema(), output: resultSchema(),
		run: func(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
			q, err := s.readPython(c.raw)
			if err != nil {
				return nil, err
			}
			return s.run(ctx, c, q)
		}}
}

// givenNames are the operator's values by name and type, as many as a model should read.
func (s *Server) givenNames() string {
	const most = 20
	var list []string
	for i, n := range s.offer.Names {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(s.offer.Names)-most))
			break
		}
		list = append(list, n.Name+" ("+n.Type+")")
	}
	return strings.Join(list, ", ")
}

func (s *Server) shellTool() *tool {
	kind := "a sandbox"
	if s.offers("run_python") {
		kind = "the same kind of sandbox as run_python"
	}
	return &tool{name: "run_shell", title: "Run a shell command", possible: true, schema: s.shellSchema(), output: resultSchema(),
		about: "Run a command with /bin/sh in " + kind + ". Returns stdout, stderr, the exit status and new files of " + Workspace + ".",
		run: func(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
			q, err := s.readShell(c.raw)
			if err != nil {
				return nil, err
			}
			return s.run(ctx, c, q)
		}}
}

// run is one call of run_python or run_shell: at once, or as a task.
func (s *Server) run(ctx context.Context, c *call, q *asked) (*mcp.CallToolResult, error) {
	q.ID, q.Client = newID(), c.client
	if r := s.approve(c, q); r != nil {
		return r, nil
	}
	if q.background || takesTasks(c.req) {
		return s.runAsTask(ctx, c, q)
	}
	leave, err := s.gate.enter(ctx, c.client)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var printed atomic.Int64
	out := outletFor(c.req)
	q.Output = func(stream Stream, b []byte) {
		printed.Add(int64(len(b)))
		out.add(stream, b)
	}
	stop := s.beating(ctx, c.req, func() string { return fmt.Sprintf("%d bytes printed", printed.Load()) }, out)
	defer stop()
	return s.runOnce(ctx, q)
}

// bounded ends a context with the server, too.
func (s *Server) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.base, cancel)
	return ctx, func() { stop(); cancel() }
}

// runOnce runs a checked request and puts its result together.
func (s *Server) runOnce(ctx context.Context, q *asked) (*mcp.CallToolResult, error) {
	r, err := s.runner.Run(ctx, &q.Request)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		r = &Result{Status: Internal, Reason: err.Error(), Cleanup: Cleanup{State: NotKnown}}
	}
	if r.ID == "" {
		r.ID = q.ID
	}
	r.Approval = q.approval
	s.metrics.ran(r)
	if ctx.Err() != nil && !r.Cleanup.confirmed() && r.Cleanup.State != NotAttempted { // there is nobody to hear the answer
		s.options.Say(fmt.Sprintf("run %s, which its client gave up: cleanup %s: %s", r.ID, r.Cleanup.State, clean(strings.Join(r.Cleanup.Left, ", "))))
	}
	a := s.assembly(q)
	result := bounded(assemble(r, a))
	if a.kept > 0 {
		s.listGrew(q.Client)
	}
	return result, nil
}

func (s *Server) assembly(q *asked) *assembly {
	a := &assembly{maxOutput: q.MaxOutput, ceiling: int(s.offer.Ceilings.Output.Max), full: q.full, structured: s.options.Structured}
	a.keep = func(name, mime string, b []byte) (uri string, ok bool) {
		if uri, ok = s.shelf.keep(q.Client, q.ID, name, mime, b); ok {
			a.kept++
		}
		return uri, ok
	}
	return a
}
