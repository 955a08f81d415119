package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// modernRevision is the first revision of the protocol without sessions and handshake.
const modernRevision = "2026-07-28"

// Endpoint is where clients talk to.
const Endpoint = "/mcp"

// HTTPOptions are the operator's for serving by HTTP.
type HTTPOptions struct {
	Tokens    *Tokens  // nil: nobody is asked who he is
	Loopback  bool     // the listener can be reached from this machine alone
	Hosts     []string // that may stand in the Host header, beside loopback's names where Loopback is set; with ports where they are not the usual
	Origins   []string // of web pages that may call
	URL       string   // the endpoint as clients know it; "" = from the request
	Stateless bool     // older clients get no session: any replica may answer them, and they cannot cancel
	Most      int      // requests at once; 0 = 256
}

// web is the HTTP side of a server.
type web struct {
	s       *Server
	o       HTTPOptions
	modern  http.Handler
	older   http.Handler
	slots   chan struct{}
	mu      sync.Mutex
	ongoing map[string]context.Context // of requests, by their own name
}

// requestHeader carries the name of a request to its tool, where a client's disconnect ends it: the SDK does not tell in older revisions.
const requestHeader = "Psb-Request"

// Handler serves the protocol, both kinds of revisions on one endpoint, and the metadata of who may use it.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	if o.Most <= 0 {
		o.Most = 256
	}
	h := &web{s: s, o: o, slots: make(chan struct{}, o.Most), ongoing: map[string]context.Context{}}
	get := func(*http.Request) *mcp.Server { return s.mcp }
	most := int64(s.options.MaxMessage)
	h.modern = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: most, DisableLocalhostProtection: true})
	h.older = h.modern
	if !o.Stateless {
		h.older = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{SessionTimeout: 10 * time.Minute, MaxRequestBodyBytes: most, DisableLocalhostProtection: true})
	}
	s.web.Store(h)
	var endpoint http.Handler = http.HandlerFunc(h.endpoint)
	if o.Tokens != nil {
		endpoint = h.authenticated(endpoint)
	}
	mux := http.NewServeMux()
	mux.Handle(Endpoint, endpoint)
	mux.HandleFunc("/.well-known/oauth-protected-resource", h.metadata)
	mux.HandleFunc("/.well-known/oauth-protected-resource"+Endpoint, h.metadata)
	for _, old := range []string{"/sse", "/messages", "/message"} {
		mux.HandleFunc(old, oldTransport)
	}
	return h.guarded(mux)
}

// oldTransport answers clients of HTTP+SSE, which the protocol gave up.
func oldTransport(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "psb: the HTTP+SSE transport is not served: use streamable HTTP at "+Endpoint, http.StatusGone)
}

// endpoint routes by the revision: it stands in a header.
func (h *web) endpoint(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.Header.Get("Mcp-Session-Id") == "" {
		w.Header().Set("Allow", "POST")
		http.Error(w, "psb: POST requests to "+Endpoint+"; the HTTP+SSE transport, which begins with GET, is not served", http.StatusMethodNotAllowed)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	name := newID()
	r.Header.Set(requestHeader, name)
	h.mu.Lock()
	h.ongoing[name] = ctx
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.ongoing, name)
		h.mu.Unlock()
	}()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	r.Body = &timedBody{r.Body, control}
	out := &stallResponse{ResponseWriter: w, control: control, after: h.s.options.StallAfter, drop: cancel, answered: h.s.metrics.answered}
	out.Header().Set("X-Accel-Buffering", "no")
	if r.Header.Get("Mcp-Protocol-Version") >= modernRevision {
		h.modern.ServeHTTP(out, r)
		return
	}
	h.older.ServeHTTP(out, r)
}

// tied ends a call's context with the HTTP request it came by.
func (s *Server) tied(ctx context.Context, x *mcp.RequestExtra) (context.Context, context.CancelFunc) {
	h := s.web.Load()
	if h == nil || x == nil || x.Header == nil {
		return ctx, func() {}
	}
	h.mu.Lock()
	request := h.ongoing[x.Header.Get(requestHeader)]
	h.mu.Unlock()
	if request == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}

