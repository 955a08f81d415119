package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
)

func planOfTest(checks ...namespaces.Check) *plannedBox {
	p := &plan.Plan{Limits: map[string]policy.Limit{"memory": {Bytes: 5}}}
	return &plannedBox{j: &job{w: &world{asked: map[string]bool{}}, plan: p}, made: &madeFrom{checks: checks}}
}

// TestPlansAreKeptWhileTheyHold: a plan is given as long as all it rests on looks as it did, never again after that; and of too many the one that was used
// longest ago goes.
func TestPlansAreKeptWhileTheyHold(t *testing.T) {
	m := &boxMaker{plans: map[string]*plannedBox{}}
	name := filepath.Join(t.TempDir(), "x")
	p := planOfTest(namespaces.Check{Kind: namespaces.CheckAbsent, Path: name})
	m.keep("a", p)
	if m.kept("a") != p {
		t.Error("it is not given though it holds")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m.kept("a") != nil {
		t.Error("it is given though it does not hold")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if m.kept("a") != nil {
		t.Error("one that did not hold came back")
	}
	for i := range mostPlans + 1 {
		m.keep(fmt.Sprint(i), planOfTest())
		if m.kept("0") == nil {
			t.Fatalf("the one in use went after %d", i)
		}
	}
	if m.kept("1") != nil || m.kept("2") == nil || len(m.plans) != mostPlans {
		t.Errorf("%d plans, not those that were used last", len(m.plans))
	}
}

// TestBoxesOfAPlanShareNothing: what a run changes of its launch is not seen by the next one, and each has a name of its own.
func TestBoxesOfAPlanShareNothing(t *testing.T) {
	m, p := &boxMaker{}, planOfTest()
	one := m.job(p, &boxOrder{})
	one.plan.Limits["memory"] = policy.Limit{Bytes: 1}
	one.w.stdio[1] = os.Stderr
	two := m.job(p, &boxOrder{Shell: &shellOrder{Code: "ls", Args: []string{"a"}}})
	if two.plan.Limits["memory"].Bytes != 5 || two.w.stdio[1] != nil || two.number == one.number {
		t.Errorf("limits %v, number %d and %d", two.plan.Limits, one.number, two.number)
	}
	if want := []string{"sh", "-c", "ls", "sh", "a"}; !slices.Equal(two.plan.Spec.Argv, want) || one.plan.Spec.Argv != nil {
		t.Errorf("words %q and %q", one.plan.Spec.Argv, two.plan.Spec.Argv)
	}
	a, _ := (&boxOrder{Shell: &shellOrder{Code: "ls"}, Preload: []string{"x"}}).planKey()
	b, _ := (&boxOrder{Shell: &shellOrder{Code: "rm"}}).planKey()
	c, _ := (&boxOrder{Shell: &shellOrder{Code: "ls", Dir: "d"}}).planKey()
	if a != b || a == c {
		t.Errorf("keys\n%s\n%s\n%s", a, b, c)
	}
}
