package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// launches is how many launches one round of an in-flight row makes.
const launches = 24

// result is one row, every round of every peer. The first peer is what the others are compared with.
type result struct {
	Row    string      `json:"row"`
	About  string      `json:"about"`
	Unit   string      `json:"unit"`
	Target string      `json:"target,omitempty"` // of the last peer's ratio
	Peers  []peerTimes `json:"peers"`
}

type peerTimes struct {
	Peer   string    `json:"peer"`
	Rounds []float64 `json:"rounds"`
	CPU    []float64 `json:"cpu,omitempty"` // ms of processor time of all its processes, where the row asks for it
}

// measure runs the row under every peer, rounds times, shuffled anew each time.
func (r row) measure(peers []peer, rounds int) (result, error) {
	got := result{Row: r.name, About: r.about, Unit: "ms", Target: r.target}
	one := r.once
	if r.flight > 0 {
		got.Unit, one = "launches/s", r.rate
	}
	warm := r.once
	if r.net != nil {
		one = func(p peer) (float64, error) { return r.net(r, p) }
		warm = one
	}
	for _, p := range peers { // runs to warm the caches, psb's kept launch among them, and to see that it works at all
		for range 2 {
			if _, err := warm(p); err != nil {
				return got, fmt.Errorf("%s: %s does not run it: %w", r.about, p.name, err)
			}
		}
		got.Peers = append(got.Peers, peerTimes{Peer: p.name, Rounds: make([]float64, rounds)})
	}
	order := rand.Perm(len(peers))
	for round := range rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			if r.cpu {
				wall, cpu, err := r.timed(peers[i])
				if err != nil {
					return got, err
				}
				got.Peers[i].Rounds[round] = wall
				got.Peers[i].CPU = append(got.Peers[i].CPU, cpu)
				continue
			}
			v, err := one(peers[i])
			if err != nil {
				return got, err
			}
			got.Peers[i].Rounds[round] = v
		}
	}
	return got, nil
}

// once runs the row under a peer and gives the milliseconds until it ended.
func (r row) once(p peer) (float64, error) {
	wall, _, err := r.timed(p)
	return wall, err
}

// timed is once with the processor time that the peer and everything it waited for took, in milliseconds: the steadier figure on a machine that
// does other work, too.
func (r row) timed(p peer) (wall, cpu float64, err error) {
	cmd, err := p.command(r)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", p.name, err)
	}
	if r.dir != "" {
		cmd.Dir = r.dir
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %s: %w\n%s", p.name, strings.Join(cmd.Args, " "), err, said.String())
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return float64(took.Microseconds()) / 1000, float64(used.Microseconds()) / 1000, nil
}

// rate keeps r.flight launches going and gives how many ended a second.
func (r row) rate(p peer) (float64, error) {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	next := make(chan struct{}, launches)
	for range launches {
		next <- struct{}{}
	}
	close(next)
	begin := time.Now()
	for range r.flight {
		all.Go(func() {
			for range next {
				if _, err := r.once(p); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	return launches / time.Since(begin).Seconds(), first
}

// print gives one line: medians, the ratio to the first peer, and of the second peer (psb) that to each of those after it.
func (x result) print(w io.Writer) {
	fmt.Fprintf(w, "  %-28s", x.About)
	for i, p := range x.Peers {
		fmt.Fprintf(w, "  %s %.1f", p.Peer, median(p.Rounds))
		if i > 0 {
			fmt.Fprintf(w, " (%.2f×)", ratio(p, x.Peers[0]))
		}
		if len(p.CPU) > 0 {
			fmt.Fprintf(w, " cpu %.1f", median(p.CPU))
		}
		if len(p.CPU) > 0 && i > 0 {
			fmt.Fprintf(w, " (%.2f×)", median(p.CPU)/median(x.Peers[0].CPU))
		}
	}
	for i := 2; i < len(x.Peers); i++ {
		fmt.Fprintf(w, "  %s/%s %.2f×", x.Peers[1].Peer, x.Peers[i].Peer, ratio(x.Peers[1], x.Peers[i]))
	}
	if x.Target != "" {
		fmt.Fprintf(w, "  target %s", x.Target)
	}
	fmt.Fprintln(w)
}

// ratio is the median of the round-by-round ratios.
func ratio(a, b peerTimes) float64 {
	list := make([]float64, len(a.Rounds))
	for i := range list {
		list[i] = a.Rounds[i] / b.Rounds[i]
	}
	return median(list)
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
