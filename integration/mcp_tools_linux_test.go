package integration

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
)

// TestToolsAreThoseOfTheServer: psb tools tells, byte for byte the same each time, what tools/list of psb mcp with the same options answers.
func TestToolsAreThoseOfTheServer(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		dir := filepath.Dir(s.put(t, "home/profiles/data.py-sandboxes", "# Numbers\nversion = 1\n[limits]\nmemory = \"64M\"\n"))
		s.give(t)
		for _, options := range [][]string{nil, {"--profiles", dir, "--max", "timeout_s=7", "--structured"}, {"--tools", "run_python,describe", "--max", "memory_mb=100"}} {
			var want, got struct{ Tools []any }
			must(t, json.Unmarshal(s.agent(t, options...).ask("tools/list", map[string]any{}).Result, &want))
			told := s.run(t, call{argv: append([]string{psb(t), "tools", "--format", "mcp"}, options...)})
			if told.code != 0 || told.err != "" || json.Unmarshal([]byte(told.out), &got) != nil || len(got.Tools) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %v\nthe server says %v", options, told, want)
			}
			if more := s.run(t, call{argv: append([]string{psb(t), "tools", "--format", "mcp"}, options...)}); more.out != told.out {
				t.Errorf("%v: other bytes the second time", options)
			}
		}
	})
}
