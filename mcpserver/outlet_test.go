package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// streamed are the pieces of a call's progress notifications, as they come.
func streamed(t *testing.T, s *Server, meta mcp.Meta) (<-chan []piece, *mcp.ClientSession) {
	t.Helper()
	pieces := make(chan []piece, 1000)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		var list []piece
		if b, err := json.Marshal(r.Params.Meta[outputKey]); err == nil && json.Unmarshal(b, &list) == nil && len(list) > 0 {
			pieces <- list
		}
	}})
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := s.mcp.Connect(context.Background(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	session, err := c.Connect(context.Background(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return pieces, session
}

func taken(t *testing.T, pieces <-chan []piece) []piece {
	t.Helper()
	select {
	case p := <-pieces:
		return p
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		return nil
	}
}

// TestOutputWhileItRuns: a call that asks for it is told what the program prints before the program ends, every byte of it, apart by stream; others are not.
func TestOutputWhileItRuns(t *testing.T) {
	goOn := make(chan struct{})
	run := func(_ context.Context, r *Request) (*Result, error) {
		r.Output(Stdout, []byte("first \xff"))
		<-goOn
		r.Output(Stderr, []byte("second"))
		r.Output(Stdout, bytes.Repeat([]byte("x"), 3*mostPiece))
		return okResult(), nil
	}
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: run})
	call := func(meta mcp.Meta) (<-chan []piece, <-chan error) {
		pieces, c := streamed(t, s, meta)
		p := &mcp.CallToolParams{Name: "run_python", Arguments: map[string]any{"code": "x"}, Meta: meta}
		p.SetProgressToken("token")
		end := make(chan error, 1)
		go func() { _, err := c.CallTool(context.Background(), p); end <- err }()
		return pieces, end
	}
	pieces, end := call(mcp.Meta{streamKey: true})
	if got := taken(t, pieces); len(got) != 1 || got[0].Stream != "stdout" || got[0].Base64 != base64.StdEncoding.EncodeToString([]byte("first \xff")) {
		t.Errorf("%+v", got)
	}
	close(goOn)
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	for sizes["stdout"] < 3*mostPiece || sizes["stderr"] < 6 {
		for _, p := range taken(t, pieces) {
			b, err := base64.StdEncoding.DecodeString(p.Base64)
			if err != nil || len(b) > mostPiece || p.Lost != 0 {
				t.Errorf("%v: %d bytes, %d lost", err, len(b), p.Lost)
			}
			sizes[p.Stream] += len(b)
		}
	}
	if sizes["stdout"] != 3*mostPiece || sizes["stderr"] != 6 {
		t.Errorf("%v", sizes)
	}
	pieces, end = call(nil)
	if err := <-end; err != nil || len(pieces) > 0 {
		t.Errorf("%v, %d pieces nobody asked for", err, len(pieces))
	}
}

// TestOutputIsBounded: a client that reads slowly holds neither the run nor more than a bound of memory; the gap is told where it is.
func TestOutputIsBounded(t *testing.T) {
	o := &outlet{more: make(chan struct{}, 1)}
	for range 100 {
		o.add(Stdout, bytes.Repeat([]byte("x"), mostPending/50))
	}
	o.add(Stderr, []byte("e"))
	o.add(Stream(7), []byte("none"))
	var bytesOut, lost, pieces int64
	for list := o.take(); len(list) > 0; list = o.take() {
		for _, p := range list {
			b, _ := base64.StdEncoding.DecodeString(p.Base64)
			if lost > 0 && p.Stream == "stdout" {
				t.Error("bytes after the gap that came before it")
			}
			if p.Stream == "stdout" {
				bytesOut, lost = bytesOut+int64(len(b)), lost+p.Lost
			}
			pieces++
		}
	}
	if bytesOut != mostPending/50*50 || bytesOut+lost != mostPending/50*100 || pieces < mostPending/mostPiece {
		t.Errorf("%d bytes, %d lost, in %d pieces", bytesOut, lost, pieces)
	}
	o.add(Stdout, []byte("later"))
	if list := o.take(); len(list) != 1 || list[0].Base64 != base64.StdEncoding.EncodeToString([]byte("later")) {
		t.Errorf("%+v", list)
	}
	var none *outlet
	none.add(Stdout, []byte("x"))
	if none.take() != nil || none.wake() != nil {
		t.Error("nobody asked")
	}
}
