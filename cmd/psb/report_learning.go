package main

import (
	"maps"
	"slices"
	"strings"

	"psb/cmd/psb/report"
	"psb/learn"
	"psb/policy"
)

// reportLearning is a learning run's summary as reports have it.
func reportLearning(r *learn.Report) report.Learning {
	out := report.Learning{Never: attempts(r.Floor), Refused: attempts(r.Refused), Left: r.Left, Unset: r.Unset, Partial: r.Partial}
	for _, g := range r.Added {
		tier := "normal"
		if g.Alert != "" {
			tier = "warn"
		}
		out.Learned = append(out.Learned, report.Grant{Op: string(g.Access.Op), Object: g.Access.Object, Text: g.Text, Tier: tier, Alert: g.Alert,
			Why: g.Because, Seen: g.Seen, Of: max(g.Of, 0)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Calls)) {
		out.Never = append(out.Never, report.Attempt{Op: "call", Object: name, Count: r.Calls[name]})
	}
	return out
}

// attempts puts accesses in order.
func attempts(m map[policy.Access]learn.Errno) []report.Attempt {
	var out []report.Attempt
	for a, errno := range m {
		out = append(out, report.Attempt{Op: string(a.Op), Object: a.Object, Errno: string(errno)})
	}
	slices.SortFunc(out, func(a, b report.Attempt) int {
		if c := strings.Compare(a.Op, b.Op); c != 0 {
			return c
		}
		return strings.Compare(a.Object, b.Object)
	})
	return out
}
