package main

import (
	"os"
	"strconv"
	"strings"

	"psb/mcpserver"
)

// order is a request in the words of the psb that runs it.
func (r *coldRunner) order(q *mcpserver.Request, profile boxProfile) *boxOrder {
	c := r.offer.Ceilings
	o := &boxOrder{Language: string(q.Language), Code: q.Code, Args: q.Args, Dir: q.Dir, Variables: q.Variables, Figures: q.Figures, Profile: profile, AllowGaps: r.gaps,
		Network: q.Network != r.offer.Networks[0], All: q.Return.All, Globs: q.Return.Globs, Returned: c.Returned, ReturnMax: c.ReturnMax, ReturnAll: mostReturned}
	for _, f := range q.Files {
		o.Files = append(o.Files, boxInput{f.Path, f.Content, f.Executable})
	}
	size := func(n uint64) string { return strconv.FormatUint(n, 10) }
	o.Limits = map[string]string{"wall": strconv.FormatInt(max(q.Timeout.Milliseconds(), 1), 10) + "ms", "memory": size(q.Limits.Memory), "cpus": strconv.FormatFloat(q.Limits.CPUs, 'f', -1, 64),
		"pids": strconv.Itoa(q.Limits.Processes), "disk": size(q.Limits.Disk), "output": size(mostPrinted), "memory_swap": "0"}
	return o
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
