package main

import (
	"regexp"
	"slices"
	"testing"

	"psb/policy"
	"psb/pythonshim"
)

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
