package policy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The reference's tables of names are the ones that are checked and enforced.
func TestDocsHaveTheNamesOfPython(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(text), "\n", " ")
	ticks := func(names []string) string { return "`" + strings.Join(names, "` `") + "`" }
	want := []string{ticks(SensitiveImports()), "(" + ticks(EvalWords().Danger) + ")"}
	for _, c := range Registry() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", c.Name, c.What, ticks(c.Functions)))
	}
	for group, nodes := range EvalWords().Groups {
		want = append(want, fmt.Sprintf("| `%s` | %s |", group, ticks(nodes)))
	}
	want = append(want, "| in no group | "+ticks(EvalWords().Nodes)+" |", "| always there | "+ticks(EvalWords().Core)+" |", ticks(slices.Sorted(maps.Keys(EvalWords().Methods))))
	for _, w := range want {
		if !strings.Contains(doc, w) {
			t.Errorf("docs/policy.md lacks: %s", w)
		}
	}
}
