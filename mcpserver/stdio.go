package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// ServeStdio serves one client by lines of JSON. It returns nil when the client closed its end, or ctx ended, and all that it had begun is over:
// tasks, too, for nobody could ask for them any more. A client that reads nothing for the stall time is dropped as if it had closed its end.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	w := &stallWriter{w: out, after: s.options.StallAfter, drop: func() { drop(); _ = in.Close() }}
	var unanswered pending
	transport := &pendingTransport{&lineTransport{in, w, s.options.MaxMessage}, &unanswered}
	session, err := s.mcp.Connect(context.WithoutCancel(ctx), transport, nil)
	if err != nil {
		return fmt.Errorf("begin to serve: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		s.stop() // ends what still runs, with an answer
		select {
		case <-unanswered.none():
		case <-time.After(lastWords):
		}
		_ = session.Close()
	})
	defer stop()
	err = session.Wait()
	drop()
	s.stop()
	ended, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	s.Drain(ended)
	if w.stalled() {
		return ErrStalled
	}
	if err != nil && (errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe)) {
		return nil
	}
	return err
}

// lastWords is how long the answers of what was ended may take.
const lastWords = 5 * time.Second

// ErrStalled is the end of a client that stopped reading.
var ErrStalled = errors.New("the client does not read: dropped")

// stallWriter gives a write that does not come to its end up. What was written then is lost with the client.
type stallWriter struct {
	w     io.WriteCloser
	after time.Duration
	drop  func()

	mu   sync.Mutex
	dead bool
}

func (s *stallWriter) Write(b []byte) (int, error) {
	if s.stalled() {
		return 0, ErrStalled
	}
	type done struct {
		n   int
		err error
	}
	end := make(chan done, 1)
	go func() {
		n, err := s.w.Write(b)
		end <- done{n, err}
	}()
	t := time.NewTimer(s.after)
	defer t.Stop()
	select {
	case d := <-end:
		return d.n, d.err
	case <-t.C:
		s.mu.Lock()
		s.dead = true
		s.mu.Unlock()
		s.drop()
		return 0, ErrStalled
	}
}

func (s *stallWriter) Close() error { return s.w.Close() }

func (s *stallWriter) stalled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}
