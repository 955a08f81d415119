package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBehaviourLayerAccepted: a layer the host lacks goes missing only when it was accepted by name; then what is lost stands in the report
// and in the plan, in the same words, and the other layers still hold the program.
func TestBehaviourLayerAccepted(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct {
		wall    string
		options []string
		gap     string
	}{
		{"landlock", []string{"--allow-gap", "landlock"}, "landlock"},
		{"notify", []string{"--allow-gap", "notify"}, "notify"},
		{"namespaces", []string{"--provider", "landlock", "--allow-gap", "namespaces"}, "namespaces"},
	} {
		t.Run(c.wall, func(t *testing.T) {
			ordinary(t, func(t *testing.T, s scene) {
				secret := filepath.Join(s.sibling, s.token+".txt")
				s.put(t, "home/code/project/ask.py", "import sys\nprint('RAN', flush=True)\nprint(open(sys.argv[1]).read())\n")
				s.give(t)
				words := []string{"--python", systemPython, "--policy", ".py-sandboxes"}
				if r := s.walled(t, c.wall, append(append([]string{psb(t)}, words...), "ask.py", secret)...); r.code != 125 || r.out != "" || !strings.Contains(r.err, c.gap) {
					t.Errorf("not accepted: %v", r)
				}
				if r := s.walled(t, c.wall, systemPython, "ask.py", secret); r.code != 0 || !strings.Contains(r.out, "# "+s.token) {
					t.Fatalf("control: %v", r)
				}
				words = append(words, c.options...)
				r := s.walled(t, c.wall, append(append([]string{psb(t)}, words...), "--report", "report.json", "ask.py", secret)...)
				if r.code != 1 || r.out != "RAN\n" {
					t.Errorf("accepted: %v", r)
				}
				b, err := os.ReadFile(filepath.Join(s.project, "report.json"))
				must(t, err)
				explained := s.walled(t, c.wall, append(append([]string{psb(t), "explain", "--json"}, words...), "ask.py", secret)...)
				reported, planned := gaps(t, b), gaps(t, []byte(explained.out))
				at := slices.IndexFunc(reported, func(g gap) bool { return g.Name == c.gap })
				if at < 0 || !reported[at].Accepted || reported[at].Lost == "" || reported[at].Needs == "" {
					t.Errorf("the report: %+v", reported)
				}
				if !slices.Equal(reported, planned) {
					t.Errorf("the report: %+v\nthe plan: %+v", reported, planned)
				}
			})
		})
	}
}

// gap is what a report and a plan say of something that does not hold.
type gap struct {
	Name, Lost, Needs string
	Accepted, Soft    bool
}

func gaps(t *testing.T, b []byte) []gap {
	t.Helper()
	var doc struct{ Gaps []gap }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return doc.Gaps
}
