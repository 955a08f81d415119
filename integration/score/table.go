package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// What is asked of the corpus.
const (
	leastPrograms = 25
	mostShort     = 2
	mostLines     = 30
	mostReads     = 5.0
	exactly       = 1.0
)

func printHead(w io.Writer) {
	fmt.Fprintf(w, "%-28s %6s %5s %6s %5s %6s %5s %7s %7s %6s %6s %6s %6s\n", "program", "replay", "vary", "stable", "idem", "excess", "lines", "reasons", "recover", "reads", "writes", "execs", "hosts")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

func (s share) String() string {
	r, ok := s.ratio()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", r)
}

func (s score) print(w io.Writer) {
	if s.Absent != "" {
		fmt.Fprintf(w, "%-28s absent: %s\n", s.Program, strings.ReplaceAll(s.Absent, "\n", " / "))
		return
	}
	reasons := "all"
	if s.Unexplained > 0 {
		reasons = fmt.Sprint("-", s.Unexplained)
	}
	fmt.Fprintf(w, "%-28s %6s %5s %6s %5s %6d %5d %7s %7s %6v %6v %6v %6v\n", s.Program, fmt.Sprintf("%d/%d", s.Replay, replays), fmt.Sprintf("%d/%d", s.varied(), len(s.Variation)),
		yes(s.Stable), yes(s.Idempotent), s.Excess, s.Lines, reasons, yes(s.Recovered), s.Reads, s.Writes, s.Programs, s.Hosts)
}

// verdict prints the faults, the medians and whether all that is asked holds. Of a part of the corpus it asks no number of programs.
func verdict(w io.Writer, all []score, part bool) (well bool) {
	var tried []score
	for _, s := range all {
		if s.Absent == "" {
			tried = append(tried, s)
		}
	}
	var short []string
	lines := []float64{}
	figures := map[string][]float64{}
	excess := 0
	for _, s := range tried {
		if s.short() {
			short = append(short, s.Program)
		}
		for _, f := range s.Faults {
			fmt.Fprintf(w, "\n%s: %s\n", s.Program, f)
		}
		lines = append(lines, float64(s.Lines))
		excess += s.Excess
		for name, sh := range map[string]share{"reads": s.Reads, "writes": s.Writes, "programs": s.Programs, "hosts": s.Hosts} {
			if r, ok := sh.ratio(); ok {
				figures[name] = append(figures[name], r)
			}
		}
	}
	well = len(tried) > 0 && len(short) <= mostShort && excess == 0 && median(lines) <= mostLines && (part || len(tried) >= leastPrograms)
	fmt.Fprintf(w, "\n%d programs, %d short of what is asked%s\nmedians: lines %.0f (at most %d)", len(tried), len(short), among(short), median(lines), mostLines)
	for _, name := range []string{"reads", "writes", "programs", "hosts"} {
		most := exactly
		if name == "reads" {
			most = mostReads
		}
		if len(figures[name]) == 0 {
			continue
		}
		m := median(figures[name])
		well = well && m <= most
		fmt.Fprintf(w, ", %s granted ÷ used %.1f (at most %.0f)", name, m, most)
	}
	answer := "no"
	if well {
		answer = "yes"
	}
	fmt.Fprintf(w, "\nverdict: %s\n", answer)
	return well
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// median is the middle one; of an even number the mean of the two in the middle.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
