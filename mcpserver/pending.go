package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pendingTransport knows which requests have no answer yet: the SDK drops answers that are not written when a session is closed. A call that its
// client gave up gets none: the protocol asks for that, and some clients take an answer that they do not wait for as an error.
type pendingTransport struct {
	mcp.Transport
	pending *pending
}

func (t *pendingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pendingConnection{Connection: c, pending: t.pending, open: map[jsonrpc.ID]bool{}}, nil
}

type pendingConnection struct {
	mcp.Connection
	pending *pending

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // calls of tools without an answer; true: given up
}

func (c *pendingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok {
		c.asked(r)
	}
	return m, err
}

// asked looks at what comes from the client.
func (c *pendingConnection) asked(r *jsonrpc.Request) {
	if r.IsCall() {
		c.pending.add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.Method {
	case "tools/call":
		if r.IsCall() {
			c.open[r.ID] = false
		}
	case "notifications/cancelled":
		var what struct{ RequestID any }
		if json.Unmarshal(r.Params, &what) != nil {
			return
		}
		id, err := jsonrpc.MakeID(what.RequestID)
		if _, waits := c.open[id]; err == nil && waits {
			c.open[id] = true
		}
	}
}

func (c *pendingConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	defer c.pending.add(-1)
	if c.answered(r.ID) {
		return nil
	}
	return c.Connection.Write(ctx, m)
}

// answered forgets a call, and tells whether its client gave it up.
func (c *pendingConnection) answered(id jsonrpc.ID) (givenUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	givenUp = c.open[id]
	delete(c.open, id)
	return givenUp
}

// pending is a count that can be waited for.
type pending struct {
	mu    sync.Mutex
	n     int
	empty []chan struct{}
}

func (p *pending) add(d int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n += d; p.n <= 0 {
		for _, c := range p.empty {
			close(c)
		}
		p.empty = nil
	}
}

// none is closed once there is none.
func (p *pending) none() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(chan struct{})
	if p.n <= 0 {
		close(c)
	} else {
		p.empty = append(p.empty, c)
	}
	return c
}
