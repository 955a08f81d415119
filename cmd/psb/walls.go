package main

import (
	"path"

	"psb/landlock"
	"psb/policy/plan"
)

// walls are the Landlock rules of a box, by where they stand in it.
type walls struct {
	handled landlock.Access
	rules   map[string]landlock.PathRule
}

func wallsOf(p *plan.Plan) walls {
	w := walls{p.Files.HandledFS, map[string]landlock.PathRule{}}
	for _, rule := range p.Files.Paths {
		if had, twice := w.rules[rule.Path]; twice {
			rule.Access, rule.File = rule.Access|had.Access, rule.File && had.File
		}
		w.rules[rule.Path] = rule
	}
	return w
}

// allow reports whether Landlock lets the program do all of need with what stands at name, or has no say.
func (w walls) allow(name string, need landlock.Access) bool {
	need &= w.handled
	for at := name; need != 0; at = path.Dir(at) {
		if rule, ruled := w.rules[at]; ruled && (!rule.File || at == name) {
			need &^= rule.Access
		}
		if at == "/" || at == "." {
			break
		}
	}
	return need == 0
}
