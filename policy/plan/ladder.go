package plan

import (
	"fmt"
	"slices"
	"strings"

	"psb/landlock"
	"psb/policy"
)

// DefaultRequire are the layers every run must have unless the user's own file or command line says otherwise.
var DefaultRequire = policy.DefaultLayers()

// ladder picks the best rung that the host has and the request allows, and names what is missing.
func (c *compiler) ladder(r Request) Provider {
	asked := r.Provider
	if asked == "" {
		asked = r.Policy.Sandbox.Provider
	}
	required := slices.Concat(r.Policy.Sandbox.Require, r.Require)
	if len(r.Policy.Sandbox.Require) == 0 {
		required = slices.Concat(DefaultRequire, r.Require)
	}
	if asked == "none" {
		return None
	}
	if asked == "bwrap" {
		c.gaps = addGap(c.gaps, Gap{Name: "bwrap", Lost: "the bwrap provider is not in this build", Needs: "--provider namespaces"})
	}
	provider := Namespaces
	namespaced := c.host.UserNS || c.host.PlainNS
	if asked == "landlock" || (!namespaced && asked != "namespaces") {
		provider = LandlockOnly
	}
	if provider == LandlockOnly || !namespaced {
		why, needs := c.host.UserNSWhy, "user namespaces (psb doctor says what is in the way)"
		if asked == "landlock" {
			why, needs = "provider landlock was asked for", "--provider namespaces"
		}
		c.layer(required, "namespaces", fmt.Sprintf("no private root, processes, network or temporary space: host unix sockets and file metadata stay visible, "+
			"present entries of `create` folders, read lines inside `write` folders and hidden names inside grants are not protected (%s)", why), needs)
	}
	if c.host.Landlock.ABI < 1 {
		c.layer(required, "landlock", "files are held by mounts alone, not by a second wall", landlockNeeds(c.host.Landlock))
	}
	if !c.host.Seccomp {
		c.layer(required, "seccomp", "every kernel call may be used", c.host.SeccompWhy)
	}
	if c.host.Seccomp && !c.host.Notify {
		c.gaps = addGap(c.gaps, Gap{Name: "notify", Lost: "refused kernel calls and connections are not reported, connections within the box fail: " + c.host.NotifyWhy,
			Needs: "Linux 5.5 and no other seccomp listener around psb"})
	}
	for _, name := range required {
		switch name {
		case "namespaces", "landlock", "seccomp", "notify":
		case "cgroups":
			if why := c.host.Limits["pids"]; why != "" {
				c.layer(required, "cgroups", "no control group holds the processes", why)
			}
		default:
			c.gaps = addGap(c.gaps, Gap{Name: name, Lost: "a layer of that name is unknown to this build", Needs: "one of namespaces, landlock, seccomp, notify, cgroups"})
		}
	}
	return provider
}

// layer names a missing layer: it stops the run when it is required.
func (c *compiler) layer(required []string, name, lost, needs string) {
	// Without any of the three there is no box at all: no list of requirements makes that silent.
	soft := !slices.Contains(required, name)
	c.gaps = addGap(c.gaps, Gap{Name: name, Lost: lost, Needs: needs, Soft: soft})
}

func landlockNeeds(s landlock.Support) string {
	if s.Reason != "" {
		return "Linux 5.13 with landlock in the boot option lsm= (" + s.Reason + ")"
	}
	return "Linux 5.13 with landlock in the boot option lsm="
}

// landlockLoss says what an older kernel loses. In a box of namespaces other walls hold the same (read-only mounts, the empty network, the
// private root, the filter); without them the loss joins the gap that the user has to accept by name.
func (c *compiler) landlockLoss(l landlock.Lost, provider Provider) {
	if l.Name == "landlock" {
		return // ladder said so
	}
	if provider == LandlockOnly && !l.Stricter && !strings.HasPrefix(l.Name, "landlock.tcp") && !strings.HasPrefix(l.Name, "landlock.udp") {
		c.gaps = addGap(c.gaps, Gap{Name: "namespaces", Lost: l.What, Needs: l.Needs})
		return
	}
	c.gaps = addGap(c.gaps, Gap{Name: l.Name, Lost: l.What + " by Landlock", Needs: l.Needs, Soft: true})
}
