package plan

import (
	"maps"
	"slices"
	"strings"
)

// Shown is a plan for machines: what Text prints, in fields. Values of variables are not in it.
type Shown struct {
	Argv     []string          `json:"argv"`
	Dir      string            `json:"dir"`
	Policy   string            `json:"policy"`
	Provider Provider          `json:"provider"`
	Mode     string            `json:"mode"`
	UID      uint32            `json:"uid"`
	GID      uint32            `json:"gid"`
	Env      []string          `json:"env"`
	Files    []ShownPlace      `json:"files"`
	Limits   map[string]string `json:"limits"`
	Syscalls map[string]bool   `json:"syscalls"`
	Landlock int               `json:"landlock_abi"`
	Net      []string          `json:"net"` // "connect HOST:PORT" and the like, as ruled
	Gaps     []Gap             `json:"gaps"`
	Make     []string          `json:"make"`
	Python   PythonLayer       `json:"python_layer"`
}

// ShownPlace is one path inside.
type ShownPlace struct {
	Path    string   `json:"path"`
	Rights  string   `json:"rights"`
	Link    string   `json:"link,omitempty"`
	Hidden  bool     `json:"hidden,omitempty"`
	Guarded bool     `json:"protected,omitempty"`
	Overlay bool     `json:"overlay,omitempty"` // what is written there is thrown away
	Rules   []string `json:"rules,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// JSON gives the plan in fields.
func (p *Plan) JSON() Shown {
	s := Shown{Argv: p.Command.Argv, Dir: p.Command.Dir, Policy: p.Policy.Name, Provider: p.Provider, Mode: p.Mode.String(), UID: p.Identity.UID, GID: p.Identity.GID,
		Env: []string{}, Net: []string{}, Files: []ShownPlace{}, Limits: map[string]string{}, Syscalls: p.Syscalls, Landlock: p.Files.ABI, Gaps: p.Gaps, Make: p.Missing,
		Python: p.PythonLayer}
	for _, kv := range p.Env {
		name, _, _ := strings.Cut(kv, "=")
		s.Env = append(s.Env, name)
	}
	for _, r := range p.NetRules() {
		s.Net = append(s.Net, r.String())
	}
	for _, n := range slices.Sorted(maps.Keys(p.Limits)) {
		s.Limits[n] = p.Limits[n].Text
	}
	for _, pl := range p.Places {
		x := ShownPlace{Path: pl.Path, Rights: pl.Rights.String(), Link: pl.Link, Hidden: pl.Hidden, Guarded: pl.Guarded, Overlay: pl.Overlay, Why: pl.Why}
		for _, o := range pl.Origins {
			if o != alwaysThere {
				x.Rules = append(x.Rules, originText(o))
			}
		}
		s.Files = append(s.Files, x)
	}
	return s
}
