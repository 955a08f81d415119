package main

import (
	"encoding/json"

	"psb/policy/plan"
)

// explain is `psb explain [the words of a run]`: the plan, and nothing is run, made or approved.
func explain(w *world, args []string) (int, error) {
	if isHelp(args) {
		_, err := w.stdio[1].WriteString("psb explain [--json] [the words of a run]\n\nPrint the plan of a run, each line with the rule behind it. Nothing is started.\n")
		return 0, err
	}
	line, err := parseRun(args)
	if err != nil {
		return exitRefused, err
	}
	j := &job{w: w, opts: line.options, where: locate(line, w.cwd), look: newLook()}
	if err := programThere(w, line, j.where); err != nil {
		return refusedStatus(err), err
	}
	j.facts = probe(w, true)
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return exitRefused, err
	}
	if err := j.checkTrust(); err != nil {
		return exitRefused, err
	}
	if err := j.findPython(); err != nil {
		return exitRefused, err
	}
	j.setMacros()
	mode := plan.Enforce
	if line.learn {
		mode = plan.Learn
	}
	if err := j.expand(); err != nil {
		return exitRefused, err
	}
	if err := j.compile(mode, j.pythonCommand(line)); err != nil {
		return exitRefused, err
	}
	if line.json {
		out := json.NewEncoder(w.stdio[1])
		out.SetIndent("", "  ")
		return 0, out.Encode(j.plan.JSON())
	}
	return 0, j.plan.Text(w.stdio[1])
}
