package plan

import (
	"maps"
	"slices"

	"psb/policy"
)

// defaults hold where [limits] says nothing: best effort, reported as such.
func defaults(memory uint64) map[string]policy.Limit {
	from := policy.Origin{From: "default"}
	return map[string]policy.Limit{
		"memory": {Name: "memory", Text: "75% of the machine's", Bytes: max(memory/4*3, 256<<20), Origin: from},
		"pids":   {Name: "pids", Text: "1024", Count: 1024, Origin: from},
		"disk":   {Name: "disk", Text: "1G", Bytes: tmpSize, Origin: from},
	}
}

// limits joins the policy's limits with the defaults and names what nothing on this host can hold.
func (c *compiler) limits(p *Plan, accept []string) {
	p.Limits = defaults(c.host.MemoryTotal)
	maps.Copy(p.Limits, c.policy.Limits)
	for _, name := range slices.Sorted(maps.Keys(p.Limits)) {
		why := c.host.Limits[name]
		if why == "" {
			continue
		}
		asked := p.Limits[name].Origin.From != "default"
		g := Gap{Name: "limits." + name, Lost: name + " is held only by " + substitutes[name], Needs: why, Soft: !asked}
		if substitutes[name] == "" {
			g.Lost = name + " is not limited"
		}
		c.gaps = addGap(c.gaps, g)
	}
	// A memory limit that was asked for speaks of swap, too, though no line does: without it the rest goes there.
	_, own := p.Limits["memory_swap"]
	if why := c.host.Limits["memory_swap"]; why != "" && !own && p.Limits["memory"].Origin.From != "default" && c.host.Limits["memory"] == "" {
		c.gaps = addGap(c.gaps, Gap{Name: "limits.memory_swap", Lost: "memory is limited and swap is not, so what exceeds it goes to swap", Needs: why})
	}
}

// substitutes are what stands in for a control group.
var substitutes = map[string]string{
	"memory": "looking at the tree from time to time and ending it",
	"pids":   "RLIMIT_NPROC, which counts every process of the user id in the box's user namespace",
}

// identityInside is who the program is: an ordinary user stays itself, root becomes an unprivileged id.
func identityInside(h Host, provider Provider) Identity {
	id := h.Identity
	if h.Root && provider != None {
		id.UID, id.GID = InsideID, InsideID
		if !h.UserNS && !h.Nested {
			id.UID, id.GID = HostID, HostID
		}
	}
	return id
}

// Root runs programs as HostID, an id that nothing else on a usual system has; inside its own user namespace it shows as InsideID.
const (
	HostID   = 65533
	InsideID = 1000
)

// Substitute says what holds a limit by that name where no control group can; "" for nothing.
func Substitute(name string) string { return substitutes[name] }
