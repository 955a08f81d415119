package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const evalRow = "eval"

// evalTargets are what the modes of a guarded evaluation may take.
var evalTargets = map[string]string{"in process, cached": "≤ 50 µs"}

// evaluated is what 1+2 costs as evaluated text in each mode, and in other evaluators that the interpreter can import; nothing is installed for
// it. Each round is one process that measures every mode, in an order of its own; the first is plain eval.
func (p place) evaluated(rounds int) (result, error) {
	got := result{Row: evalRow, About: "1+2 as evaluated text", Unit: "µs"}
	script, err := filepath.Abs("pythonshim/tests/evals/speed.py")
	if err != nil {
		return got, err
	}
	if _, err := os.Stat(script); err != nil {
		fmt.Println("evaluated text: absent, it runs in the checkout, where the package is")
		return got, nil
	}
	for round := range rounds {
		c := p.start(p.python, script, "--sum", "0.1")
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return got, fmt.Errorf("%q: %w", c.Args, err)
		}
		for line := range strings.Lines(string(out)) {
			mode, said, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if said == "not here" {
				if round == 0 {
					fmt.Printf("  %s: not here, %s cannot import it\n", mode, p.python)
				}
				continue
			}
			took, err := strconv.ParseFloat(said, 64)
			if err != nil {
				return got, fmt.Errorf("%q: %w", c.Args, err)
			}
			got.add(mode, took)
		}
	}
	for i, mode := range got.Peers {
		fmt.Printf("  %-28s %9.1f µs", mode.Peer, median(mode.Rounds))
		if i > 0 {
			fmt.Printf("  (%.2f×)", ratio(mode, got.Peers[0]))
		}
		if target := evalTargets[mode.Peer]; target != "" {
			fmt.Printf("  target %s", target)
		}
		fmt.Println()
	}
	return got, nil
}

// add puts one more round to a peer, which is made where it is new.
func (x *result) add(name string, took float64) {
	for i := range x.Peers {
		if x.Peers[i].Peer == name {
			x.Peers[i].Rounds = append(x.Peers[i].Rounds, took)
			return
		}
	}
	x.Peers = append(x.Peers, peerTimes{Peer: name, Rounds: []float64{took}})
}
