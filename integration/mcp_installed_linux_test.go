package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// clientPrograms is the folder with the programs that people use: PSB_CLIENT_TOOLS, or testdata/clients after `npm install` there. No login is needed
// for what the tests do with them, and no network.
func clientPrograms(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PSB_CLIENT_TOOLS")
	if dir == "" {
		root, err := moduleRoot()
		must(t, err)
		dir = filepath.Join(root, "integration", "testdata", "clients")
	}
	modules := filepath.Join(dir, "node_modules")
	_, err := os.Stat(filepath.Join(modules, "@anthropic-ai"))
	if err != nil {
		err = fmt.Errorf("npm install in integration/testdata/clients brings them: %w", err)
	}
	ledger.Need(t, "mcp-programs", err)
	return modules
}

// TestMCPInstalled: what psb mcp install writes is what the clients read: each connects to the server that it starts, and to the one at a URL.
func TestMCPInstalled(t *testing.T) {
	programs := clientPrograms(t)
	node, _ := nodeTools(t)
	codex := filepath.Join(programs, "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
	claude := filepath.Join(programs, "@anthropic-ai/claude-code-linux-x64/claude")
	for _, c := range []struct {
		client string
		argv   []string
		local  string // what it says when it is connected to the one that it started
		http   string
	}{
		{"claude-code", []string{claude, "mcp", "list"}, `psb: \S+ mcp - ✔ Connected`, `psb-http: \S+ \(HTTP\) - ✔ Connected`},
		{"gemini", []string{node, filepath.Join(programs, "@google/gemini-cli/bundle/gemini.js"), "mcp", "list"}, `✓ psb: \S+ mcp \(stdio\) - Connected`, `✓ psb-http: \S+ \(http\) - Connected`},
		{"opencode", []string{filepath.Join(programs, "opencode-linux-x64/bin/opencode"), "mcp", "list"}, `✓ psb connected`, `✓ psb-http connected`},
		{"codex", []string{codex, "mcp", "list"}, `psb +\S+/psb +mcp .* enabled`, `psb-http +http\S+ .* enabled`}, // it reads its file, and connects when it works
	} {
		t.Run(c.client, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, people()[0])
			url := s.mcpHTTP(t).url
			s.put(t, "home/.gemini/trustedFolders.json", fmt.Sprintf("{%q: \"TRUST_FOLDER\"}", s.project)) // as its question is answered
			for _, args := range [][]string{nil, {"--name", "psb-http", "--url", url}} {
				if r := s.run(t, call{argv: append([]string{psb(t), "mcp", "install", "--client", c.client}, args...)}); r.code != 0 {
					t.Fatal(r)
				}
			}
			r := s.run(t, call{argv: c.argv, timeout: 2 * time.Minute, env: []string{"NO_COLOR=1"}})
			said := coloured.ReplaceAllString(r.out+r.err, "")
			for _, form := range []string{c.local, c.http} {
				if !regexp.MustCompile(form).MatchString(said) {
					t.Errorf("%s is not in\n%s", form, said)
				}
			}
		})
	}
	t.Run("claude mcp add", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, people()[0])
		s.node(t, claude, time.Minute, "mcp", "add", "psb", "--", psb(t), "mcp")
		if said := s.node(t, claude, time.Minute, "mcp", "list"); !regexp.MustCompile(`psb: \S+ mcp - ✔ Connected`).MatchString(said) {
			t.Error(said)
		}
	})
}

var coloured = regexp.MustCompile("\x1b\\[[0-9;]*m")
