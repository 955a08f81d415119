package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	psb, python  string
	rounds, slow int
	only         string
	json         string
	events       int
}

func main() {
	var o options
	flag.StringVar(&o.psb, "psb", "bin/psb", "the psb to measure")
	flag.StringVar(&o.python, "python", "/usr/bin/python3", "the interpreter every peer runs")
	flag.IntVar(&o.rounds, "rounds", 15, "rounds of each row")
	flag.IntVar(&o.slow, "slow-rounds", 2, "rounds of the rows that trace")
	flag.StringVar(&o.only, "only", "", "rows to run, by how their names begin: launch,files,learn (none: all of "+strings.Join(rowNames(), " ")+")")
	flag.StringVar(&o.json, "json", "", "write every time of every round to this file")
	flag.IntVar(&o.events, "events", 200_000, "opens of the run whose learner's memory is taken")
	flag.Parse()
	if err := measure(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// wants reports whether -only names the row.
func (o options) wants(name string) bool {
	return o.only == "" || slices.ContainsFunc(strings.Split(o.only, ","), func(w string) bool { return strings.HasPrefix(name, strings.TrimSpace(w)) })
}

// place is where the rows work, and how every peer is started there.
type place struct {
	aside       string // what the peers keep for themselves: a launch rests on dir, and none is kept that rests on what changes
	dir         string
	small       string // the same without the files that the rows look at
	psb, python string
}

func (p place) start(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+p.aside+"/.config", "XDG_STATE_HOME="+p.aside+"/.state", "XDG_CACHE_HOME="+p.aside+"/.cache", "PYTHONDONTWRITEBYTECODE=1")
	return c
}

func measure(o options) error {
	if i := slices.IndexFunc(strings.Split(o.only, ","), func(w string) bool {
		return !slices.ContainsFunc(rowNames(), func(n string) bool { return strings.HasPrefix(n, strings.TrimSpace(w)) })
	}); i >= 0 {
		return fmt.Errorf("-only %s: the rows are %s", o.only, strings.Join(rowNames(), " "))
	}
	psb, err := filepath.Abs(o.psb)
	if err != nil {
		return err
	}
	if _, err := os.Stat(psb); err != nil {
		return err
	}
	aside, err := os.MkdirTemp("/var/tmp", "psb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	p := place{aside, filepath.Join(aside, "project"), filepath.Join(aside, "small"), psb, o.python}
	for _, dir := range []string{p.dir, p.small} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := p.fill(); err != nil {
		return err
	}
	bare := peer{name: "bare", command: func(r row) (*exec.Cmd, error) { return p.start(append([]string{o.python}, r.args...)...), nil }}
	boxed := peer{name: "psb", command: func(r row) (*exec.Cmd, error) { return p.start(p.boxed(r)...), nil }}
	var results []result
	table := func(title string, rows []row, peers []peer, rounds int) error {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !o.wants(r.name) })
		if len(rows) == 0 {
			return nil
		}
		fmt.Printf("%s, %d rounds\n", title, rounds)
		for _, x := range peers {
			if x.absent != "" {
				fmt.Printf("  %s: absent, %s\n", x.name, x.absent)
			}
		}
		peers = slices.DeleteFunc(slices.Clone(peers), func(x peer) bool { return x.absent != "" })
		for _, r := range rows {
			if r.needs != "" && p.start(o.python, "-c", "import "+r.needs).Run() != nil {
				fmt.Printf("  %s: %s has no %s\n", r.name, o.python, r.needs)
				continue
			}
			if r.small {
				r.dir = p.small
			}
			got, err := r.measure(peers, rounds)
			if err != nil {
				return err
			}
			got.print(os.Stdout)
			results = append(results, got)
		}
		fmt.Println()
		return nil
	}
	peers := []peer{bare, boxed, p.sameRoot(), p.smallFilter()}
	// The first starts of psb make its folders and compile its shim, and psb keeps no launch that rests on what was written a moment ago.
	for range 3 {
		if _, err := enforcedRows()[0].once(boxed); err != nil {
			return err
		}
		time.Sleep(2500 * time.Millisecond)
	}
	if err := table("enforced, median ms (ratio to bare)", enforcedRows(), peers, o.rounds); err != nil {
		return err
	}
	if err := table("launches a second", flightRows(), peers, o.rounds); err != nil {
		return err
	}
	learner := peer{name: "psb --learn", command: func(r row) (*exec.Cmd, error) {
		return p.start(append([]string{psb, "--learn=" + filepath.Join(aside, "learned.toml"), "--python", o.python}, r.args...)...), nil
	}}
	if err := table("learning and tracing, median ms (ratio to bare)", learningRows(), []peer{bare, learner, p.strace()}, o.slow); err != nil {
		return err
	}
	if o.wants(memoryOfLearnerRow) {
		for _, words := range []string{"data/%d/%d", "new"} {
			got, err := memoryOfLearner(learner, words, o.events)
			if err != nil {
				return err
			}
			results = append(results, got)
		}
	}
	if slices.ContainsFunc(netRows(nil), func(r row) bool { return o.wants(r.name) }) || o.wants("memory") {
		w, err := newWorld()
		if err != nil {
			return err
		}
		defer w.close()
		both, err := p.netPeers(w)
		if err != nil {
			return err
		}
		if err := table("network, median ms of the work alone (ratio to bare)", netRows(w), both, o.rounds); err != nil {
			return err
		}
		if o.wants("memory") {
			total, err := memoryOfBroker(psb, both[1], w)
			if err != nil {
				return err
			}
			results = append(results, result{Row: "memory-broker", About: "memory with 1 000 connections open", Unit: "MiB", Peers: []peerTimes{{Peer: "psb", Rounds: []float64{total}}}})
		}
	}
	if err := table("psb's layer inside Python, median ms (ratio to the box without it)", layerRows(saidByProgram), p.layerPeers(), o.rounds); err != nil {
		return err
	}
	if o.wants(evalRow) {
		fmt.Printf("1+2 as evaluated text, median µs (ratio to plain eval), %d rounds\n", o.rounds)
		got, err := p.evaluated(o.rounds)
		if err != nil {
			return err
		}
		results = append(results, got)
		fmt.Println()
	}
	calling, said, err := p.partialPeers()
	if err != nil {
		return err
	}
	if err := table("partial mode, median ms (ratio to multiprocessing.Pool)", partialRows(said), calling, o.rounds); err != nil {
		return err
	}
	if o.wants("memory") {
		total, err := memory(psb, boxed)
		if err != nil {
			return err
		}
		results = append(results, result{Row: "memory", About: "own memory while idle", Unit: "MiB", Peers: []peerTimes{{Peer: "psb", Rounds: []float64{total}}}})
	}
	calls, err := p.mcp(o)
	if err != nil {
		return err
	}
	results = append(results, calls...)
	if o.json == "" {
		return nil
	}
	b, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(b, '\n'), 0o644)
}
