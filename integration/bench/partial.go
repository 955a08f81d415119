package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed partial.py
var partialProgram []byte

// partialRows are calls into another process. Partial mode stands beside multiprocessing, which gives its workers no walls and believes
// what they pickle; the start of a box beside the start of an interpreter.
func partialRows(run netRow) []row {
	return []row{
		{name: "partial-calls", about: "2 000 calls, one after the other", args: []string{"calls", "2000"}, net: run, target: "≤ 2.00×: half the rate of calls"},
		{name: "partial-threads", about: "2 000 calls from 8 threads", args: []string{"threads", "2000"}, net: run},
		{name: "partial-out", about: "50 MB of bytes as a result, 6 times", args: []string{"out", "6"}, net: run},
		{name: "partial-in", about: "50 MB of bytes as an argument, 6 times", args: []string{"in", "6"}, net: run},
		{name: "partial-start", about: "a box (beside it: python3 -c pass), 3 times", args: []string{"start", "3"}, net: run},
	}
}

// partialPeers are multiprocessing.Pool and @sandbox; the package is the checkout's.
func (p place) partialPeers() ([]peer, netRow, error) {
	program := filepath.Join(p.small, "partial.py")
	if err := os.WriteFile(program, partialProgram, 0o644); err != nil {
		return nil, nil, err
	}
	shim, err := filepath.Abs("pythonshim")
	if err != nil {
		return nil, nil, err
	}
	who := func(name string) func(r row) (*exec.Cmd, error) {
		return func(r row) (*exec.Cmd, error) {
			c := p.start(append([]string{p.python, program, name}, r.args...)...)
			c.Dir, c.Env = p.small, append(c.Env, "PYTHONPATH="+shim, "PSB="+p.psb)
			return c, nil
		}
	}
	boxed := peer{name: "psb", command: who("psb")}
	if _, err := os.Stat(filepath.Join(shim, "psb", "partial")); err != nil {
		boxed.absent = "it runs in the checkout, where the package is"
	}
	return []peer{{name: "Pool", command: who("pool")}, boxed}, saidByProgram, nil
}

// saidByProgram is a row's time as its program measured it, without the interpreter's start.
func saidByProgram(r row, p peer) (float64, error) {
	c, err := p.command(r)
	if err != nil {
		return 0, err
	}
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("%q: %w", c.Args, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
