package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocsNameEveryArgument: the page of psb mcp has each argument of each tool, and of each figure what a call gets without asking and the most.
func TestDocsNameEveryArgument(t *testing.T) {
	root, err := moduleRoot()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(root, "docs", "mcp.md"))
	must(t, err)
	page := string(b)
	section := func(heading string) string {
		_, text, ok := strings.Cut(page, "\n### "+heading+"\n")
		if !ok {
			t.Fatalf("no section %s", heading)
		}
		text, _, _ = strings.Cut(text, "\n### ")
		return text
	}
	s := newScene(t, people()[0])
	r := s.run(t, call{argv: []string{psb(t), "tools", "--format", "json", "--max", "cpus=2"}}) // the ceiling of cpus is the host's
	var tools []struct {
		Name   string
		Schema struct {
			Properties map[string]struct{ Default, Maximum any }
		} `json:"input_schema"`
	}
	must(t, json.Unmarshal([]byte(r.out), &tools))
	if len(tools) != 10 {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		text := section("task, session, describe")
		switch {
		case strings.HasPrefix(tool.Name, "run_"):
			text = section("run_python")
		case strings.HasPrefix(tool.Name, "file_"):
			text = section("Files of a session")
		}
		for name, property := range tool.Schema.Properties {
			var found []string
			for line := range strings.Lines(text) {
				if strings.Contains(line, "`"+name+"`") || strings.Contains(line, "`"+name+", ") {
					found = append(found, line)
				}
			}
			if len(found) == 0 {
				t.Errorf("%s: %s is not on the page", tool.Name, name)
			}
			lines := strings.Join(found, "")
			for _, figure := range []any{property.Default, property.Maximum} {
				n, ok := figure.(float64)
				if text := fmt.Sprint(int(n)); ok && n != 0 && !strings.Contains(strings.ReplaceAll(lines, "10 000", "10000"), text) {
					t.Errorf("%s: %s: %s is not where it is explained:\n%s", tool.Name, name, text, lines)
				}
			}
		}
	}
}
