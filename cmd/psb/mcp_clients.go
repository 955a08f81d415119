package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// mcpClient is a program that can start, or call, psb mcp, and the file in which it is told so. docs/mcp.md has the date of this table.
type mcpClient struct {
	name  string
	file  string   // below the home, or below the user's configuration where it begins with "config/"
	form  string   // json, toml, yaml
	under []string // where the servers stand
	local func(command string, args []string) any
	http  func(url string) any // nil: it cannot
}

// standard is the entry that most clients take.
func standardEntry(command string, args []string) any {
	return ordered{{"command", command}, {"args", args}}
}

func typedEntry(command string, args []string) any {
	return ordered{{"type", "stdio"}, {"command", command}, {"args", args}}
}

func urlEntry(key string) func(string) any {
	return func(url string) any { return ordered{{key, url}} }
}

func typedURL(kind string) func(string) any {
	return func(url string) any { return ordered{{"type", kind}, {"url", url}} }
}

// mcpClients by name.
var mcpClients = []mcpClient{
	{"antigravity", ".gemini/antigravity/mcp_config.json", "json", []string{"mcpServers"}, standardEntry, urlEntry("serverUrl")},
	{"claude-code", ".claude.json", "json", []string{"mcpServers"}, typedEntry, typedURL("http")},
	{"claude-desktop", "config/Claude/claude_desktop_config.json", "json", []string{"mcpServers"}, typedEntry, func(url string) any {
		return typedEntry("npx", []string{"-y", "mcp-remote", url}) // it starts programs only: this one carries its words to the URL
	}},
	{"codex", ".codex/config.toml", "toml", []string{"mcp_servers"}, standardEntry, urlEntry("url")},
	{"cursor", ".cursor/mcp.json", "json", []string{"mcpServers"}, typedEntry, typedURL("http")},
	{"gemini", ".gemini/settings.json", "json", []string{"mcpServers"}, standardEntry, urlEntry("httpUrl")},
	{"goose", "config/goose/config.yaml", "yaml", []string{"extensions"}, func(command string, args []string) any {
		return ordered{{"name", "psb"}, {"type", "stdio"}, {"enabled", true}, {"cmd", command}, {"args", args}, {"timeout", 300}}
	}, func(url string) any {
		return ordered{{"name", "psb"}, {"type", "streamable_http"}, {"enabled", true}, {"uri", url}, {"timeout", 300}}
	}},
	{"junie", ".junie/mcp/mcp.json", "json", []string{"mcpServers"}, typedEntry, urlEntry("url")},
	{"opencode", "config/opencode/opencode.json", "json", []string{"mcp"}, func(command string, args []string) any {
		return ordered{{"type", "local"}, {"command", append([]string{command}, args...)}, {"enabled", true}}
	}, func(url string) any { return ordered{{"type", "remote"}, {"url", url}, {"enabled", true}} }},
	{"vscode", "config/Code/User/mcp.json", "json", []string{"servers"}, typedEntry, typedURL("http")},
	{"windsurf", ".codeium/windsurf/mcp_config.json", "json", []string{"mcpServers"}, standardEntry, urlEntry("serverUrl")},
}

func mcpClientNames() []string {
	var out []string
	for _, c := range mcpClients {
		out = append(out, c.name)
	}
	return out
}

func findMCPClient(name string) (*mcpClient, error) {
	i := slices.IndexFunc(mcpClients, func(c mcpClient) bool { return c.name == name })
	if i >= 0 {
		return &mcpClients[i], nil
	}
	hint := "one of " + strings.Join(mcpClientNames(), ", ")
	if n := nearest(name, mcpClientNames()); n != "" {
		hint = "did you mean " + n + "?"
	}
	if name == "" {
		return nil, &usageError{"mcp: which client? --client NAME", hint}
	}
	return nil, &usageError{"mcp: no client " + plainText(name), hint}
}

// path is where a client's file lies for a user.
func (c *mcpClient) path(home, config string) string {
	if below, ok := strings.CutPrefix(c.file, "config/"); ok {
		return filepath.Join(config, below)
	}
	return filepath.Join(home, c.file)
}

// ordered is an object whose keys keep their order.
type ordered []struct {
	Key   string
	Value any
}

// MarshalJSON writes the keys as they stand.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, kv := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := plainJSON(kv.Key)
		if err != nil {
			return nil, err
		}
		v, err := plainJSON(kv.Value)
		if err != nil {
			return nil, err
		}
		b.WriteString(k + ":" + v)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func plainJSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
