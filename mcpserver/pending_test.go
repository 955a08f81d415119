package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// wire speaks to a server on stdio by hand, a line at a time.
type wire struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Reader
	done  chan error
}

func newWire(t *testing.T, s *Server) *wire {
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	w := &wire{t, theirs, bufio.NewReader(ours), make(chan error, 1)}
	go func() {
		err := s.ServeStdio(context.Background(), in, out)
		out.Close()
		w.done <- err
	}()
	return w
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

// call asks for a run under an id, which is JSON.
func (w *wire) call(id, code, profile string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_python","arguments":{"code":%q,"profile":%q},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, code, profile)
}

func (w *wire) cancel(id string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

// answer gives the id of the next line from the server.
func (w *wire) answer() string {
	w.t.Helper()
	line, err := w.lines.ReadBytes('\n')
	var m struct{ ID json.RawMessage }
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		w.t.Fatalf("%q: %v", line, err)
	}
	return string(m.ID)
}

// TestGivenUpCallsHaveNoAnswer: the run ends, and the client that gave it up hears nothing more of it; every other call is answered, the one that
// ended before its client gave it up, too. What is left of a run that nobody hears of is told to the operator.
func TestGivenUpCallsHaveNoAnswer(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	var said []string
	w := newWire(t, testServer(t, Options{Say: func(line string) { said = append(said, line) }}, &fakeRunner{offer: testOffer(), run: func(ctx context.Context, q *Request) (*Result, error) {
		if q.Code != "wait" {
			return okResult(), nil
		}
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		left := Cleanup{State: PartLeft, Left: []string{"control group psb-1"}}
		if q.Profile == "data" {
			left = Cleanup{State: Removed}
		}
		return &Result{Status: Cancelled, Cleanup: left}, nil
	}}))
	for id, profile := range map[string]string{"1": "default", `"a name"`: "data"} {
		w.call(id, "wait", profile)
		<-started
		w.cancel(`"somebody else's"`)
		w.cancel("[]")
		w.cancel(id)
		<-ended
	}
	w.call("2", "at once", "default")
	if got := w.answer(); got != "2" {
		t.Errorf("an answer to %s", got)
	}
	w.cancel("2")
	w.in.Close()
	if rest, _ := io.ReadAll(w.lines); len(rest) > 0 {
		t.Errorf("%q", rest)
	}
	if err := <-w.done; err != nil {
		t.Error(err)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "run ") || !strings.HasSuffix(said[0], ", which its client gave up: cleanup PARTIAL: control group psb-1") {
		t.Errorf("%q", said)
	}
}
