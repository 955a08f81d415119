package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fakeRunner answers with what it is told to, and remembers what it was asked.
type fakeRunner struct {
	offer Offer
	run   func(ctx context.Context, r *Request) (*Result, error)
}

func (f *fakeRunner) Offer() Offer { return f.offer }

func (f *fakeRunner) Run(ctx context.Context, r *Request) (*Result, error) {
	if f.run == nil {
		return okResult(), nil
	}
	return f.run(ctx, r)
}

func okResult() *Result {
	zero := 0
	return &Result{Status: OK, Exit: Exit{Code: &zero, Reason: "exit"}, Wall: time.Second / 4, Cleanup: Cleanup{State: Removed}}
}

func testOffer() Offer {
	return Offer{Version: "test", Python: "3.11", Ceilings: DefaultCeilings(), Profiles: []Profile{{Name: "default", Python: "3.11"}, {Name: "data", Python: "3.12"}}, Networks: []string{"none"}}
}

// TestServeFixtures is no test: with PSB_MCP_FIXTURES it serves psb's own HTTP side with the fixtures of the conformance suite, prints the
// endpoint, and ends when its standard input does.
func TestServeFixtures(t *testing.T) {
	if os.Getenv("PSB_MCP_FIXTURES") == "" {
		t.Skip("PSB_MCP_FIXTURES is not set")
	}
	var s *Server
	s, err := New(Options{Version: "test", Extra: fixtures(func() *Server { return s })}, &fakeRunner{offer: testOffer()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("http://%s%s\n", l.Addr(), Endpoint)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	go func() {
		for ctx.Err() == nil {
			_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://watched-resource"})
			time.Sleep(time.Second)
		}
	}()
	if err := s.ServeHTTP(ctx, l, nil, HTTPOptions{}, time.Second); err != nil {
		t.Fatal(err)
	}
}
