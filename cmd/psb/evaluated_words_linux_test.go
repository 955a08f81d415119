package main

import (
	"encoding/json"
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"testing"

	"psb/policy"
)

// engineWords prints the tables of the engine for evaluated text.
const engineWords = `import json, sys
sys.path.insert(0, sys.argv[1])
from psb.evals import words as w, modules as m
sets = {"core": w.CORE, "marks": w.MARKS, "nodes": w.ALONE, "closed": w.CLOSED, "exact": w.EXACT, "never": w.NEVER, "byname": w.BY_NAME, "undoing": m.CLOSED_MODULES}
print(json.dumps({"sets": {k: sorted(v) for k, v in sets.items()}, "groups": {k: sorted(v) for k, v in w.SYNTAX.items()}, "methods": {k: sorted(v) for k, v in w.METHODS.items()}, "pure": sorted(m.PURE)}))
`

// What a policy can say of evaluated text is what the engine understands, on every interpreter. Methods differ with the version: the policy knows all.
func TestPolicyKnowsTheWordsOfTheEngine(t *testing.T) {
	n := policy.EvalWords()
	sets := map[string][]string{"core": n.Core, "marks": n.Marks, "nodes": n.Nodes, "closed": n.Closed, "exact": n.Exact, "never": n.Never, "byname": n.ByName, "undoing": n.Undoing}
	tried := 0
	for _, python := range []string{"/usr/bin/python3", "python3", "python3.8", "python3.13"} { // the system's, and what PATH has
		file, err := exec.LookPath(python)
		if err != nil {
			continue
		}
		if err := exec.Command(file, "-I", "-c", "").Run(); err != nil {
			t.Logf("%s: %v", file, err) // a link of pyenv to a version that is not in use
			continue
		}
		out, err := exec.Command(file, "-I", "-c", engineWords, "../../pythonshim").Output()
		if err != nil {
			t.Fatalf("%s cannot tell the words: %v", file, err)
		}
		tried++
		var said struct {
			Sets, Groups, Methods map[string][]string
			Pure                  []string
		}
		if err := json.Unmarshal(out, &said); err != nil {
			t.Fatal(err)
		}
		for name, list := range said.Sets {
			if want := slices.Sorted(slices.Values(sets[name])); !reflect.DeepEqual(want, list) {
				t.Errorf("%s: %s: the policy has %q and the engine %q", file, name, beside(want, list), beside(list, want))
			}
		}
		for _, module := range said.Pure {
			if slices.Contains(n.Named, module) {
				t.Errorf("%s: a pattern grants the module %s in the engine, in the policy only its name", file, module)
			}
		}
		for name, list := range said.Groups {
			if want := slices.Sorted(slices.Values(n.Groups[name])); !reflect.DeepEqual(want, list) {
				t.Errorf("%s: group %s: the policy has %q, the engine %q", file, name, want, list)
			}
		}
		if len(said.Groups) != len(n.Groups) || len(said.Methods) != len(n.Methods) {
			t.Errorf("%s: other groups: %v, %v", file, slices.Sorted(maps.Keys(said.Groups)), slices.Sorted(maps.Keys(said.Methods)))
		}
		for name, list := range said.Methods {
			if more := beside(list, n.Methods[name]); len(more) > 0 {
				t.Errorf("%s: %s: the policy lacks %q", file, name, more)
			}
		}
	}
	if tried == 0 {
		t.Skip("no python3")
	}
}

// beside gives what the first list has beyond the second.
func beside(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
