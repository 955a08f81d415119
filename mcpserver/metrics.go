package mcpserver

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// metrics counts what happens. It is written in the text form that Prometheus reads, version 0.0.4: a dozen families need no library. The values of
// labels are psb's own words, never a client's.
type metrics struct {
	mu       sync.Mutex
	calls    map[[2]string]int64 // tool, status
	away     map[string]int64    // reason
	runs     map[string]int64    // reason of the end
	requests map[string]int64    // HTTP status class
	buckets  map[string][]int64  // seconds by tool: of each bucket of durations, and above
	sum      map[string]float64
	count    map[string]int64
	methods  int64
	denials  int64
	left     int64 // cleanups that were not complete
}

var durations = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

func newMetrics() *metrics {
	return &metrics{calls: map[[2]string]int64{}, away: map[string]int64{}, runs: map[string]int64{}, requests: map[string]int64{}, buckets: map[string][]int64{},
		sum: map[string]float64{}, count: map[string]int64{}}
}

func (m *metrics) called(tool, status string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[[2]string{tool, status}]++
	b := m.buckets[tool]
	if b == nil {
		b = make([]int64, len(durations))
		m.buckets[tool] = b
	}
	s := took.Seconds()
	for i, d := range durations {
		if s <= d {
			b[i]++
		}
	}
	m.sum[tool] += s
	m.count[tool]++
}

func (m *metrics) turnedAway(reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away[reason]++
}

func (m *metrics) ran(r *Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reason := r.Exit.Reason
	if reason == "" {
		reason = "none"
	}
	m.runs[reason]++
	for _, d := range r.Denials {
		m.denials += int64(d.Count)
	}
	if r.Cleanup.State == PartLeft || r.Cleanup.State == NotKnown {
		m.left++
	}
}

func (m *metrics) answered(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[fmt.Sprintf("%dxx", status/100)]++
}

// countRequests counts requests of the protocol.
func (s *Server) countRequests(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s.metrics.mu.Lock()
		s.metrics.methods++
		s.metrics.mu.Unlock()
		return next(ctx, method, req)
	}
}

// WriteMetrics writes them down.
func (s *Server) WriteMetrics(w io.Writer) {
	running, waiting := s.gate.figures()
	tasks := s.tasks.count()
	var sessions SessionCounts
	if s.sessions != nil {
		sessions = s.sessions.SessionCounts()
	}
	ahead, waits := s.runner.(AheadRunner)
	var boxes AheadFigures
	if waits {
		boxes = ahead.Ahead()
	}
	m := s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	head := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	gauge := func(name, help string, v int) {
		head(name, "gauge", help)
		fmt.Fprintf(w, "%s %d\n", name, v)
	}
	counter := func(name, help string, v int64) {
		head(name, "counter", help)
		fmt.Fprintf(w, "%s %d\n", name, v)
	}
	labelled := func(name, label, help string, values map[string]int64) {
		head(name, "counter", help)
		for _, k := range sortedKeys(values) {
			fmt.Fprintf(w, "%s{%s=%q} %d\n", name, label, k, values[k])
		}
	}
	gauge("psb_mcp_runs_in_progress", "Runs that hold a slot.", running)
	gauge("psb_mcp_calls_waiting", "Calls that wait for a slot.", waiting)
	gauge("psb_mcp_slots", "Runs that may go on at once.", s.options.Slots)
	gauge("psb_mcp_tasks_working", "Tasks that are not over.", tasks)
	if s.sessions != nil {
		gauge("psb_mcp_sessions", "Sessions that have a box.", sessions.Live)
		counter("psb_mcp_sessions_started_total", "Boxes made for sessions.", sessions.Started)
		labelled("psb_mcp_sessions_ended_total", "reason", "Boxes of sessions, by what ended them.", sessions.Ended)
	}
	counter("psb_mcp_requests_total", "Requests of the protocol.", m.methods)
	labelled("psb_mcp_http_responses_total", "class", "HTTP responses.", m.requests)
	labelled("psb_mcp_turned_away_total", "reason", "Calls that did not run: busy, rate, quota, draining.", m.away)
	labelled("psb_mcp_runs_total", "reason", "Runs, by what ended them.", m.runs)
	counter("psb_mcp_denials_total", "Accesses that boxes were refused.", m.denials)
	counter("psb_mcp_cleanup_incomplete_total", "Boxes of which something may be left.", m.left)
	if waits {
		gauge("psb_mcp_boxes_waiting", "Boxes made ahead of need that wait for a call.", boxes.Ready)
		gauge("psb_mcp_boxes_making", "Boxes that are being made ahead of need.", boxes.Making)
		labelled("psb_mcp_boxes_total", "what", "Boxes made ahead of need, and what became of them; missed: calls that found none.",
			map[string]int64{"made": boxes.Made, "taken": boxes.Taken, "missed": boxes.Missed, "died": boxes.Died, "stale": boxes.Stale})
	}
	head("psb_mcp_tool_calls_total", "counter", "Calls of tools, by status.")
	byName := map[string]int64{}
	for k, v := range m.calls {
		byName[fmt.Sprintf("psb_mcp_tool_calls_total{tool=%q,status=%q}", k[0], k[1])] = v
	}
	for _, line := range sortedKeys(byName) {
		fmt.Fprintf(w, "%s %d\n", line, byName[line])
	}
	head("psb_mcp_tool_seconds", "histogram", "How long calls of tools took.")
	for _, tool := range sortedKeys(m.buckets) {
		for i, d := range durations {
			fmt.Fprintf(w, "psb_mcp_tool_seconds_bucket{tool=%q,le=\"%v\"} %d\n", tool, d, m.buckets[tool][i])
		}
		fmt.Fprintf(w, "psb_mcp_tool_seconds_bucket{tool=%q,le=\"+Inf\"} %d\n", tool, m.count[tool])
		fmt.Fprintf(w, "psb_mcp_tool_seconds_sum{tool=%q} %v\n", tool, m.sum[tool])
		fmt.Fprintf(w, "psb_mcp_tool_seconds_count{tool=%q} %d\n", tool, m.count[tool])
	}
}
