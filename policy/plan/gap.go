package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Gap is something the policy asks for, or psb promises by default, that this host cannot do. A gap stops the run unless it is
// accepted by name.
type Gap struct {
	Name     string `json:"name"`     // what --allow-gap takes: "namespaces", "limits.memory", "hide"
	Lost     string `json:"lost"`     // what does not hold without it
	Needs    string `json:"needs"`    // what would close it
	Accepted bool   `json:"accepted"` // by --allow-gap, or allow_gaps of a place that may say so
	Soft     bool   `json:"soft"`     // a default nobody asked for by name: reported, never stops the run
}

// String gives the gap as one line without its remedy.
func (g Gap) String() string { return fmt.Sprintf("gap %s: %s", g.Name, g.Lost) }

// Open returns the gaps that stop the run.
func Open(gaps []Gap) []Gap {
	var open []Gap
	for _, g := range gaps {
		if !g.Accepted && !g.Soft {
			open = append(open, g)
		}
	}
	return open
}

// addGap keeps one gap a name: losses of the same kind join into one sentence.
func addGap(gaps []Gap, g Gap) []Gap {
	i := slices.IndexFunc(gaps, func(o Gap) bool { return o.Name == g.Name })
	if i < 0 {
		return append(gaps, g)
	}
	if !strings.Contains(gaps[i].Lost, g.Lost) {
		gaps[i].Lost += "; " + g.Lost
	}
	gaps[i].Soft = gaps[i].Soft && g.Soft
	return gaps
}
