package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTokensFile: one bad line refuses the whole file, and what was read before stays.
func TestTokensFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	sum := sha256.Sum256([]byte("x"))
	good := "ann " + hex.EncodeToString(sum[:])
	for text, want := range map[string]string{
		"# none\n": "no token", "ann\n": "tokens:1: NAME and the SHA-256", "ann zz\n": "tokens:1: NAME", good + "\nlocal " + hex.EncodeToString(sum[:]) + "\n": "tokens:2: a name of its own",
		good + "\n" + good + "\n": "tokens:2: a name of its own", "a/b " + hex.EncodeToString(sum[:]): "tokens:1: a name", "\n" + good + " # hers\n": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadTokens(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := ReadTokens(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if tokens.Reload() == nil {
		t.Error("a broken file is taken")
	}
	if who, err := tokens.verify(context.Background(), "x", nil); err != nil || who.UserID != "ann" {
		t.Errorf("%v %v", who, err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Reload(); err == nil || !strings.Contains(err.Error(), "others may write it") {
		t.Errorf("%v", err)
	}
}

// TestOpenAddressNeedsTokens: what others can reach is not served without.
func TestOpenAddressNeedsTokens(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer()})
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.ServeHTTP(context.Background(), l, nil, HTTPOptions{}, time.Second); err == nil || !strings.Contains(err.Error(), "needs tokens") {
		t.Errorf("%v", err)
	}
}

// TestReadyUntilDraining: a server that is about to end says so on the second port before it goes.
func TestReadyUntilDraining(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer()})
	ready := func() int {
		w := httptest.NewRecorder()
		s.HealthHandler().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		return w.Code
	}
	if got := ready(); got != 200 {
		t.Error(got)
	}
	s.Drain(context.Background())
	if got := ready(); got != 503 {
		t.Error(got)
	}
}

// TestRequestHeaderIsPsbs: a client cannot tie its call to somebody else's request.
func TestRequestHeaderIsPsbs(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer()})
	s.Handler(HTTPOptions{Loopback: true})
	h := s.web.Load()
	h.modern = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get(requestHeader); name == "mine" || h.ongoing[name] == nil || len(r.Header[requestHeader]) != 1 {
			t.Errorf("%q", r.Header[requestHeader])
		}
	})
	r := httptest.NewRequest("POST", Endpoint, strings.NewReader("{}"))
	r.Header[requestHeader] = []string{"mine", "too"}
	r.Header.Set("Mcp-Protocol-Version", modernRevision)
	h.endpoint(httptest.NewRecorder(), r)
	if len(h.ongoing) != 0 {
		t.Error("a request that is over is still known")
	}
}

// FuzzHTTP: no body and no header makes the server panic, run code without a proper call, or answer a foreign page.
func FuzzHTTP(f *testing.F) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	f.Add("POST", "2026-07-28", "tools/call", "run_python", "", "127.0.0.1", call)
	f.Add("POST", "", "", "", "", "localhost", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	f.Add("GET", "2025-06-18", "", "", "http://evil.example", "evil.example", "")
	f.Add("DELETE", "zzz", "tasks/get", "x", "null", "[::1]:80", `[[[{}`)
	s, err := New(Options{}, &fakeRunner{offer: testOffer()})
	if err != nil {
		f.Fatal(err)
	}
	h := s.Handler(HTTPOptions{Loopback: true})
	f.Fuzz(func(t *testing.T, method, version, name, tool, origin, host, body string) {
		r, err := http.NewRequest("POST", "http://127.0.0.1"+Endpoint, strings.NewReader(body))
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a stream that older clients may keep open
		defer cancel()
		r = r.WithContext(ctx)
		r.Method, r.Host, r.RemoteAddr = method, host, "127.0.0.1:1"
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": version, "Mcp-Method": name, "Mcp-Name": tool, "Mcp-Session-Id": tool, "Origin": origin} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if strings.Contains(origin, "evil") && w.Code != 403 || strings.Contains(host, "evil") && w.Code != 403 {
			t.Fatalf("%d for %q %q", w.Code, origin, host)
		}
	})
}
