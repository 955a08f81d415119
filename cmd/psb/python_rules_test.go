package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"psb/policy"
	"psb/pythonshim"
)

func TestPythonRulesHoldTheFileAndTheCommandLine(t *testing.T) {
	p, err := policy.Parse("", []byte("[python.import]\n\"flask\" = true\n\"ctypes\" = false\n[python.call]\n\"threads\" = true\n[python.eval]\ncall = [\"len\", \"!min\"]\ntimeout = \"1s\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	var more []policy.Rule
	for _, words := range []string{"eval call:len", "eval call:max", "eval calc/syntax:BinOp", "import flask", "import ctypes", "import yaml"} {
		r, err := policy.ParseRule(words, "/p", policy.Macros{Project: "/p"})
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, r)
	}
	q, err := p.Allow("command line", more...)
	if err != nil {
		t.Fatal(err)
	}
	got := pythonRules(q, "")
	want := pythonshim.Rules{
		Imports: map[string]bool{"flask": true, "ctypes": false, "yaml": true},
		Calls:   map[string]bool{"threads": true},
		Eval: map[string]pythonshim.Profile{
			"":     {Lists: map[string][]string{"call": {"len", "!min", "max"}}, Values: map[string]string{"timeout": "1s"}},
			"calc": {Lists: map[string][]string{"syntax": {"BinOp"}}, Values: map[string]string{}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if len(p.Eval[""].Lists["call"]) != 2 {
		t.Error("the policy itself was changed")
	}
}

// TestShimKnowsTheSensitiveImports: the shim and the policy have one list of the modules that need a line.
func TestShimKnowsTheSensitiveImports(t *testing.T) {
	shim := pythonshim.Overlay(nil, pythonshim.Enforce)
	table := regexp.MustCompile(`(?s)SENSITIVE = frozenset\(\((.*?)\)\)`).FindSubmatch(shim)
	if table == nil {
		t.Fatal("no table in the shim")
	}
	var got []string
	for _, m := range regexp.MustCompile(`"([\w.]+)"`).FindAllSubmatch(table[1], -1) {
		got = append(got, string(m[1]))
	}
	slices.Sort(got)
	if want := policy.SensitiveImports(); !slices.Equal(got, want) {
		t.Errorf("the shim has\n%q\nthe policy\n%q", got, want)
	}
}

// TestShimKnowsTheRegistry: the shim has a door for each function of the registry, and no other.
func TestShimKnowsTheRegistry(t *testing.T) {
	shim := pythonshim.Overlay(nil, pythonshim.Learn)
	table := regexp.MustCompile(`(?s)REGISTRY = \{(.*?)\n \}`).FindSubmatch(shim)
	if table == nil {
		t.Fatal("no table in the shim")
	}
	got, category := map[string][]string{}, ""
	for _, m := range regexp.MustCompile(`"([^"]*)"(:?)`).FindAllSubmatch(table[1], -1) {
		if len(m[2]) > 0 {
			category = string(m[1])
			continue
		}
		got[category] = append(got[category], strings.Fields(string(m[1]))...)
	}
	for _, c := range policy.Registry() {
		slices.Sort(got[c.Name])
		if !slices.Equal(got[c.Name], c.Functions) {
			t.Errorf("%s: the shim has\n%q\nthe policy\n%q", c.Name, got[c.Name], c.Functions)
		}
		delete(got, c.Name)
	}
	if len(got) > 0 {
		t.Errorf("the policy does not know %v", got)
	}
}
