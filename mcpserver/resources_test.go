package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// filesFor is a Runner whose calls make as many files as their code says, each of another content.
func filesFor(calls *int) *fakeRunner {
	return &fakeRunner{offer: testOffer(), run: func(_ context.Context, q *Request) (*Result, error) {
		r := okResult()
		*calls++
		for i := range len(q.Code) {
			text := fmt.Sprintf("%d of call %d", i, *calls)
			r.Files = append(r.Files, File{Path: fmt.Sprintf("d/%d \u202e.txt", i), MIME: "text/plain", Size: int64(len(text)), Change: "created", Content: []byte(text)})
		}
		return r, nil
	}}
}

// heard is one client that counts what it is told.
type heard struct {
	*mcp.ClientSession
	news chan struct{}
}

func (h heard) next(t *testing.T) {
	t.Helper()
	select {
	case <-h.news:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody told that the list is another one")
	}
}

func listening(t *testing.T, transport mcp.Transport, revision string) heard {
	t.Helper()
	h := heard{news: make(chan struct{}, 100)}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { h.news <- struct{}{} }})
	var err error
	if h.ClientSession, err = c.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func (h heard) resources(t *testing.T) (list []*mcp.Resource) {
	t.Helper()
	for r, err := range h.Resources(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestResourcesAreTheClients: what calls made is listed for their client and can be read by it, on every transport and revision; its client is told once for
// each call that made something, and nobody else is.
func TestResourcesAreTheClients(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("ann "+sum([]byte("a"))+"\nbob "+sum([]byte("b"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := ReadTokens(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{modernRevision, "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			calls := 0
			s := testServer(t, Options{}, filesFor(&calls))
			h := httptest.NewServer(s.Handler(HTTPOptions{Loopback: true, Tokens: tokens}))
			t.Cleanup(h.Close)
			client := func(token string) heard {
				return listening(t, &mcp.StreamableClientTransport{Endpoint: h.URL + Endpoint, HTTPClient: &http.Client{Transport: bearer(token)}}, revision)
			}
			ann, bob := client("a"), client("b")
			tryResources(t, ann)
			bob.CallTool(context.Background(), &mcp.CallToolParams{Name: "run_python", Arguments: map[string]any{"code": "x"}})
			bob.next(t)
			if len(bob.news) > 0 || len(ann.news) > 0 {
				t.Errorf("bob was told of ann's, or ann of bob's: %d, %d", len(bob.news), len(ann.news))
			}
			its, theirs := bob.resources(t), ann.resources(t)
			if len(its) != 1 || len(theirs) != 6 {
				t.Errorf("%d of bob's, %d of ann's", len(its), len(theirs))
			}
			if r, err := ann.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: its[0].URI}); err == nil {
				t.Errorf("ann reads bob's: %v", r)
			}
		})
		t.Run("stdio "+revision, func(t *testing.T) {
			calls := 0
			tryResources(t, listening(t, overPipes(t, testServer(t, Options{}, filesFor(&calls))), revision))
		})
	}
}

// tryResources: nothing, five files of a call, none of another, one of a third.
func tryResources(t *testing.T, c heard) {
	t.Helper()
	if list := c.resources(t); len(list) != 0 {
		t.Fatalf("%v", list)
	}
	call := func(code string) {
		t.Helper()
		callTool(t, c.ClientSession, "run_python", map[string]any{"code": code})
	}
	call("12345")
	c.next(t)
	call("")
	call("1")
	c.next(t)
	if len(c.news) > 0 {
		t.Errorf("told %d times more than something came", len(c.news))
	}
	list := c.resources(t)
	if len(list) != 6 || list[0].Name != `files/d/0 \u202e.txt` || list[0].Size != 11 || list[0].MIMEType != "text/plain" {
		t.Fatalf("%d: %+v", len(list), list[0])
	}
	for i, want := range []string{"0 of call 3", "4 of call 1", "3 of call 1", "2 of call 1", "1 of call 1", "0 of call 1"} { // the newest first
		r, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: list[i].URI})
		if err != nil || len(r.Contents) != 1 || r.Contents[0].Text != want {
			t.Errorf("%s: %v %v, want %s", list[i].URI, r, err, want)
		}
	}
}

// TestResourcesByPage: a list that is too long comes in pages, whole and in order, also where something comes and goes meanwhile.
func TestResourcesByPage(t *testing.T) {
	now := time.Unix(0, 0)
	s := testServer(t, Options{Now: func() time.Time { return now }}, &fakeRunner{offer: testOffer()})
	for i := range 250 {
		s.shelf.keep(localClient, "run", fmt.Sprint(i), "text/plain", []byte("x"))
		s.shelf.keep("other", "run2", fmt.Sprint(i), "text/plain", []byte("x"))
	}
	c := connect(t, s, "stdio")
	var names []string
	cursor := ""
	for pages := 1; ; pages++ {
		r, err := c.ListResources(context.Background(), &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil || r.CacheScope != "private" || r.TTLMs != 0 {
			t.Fatalf("%+v %v", r, err)
		}
		for _, x := range r.Resources {
			names = append(names, x.Name)
		}
		s.shelf.keep(localClient, "later", fmt.Sprint(pages), "text/plain", []byte("x"))
		if cursor = r.NextCursor; cursor == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if len(names) != 250 || names[0] != "249" || names[100] != "149" || names[249] != "0" {
		t.Errorf("%d: %s", len(names), strings.Join(names, " "))
	}
	for _, wrong := range []string{"kept-", "kept-!", "kept-LTE", "kept-MA", "other"} {
		if r, err := c.ListResources(context.Background(), &mcp.ListResourcesParams{Cursor: wrong}); err == nil {
			t.Errorf("%s: %v", wrong, r)
		}
	}
	now = now.Add(time.Hour)
	if r, err := c.ListResources(context.Background(), nil); err != nil || len(r.Resources) != 0 {
		t.Errorf("an hour later %v %v", r, err)
	}
}

// TestListeningEnds: a server that ends answers who listens, and does not wait for it.
func TestListeningEnds(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer()})
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(ctx, in, out) }()
	lines := bufio.NewScanner(ours)
	fmt.Fprintln(theirs, `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"notifications/subscriptions/acknowledged"`) {
		t.Fatal(lines.Text())
	}
	stop()
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":7`) || !strings.Contains(lines.Text(), `"result"`) {
		t.Errorf("%s", lines.Text())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
