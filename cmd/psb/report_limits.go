package main

import (
	"maps"
	"slices"

	"psb/cmd/psb/report"
	"psb/policy"
	"psb/policy/plan"
)

// reportLimits are the limits of a run in the order of their names, and what holds each.
func (j *job) reportLimits(o outcome) []report.Limit {
	var out []report.Limit
	for _, name := range slices.Sorted(maps.Keys(j.plan.Limits)) {
		l := j.plan.Limits[name]
		r := report.Limit{Name: name, Text: l.Text, Origin: originWords(l.Origin.File, l.Origin.Line, l.Origin.From), Effective: "kernel",
			Reached: o.reason == name || name == "pids" && o.usage.PIDsRefused > 0}
		r.Value, r.Unit = limitValue(l)
		switch {
		case j.plan.Provider == plan.None:
			r.Effective = "nothing"
		case name == "wall" || name == "output":
			r.Effective = "psb" // it waits, and it carries what is printed
		case j.facts.host.Limits[name] != "":
			if r.Effective = plan.Substitute(name); r.Effective == "" {
				r.Effective = "nothing"
			}
		}
		out = append(out, r)
	}
	return out
}

func limitValue(l policy.Limit) (float64, string) {
	switch l.Name {
	case "pids":
		return float64(l.Count), "processes"
	case "open_files":
		return float64(l.Count), "files"
	case "cpus":
		return l.CPUs, "cpus"
	case "wall", "cpu_time":
		return l.Time.Seconds(), "seconds"
	}
	return float64(l.Bytes), "bytes"
}
