package policy

import (
	"slices"
	"strings"
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
		"proces-exec":      `"proces-exec" is no function or category of the registry, did you mean "process-exec"?`,
		"eval":             `"eval" is no function or category of the registry, did you mean "builtins.eval"?`,
		"system":           `"system" is no function or category of the registry, did you mean "os.system"?`,
		"sytem":            `"sytem" is no function or category of the registry, did you mean "os.system"?`,
		"Popen":            `"Popen" is no function or category of the registry, did you mean "subprocess.Popen"?`,
		"popen":            `"popen" is no function or category of the registry, did you mean "os.popen"?`,
		"fork":             `"fork" is no function or category of the registry, did you mean "os.fork"?`,
		"threading.Thread": `"threading.Thread" is no function or category of the registry, did you mean "threading.Thread.start"?`,
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

func TestMeantWords(t *testing.T) {
	for words, want := range map[string]string{
		"call eval": "call builtins.eval", "call posix.system": "call os.system", "cal os.system": "call os.system", "raed data/x": "read data/x",
		"eval syntax:lambda": "eval syntax:Lambda", "eval calc/syntax:arit": "eval calc/syntax:arith",
		"call requests.get.now": "", "zzzzzz x": "", "env A=B": "", "eval len": "",
	} {
		op, object, _ := strings.Cut(words, " ")
		if got := Meant(op, object); got != want {
			t.Errorf("%s: %q, not %q", words, got, want)
		}
	}
	for name, want := range map[string]string{"nunpy": "numpy", "numpy": "", "sockte": "socket", "yaml": "", "tom": "", "toml": "tomli", "matplotlbi": "matplotlib"} {
		if got := MeantModule(name, []string{"numpy", "socket", "tomli", "matplotlib", "yarl2"}); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}
