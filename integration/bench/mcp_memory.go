package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Of the server whose memory is taken: how many boxes wait there, and how many sessions are made.
const (
	waitingBoxes = 2
	idleSessions = 3
)

// mcpMemory prints what the server holds while nobody calls, what each box that waits adds (its psb, its first processes, its interpreter), and what
// each session adds that has run 1+1.
func (p place) mcpMemory() (result, error) {
	got := result{Row: mcpMemoryRow, About: "memory while idle", Unit: "MiB"}
	h, err := p.serveHTTP("--warm", fmt.Sprint(waitingBoxes), "--sessions-per-client", fmt.Sprint(idleSessions))
	if err != nil {
		return got, err
	}
	defer h.end()
	if err := h.waits(waitingBoxes); err != nil {
		return got, err
	}
	server, err := pss(h.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	idle, err := treePss(h.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	for n := range idleSessions {
		if err := h.session(fmt.Sprintf("s%d", n)); err != nil {
			return got, err
		}
	}
	if err := h.waits(waitingBoxes); err != nil { // those that became sessions are made anew
		return got, err
	}
	with, err := treePss(h.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	box, session := (idle-server)/waitingBoxes, (with-idle)/idleSessions
	fmt.Printf("psb mcp, memory while idle (PSS)\n  server %.1f MiB, each of %d boxes that wait %.1f MiB, each of %d sessions %.1f MiB\n", server, waitingBoxes, box, idleSessions, session)
	got.Peers = []peerTimes{{Peer: "server", Rounds: []float64{server}}, {Peer: "box", Rounds: []float64{box}}, {Peer: "session", Rounds: []float64{session}}}
	node, absent, err := p.pyodide()
	if err != nil {
		return got, err
	}
	if absent != "" {
		fmt.Printf("  Pyodide: not here, %s\n", absent)
		return got, nil
	}
	defer node.end()
	one, err := treePss(node.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	fmt.Printf("  Pyodide, Node with one runtime %.1f MiB\n", one)
	got.Peers = append(got.Peers, peerTimes{Peer: "Pyodide", Rounds: []float64{one}})
	return got, nil
}

// httpServer is a psb mcp that can be asked how many boxes wait.
type httpServer struct {
	cmd          *exec.Cmd
	url, metrics string
}

func (p place) serveHTTP(args ...string) (*httpServer, error) {
	h := &httpServer{cmd: p.start(append([]string{p.psb, "mcp", "--python", p.python, "--http", "127.0.0.1:0", "--health", "127.0.0.1:0"}, args...)...)}
	said, err := h.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(said)
	for (h.url == "" || h.metrics == "") && lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "serving MCP at "); ok {
			h.url = at
		}
		if _, at, ok := strings.Cut(lines.Text(), "health and metrics at "); ok {
			h.metrics = at + "/metrics"
		}
	}
	if h.url == "" || h.metrics == "" {
		h.end()
		return nil, errors.New("psb mcp --http did not say where it serves")
	}
	go io.Copy(io.Discard, said)
	return h, nil
}

func (h *httpServer) end() {
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	_ = h.cmd.Wait()
}

// waits comes back when so many boxes wait for a call, and no more are made.
func (h *httpServer) waits(boxes int) error {
	want := fmt.Sprintf("\npsb_mcp_boxes_waiting %d\n", boxes)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(h.metrics)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return err
		}
		if strings.Contains("\n"+string(b), want) {
			return nil
		}
	}
	return fmt.Errorf("%d boxes never waited", boxes)
}

// session makes one and runs 1+1 in it.
func (h *httpServer) session(name string) error {
	body, err := json.Marshal(runPythonRequest(1, map[string]any{"code": "1+1", "session": name}))
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_python", "Mcp-Param-Session": name} {
		r.Header.Set(k, v)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	_, data, ok := strings.Cut(string(b), "data: ") // a stream of one event
	if !ok {
		data = string(b)
	}
	_, err = answered([]byte(strings.TrimSpace(data)), "2")
	return err
}

// treePss adds up a process and all below it.
func treePss(top int) (mib float64, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/smaps_rollup")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if !below(filepath.Base(filepath.Dir(file)), top) {
			continue
		}
		n, err := pssOf(file)
		if err != nil {
			continue // it ended meanwhile
		}
		mib += n
	}
	return mib, nil
}
