package learn

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"psb/policy"
)

// pythonWords are what random notes are made of: groups and categories that can be seen whole, names that lead out, names that no rule holds.
var pythonWords = []policy.Access{
	{Op: "import", Object: "flask"}, {Op: "import", Object: "flask.views"}, {Op: "import", Object: "ctypes"}, {Op: "import", Object: "_ctypes"}, {Op: "import", Object: "google.x.y"},
	{Op: "call", Object: "threading.Thread.start"}, {Op: "call", Object: "_thread.start_new_thread"}, {Op: "call", Object: "_thread.interrupt_main"},
	{Op: "call", Object: "os.fork"}, {Op: "call", Object: "pickle.loads"}, {Op: "call", Object: "builtins.exec"}, {Op: "call", Object: "threads"},
	{Op: "eval", Object: "syntax:BinOp"}, {Op: "eval", Object: "syntax:UnaryOp"}, {Op: "eval", Object: "syntax:Name"}, {Op: "eval", Object: "calc/syntax:Add"},
	{Op: "eval", Object: "calc/call:len"}, {Op: "eval", Object: "call:getattr"}, {Op: "eval", Object: "magic:__init__"}, {Op: "eval", Object: "attribute:gi_frame"}, {Op: "eval", Object: "call:*"}, {Op: "eval", Object: "syntax:loop"},
}

func noteOf(a policy.Access, by string) Noted {
	args := [2]string{a.Object, by}
	switch a.Op {
	case policy.OpCall:
		args = [2]string{"category", a.Object}
	case policy.OpEval:
		key, name, _ := strings.Cut(a.Object, ":")
		args = [2]string{key, name}
	}
	return Noted{TID: 1, Text: fmt.Sprintf(`{"e":%q,"a":[%q,%q],"f":%q}`, a.Op, args[0], args[1], by)}
}

// learnable says whether a rule may come of a note at all.
func learnable(a policy.Access) bool {
	return !slices.Contains([]string{"builtins.exec", "threads", "attribute:gi_frame", "call:*", "syntax:loop"}, a.Object)
}

func pythonKnowledge() Knowledge {
	return Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h"}, Tables: map[string]bool{"python": true}, Python: "3.11"}
}

// What was noted is allowed afterwards, whatever the order; nothing else is; learning it again finds nothing.
func TestPythonRulesAllowWhatWasNotedAndNoMore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	k := pythonKnowledge()
	for range 300 {
		var events []Event
		seen := map[policy.Access]bool{}
		for range r.IntN(12) {
			a := pythonWords[r.IntN(len(pythonWords))]
			seen[a] = true
			events = append(events, noteOf(a, string(rune('a'+r.IntN(3)))))
		}
		grants, report := Generalise(setOf(events), k)
		r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		other, otherReport := Generalise(setOf(events), k)
		if !reflect.DeepEqual(grants, other) || !reflect.DeepEqual(report, otherReport) {
			t.Fatalf("another order:\n%s\nwant\n%s", ruleLines(other), ruleLines(grants))
		}
		text, _, err := policy.Edit(nil, Rules(grants))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("/p/.py-sandboxes", text)
		if err == nil {
			p, err = p.Expand(k.Macros)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for a := range seen {
			if learnable(a) && !p.Decide(a).Allowed {
				t.Fatalf("%s was noted and is refused under\n%s", a, text)
			}
		}
		for _, a := range pythonWords {
			_, _, name := policy.EvalParts(a.Object)
			wider := a.Op == policy.OpImport || policy.EvalWords().Free(name) // a package for its modules, what every text is made of
			if p.Decide(a).Allowed && !seen[a] && !wider && a.Object != "threads" {
				t.Fatalf("%s was not noted and is allowed under\n%s", a, text)
			}
		}
		if missing, _ := Propose(setOf(events), k, p); len(missing) > 0 {
			t.Fatalf("learned again:\n%s\nunder\n%s", ruleLines(missing), text)
		}
	}
}

