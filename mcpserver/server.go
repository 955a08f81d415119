package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server serves one Runner to any number of clients.
type Server struct {
	options   Options
	runner    Runner
	sessions  SessionRunner // nil: none
	files     FileRunner    // nil: none
	offer     Offer
	tools     []*tool
	mcp       *mcp.Server
	gate      *gate
	shelf     *shelf
	tasks     *taskStore
	listeners *listeners
	approvals *approvals
	metrics   *metrics
	base      context.Context // of what outlives a request: tasks
	stop      context.CancelFunc
	web       atomic.Pointer[web] // of the HTTP side; nil on stdio
}

// Extra puts more into the SDK's server than psb's own tools.
type Extra struct {
	Options func(*mcp.ServerOptions)
	Server  func(*mcp.Server)
}

// New makes a server. The error is a mistake of the operator's.
func New(o Options, r Runner) (*Server, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Server{options: o, runner: r, offer: r.Offer(), gate: newGate(&o, o.Now), shelf: newShelf(o.Now), listeners: newListeners(), approvals: newApprovals(o.Now), metrics: newMetrics()}
	s.sessions, _ = r.(SessionRunner)
	s.files, _ = r.(FileRunner)
	if len(s.offer.Profiles) == 0 || len(s.offer.Networks) == 0 {
		return nil, errors.New("the Runner offers no profile, or no network")
	}
	s.base, s.stop = context.WithCancel(context.Background())
	s.tasks = newTaskStore(s.base, &s.options)
	for _, t := range s.allTools() {
		if slices.Contains(o.Tools, t.name) && t.possible {
			s.tools = append(s.tools, t)
		}
	}
	if len(s.tools) == 0 {
		return nil, fmt.Errorf("none of the tools %s can be offered here", strings.Join(o.Tools, ", "))
	}
	s.mcp = s.newSDKServer()
	return s, nil
}

// offers reports whether a tool was asked for by the operator.
func (s *Server) offers(tool string) bool { return slices.Contains(s.options.Tools, tool) }

// newSDKServer makes the server that speaks the protocol.
func (s *Server) newSDKServer() *mcp.Server {
	caps := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{}}
	caps.AddExtension(tasksExtension, map[string]any{})
	o := &mcp.ServerOptions{Instructions: s.instructions(), Capabilities: caps,
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			if _, reads := req.(*mcp.ReadResourceRequest); !reads {
				c.TTLMs, c.CacheScope = 5*60*1000, "public" // it is the same for every client until the server ends
			}
		}}
	if s.options.Extra != nil {
		s.options.Extra.Options(o)
	}
	m := mcp.NewServer(&mcp.Implementation{Name: "psb", Title: "psb: Python in a sandbox", Version: s.options.Version}, o)
	for _, t := range s.tools {
		m.AddTool(t.definition(s), s.handler(t))
	}
	m.AddResourceTemplate(keptTemplate(), s.readResource)
	m.AddReceivingMiddleware(s.countRequests, s.listen, s.listKept)
	m.AddSendingMiddleware(s.listeners.tell)
	s.addTasks(m)
	if s.options.Extra != nil {
		s.options.Extra.Server(m)
	}
	return m
}

// instructions speak only of tools that are offered.
func (s *Server) instructions() string {
	var b strings.Builder
	b.WriteString("Runs code in a sandbox that the kernel holds: private files, limits, and no network unless the operator gave one.")
	if s.has("run_python") {
		b.WriteString(" run_python: each call gets a fresh box and returns the last expression's value, output, figures, and the files it made in " + Workspace + ".")
	}
	if s.sessions != nil && s.has("session") {
		b.WriteString(" Name a session to keep variables and files between calls.")
	}
	if s.has("task") {
		b.WriteString(" For long work set background=true and ask the tool task.")
	}
	if s.options.Ask != AskNobody && (s.has("run_python") || s.has("run_shell")) {
		b.WriteString(" A person may be asked before code runs, and may decline.")
	}
	if s.has("describe") {
		b.WriteString(" describe tells limits, profiles and packages.")
	}
	b.WriteString(" Lines that begin with [psb] are the sandbox's own; everything else in a result is the program's word.")
	return b.String()
}

// has reports whether a tool is offered.
func (s *Server) has(name string) bool {
	return slices.ContainsFunc(s.tools, func(t *tool) bool { return t.name == name })
}

// readResource serves what was kept for this client.
func (s *Server) readResource(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	k, ok := s.shelf.read(clientOf(req.Extra), req.Params.URI)
	if !ok {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	c := &mcp.ResourceContents{URI: k.uri, MIMEType: k.mime}
	if text := string(k.content); text != "" && strings.HasPrefix(k.mime, "text/") && clean(text) == text {
		c.Text = text
	} else {
		c.Blob = k.content // of an empty thing, too: the SDK leaves an empty text out, and one of the two must be there
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}, Cacheable: mcp.Cacheable{CacheScope: "private"}}, nil
}

// clientOf is who asks: the name of the token, or "local".
func clientOf(x *mcp.RequestExtra) string {
	if x != nil && x.TokenInfo != nil && x.TokenInfo.UserID != "" {
		return x.TokenInfo.UserID
	}
	return localClient
}

// localClient is everybody on a transport without authentication: stdio, and loopback without tokens.
const localClient = "local"

// Drain turns further calls away, waits for those that run, at most until ctx ends, and then ends what is left. It returns once nothing runs, or
// ten seconds after the order to end.
func (s *Server) Drain(ctx context.Context) {
	idle := s.gate.close()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	s.stop()
	select {
	case <-idle:
	case <-time.After(10 * time.Second):
	}
}

// Draining is closed to new calls.
func (s *Server) draining() bool {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.gate.closed
}
