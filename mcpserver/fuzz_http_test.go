package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// webOf serves a witness over HTTP.
func webOf(f *testing.F, o HTTPOptions) (*witness, http.Handler) {
	w := &witness{fakeFiles: newFakeFiles()}
	s, err := New(Options{MaxMessage: 1 << 16}, w)
	if err != nil {
		f.Fatal(err)
	}
	return w, s.Handler(o)
}

// posted sends a body with headers, and gives the answer; nil where no client could send it.
func posted(t *testing.T, h http.Handler, host, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a stream that older clients may keep open
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1"+Endpoint, strings.NewReader(body))
	if err != nil {
		return nil
	}
	r.Host, r.RemoteAddr, r.Header = host, "127.0.0.1:1", header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// messagesIn are those of an answer: its JSON, or each of its stream.
func messagesIn(w *httptest.ResponseRecorder) (list []string) {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return []string{w.Body.String()}
	}
	for line := range strings.Lines(w.Body.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			list = append(list, data)
		}
	}
	return list
}

// FuzzBody: no body makes the server panic, nor ask the Runner for what may not be; its answers are JSON, and what cannot be read is refused.
func FuzzBody(f *testing.F) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, body := range []string{call, "[" + call + "]", "[" + call + "," + call + "]", "[]", "{", "\xff", strings.Replace(call, `"1"`, "\"\xff\"", 1), strings.Repeat("[", 2000), strings.Repeat(`{"a":`, 2000), strings.Repeat("x", 1<<16+1),
		strings.Replace(call, `"id":1`, `"id":null`, 1), strings.Replace(call, `"id":1`, `"id":1.5`, 1), strings.Replace(call, "tools/call", "tasks/get", 1), strings.Replace(call, "tools/call", "\x00", 1), `{"jsonrpc":"2.0","id":1,"result":{}}`, "null", "",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"psb://run/x/../y"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`} {
		f.Add(body, true)
		f.Add(body, false)
	}
	w, h := webOf(f, HTTPOptions{Loopback: true})
	f.Fuzz(func(t *testing.T, body string, newest bool) {
		w.mu.Lock()
		w.wrongs, w.asked = nil, 0
		w.mu.Unlock()
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if newest {
			var m struct {
				Method string
				Params struct{ Name, URI string }
			}
			_ = json.Unmarshal([]byte(body), &m)
			header.Set("Mcp-Protocol-Version", modernRevision)
			header.Set("Mcp-Method", m.Method)
			header.Set("Mcp-Name", m.Params.Name+m.Params.URI)
		}
		got := posted(t, h, "localhost", body, header)
		if !slices.Contains([]int{200, 202, 400, 404, 413}, got.Code) || got.Code == 200 && len(body) > 1<<16 {
			t.Fatalf("%d for %q: %s", got.Code, body, got.Body)
		}
		if got.Code == 200 {
			for _, m := range messagesIn(got) {
				if !json.Valid([]byte(m)) {
					t.Fatalf("%q: answered %q", body, m)
				}
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.wrongs) > 0 || w.asked > 0 && (got.Code != 200 || !json.Valid([]byte(body))) {
			t.Fatalf("%q: %d, asked for %q", body, got.Code, w.wrongs)
		}
	})
}

// FuzzHeaders: nothing runs but for who may: with a token of the file, a Host and an Origin that are served, and headers that say what the body says.
func FuzzHeaders(f *testing.F) {
	f.Add("Bearer good", "localhost", "", "2026-07-28", "", "application/json", "application/json, text/event-stream", "", "run_python", "")
	f.Add("bearer good", "psb.example:80", "https://app.example", "2026-07-28", "", "application/json; charset=utf-8", "*/*", "0", "run_python", "same-origin")
	f.Add("Bearer  good ", "127.0.0.1", "http://127.0.0.1", "2025-06-18", "x", "text/plain", "", "-1", "", "")
	f.Add("Basic good", "evil.example", "null", "zzz", "\x00", "application/json", "application/json", "1_1", "run_shell", "cross-site")
	f.Add("Bearer bad", "[::1]:1", "http://[::1]:1", "2026-07-29", strings.Repeat("s", 9000), "application/JSON", "text/event-stream;q=0", "", "run_python", "none")
	f.Add("", "LOCALHOST", "http://localhost@evil.example", "", "", "application/json\n", "a,b", "", "=?base64?cnVuX3B5dGhvbg==?=", "")
	f.Add("Bearer good good", "localhost.evil.example", "https://app.example.evil", "2026-07-28\r\nX: y", "", "", "", "", "", "")
	sum := sha256.Sum256([]byte("good"))
	tokens := &Tokens{}
	list, err := parseTokens("tokens", strings.NewReader("ann "+hex.EncodeToString(sum[:])))
	if err != nil {
		f.Fatal(err)
	}
	tokens.list.Store(&list)
	w, h := webOf(f, HTTPOptions{Loopback: true, Tokens: tokens, Hosts: []string{"psb.example"}, Origins: []string{"https://app.example"}})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	f.Fuzz(func(t *testing.T, authorization, host, origin, version, session, kind, accept, last, name, site string) {
		w.mu.Lock()
		w.asked = 0
		w.mu.Unlock()
		header := http.Header{}
		for k, v := range map[string]string{"Authorization": authorization, "Origin": origin, "Mcp-Protocol-Version": version, "Mcp-Session-Id": session, "Content-Type": kind, "Accept": accept, "Last-Event-ID": last, "Mcp-Name": name,
			"Mcp-Method": "tools/call", "Sec-Fetch-Site": site} {
			if v != "" {
				header.Set(k, v)
			}
		}
		got := posted(t, h, host, body, header)
		w.mu.Lock()
		defer w.mu.Unlock()
		if may := mayCall(authorization, host, origin, site); w.asked > 0 && (!may || got.Code != 200) || got.Code >= 500 {
			t.Fatalf("%d, asked %d: host %q, %q", got.Code, w.asked, host, header)
		}
		if w.asked == 0 && authorization == "Bearer good" && host == "localhost" && origin+site+session+last == "" && version == modernRevision && name == "run_python" && kind == "application/json" && accept == "application/json, text/event-stream" {
			t.Fatalf("nothing ran: %d %s", got.Code, got.Body)
		}
	})
}

// ownHost is a name, or an address, that the server of FuzzHeaders has, with or without a port.
var ownHost = regexp.MustCompile(`(?i)^(localhost|psb\.example|127\.[0-9.]+|\[?[0-9a-f:]*:[0-9a-f:.]*\]?)(:[^:]*)?$`)

// mayCall is told once more, in other words: nobody but who has the token, at a name of the server's own, and no page but its own and the one allowed.
func mayCall(authorization, host, origin, site string) bool {
	words := strings.Fields(authorization)
	if len(words) != 2 || !strings.EqualFold(words[0], "bearer") || words[1] != "good" || !ownHost.MatchString(host) {
		return false
	}
	if origin == "" {
		return site == "" || site == "same-origin" || site == "none"
	}
	return origin == "https://app.example" || strings.Contains(strings.ToLower(origin), "//"+strings.ToLower(host)) || strings.Contains(strings.ToLower(origin), "@"+strings.ToLower(host))
}

// FuzzTokens: a file is taken as a whole or not at all; who is named by it has a name that messages may show and a token that nobody finds in it.
func FuzzTokens(f *testing.F) {
	sum := sha256.Sum256([]byte("good"))
	good := hex.EncodeToString(sum[:])
	for _, text := range []string{"ann " + good, "# x\n\nann " + good + " # hers\n", "ann " + good + "\nbob " + good, "ann " + strings.ToUpper(good), "local " + good, "a b " + good, good, "ann " + good[1:], "ann\t" + good + "\r\nbob\v" + good, "ann " + good + "\nann " + good, "\xff " + good, strings.Repeat("#", 70_000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseTokens("tokens", strings.NewReader(text))
		if err != nil {
			if list != nil || !strings.HasPrefix(err.Error(), "tokens:") || clean(err.Error()) != err.Error() {
				t.Fatalf("%v: %q", list, err)
			}
			return
		}
		tokens := &Tokens{}
		tokens.list.Store(&list)
		names := map[string]bool{}
		for _, k := range list {
			if names[k.name] || !clientName(k.name) || k.name == "" || clean(k.name) != k.name {
				t.Fatalf("%q", k.name)
			}
			names[k.name] = true
			if _, err := tokens.verify(context.Background(), hex.EncodeToString(k.sum[:]), nil); err == nil {
				t.Fatalf("what stands in the file is a token: %q", text)
			}
		}
		if who, err := tokens.verify(context.Background(), "good", nil); (err == nil) != strings.Contains(strings.ToLower(text), good) && err == nil {
			t.Fatalf("%v: %q", who, text)
		}
		if _, err := tokens.verify(context.Background(), "", nil); err == nil && !strings.Contains(strings.ToLower(text), "e3b0c44298fc1c14") {
			t.Fatal("nothing is a token")
		}
	})
}