// What leads out of Python's checks stands alone and is marked; a category of that kind is never granted.
func TestDangerousCallsAreLearnedApartAndMarked(t *testing.T) {
	var events []Event
	for _, c := range policy.Registry() {
		for _, f := range c.Functions {
			events = append(events, noteOf(policy.Access{Op: policy.OpCall, Object: f}, "app"))
		}
	}
	for _, name := range policy.EvalWords().Danger {
		events = append(events, noteOf(policy.Access{Op: policy.OpEval, Object: "call:" + name}, "app"))
	}
	events = append(events, noteOf(policy.Access{Op: policy.OpEval, Object: "magic:__class__"}, "app"), noteOf(policy.Access{Op: policy.OpEval, Object: "call:len"}, "app"))
	for _, m := range policy.SensitiveImports() {
		events = append(events, noteOf(policy.Access{Op: policy.OpImport, Object: m}, "app"))
	}
	grants, _ := Generalise(setOf(events), pythonKnowledge())
	folded := []string{}
	for _, g := range grants {
		if _, function := policy.CategoryOf(g.Access.Object); g.Access.Op == policy.OpCall && !function {
			folded = append(folded, g.Access.Object)
		}
		c, _ := policy.CategoryOf(g.Access.Object)
		must := g.Access.Op == policy.OpImport || g.Access.Op == policy.OpEval && g.Access.Object != "call:len" ||
			slices.Contains([]string{"process-exec", "native", "deserialization", "dynamic-code", "privileges"}, c.Name)
		if marked := strings.HasPrefix(g.Why(), "! "); marked != must {
			t.Errorf("%s: %q", g.Access, g.Why())
		}
		if c.Name == "dynamic-code" && strings.HasPrefix(g.Access.Object, "builtins.") {
			t.Errorf("%s is granted", g.Access)
		}
	}
	if want := []string{"introspection", "process-control", "threads"}; !slices.Equal(folded, want) {
		t.Errorf("categories %q, want %q", folded, want)
	}
}

// A line that stands already, or that refuses, is left as it is.
func TestPythonRulesAreNotArguedWith(t *testing.T) {
	const text = `[python.import]
"ctypes" = false
[python.call]
"threads" = true
"process-exec" = false
[python.eval]
call = ["!getattr"]
`
	k := pythonKnowledge()
	p, err := policy.Parse("/p/.py-sandboxes", []byte(text))
	if err == nil {
		p, err = p.Expand(k.Macros)
	}
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for _, a := range []policy.Access{{Op: "import", Object: "_ctypes"}, {Op: "call", Object: "threading.Thread.start"}, {Op: "call", Object: "os.fork"}, {Op: "eval", Object: "call:getattr"}, {Op: "eval", Object: "call:len"}} {
		events = append(events, noteOf(a, "app"))
	}
	missing, report := Propose(setOf(events), k, p)
	if got, want := ruleLines(missing), "\"call:len\" = \"eval\"  # app\n"; got != want {
		t.Errorf("missing\n%s", got)
	}
	want := []string{"import _ctypes: /p/.py-sandboxes:2 refuses it", "call os.fork: /p/.py-sandboxes:5 refuses it", "eval call:getattr: /p/.py-sandboxes:7 refuses it"}
	slices.Sort(want)
	slices.Sort(report.Left)
	if !slices.Equal(report.Left, want) {
		t.Errorf("left out %q", report.Left)
	}
	raw, _ := policy.Parse("/p/.py-sandboxes", []byte("[python.call]\n\"dynamic-code\" = true\n"))
	if raw, err = raw.Expand(k.Macros); err != nil {
		t.Fatal(err)
	}
	if missing, _ := Propose(setOf(events[3:]), k, raw); len(missing) > 0 {
		t.Errorf("text without bounds got\n%s", ruleLines(missing))
	}
}

// What a program notes without end is bounded, and told.
func TestPythonNotesAreBounded(t *testing.T) {
	s := NewSet()
	for i := range mostPython + 10 {
		s.Add(noteOf(policy.Access{Op: policy.OpImport, Object: fmt.Sprintf("m%d", i)}, "app"))
		s.Add(noteOf(policy.Access{Op: policy.OpImport, Object: fmt.Sprintf("m %d", i)}, "app"))
	}
	grants, report := Generalise(s, pythonKnowledge())
	if len(grants) != mostPython || !slices.Contains(report.Left, "modules, calls and names of evaluated text: too many to remember") || len(report.Left) != mostOdd+2 {
		t.Errorf("%d grants, left out %d", len(grants), len(report.Left))
	}
}
