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

func TestCategoryIn(t *testing.T) {
	c, ok := CategoryOf("threading.Thread.start")
	if !ok || c.Name != "threads" {
		t.Fatalf("%+v, %v", c, ok)
	}
	for version, want := range map[string]bool{"3.8": false, "3.12": false, "3.13": true, "3.14.1": true, "": true} {
		if got := slices.Contains(c.In(version), "_thread.start_joinable_thread"); got != want {
			t.Errorf("in %q: %v", version, got)
		}
	}
	if _, ok := CategoryOf("threads"); ok {
		t.Error("a category is no function of itself")
	}
}

func TestUnknownCallsAreNamed(t *testing.T) {
	for name, want := range map[string]string{
		"threads": "", "subprocess.Popen": "", "*": "",
		"posix.system":     `"posix.system" is "os.system": write that`,
		"_pickle.loads":    `"_pickle.loads" is "pickle.loads": write that`,
		"os.sytem":         `"os.sytem" is no function or category of the registry, did you mean "os.system"?`,
		"thread":           `"thread" is no function or category of the registry, did you mean "threads"?`,
		"requests.get.now": `"requests.get.now" is no function or category of the registry, valid: deserialization dynamic-code introspection native privileges process-control process-exec threads *`,
		"a b":              `"a b" cannot be a function or category`,
	} {
		got := ""
		if err := checkCall(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
