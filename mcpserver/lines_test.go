package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lockedBuffer is written by several.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) Close() error { return nil }

func (l *lockedBuffer) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.b.String(), "\n"), "\n")
}

// lined answers every request that comes by these lines with its method, and gives what came and what was written.
func lined(t *testing.T, text string, most int) (messages []jsonrpc.Message, written []string) {
	t.Helper()
	var out lockedBuffer
	c, err := (&lineTransport{io.NopCloser(strings.NewReader(text)), &out, most}).Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := c.Read(context.Background())
		if err != nil {
			if err != io.EOF {
				t.Fatalf("%q: %v", text, err)
			}
			return messages, out.lines()
		}
		messages = append(messages, m)
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			result, _ := json.Marshal(map[string]string{"method": r.Method})
			if err := c.Write(context.Background(), &jsonrpc.Response{ID: r.ID, Result: result}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLines: each line is a message, a batch whose answers come back together, or an error of its own; what follows it is read in any case.
func TestLines(t *testing.T) {
	call := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"m"}` }
	answer := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"method":"m"}}` }
	no := func(id string, code int, why string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q},"id":%s,"jsonrpc":"2.0"}`, code, why, id)
	}
	for text, want := range map[string]string{
		call("1"):                               answer("1"),
		call("1") + "\r":                        answer("1"),
		call(`"a"`) + "\n\n" + call("2"):        answer(`"a"`) + "\n" + answer("2"),
		"{":                                     no("null", -32700, "not one JSON value on one line"),
		call("1") + call("2"):                   no("null", -32700, "not one JSON value on one line"),
		"\xff":                                  no("null", -32700, "not UTF-8"),
		"[]":                                    no("null", -32600, "an empty batch"),
		`{"jsonrpc":"1.0","id":7,"method":""}`:  no("7", -32600, "no message of JSON-RPC 2.0"),
		`{"jsonrpc":"2.0","method":"n"}`:        "",
		"[" + call("1") + "," + call("2") + "]": "[" + answer("1") + "," + answer("2") + "]",
		"[" + call("1") + `,{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"n"}]`: "[" + answer("1") + "]",
		"[" + call("1") + `,5]`:                 "[" + no("null", -32600, "no message of JSON-RPC 2.0") + "," + answer("1") + "]",
		"[" + call("1") + "," + call("1") + "]": "[" + no("null", -32600, "the id 1 is of a request that has no answer yet") + "," + answer("1") + "]",
		`[{"jsonrpc":"2.0","method":"n"}]`:      "",
		strings.Repeat("x", 500):                no("null", -32600, "a message of more than 400 bytes"),
		strings.Repeat("[", 300):                no("null", -32700, "not one JSON value on one line"),
	} {
		messages, written := lined(t, text+"\n"+call(`"last"`)+"\n", 400)
		last, _ := messages[len(messages)-1].(*jsonrpc.Request)
		if want != "" {
			want += "\n"
		}
		if got := strings.Join(written, "\n"); got != want+answer(`"last"`) || last == nil || last.ID.Raw() != "last" {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// TestNoiseEndsNothing: a call that goes on is answered though lines come meanwhile that are no messages.
func TestNoiseEndsNothing(t *testing.T) {
	started, hold := make(chan struct{}), make(chan struct{})
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: func(context.Context, *Request) (*Result, error) {
		close(started)
		<-hold
		return okResult(), nil
	}})
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.Background(), in, out) }()
	answers := json.NewDecoder(ours)
	next := func() (id any) {
		t.Helper()
		var m map[string]any
		if err := answers.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m["id"]
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},%s}}`+"\n", meta)
	<-started
	for _, noise := range []string{"{", "hello", "[]", "\xff", `{"jsonrpc":"2.0"}`} {
		fmt.Fprintln(theirs, noise)
		if id := next(); id != nil {
			t.Errorf("%q: the answer to %v", noise, id)
		}
	}
	close(hold)
	if id := next(); id != 1.0 {
		t.Errorf("the answer to %v", id)
	}
	theirs.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// FuzzLines: whatever comes before it, the last line is read; all that is written are lines of JSON; each request that came has one answer.
func FuzzLines(f *testing.F) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"a"}`, "{", "[]", "[[[[", "\xff\n\n", `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":1,"method":"b"},7]`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":"1","method":"a"}`, strings.Repeat(`{"a":`, 300), strings.Repeat("x", 9000), `{"jsonrpc":"2.0","id":null,"method":"a"}`, "{}\r\n{}\r", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		messages, written := lined(t, text+"\n"+`{"jsonrpc":"2.0","id":"the last","method":"end"}`+"\n", 8000)
		asked, answers := 0, 0
		for _, m := range messages {
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				asked++
			}
		}
		last, _ := messages[len(messages)-1].(*jsonrpc.Request)
		if last == nil || last.Method != "end" {
			t.Fatalf("%q: the last line was not read", text)
		}
		for _, line := range written {
			var list []json.RawMessage
			if json.Unmarshal([]byte(line), &list) != nil {
				list = []json.RawMessage{json.RawMessage(line)}
			}
			for _, one := range list {
				var m struct {
					Result *json.RawMessage
					Error  *struct{ Message string }
				}
				if err := json.Unmarshal(one, &m); err != nil || (m.Result == nil) == (m.Error == nil) || !utf8.Valid(one) {
					t.Fatalf("%q: %v: %s", text, err, one)
				}
				if m.Result != nil {
					answers++
				}
			}
		}
		if asked != answers {
			t.Fatalf("%q: %d requests, %d answers: %q", text, asked, answers, written)
		}
	})
}
