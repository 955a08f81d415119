package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// Rows of psb mcp: calls of run_python, beside a process of Python for each, and beside Pyodide.
const (
	mcpCallRow    = "mcp-call"
	mcpFlightRow  = "mcp-flight"
	mcpScienceRow = "mcp-science"
	mcpMemoryRow  = "mcp-memory"
)

// mcpWork is what a call runs: the same text everywhere, but for the process, which has to print the value.
type mcpWork struct {
	row, about, code, value string
	bare                    string // what the process runs
	needs                   string // modules of the interpreter
	options                 []string
	pyodide                 bool // it has all that the code needs
}

var (
	mcpSum     = mcpWork{row: mcpCallRow, about: "run_python(1+1)", code: "1+1", value: "2", bare: "print(1+1)", pyodide: true}
	mcpScience = mcpWork{row: mcpScienceRow, about: "numpy, pandas", code: "import numpy, pandas\nint(pandas.Series(numpy.ones(2)).sum())", value: "2",
		bare: "import numpy, pandas; print(int(pandas.Series(numpy.ones(2)).sum()))", needs: "numpy, pandas", options: []string{"--preload", "numpy,pandas"}}
)

// caller is one way to have the work done once; it gives the milliseconds.
type caller struct {
	name string
	slow bool // seconds each: fewer of them where many are asked for
	once func() (float64, error)
}

func (p place) serve(args ...string) (*lines, error) {
	return startLines(p.start(append([]string{p.psb, "mcp", "--python", p.python}, args...)...))
}

// runPython calls run_python and gives the milliseconds until the whole answer was there, and whether a box waited for it.
func (l *lines) runPython(w mcpWork) (ms float64, warm bool, err error) {
	line, ms, err := l.ask(func(id int) any { return runPythonRequest(id, map[string]any{"code": w.code}) })
	if err != nil {
		return 0, false, err
	}
	warm, err = answered(line, w.value)
	return ms, warm, err
}

// runPythonRequest is one request of the revision without handshake.
func runPythonRequest(id int, arguments map[string]any) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": "run_python", "arguments": arguments,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}}
}

// answered holds an answer to the value that it must have.
func answered(line []byte, value string) (warm bool, err error) {
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
		return false, err
	}
	if r := answer.Result; r.Meta.Result.Status != "ok" || len(r.Content) == 0 || r.Content[0].Text != value {
		return false, fmt.Errorf("run_python: %s", line)
	}
	return answer.Result.Meta.Result.Receipt.Observed.Warm, nil
}

// waited is a call that found a box waiting; the others are not told.
func (l *lines) waited(w mcpWork) (float64, error) {
	for range 200 {
		time.Sleep(100 * time.Millisecond) // the next box is made meanwhile
		ms, warm, err := l.runPython(w)
		if err != nil || warm {
			return ms, err
		}
	}
	return 0, errors.New("no call found a box waiting")
}

