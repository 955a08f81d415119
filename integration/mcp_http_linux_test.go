package integration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// httpServer is psb mcp --http of a test.
type httpServer struct {
	cmd         *exec.Cmd
	url, health string
	errs        *lockedText
	quit        bool // a signal ends it, and its status is that
}

var servingAt = regexp.MustCompile(`serving MCP at (http://\S+)\n`)
var healthAt = regexp.MustCompile(`health and metrics at (http://\S+)\n`)

// mcpHTTP starts psb mcp on free ports of the loopback; at the end of the test it is asked to end, and must with 0.
func (s scene) mcpHTTP(t testing.TB, args ...string) *httpServer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), s.patience(5*time.Minute))
	h := &httpServer{errs: &lockedText{}}
	h.cmd = s.command(ctx, call{argv: append([]string{psb(t), "mcp", "--http", "127.0.0.1:0", "--health", "127.0.0.1:0", "--grace", "2s"}, args...)})
	h.cmd.Stderr = h.errs
	must(t, h.cmd.Start())
	t.Cleanup(func() {
		defer cancel()
		_ = h.cmd.Process.Signal(syscall.SIGTERM)
		if err := h.cmd.Wait(); err != nil && !h.quit {
			t.Errorf("psb mcp: %v\n%s", err, h.errs)
		}
	})
	until(t, "it serves", func() bool { return servingAt.MatchString(h.errs.String()) })
	h.url, h.health = servingAt.FindStringSubmatch(h.errs.String())[1], healthAt.FindStringSubmatch(h.errs.String())[1]
	return h
}

// post sends one request of the newest revision.
func (h *httpServer) post(t testing.TB, ctx context.Context, tool string, args map[string]any, header ...string) (int, http.Header, string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	must(t, err)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	must(t, err)
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(k, v)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return fetched(t, r)
}

func fetched(t testing.TB, r *http.Request) (int, http.Header, string) {
	t.Helper()
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer got.Body.Close()
	b, _ := io.ReadAll(got.Body)
	return got.StatusCode, got.Header, string(b)
}

func get(t testing.TB, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	must(t, err)
	status, _, body := fetched(t, r)
	return status, body
}

// TestMCPHTTPGuards: who may not call is refused before anything is looked at; health and metrics stand on a port of their own.
func TestMCPHTTPGuards(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	sum := sha256.Sum256([]byte("secret-of-ann"))
	tokens := s.put(t, "home/tokens", "# people\nann "+hex.EncodeToString(sum[:])+"\n")
	s.give(t)
	h := s.mcpHTTP(t, "--tokens", tokens, "--allow-host", "psb.example", "--allow-origin", "https://app.example")
	code := map[string]any{"code": "1 + 1"}
	ctx := context.Background()
	ann := []string{"Authorization", "Bearer secret-of-ann"}
	with := func(more ...string) []string { return append(more, ann...) }
	for _, c := range []struct {
		name   string
		header []string
		status int
		holds  string
	}{
		{"nobody", nil, 401, ""}, {"somebody else", []string{"Authorization", "Bearer x"}, 401, ""}, {"ann", ann, 200, `[psb] ok`},
		{"foreign host", with("Host", "evil.example"), 403, "host"}, {"allowed host", with("Host", "psb.example"), 200, "[psb] ok"},
		{"foreign page", with("Origin", "https://evil.example"), 403, "origin"}, {"no page", with("Origin", "null"), 403, "origin"},
		{"allowed page", with("Origin", "https://app.example"), 200, "[psb] ok"}, {"other site", with("Sec-Fetch-Site", "cross-site"), 403, "origin"},
		{"wrong name", with("Mcp-Name", "other"), 400, "-32020"}, {"no JSON", with("Content-Type", "text/plain"), 415, ""},
	} {
		status, header, body := h.post(t, ctx, "run_python", code, c.header...)
		if status != c.status || !strings.Contains(body, c.holds) {
			t.Errorf("%s: %d, want %d\n%s", c.name, status, c.status, body)
		}
		if c.status == 401 {
			want := `Bearer resource_metadata="` + strings.TrimSuffix(h.url, "/mcp") + `/.well-known/oauth-protected-resource/mcp", scope="run"`
			if got := header.Get("WWW-Authenticate"); got != want {
				t.Errorf("%s: WWW-Authenticate %q, want %q", c.name, got, want)
			}
		}
	}
	base := strings.TrimSuffix(h.url, "/mcp")
	if status, body := get(t, base+"/.well-known/oauth-protected-resource/mcp"); status != 200 || !strings.Contains(body, `"resource":"`+h.url+`"`) {
		t.Errorf("metadata: %d %s", status, body)
	}
	if status, body := get(t, base+"/sse"); status != 410 || !strings.Contains(body, "HTTP+SSE") {
		t.Errorf("/sse: %d %s", status, body)
	}
	if status, body := get(t, h.health+"/metrics"); status != 200 || !strings.Contains(body, `psb_mcp_tool_calls_total{tool="run_python",status="ok"} 3`) {
		t.Errorf("metrics: %d\n%s", status, body)
	}
	for _, at := range []string{"/healthz", "/readyz"} {
		if status, _ := get(t, h.health+at); status != 200 {
			t.Errorf("%s: %d", at, status)
		}
	}
	if status, _ := get(t, base+"/metrics"); status != 404 {
		t.Errorf("metrics stand on the clients' port: %d", status)
	}
	t.Run("read again", func(t *testing.T) {
		other := sha256.Sum256([]byte("secret-of-bob"))
		must(t, os.WriteFile(tokens, []byte("bob "+hex.EncodeToString(other[:])+"\n"), 0o644))
		must(t, h.cmd.Process.Signal(syscall.SIGHUP))
		until(t, "it read the tokens again", func() bool { return strings.Contains(h.errs.String(), "tokens: read again") })
		if status, _, _ := h.post(t, ctx, "run_python", code, ann...); status != 401 {
			t.Errorf("ann: %d", status)
		}
		if status, _, body := h.post(t, ctx, "run_python", code, "Authorization", "Bearer secret-of-bob"); status != 200 {
			t.Errorf("bob: %d %s", status, body)
		}
	})
}

// TestMCPHTTPDisconnect: a client that goes away takes its run along, in the newest revision and in older ones.
func TestMCPHTTPDisconnect(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	h := s.mcpHTTP(t)
	code := map[string]any{"code": fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}
	leaves := func(t *testing.T, send func(ctx context.Context)) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			send(ctx)
		}()
		until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
		cancel()
		<-done
		until(t, "the tree is gone", func() bool { return len(withWord(t, s.word)) == 0 })
	}
	t.Run("newest", func(t *testing.T) { leaves(t, func(ctx context.Context) { h.post(t, ctx, "run_python", code) }) })
	t.Run("older", func(t *testing.T) {
		older := func(ctx context.Context, session string, message map[string]any) (http.Header, string) {
			body, _ := json.Marshal(message)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
			must(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
				r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
			}
			_, header, text := fetched(t, r)
			return header, text
		}
		header, _ := older(context.Background(), "", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}})
		session := header.Get("Mcp-Session-Id")
		older(context.Background(), session, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
		leaves(t, func(ctx context.Context) {
			older(ctx, session, map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": "run_python", "arguments": code}})
		})
	})
}
