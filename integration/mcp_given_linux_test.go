package integration

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestMCPGivenValues: the operator's values are names in the code of each call: one that waited for it, one that was made for it, a session's, another
// profile's. What code does to them is gone with its box.
func TestMCPGivenValues(t *testing.T) {
	s := newScene(t, people()[len(people())-1])
	values := s.put(t, "home/values.json", `{"rates": {"EUR": 1.5, "list": [1, null, true]}, "region": "e\u00fc", "n": 3, "id": "own"}`)
	wrong := s.put(t, "home/wrong.json", `{"class": 1}`)
	profile := s.put(t, "home/profiles/data.py-sandboxes", "version = 1\n[env]\n\"REGION\" = \"of the profile\"\n")
	s.give(t)
	a := s.agent(t, "--values", values, "--profiles", filepath.Dir(profile))
	whole := "rates, region, n, id"
	want := "({'EUR': 1.5, 'list': [1, None, True]}, 'eü', 3, 'own')"
	r := a.warmly(whole, "variables", []string{"region", "rates"})
	r.want(t, "ok", want, "region = 'eü'", "rates = {'EUR': 1.5")
	a.warmly("rates['EUR'] = 2; n = region = None; rates").want(t, "ok", "{'EUR': 2")
	a.warmly(whole).want(t, "ok", want)
	a.python(whole, "disk_mb", 32).want(t, "ok", want) // a box of its own
	a.python("import os; "+whole+", os.environ['REGION']", "profile", "data").want(t, "ok", want[:len(want)-1]+", 'of the profile')")
	a.inside("w", "rates['EUR'] = 2; rates, n").want(t, "ok", "({'EUR': 2, ", ", 3)")
	a.inside("w", "n += rates['EUR']; n").want(t, "ok", "5")
	a.session("reset", "w").says(t, false, "generation 2")
	a.inside("w", whole).want(t, "ok", want)
	a.tool("run_shell", map[string]any{"command": "echo [$region] $(set | grep -c ^rates)"}).want(t, "ok", "[] 0")
	a.tool("describe", map[string]any{"query": "names"}).says(t, false, "given by the operator: id (str), n (int), rates (dict), region (str).")

	told := s.run(t, call{argv: []string{psb(t), "tools", "--format", "json", "--values", values}})
	if !strings.Contains(told.out, "Names that are there from the start, given by the operator: id (str), n (int), rates (dict), region (str).") {
		t.Errorf("%v", told)
	}
	refused := s.run(t, call{argv: []string{psb(t), "mcp", "--values", wrong}})
	if refused.code != 125 || !strings.Contains(refused.err, "class: no name that can be given") || !strings.Contains(refused.err, `psb: hint: a file such as {"region": "eu"`) {
		t.Errorf("%v", refused)
	}
}
