package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"psb/mcpserver"
)

// sessionBox is the psb behind a session, as the server knows it.
type sessionBox struct {
	p     *boxProcess
	ready chan struct{} // closed when the program waits for orders
	done  chan struct{} // closed when nothing is left of it
	final *boxVerdict   // once done
	how   string        // what is wrong where there is none

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

func startSessionBox(o *boxOrder) (*sessionBox, error) {
	p, err := startBox(o)
	if err != nil {
		return nil, err
	}
	p.stdin.Close() // each order brings its own
	b := &sessionBox{p: p, ready: make(chan struct{}), done: make(chan struct{}), orders: json.NewEncoder(p.orders), waiting: map[int]*awaited{}}
	go b.listen()
	return b, nil
}

// listen takes what psb says until its last word.
func (b *sessionBox) listen() {
	var err error
	for b.final == nil && err == nil {
		b.p.bound.N = mostVerdict
		var w boxWord
		if err = b.p.words.Decode(&w); err != nil {
			break
		}
		switch {
		case w.Ready != nil:
			close(b.ready)
		case w.Say != nil:
			b.said(w.Say)
		}
		b.final = w.Verdict
	}
	b.p.verdict.Close()
	b.p.hangUp()
	state := b.p.cmd.Wait()
	b.p.reading.Wait()
	b.p.orders.Close()
	switch {
	case state != nil:
		b.final, b.how = nil, fmt.Sprintf("the psb of this session ended without a verdict: %v", state)
	case err != nil:
		b.how = fmt.Sprintf("the verdict cannot be read: %v", err)
	}
	close(b.done)
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
	case say.Opened && w.opened != nil:
		close(w.opened)
	case w.printed != nil:
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
	case <-b.done:
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
	select {
	case say := <-w.answer:
		return say.Verdict, "", [2]mcpserver.Text{out[0].text(), out[1].text()}
	case <-b.done:
	}
	select {
	case say := <-w.answer: // it came before the end
		return say.Verdict, "", [2]mcpserver.Text{out[0].text(), out[1].text()}
	default:
	}
	return b.final, b.how, [2]mcpserver.Text{out[0].text(), out[1].text()}
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
		case <-b.done:
		}
		return false
	}
	select { // a reader must be there: what is in a pipe that nobody has opened is lost at its end
	case <-w.opened:
	case <-over:
		return
	case <-b.done:
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
func (b *sessionBox) end() {
	b.p.hangUp()
	select {
	case <-b.done:
	case <-time.After(cancelTime):
		_ = b.p.cmd.Process.Kill() // its keeper ends the box
		<-b.done
	}
}
