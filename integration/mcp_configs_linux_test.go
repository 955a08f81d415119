package integration

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// publishedClient is what a package that others keep says of a client's file: where it lies below the home, and the whole of it with one server in it.
type publishedClient struct {
	File        string
	Local, HTTP map[string]any
}

// TestMCPConfigsArePublished: what psb mcp config prints for a client is what is published for it, the file's place included.
func TestMCPConfigsArePublished(t *testing.T) {
	besideOthers(t)
	node, modules := nodeTools(t)
	s := newScene(t, people()[0])
	const url = "http://127.0.0.1:8080/mcp"
	var published map[string]publishedClient
	must(t, json.Unmarshal([]byte(s.node(t, node, time.Minute, s.script(t, modules, "configs.mjs"), url)), &published))
	for _, name := range []string{"antigravity", "claude-code", "claude-desktop", "codex", "cursor", "gemini", "goose", "junie", "opencode", "vscode", "windsurf"} {
		for _, args := range [][]string{nil, {"--url", url}} {
			want := published[name].Local
			if args != nil {
				want = published[name].HTTP
			}
			r := s.run(t, call{argv: append([]string{psb(t), "mcp", "config", "--client", name}, args...)})
			if place := "psb: for " + filepath.Join(s.home, published[name].File) + ":\n"; r.code != 0 || r.err != place {
				t.Errorf("%s: status %s, %q, want %q", name, r.status(), r.err, place)
			}
			got := asPublished(clientFile(t, name, r.out), psb(t))
			if want := withoutEmpty(want); !reflect.DeepEqual(got, want) {
				t.Errorf("%s %q:\n%v\nwant\n%v", name, args, got, want)
			}
		}
	}
}

// script is a program of Node's in the scene, beside the packages that it imports.
func (s scene) script(t *testing.T, modules, name string) string {
	t.Helper()
	root, err := moduleRoot()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(root, "integration/testdata/node", name))
	must(t, err)
	_ = os.Symlink(modules, filepath.Join(s.dir, "node_modules"))
	return s.put(t, name, string(b))
}

// clientFile reads the file that a client would be given.
func clientFile(t *testing.T, client, text string) map[string]any {
	t.Helper()
	got := map[string]any{}
	switch client {
	case "codex":
		must(t, toml.Unmarshal([]byte(text), &got))
	case "goose":
		entry := map[string]any{}
		head, lines, _ := strings.Cut(text, "\n  psb:\n")
		for line := range strings.Lines(lines) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			var v any
			must(t, json.Unmarshal([]byte(value), &v))
			entry[key] = v
		}
		got[strings.TrimSuffix(head, ":")] = map[string]any{"psb": entry}
	default:
		must(t, json.Unmarshal([]byte(text), &got))
	}
	return got
}

// asPublished puts the published package's own command in psb's place, and leaves out what only says that the server counts.
func asPublished(v any, binary string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if k != "enabled" {
				out[k] = asPublished(x, binary)
			}
		}
		return out
	case []any:
		var out []any
		for _, x := range v {
			if x == "mcp" {
				out = append(out, "-y")
				x = "PSB"
			}
			out = append(out, asPublished(x, binary))
		}
		return out
	case string:
		if v == binary {
			return "npx"
		}
	}
	return v
}

// withoutEmpty leaves out of a published entry what says nothing.
func withoutEmpty(file map[string]any) any {
	for _, servers := range file {
		servers, ok := servers.(map[string]any)
		if !ok {
			continue
		}
		for _, entry := range servers {
			entry, ok := entry.(map[string]any)
			if !ok {
				continue
			}
			maps.DeleteFunc(entry, func(key string, v any) bool {
				rv := reflect.ValueOf(v)
				return v == nil || v == "" || key == "enabled" || (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Map) && rv.Len() == 0
			})
		}
	}
	return file
}
