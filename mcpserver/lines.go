package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lineTransport carries the protocol on two streams: each line is a message, or a batch of them. A line that is neither is answered with an error and
// nothing else comes of it. The SDK's own transport ends with it: one slip of a client took every call, task and session of it along, unanswered.
type lineTransport struct {
	in   io.ReadCloser
	out  io.WriteCloser
	most int // bytes of a line
}

func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConnection{in: t.in, out: t.out, most: t.most, incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), unanswered: map[jsonrpc.ID]*batch{}}
	go c.listen()
	return c, nil
}

type lineConnection struct {
	in       io.ReadCloser
	out      io.WriteCloser
	most     int
	incoming chan jsonrpc.Message
	err      error // why nothing more comes; to be read once incoming is closed
	closed   chan struct{}
	once     sync.Once
	writing  sync.Mutex // a line at a time

	mu         sync.Mutex
	unanswered map[jsonrpc.ID]*batch // what every request that has no answer yet came in; nil: in nothing
}

// batch collects the answers to messages that came together: they go back together.
type batch struct {
	left    int
	answers []json.RawMessage
}

func (c *lineConnection) SessionID() string { return "" }

func (c *lineConnection) Close() error {
	err := error(nil)
	c.once.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

func (c *lineConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.incoming:
		if !ok {
			return nil, c.err
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	}
}

// listen reads lines until there is none.
func (c *lineConnection) listen() {
	defer close(c.incoming)
	lines := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := c.line(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			for _, m := range c.messages(line) {
				select {
				case c.incoming <- m:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			c.err = err
			return
		}
	}
}

// line is the next one; of one that is too long nothing is kept.
func (c *lineConnection) line(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > c.most; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			c.say(refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message of more than %d bytes", c.most)))
		}
		return line, err
	}
}

// messages are those of a line. What is none of them is answered here.
func (c *lineConnection) messages(line []byte) []jsonrpc.Message {
	switch {
	case !utf8.Valid(line):
		c.say(refusal(jsonrpc.ID{}, jsonrpc.CodeParseError, "not UTF-8"))
		return nil
	case !json.Valid(line):
		c.say(refusal(jsonrpc.ID{}, jsonrpc.CodeParseError, "not one JSON value on one line"))
		return nil
	case line[0] != '[':
		m, wrong := c.message(line, nil)
		if wrong != nil {
			c.say(wrong)
			return nil
		}
		return []jsonrpc.Message{m}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 {
		c.say(refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "an empty batch"))
		return nil
	}
	var all []jsonrpc.Message
	b := &batch{left: 1} // held until all of it is read
	for _, raw := range list {
		m, wrong := c.message(raw, b)
		if wrong == nil {
			all = append(all, m)
			continue
		}
		c.mu.Lock()
		b.answers = append(b.answers, wrong)
		c.mu.Unlock()
	}
	c.say(c.whole(b))
	return all
}

// message reads one, or says in an answer what is wrong with it.
func (c *lineConnection) message(raw []byte, in *batch) (jsonrpc.Message, json.RawMessage) {
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, refusal(idOf(raw), jsonrpc.CodeInvalidRequest, "no message of JSON-RPC 2.0")
	}
	r, asks := m.(*jsonrpc.Request)
	if !asks || !r.IsCall() {
		return m, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.unanswered[r.ID]; there {
		return nil, refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v is of a request that has no answer yet", r.ID.Raw()))
	}
	c.unanswered[r.ID] = in
	if in != nil {
		in.left++
	}
	return m, nil
}

// idOf is the id of something that is no message, where it has one.
func idOf(raw []byte) jsonrpc.ID {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(raw, &m)
	id, _ := jsonrpc.MakeID(m.ID)
	return id
}

// refusal is the answer to what is no message. An id that cannot be told is null.
func refusal(id jsonrpc.ID, code int64, why string) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": why}})
	return b
}

// Write sends a message; the answer to one of a batch with the last of them.
func (c *lineConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if r, answers := m.(*jsonrpc.Response); answers {
		c.mu.Lock()
		b := c.unanswered[r.ID]
		delete(c.unanswered, r.ID)
		if b != nil {
			b.answers = append(b.answers, line)
		}
		c.mu.Unlock()
		if b != nil {
			line = c.whole(b)
		}
	}
	return c.say(line)
}

// whole takes one away from what a batch waits for, and gives its answers where that was the last.
func (c *lineConnection) whole(b *batch) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.left--; b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	line, _ := json.Marshal(b.answers)
	return line
}

// say writes a line; nothing where there is nothing to say.
func (c *lineConnection) say(line []byte) error {
	if line == nil {
		return nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(line, '\n'))
	return err
}
