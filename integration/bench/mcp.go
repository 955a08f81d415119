package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Rows of psb mcp: one call of run_python, beside a process that prints 1.
const (
	mcpCallRow   = "mcp-call"
	mcpFlightRow = "mcp-flight"
	mcpMemoryRow = "mcp-memory"
)

// tool is a client of psb mcp on its standard streams, without a handshake.
type tool struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	mu   sync.Mutex
	next int
	wait map[int]chan json.RawMessage
}

func (p place) serve(args ...string) (*tool, error) {
	t := &tool{cmd: p.start(append([]string{p.psb, "mcp", "--python", p.python}, args...)...), wait: map[int]chan json.RawMessage{}}
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go t.read(out)
	return t, nil
}

func (t *tool) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct{ ID int }
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		t.mu.Lock()
		for id, ch := range t.wait {
			switch {
			case err != nil:
				close(ch)
				delete(t.wait, id)
			case id == m.ID:
				ch <- line
				delete(t.wait, id)
			}
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// call runs 1+1 and gives the milliseconds until the whole answer was there, and whether a box waited for it.
func (t *tool) call() (ms float64, warm bool, err error) {
	t.mu.Lock()
	t.next++
	ch := make(chan json.RawMessage, 1)
	t.wait[t.next] = ch
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": t.next, "method": "tools/call", "params": map[string]any{"name": "run_python", "arguments": map[string]any{"code": "1+1"},
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	begin := time.Now()
	if err == nil {
		_, err = t.in.Write(append(request, '\n'))
	}
	t.mu.Unlock()
	if err != nil {
		return 0, false, err
	}
	line, ok := <-ch
	ms = float64(time.Since(begin).Microseconds()) / 1000
	if !ok {
		return 0, false, errors.New("psb mcp ended")
	}
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			Meta    struct {
				Result struct {
					Status  string
					Receipt struct{ Observed struct{ Warm bool } }
				} `json:"psb/result"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return 0, false, err
	}
	if r := answer.Result; r.Meta.Result.Status != "ok" || len(r.Content) == 0 || r.Content[0].Text != "2" {
		return 0, false, fmt.Errorf("run_python: %s", line)
	}
	return ms, answer.Result.Meta.Result.Receipt.Observed.Warm, nil
}

func (t *tool) end() {
	t.in.Close()
	_ = t.cmd.Wait()
}

// waited is a call that found a box waiting; the others are not told.
func (t *tool) waited() (float64, error) {
	for range 200 {
		time.Sleep(100 * time.Millisecond) // the next box is made meanwhile
		ms, warm, err := t.call()
		if err != nil || warm {
			return ms, err
		}
	}
	return 0, errors.New("no call found a box waiting")
}

// mcp measures the rows that are asked for.
func (p place) mcp(o options) ([]result, error) {
	if !o.wants(mcpCallRow) && !o.wants(mcpFlightRow) && !o.wants(mcpMemoryRow) {
		return nil, nil
	}
	warm, err := p.serve()
	if err != nil {
		return nil, err
	}
	defer warm.end()
	cold, err := p.serve("--cold")
	if err != nil {
		return nil, err
	}
	defer cold.end()
	bare := peer{name: "bare", command: func(row) (*exec.Cmd, error) { return p.start(p.python, "-I", "-c", "print(1)"), nil }}
	var all []result
	if o.wants(mcpCallRow) {
		got := result{Row: mcpCallRow, About: "run_python(1+1)", Unit: "ms", Peers: []peerTimes{{Peer: "bare"}, {Peer: "warm"}, {Peer: "cold"}}}
		once := []func() (float64, error){func() (float64, error) { return row{}.once(bare) }, warm.waited, func() (float64, error) { ms, _, err := cold.call(); return ms, err }}
		for range o.rounds {
			for i, f := range once {
				ms, err := f()
				if err != nil {
					return nil, err
				}
				got.Peers[i].Rounds = append(got.Peers[i].Rounds, ms)
			}
		}
		fmt.Printf("psb mcp, median ms of a call (ratio to python3 -I -c \"print(1)\"), %d rounds\n", o.rounds)
		got.print(os.Stdout)
		for _, x := range got.Peers {
			list := slices.Sorted(slices.Values(x.Rounds))
			fmt.Printf("    %-6s least %.1f, p50 %.1f, p95 %.1f\n", x.Peer, list[0], median(list), list[len(list)*95/100])
		}
		all = append(all, got)
	}
	if o.wants(mcpFlightRow) {
		got, err := mcpFlights(bare, warm, cold)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
	if o.wants(mcpMemoryRow) {
		got, err := p.mcpMemory(warm)
		if err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	return all, nil
}

// mcpFlights keeps so many calls going and gives how many were answered a second, whichever way their boxes came to be.
func mcpFlights(bare peer, warm, cold *tool) ([]result, error) {
	var all []result
	fmt.Println("psb mcp, calls a second")
	for _, flight := range []int{1, 2, 4, 8} {
		got := result{Row: mcpFlightRow, About: fmt.Sprintf("%d in flight", flight), Unit: "calls/s"}
		for _, x := range []struct {
			name string
			once func() error
		}{{"bare", func() error { _, err := row{}.once(bare); return err }}, {"pool", func() error { _, _, err := warm.call(); return err }}, {"cold", func() error { _, _, err := cold.call(); return err }}} {
			rate, err := perSecond(flight, x.once)
			if err != nil {
				return nil, err
			}
			got.Peers = append(got.Peers, peerTimes{Peer: x.name, Rounds: []float64{rate}})
		}
		got.print(os.Stdout)
		all = append(all, got)
	}
	return all, nil
}

// perSecond does something so often at the same time.
func perSecond(flight int, once func() error) (float64, error) {
	const times = 48
	next := make(chan struct{}, times)
	for range times {
		next <- struct{}{}
	}
	close(next)
	var all sync.WaitGroup
	errs := make(chan error, flight)
	begin := time.Now()
	for range flight {
		all.Go(func() {
			for range next {
				if err := once(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begin).Seconds()
	select {
	case err := <-errs:
		return 0, err
	default:
		return times / took, nil
	}
}

// mcpMemory prints what the server holds while nobody calls, and what each box that waits adds: its psb, its first processes, its interpreter.
func (p place) mcpMemory(t *tool) (result, error) {
	got := result{Row: mcpMemoryRow, About: "memory while idle", Unit: "MiB"}
	time.Sleep(3 * time.Second) // until the pool is full
	server, err := pss(t.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	tree, boxes, err := treePss(t.cmd.Process.Pid)
	if err != nil {
		return got, err
	}
	if boxes == 0 {
		return got, errors.New("no box waits")
	}
	each := (tree - server) / float64(boxes)
	fmt.Printf("psb mcp, memory while idle (PSS)\n  server %.1f MiB, each of %d boxes that wait %.1f MiB, together %.1f MiB\n", server, boxes, each, tree)
	got.Peers = []peerTimes{{Peer: "server", Rounds: []float64{server}}, {Peer: "box", Rounds: []float64{each}}, {Peer: "together", Rounds: []float64{tree}}}
	return got, nil
}

// treePss adds up a process and all below it, and counts the interpreters that wait.
func treePss(top int) (mib float64, boxes int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/smaps_rollup")
	if err != nil {
		return 0, 0, err
	}
	for _, file := range files {
		pid := filepath.Base(filepath.Dir(file))
		if !below(pid, top) {
			continue
		}
		n, err := pssOf(file)
		if err != nil {
			continue // it ended meanwhile
		}
		mib += n
		if strings.Contains(commandLine(pid), "/run/call/run.py") {
			boxes++
		}
	}
	return mib, boxes, nil
}
