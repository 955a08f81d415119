package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pendingTransport knows which requests have no answer yet: the SDK drops answers that are not written when a session is closed.
type pendingTransport struct {
	mcp.Transport
	pending *pending
}

func (t *pendingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pendingConnection{c, t.pending}, nil
}

type pendingConnection struct {
	mcp.Connection
	pending *pending
}

func (c *pendingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.pending.add(1)
	}
	return m, err
}

func (c *pendingConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.pending.add(-1)
	}
	return err
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
