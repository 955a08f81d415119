package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"psb/policy"
	"psb/policy/plan"
)

// report is what --report FILE.json holds: what was configured, observed and reported, and why the run ended. No values of variables.
type report struct {
	Psb      string     `json:"psb"`
	Argv     []string   `json:"argv"`
	Policy   string     `json:"policy"`
	Mode     string     `json:"mode"`
	Provider string     `json:"provider"`
	Status   int        `json:"status"`
	Signal   string     `json:"signal,omitempty"`
	Reason   string     `json:"reason"` // exit signal wall memory output refused "not executable" "not found"
	Error    string     `json:"error,omitempty"`
	Gaps     []plan.Gap `json:"gaps"`
	Layers   []string   `json:"not_in_this_build"`
	Denials  []*denial  `json:"denials"`
	Usage    usage      `json:"usage"`
	Audit    *findings  `json:"audit,omitempty"`
}

type usage struct {
	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	MemoryPeak  uint64  `json:"memory_peak_bytes"`
	OOMKills    uint64  `json:"oom_kills"`
	PIDsPeak    uint64  `json:"pids_peak"`
	PIDsRefused uint64  `json:"pids_refused"`
	// Unknown names the figures this host cannot give.
	Unknown []string `json:"unknown"`
}

// writeReport writes the report whole or not at all.
func (j *job) writeReport(o outcome, failure error, list []*denial) error {
	if j.opts.report == "" {
		return nil
	}
	r := report{Psb: version, Policy: j.where.policy, Status: o.status, Reason: o.reason, Denials: list, Gaps: []plan.Gap{},
		Layers: []string{"python"}}
	if r.Denials == nil {
		r.Denials = []*denial{}
	}
	if o.died != 0 {
		r.Signal = o.died.String()
	}
	if failure != nil {
		r.Error = failure.Error()
		if r.Reason == "" {
			r.Reason = "refused"
		}
		if r.Status == 0 {
			r.Status = exitRefused
		}
	}
	if j.plan != nil {
		r.Argv, r.Provider, r.Mode = j.plan.Command.Argv, string(j.plan.Provider), j.plan.Mode.String()
		r.Gaps = append(r.Gaps, j.plan.Gaps...)
	}
	r.Audit = j.findings
	u := o.usage
	r.Usage = usage{o.wall.Seconds(), (o.exit.User + o.exit.System).Seconds(), u.MemoryPeak, u.OOMKills, u.PIDsPeak, u.PIDsRefused, u.Unknown}
	if r.Usage.MemoryPeak == 0 {
		r.Usage.MemoryPeak = o.exit.MaxRSS
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if j.reportIn.path != "" && !j.reportIn.same() {
		return fmt.Errorf("%s: its folder is another one than before the run; nothing is written", j.opts.report)
	}
	return replaceFile(absolute(j.w.cwd, j.opts.report), append(b, '\n'), 0o644)
}

// replaceFile puts a file in place of another, whole or not at all.
func replaceFile(name string, b []byte, mode os.FileMode) error {
	return policy.Replace(filepath.Dir(name), filepath.Base(name), 0o600, func(f *os.File) error {
		if _, err := f.Write(b); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
}
