package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"psb/mcpserver"
)

// sessionBox is the box behind a session, as the server knows it.
type sessionBox struct {
	p *boxProcess

	asking  sync.Mutex // one message at a time
	orders  *json.Encoder
	mu      sync.Mutex
	next    int
	waiting map[int]*awaited
}

// awaited is one question and what comes before its answer.
type awaited struct {
	id      int
	answer  chan *sessionSay
	printed func(mcpserver.Stream, []byte)
	opened  chan struct{}
}

// notStartedBox is why a session's box is not there.
type notStartedBox struct {
	verdict *boxVerdict
	words   string
}

func startSessionBox(n *nurseries, o *boxOrder) (*sessionBox, error) {
	b := &sessionBox{waiting: map[int]*awaited{}}
	p, err := n.startSaying(o, b.said)
	if err != nil {
		return nil, err
	}
	b.p, b.orders = p, json.NewEncoder(p.orders)
	p.stdin.Close() // each order brings its own
	go func() {
		<-p.over
		p.orders.Close()
	}()
	return b, nil
}

// neverMade waits until the box is there, or will not be, and tells whether another psb may make it.
func (b *sessionBox) neverMade(ctx context.Context) bool {
	select {
	case <-b.p.ready:
	case <-b.p.over:
	case <-ctx.Done():
	}
	return isClosed(b.p.over) && !isClosed(b.p.ready) && b.p.orphan() && ctx.Err() == nil
}

func (b *sessionBox) said(say *sessionSay) {
	b.mu.Lock()
	w := b.waiting[say.ID]
	answers := w != nil && say.Printed == nil && !say.Opened
	if answers {
		delete(b.waiting, say.ID)
	}
	b.mu.Unlock()
	switch {
	case w == nil:
	case answers:
		w.answer <- say
	case say.Opened && w.opened != nil && !isClosed(w.opened):
		close(w.opened)
	case w.printed != nil && say.Stream <= mcpserver.Stderr:
		w.printed(say.Stream, say.Printed)
	}
}

// ask sends a question.
func (b *sessionBox) ask(a *sessionAsk, w *awaited) *awaited {
	w.answer = make(chan *sessionSay, 1)
	b.mu.Lock()
	b.next++
	a.ID, w.id = b.next, b.next
	b.waiting[a.ID] = w
	b.mu.Unlock()
	b.asking.Lock()
	defer b.asking.Unlock()
	_ = b.orders.Encode(a) // a psb that is gone is done
	return w
}

// answer waits for it.
func (b *sessionBox) answer(ctx context.Context, a *sessionAsk) (*sessionSay, error) {
	w := b.ask(a, &awaited{})
	select {
	case say := <-w.answer:
		return say, nil
	case <-b.p.over:
		return nil, mcpserver.ErrNoSession
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// do asks for something that has no result.
func (b *sessionBox) do(ctx context.Context, what string) error {
	say, err := b.answer(ctx, &sessionAsk{Do: what})
	switch {
	case err != nil:
		return err
	case say.Wrong == mcpserver.ErrIdle.Error():
		return mcpserver.ErrIdle
	case say.Wrong != "":
		return errors.New(say.Wrong)
	}
	return nil
}

// call gives an order and waits for its end, or for the box's. When ctx ends the order is interrupted.
func (b *sessionBox) call(ctx context.Context, c *callOrder, q *mcpserver.Request) (*boxVerdict, string, [2]mcpserver.Text) {
	out := [2]*capture{newCapture(mostShown), newCapture(mostShown)}
	w := &awaited{opened: make(chan struct{}), printed: func(s mcpserver.Stream, p []byte) {
		if q.Output != nil {
			q.Output(s, p)
		}
		out[s].add(p)
	}}
	over := make(chan struct{})
	defer close(over)
	b.ask(&sessionAsk{Call: c, Name: rand.Text()}, w)
	if q.Stdin != nil {
		go b.feed(w, q.Stdin, over)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = b.do(context.Background(), "cancel") // ErrIdle: it is over
		select {
		case <-over:
		case <-time.After(interruptGrace + cancelTime):
			b.end()
		}
	})
	defer stop()
	texts := func() [2]mcpserver.Text { return [2]mcpserver.Text{out[0].text(), out[1].text()} }
	said := func(say *sessionSay) (*boxVerdict, string, [2]mcpserver.Text) {
		if say.Verdict == nil {
			return nil, errNonsense.Error(), texts()
		}
		return say.Verdict, "", texts()
	}
	select {
	case say := <-w.answer:
		return said(say)
	case <-b.p.over:
	}
	select {
	case say := <-w.answer: // it came before the end
		return said(say)
	default:
	}
	return b.p.verdict, b.p.how, texts()
}

// feed sends an order's standard input, piece by piece.
func (b *sessionBox) feed(w *awaited, in io.Reader, over <-chan struct{}) {
	buf := make([]byte, 32<<10)
	send := func(p []byte) bool {
		say := b.ask(&sessionAsk{Input: &inputAsk{w.id, p}}, &awaited{})
		select {
		case x := <-say.answer:
			return x.Wrong == ""
		case <-over:
		case <-b.p.over:
		}
		return false
	}
	select { // a reader must be there: what is in a pipe that nobody has opened is lost at its end
	case <-w.opened:
	case <-over:
		return
	case <-b.p.over:
		return
	}
	for {
		n, err := in.Read(buf)
		if n > 0 && !send(buf[:n]) {
			return
		}
		if err != nil {
			send(nil)
			return
		}
	}
}

// end ends it and waits until nothing is left.
func (b *sessionBox) end() { b.p.end() }