// guarded refuses what no client of this server would send: other hosts' names, other sites' pages, more requests than may be.
func (h *web) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !h.hostFits(r.Host):
			h.refuse(w, "this host name is not served here (--allow-host)", http.StatusForbidden)
			return
		case !h.originFits(r):
			h.refuse(w, "web pages of this origin may not call (--allow-origin)", http.StatusForbidden)
			return
		}
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		default:
			w.Header().Set("Retry-After", "5")
			h.refuse(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *web) refuse(w http.ResponseWriter, why string, status int) {
	h.s.metrics.answered(status)
	http.Error(w, "psb: "+why, status)
}

// hostFits: a name that somebody else's DNS leads here is not ours.
func (h *web) hostFits(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.Trim(name, "[]")
	if slices.ContainsFunc(h.o.Hosts, func(s string) bool { return strings.EqualFold(s, host) || strings.EqualFold(s, name) }) {
		return true
	}
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback() || !h.o.Loopback && len(h.o.Hosts) == 0
	}
	return strings.EqualFold(name, "localhost") || !h.o.Loopback && len(h.o.Hosts) == 0
}

// originFits: programs send no Origin; pages do, and must be of this host or allowed by name.
func (h *web) originFits(r *http.Request) bool {
	origins, sent := r.Header["Origin"]
	if !sent {
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	}
	if len(origins) != 1 {
		return false
	}
	if slices.Contains(h.o.Origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// authenticated asks for a bearer token, and tells where to read what is asked for (RFC 9728).
func (h *web) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := &auth.RequireBearerTokenOptions{Scopes: []string{tokenScope}, AllowMissingExpiration: true, ResourceMetadataURL: h.base(r) + "/.well-known/oauth-protected-resource" + Endpoint}
		auth.RequireBearerToken(h.o.Tokens.verify, o)(next).ServeHTTP(w, r)
	})
}

// base is the server as clients know it.
func (h *web) base(r *http.Request) string {
	if h.o.URL != "" {
		return strings.TrimSuffix(strings.TrimSuffix(h.o.URL, "/"), Endpoint)
	}
	return "http://" + r.Host
}

// metadata is the protected resource's, RFC 9728: bearer tokens in the header, given out by the operator.
func (h *web) metadata(w http.ResponseWriter, r *http.Request) {
	if h.o.Tokens == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_ = json.NewEncoder(w).Encode(map[string]any{"resource": h.base(r) + Endpoint, "resource_name": "psb", "bearer_methods_supported": []string{"header"}, "scopes_supported": []string{tokenScope}})
}

// bodyTime is how long a request's body may take to come.
const bodyTime = time.Minute

// timedBody takes the deadline away once the body is there: what comes after it is only the client's going.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// stallResponse drops a client that does not read: each write has its time, and one that fails ends the request.
type stallResponse struct {
	http.ResponseWriter
	control  *http.ResponseController
	after    time.Duration
	drop     func()
	answered func(status int)
	told     bool
}

func (w *stallResponse) WriteHeader(status int) {
	if !w.told {
		w.told = true
		w.answered(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *stallResponse) Write(b []byte) (int, error) {
	if !w.told {
		w.told = true
		w.answered(http.StatusOK)
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.after)) // where it cannot be set there is nothing to wait for: a recorder
	n, err := w.ResponseWriter.Write(b)
	if err != nil {
		w.drop()
	}
	return n, err
}

// Flush is what streams need.
func (w *stallResponse) Flush() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.after))
	if err := w.control.Flush(); err != nil {
		w.drop()
	}
}

// Unwrap lets http.ResponseController through.
func (w *stallResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// HealthHandler is for the second port: /healthz says that the process lives, /readyz whether it takes calls, /metrics counts. Nobody is asked who
// he is, so nothing there tells of a client.
func (s *Server) HealthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.draining() {
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.WriteMetrics(w)
	})
	return mux
}
