package plan

import (
	"strings"
	"testing"

	"psb/policy"
	"psb/pythonshim"
)

func TestPythonLayerThatIsNotThereIsAGapOnlyWhereLinesNeedIt(t *testing.T) {
	rules := &policy.Policy{Shim: true, Rules: []policy.Rule{rule("import", "numpy"), {Op: "call", Deny: true, Pattern: policy.Pattern{Text: "threads"}}},
		Eval: map[string]policy.Eval{"": {}, "calc": {}}}
	old := &pythonshim.Layout{Version: "2.7", Executable: "/usr/bin/python2.7"}
	fits := &pythonshim.Layout{Version: "3.11", Executable: "/usr/bin/python3.11", Encodings: "/usr/lib/python3.11/encodings/__init__.py"}
	overlay := map[string]string{fits.Encodings: "encodings.py"}
	lite := func(h *Host) { h.UserNS, h.PlainNS = false, false }
	for _, tc := range []struct {
		name   string
		r      Request
		change func(h *Host)
		how    string // "": it is not there
		why    string
	}{
		{"laid over the interpreter", Request{Overlay: overlay}, func(h *Host) { h.Python = fits }, "overlay", ""},
		{"by PYTHONPATH", Request{ShimPath: "/state/shim", Accept: []string{"namespaces"}}, func(h *Host) { h.Python = fits; lite(h) }, "sitecustomize", ""},
		{"flags skip PYTHONPATH", Request{ShimPath: "/state/shim", Accept: []string{"namespaces"}, Command: Command{Exec: "/p/tool", Argv: []string{"tool"}, Dir: "/p", Python: true, Apart: true}}, func(h *Host) { h.Python = fits; lite(h) }, "", "-I, -E or -S"},
		{"an old interpreter", Request{}, func(h *Host) { h.Python = old }, "", "Python 2.7 is older than 3.8"},
		{"no interpreter", Request{}, func(*Host) {}, "", "no Python was found"},
		{"no such version", Request{}, func(h *Host) { h.Python = &pythonshim.Layout{} }, "", "not known"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, asks := range []bool{true, false} {
				r := tc.r
				r.Host, r.Policy = strong(), &policy.Policy{Shim: true}
				if asks {
					r.Policy = rules
				}
				tc.change(&r.Host)
				p := compiled(t, r)
				l := p.PythonLayer
				if l.Present != (tc.how != "") || l.How != tc.how || !strings.Contains(l.Why, tc.why) || (l.Why == "") != l.Present {
					t.Errorf("%+v", l)
				}
				want := ""
				if asks && tc.how == "" {
					want = "python"
				}
				open := want
				if r.Host.Python == nil { // then no Python runs: noted
					open = ""
				}
				if got := gapNames(Open(p.Gaps)); got != open {
					t.Errorf("asks %v: open gaps %q, want %q", asks, got, open)
				}
				if want != "" && !strings.Contains(gapText(p.Gaps), "1 line of [python.import], 1 line of [python.call], [python.eval], [python.eval.calc]: nothing inside Python holds them ("+l.Why+")") {
					t.Errorf("the gap does not say what is lost: %v", p.Gaps)
				}
			}
		})
	}
}

func gapText(gaps []Gap) string {
	var b strings.Builder
	for _, g := range gaps {
		b.WriteString(g.String())
	}
	return b.String()
}

func TestPythonLayerWithoutWallsIsNoGap(t *testing.T) {
	pol := &policy.Policy{Shim: true, Rules: []policy.Rule{rule("import", "numpy")}}
	if p := compiled(t, Request{Host: strong(), Policy: pol, Provider: "none", ShimPath: "/state/shim"}); len(Open(p.Gaps)) != 0 || p.PythonLayer.Present || p.PythonLayer.Why == "" {
		t.Errorf("%+v %v", p.PythonLayer, p.Gaps)
	}
}
