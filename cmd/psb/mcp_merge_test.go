package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestClientsMerge: what was in a client's file stays byte for byte; an entry of one's own is never replaced; twice is once.
func TestClientsMerge(t *testing.T) {
	for _, c := range []struct{ client, before, after, err string }{
		{"claude-code", "", "{\n  \"mcpServers\": {\n    \"psb\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/psb\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n", ""},
		{"cursor", `{"a": 1}`, "{\n  \"mcpServers\": {\n    \"psb\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/psb\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  },\"a\": 1}", ""},
		{"cursor", `{ "mcpServers" : {} , "z":[1,  2] }`, "{ \"mcpServers\" : {\n    \"psb\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/psb\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  } , \"z\":[1,  2] }", ""},
		{"cursor", `{"mcpServers":{"other":{"command":"x"}}}`, "{\"mcpServers\":{\n    \"psb\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/psb\",\n      \"args\": [\n        \"mcp\"\n      ]\n    },\"other\":{\"command\":\"x\"}}}", ""},
		{"cursor", `{"mcpServers":{"psb":{"command":"mine"}}}`, "", "says something else"},
		{"cursor", `{"mcpServers":{"psb":{"args":["mcp"],"command":"/bin/psb","type":"stdio"}}}`, "", "it is there already"},
		{"cursor", "// mine\n{}", "", "no plain JSON object"},
		{"cursor", `{"mcpServers":[]}`, "", "is no object"},
		{"opencode", "", "{\n  \"mcp\": {\n    \"psb\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"/bin/psb\",\n        \"mcp\"\n      ],\n      \"enabled\": true\n    }\n  }\n}\n", ""},
		{"codex", "model = \"x\" # mine\n", "model = \"x\" # mine\n\n[mcp_servers.psb]\ncommand = \"/bin/psb\"\nargs = [\"mcp\"]\n", ""},
		{"codex", "[mcp_servers.psb]\ncommand = \"/bin/psb\"\nargs = [\"mcp\"]\n", "", "it is there already"},
		{"codex", "[mcp_servers.psb]\ncommand = \"mine\"\n", "", "says something else"},
		{"codex", "mcp_servers = { a = { command = \"x\" } }\n", "", "a table cannot be added"},
		{"goose", "", "extensions:\n  psb:\n    name: \"psb\"\n    type: \"stdio\"\n    enabled: true\n    cmd: \"/bin/psb\"\n    args: [\"mcp\"]\n    timeout: 300\n", ""},
		{"goose", "a: 1\nextensions:\n    dev:\n        enabled: true\nb: 2\n", "a: 1\nextensions:\n    psb:\n        name: \"psb\"\n        type: \"stdio\"\n        enabled: true\n        cmd: \"/bin/psb\"\n        args: [\"mcp\"]\n        timeout: 300\n    dev:\n        enabled: true\nb: 2\n", ""},
		{"goose", "extensions:\n  psb:\n    cmd: mine\n", "", "says something else"},
		{"goose", "extensions: {}\n", "", "is no block"},
	} {
		client, err := findMCPClient(c.client)
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.merged([]byte(c.before), "psb", client.local("/bin/psb", []string{"mcp"}))
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s %q: %v, want %s", c.client, c.before, err, c.err)
		case c.err == "" && (err != nil || string(got) != c.after):
			t.Errorf("%s %q: %v\n%s\nwant\n%s", c.client, c.before, err, got, c.after)
		}
		if c.err != "" {
			continue
		}
		if again, err := client.merged(got, "psb", client.local("/bin/psb", []string{"mcp"})); err == nil || client.form != "yaml" && !errors.Is(err, errSame) {
			t.Errorf("%s: twice: %v\n%s", c.client, err, again)
		}
	}
}

// FuzzMergeJSON: whatever a file holds, the result is refused or holds all that was there and one more.
func FuzzMergeJSON(f *testing.F) {
	for _, s := range []string{"", "{}", `{"mcpServers":{}}`, `{"mcpServers":{"a":{}},"mcpServers":{}}`, `{"a":[{"mcpServers":{}}]}`, " {\n} "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, err := mergeJSON([]byte(src), "mcpServers", "psb", ordered{{"command", "x"}})
		if err != nil {
			return
		}
		var before, after map[string]any
		_ = json.Unmarshal([]byte(src), &before)
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		servers, _ := after["mcpServers"].(map[string]any)
		if servers["psb"] == nil || len(after) < len(before) {
			t.Fatalf("%q became %q", src, got)
		}
	})
}