// mcp measures the rows that are asked for.
func (p place) mcp(o options) ([]result, error) {
	var all []result
	for _, w := range []mcpWork{mcpSum, mcpScience} {
		flights := w.row == mcpCallRow && o.wants(mcpFlightRow)
		if !o.wants(w.row) && !flights {
			continue
		}
		if w.needs != "" && p.start(p.python, "-c", "import "+w.needs).Run() != nil {
			fmt.Printf("psb mcp, %s: %s has no %s\n", w.about, p.python, w.needs)
			continue
		}
		got, err := p.mcpCalls(o, w, flights)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
	if o.wants(mcpMemoryRow) {
		got, err := p.mcpMemory()
		if err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	return all, nil
}

// mcpCalls starts what a piece of work is done by, times it alone, and then several at the same time.
func (p place) mcpCalls(o options, w mcpWork, flights bool) ([]result, error) {
	fmt.Printf("psb mcp, %s\n", w.about)
	warm, err := p.serve(w.options...)
	if err != nil {
		return nil, err
	}
	defer warm.end()
	cold, err := p.serve("--cold")
	if err != nil {
		return nil, err
	}
	defer cold.end()
	bare := peer{name: "bare", command: func(row) (*exec.Cmd, error) { return p.start(p.python, "-I", "-c", w.bare), nil }}
	python := caller{name: "python3 -I -c", once: func() (float64, error) { return row{}.once(bare) }}
	made := caller{name: "cold", once: func() (float64, error) { ms, _, err := cold.runPython(w); return ms, err }}
	var others []caller
	if w.pyodide {
		node, absent, err := p.pyodide()
		if err != nil {
			return nil, err
		}
		if absent == "" {
			defer node.end()
			others = []caller{{name: "Pyodide, shared", once: func() (float64, error) { return node.inPyodide(w, false) }},
				{name: "Pyodide, fresh", slow: true, once: func() (float64, error) { return node.inPyodide(w, true) }}}
		} else {
			fmt.Printf("  Pyodide: not here, %s\n", absent)
		}
	}
	var all []result
	if o.wants(w.row) {
		got, err := alone(w, append([]caller{python, {name: "warm", once: func() (float64, error) { return warm.waited(w) }}, made}, others...), o.rounds)
		if err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	if flights {
		// Whichever way their boxes came to be: as many as this wait for nobody.
		pool := caller{name: "psb mcp", once: func() (float64, error) { ms, _, err := warm.runPython(w); return ms, err }}
		got, err := inFlight(append([]caller{python, pool, made}, others...))
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
	}
	fmt.Println()
	return all, nil
}

// alone times one call at a time, each way once a round.
func alone(w mcpWork, ways []caller, rounds int) (result, error) {
	got := result{Row: w.row, About: w.about, Unit: "ms"}
	for range rounds {
		for _, x := range ways {
			ms, err := x.once()
			if err != nil {
				return got, err
			}
			got.add(x.name, ms)
		}
	}
	fmt.Printf("  one at a time, ms, %d rounds\n", rounds)
	for i, x := range got.Peers {
		fmt.Printf("    %-16s %s", x.Peer, spread(x.Rounds))
		if i > 0 {
			fmt.Printf("  (%.2f×)", ratio(x, got.Peers[0]))
		}
		fmt.Println()
	}
	return got, nil
}

// spread tells of times what matters to who waits.
func spread(ms []float64) string {
	list := slices.Sorted(slices.Values(ms))
	return fmt.Sprintf("least %.1f, p50 %.1f, p95 %.1f", list[0], median(list), list[len(list)*95/100])
}

// inFlight keeps so many calls going: how many are answered a second, and how long each takes.
func inFlight(ways []caller) ([]result, error) {
	var all []result
	for _, flight := range []int{1, 2, 4, 8} {
		about := fmt.Sprintf("%d in flight", flight)
		rates, times := result{Row: mcpFlightRow, About: about, Unit: "calls/s"}, result{Row: mcpFlightRow, About: about, Unit: "ms"}
		fmt.Printf("  %s\n", about)
		for _, x := range ways {
			n := 48 // a multiple of every flight, as is the other
			if x.slow {
				n = 8
			}
			rate, each, err := perSecond(flight, n, x.once)
			if err != nil {
				return nil, err
			}
			fmt.Printf("    %-16s %.1f a second; ms: %s of %d\n", x.name, rate, spread(each), n)
			rates.Peers = append(rates.Peers, peerTimes{Peer: x.name, Rounds: []float64{rate}})
			times.Peers = append(times.Peers, peerTimes{Peer: x.name, Rounds: each})
		}
		all = append(all, rates, times)
	}
	return all, nil
}

// perSecond does something n times, so many at the same time, and gives how often a second, and what each took.
func perSecond(flight, n int, once func() (float64, error)) (rate float64, each []float64, err error) {
	next := make(chan struct{}, n)
	for range n {
		next <- struct{}{}
	}
	close(next)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	begin := time.Now()
	for range flight {
		all.Go(func() {
			for range next {
				ms, err := once()
				mu.Lock()
				each, first = append(each, ms), errors.Join(first, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(begin).Seconds(), each, first
}
