package policy

import (
	"slices"
	"testing"
)

func TestRegistryNamesEachFunctionOnce(t *testing.T) {
	var all []string
	for _, c := range Registry() {
		if c.What == "" || len(c.Functions) == 0 {
			t.Errorf("category %q is empty", c.Name)
		}
		all = append(all, c.Functions...)
	}
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) || len(all) < 60 {
		t.Errorf("%d functions, %d different ones", len(all), len(once))
	}
	if i := SensitiveImports(); !slices.Contains(i, "ctypes") || !slices.IsSorted(i) {
		t.Errorf("sensitive imports %q", i)
	}
}
