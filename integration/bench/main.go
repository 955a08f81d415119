package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	psb := flag.String("psb", "bin/psb", "the psb to measure")
	python := flag.String("python", "/usr/bin/python3", "the interpreter every peer runs")
	rounds := flag.Int("rounds", 15, "rounds of each row")
	slow := flag.Int("slow-rounds", 3, "rounds of the rows that trace")
	flag.Parse()
	if err := measure(*psb, *python, *rounds, *slow); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one piece of work, the same for every peer.
type row struct {
	name string
	args []string // of the interpreter
}

// peer turns a row into a command line; nil when the peer is not here.
type peer struct {
	name    string
	command func(r row) *exec.Cmd
	absent  string
}

func measure(psb, python string, rounds, slow int) error {
	psb, err := filepath.Abs(psb)
	if err != nil {
		return err
	}
	if _, err := os.Stat(psb); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/var/tmp", "psb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := workplace(dir); err != nil {
		return err
	}
	start := func(argv ...string) *exec.Cmd {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir+"/.config", "XDG_STATE_HOME="+dir+"/.state", "PYTHONDONTWRITEBYTECODE=1")
		return c
	}
	bare := peer{name: "bare", command: func(r row) *exec.Cmd { return start(append([]string{python}, r.args...)...) }}
	boxed := peer{name: "psb", command: func(r row) *exec.Cmd {
		return start(append([]string{psb, "--python", python, "--policy", ".py-sandboxes"}, r.args...)...)
	}}
	bwrap := bubblewrap(dir, python, start)
	rows := []row{
		{"launch: python3 -I -c pass", []string{"-I", "-c", "pass"}},
		{"7 imports", []string{"-c", "import asyncio, ssl, sqlite3, json, unittest, email, http.client"}},
		{"20 000 stat+open", []string{"look.py", "20000"}},
		{"200 subprocesses", []string{"spawn.py", "200"}},
	}
	fmt.Printf("enforced, median ms (ratio to bare), %d rounds\n", rounds)
	if err := table(rows, []peer{bare, boxed, bwrap}, rounds); err != nil {
		return err
	}
	fmt.Printf("\nlearning and tracing, median ms (ratio to bare), %d rounds\n", slow)
	learner := peer{name: "psb --learn", command: func(r row) *exec.Cmd {
		return start(append([]string{psb, "--learn=" + filepath.Join(dir, "learned.toml"), "--python", python}, r.args...)...)
	}}
	rows[0] = row{"launch: a script", []string{"empty.py"}}
	rows[1].args = []string{"imports.py"} // -c never learns
	rows[2] = row{"2 000 stat+open", []string{"look.py", "2000"}}
	if err := table(rows, []peer{bare, learner, strace(dir, python, start)}, slow); err != nil {
		return err
	}
	return memory(psb, boxed)
}

// workplace makes the files that the rows work on.
func workplace(dir string) error {
	files := map[string]string{
		"empty.py":   "",
		"imports.py": "import asyncio, ssl, sqlite3, json, unittest, email, http.client\n",
		"look.py": "import os, sys\nfor n in range(int(sys.argv[1])):\n    name = 'data/%d/%d' % (n // 100, n % 100)\n    os.stat(name)\n" +
			"    os.close(os.open(name, os.O_RDONLY))\n",
		"spawn.py":      "import subprocess, sys\nfor _ in range(int(sys.argv[1])):\n    subprocess.run(['/usr/bin/true'], check=True)\n",
		"idle.py":       "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n",
		".py-sandboxes": "version = 1\n[files]\n\"/usr/bin/true\" = \"exec\"\n\"data/\" = \"read\"\n\"./\" = \"list\"\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for n := range 200 {
		sub := filepath.Join(dir, "data", fmt.Sprint(n))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		for m := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(m)), []byte("x"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// table runs and prints one set of rows. The first peer is what the others are compared with.
func table(rows []row, peers []peer, rounds int) error {
	for _, p := range peers {
		if p.absent != "" {
			fmt.Printf("  %s: absent, %s\n", p.name, p.absent)
		}
	}
	peers = slices.DeleteFunc(slices.Clone(peers), func(p peer) bool { return p.absent != "" })
	for _, r := range rows {
		times := make([][]float64, len(peers))
		for i, p := range peers { // one run to warm the caches, and to see that it works at all
			if _, err := once(p, r); err != nil {
				fmt.Printf("  %-28s %s does not run it: %v\n", r.name, p.name, err)
				return err
			}
			times[i] = make([]float64, rounds)
		}
		order := make([]int, len(peers))
		for i := range order {
			order[i] = i
		}
		for round := range rounds {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, i := range order {
				ms, err := once(peers[i], r)
				if err != nil {
					return err
				}
				times[i][round] = ms
			}
		}
		fmt.Printf("  %-28s", r.name)
		for i, p := range peers {
			ratios := make([]float64, rounds)
			for n := range ratios {
				ratios[n] = times[i][n] / times[0][n]
			}
			fmt.Printf("  %s %.1f", p.name, median(times[i]))
			if i > 0 {
				fmt.Printf(" (%.2f×)", median(ratios))
			}
		}
		fmt.Println()
	}
	return nil
}

// once runs a row under a peer and gives the milliseconds until it ended.
func once(p peer, r row) (float64, error) {
	cmd := p.command(r)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w\n%s", p.name, strings.Join(cmd.Args, " "), err, said.String())
	}
	return float64(took.Microseconds()) / 1000, nil
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}
