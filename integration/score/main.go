package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"psb/integration/programs"
)

// options are the command line.
type options struct {
	psb, programs string
	only, json    string
	keep          bool
}

func main() {
	var o options
	flag.StringVar(&o.psb, "psb", "bin/psb", "the psb to judge")
	flag.StringVar(&o.programs, "programs", "integration/programs", "the folder of programs")
	flag.StringVar(&o.only, "only", "", "programs to try, by how their names begin: sqlite,flask (none: all)")
	flag.StringVar(&o.json, "json", "", "write every figure, policy and fault to this file")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders the programs worked in, and say where")
	flag.Parse()
	well, err := judge(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
	}
	if err != nil || !well {
		os.Exit(1)
	}
}

// wants reports whether -only names the program.
func (o options) wants(name string) bool {
	return o.only == "" || slices.ContainsFunc(strings.Split(o.only, ","), func(w string) bool { return strings.HasPrefix(name, strings.TrimSpace(w)) })
}

func judge(o options) (well bool, err error) {
	rows, err := programs.All(o.programs)
	if err != nil {
		return false, err
	}
	rows = slices.DeleteFunc(rows, func(r programs.Row) bool { return !o.wants(r.Name) })
	if len(rows) == 0 {
		return false, fmt.Errorf("-only %s: no program's name begins so", o.only)
	}
	shop, err := openWorkshop(o.psb, o.keep)
	if err != nil {
		return false, err
	}
	defer shop.close()
	if err := shop.control(); err != nil {
		return false, err
	}
	var all []score
	printHead(os.Stdout)
	for _, r := range rows {
		s := shop.score(r)
		s.print(os.Stdout)
		all = append(all, s)
	}
	well = verdict(os.Stdout, all, o.only != "")
	if o.json == "" {
		return well, nil
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return well, err
	}
	return well, os.WriteFile(filepath.Clean(o.json), append(b, '\n'), 0o644)
}
