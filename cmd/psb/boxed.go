package main

import (
	"os"
	"strings"

	"psb/policy/plan"
)

// boxed refuses to start a box where psb runs in one: a box lets no program make namespaces or install a second listener.
func (j *job) boxed() error {
	if j.opts.provider == "none" || !present(plan.OwnDir+"/hidden-file") {
		return nil
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil || !strings.Contains(string(b), "\nSeccomp:\t2\n") {
		return nil
	}
	return refuse("run the program itself, which the box around it confines, or psb outside of that box", "psb runs inside a box of psb, and a box starts no other")
}
