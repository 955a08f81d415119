package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"psb/mcpserver"
)

// order is what a box for this request is made of.
func (r *coldRunner) order(q *mcpserver.Request, profile boxProfile) *boxOrder {
	o := &boxOrder{Language: string(q.Language), Profile: profile, AllowGaps: r.gaps, Network: q.Network != r.offer.Networks[0], Limits: limitTexts(q.Timeout, q.Limits)}
	o.Values = r.values
	if q.Language == mcpserver.Shell {
		o.Shell = &shellOrder{q.Code, q.Args, q.Dir}
	}
	return o
}

// call is the request itself, in the words of the psb that runs it.
func (r *coldRunner) call(q *mcpserver.Request) *callOrder {
	c := r.offer.Ceilings
	o := &callOrder{Code: q.Code, Args: q.Args, Variables: q.Variables, Figures: q.Figures, Limits: limitTexts(q.Timeout, q.Limits),
		All: q.Return.All, Globs: q.Return.Globs, Returned: c.Returned, ReturnMax: c.ReturnMax, ReturnAll: mostReturned}
	for _, f := range q.Files {
		o.Files = append(o.Files, boxInput{f.Path, f.Content, f.Executable})
	}
	return o
}

// limitTexts are limits as [limits] has them.
func limitTexts(wall time.Duration, l mcpserver.Limits) map[string]string {
	size := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return map[string]string{"wall": strconv.FormatInt(max(wall.Milliseconds(), 1), 10) + "ms", "memory": size(l.Memory), "cpus": strconv.FormatFloat(l.CPUs, 'f', -1, 64),
		"pids": strconv.Itoa(l.Processes), "disk": size(l.Disk), "output": size(mostPrinted), "memory_swap": "0"}
}

// packagesOf lists what is installed beside an interpreter, by the names of folders alone.
func packagesOf(sites []string) []string {
	var out []string
	for _, dir := range sites {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".dist-info")
			if !ok {
				name, ok = strings.CutSuffix(e.Name(), ".egg-info")
				name = strings.TrimSuffix(name, ".egg")
			}
			if pkg, version, found := strings.Cut(name, "-"); ok && found && len(out) < 500 {
				out = append(out, plainText(pkg)+" "+plainText(version))
			}
		}
	}
	return out
}
