package integration

import (
	"os"
	"testing"
)

func environmentAttacks() []attack {
	const variable, descriptor = "unlisted-variable", "inherited-descriptor"
	key := func(args ...string) func(*testing.T, scene) attempt {
		return func(t *testing.T, s scene) attempt {
			return attempt{args: args, env: []string{"ROW_API_KEY=" + s.token}, got: spells(s.token, "a variable that no line names")}
		}
	}
	return []attack{
		{name: "environment/names", claim: variable, set: key("ROW_API_KEY")},
		{name: "environment/libc", claim: variable, set: key("ROW_API_KEY")},
		{name: "environment/child", claim: variable, policy: "[files]\n\"/usr/bin/env\" = \"exec\"\n", set: key("/usr/bin/env")},
		{name: "environment/memory", claim: variable, set: key()},
		{name: "environment/denied", claim: variable, policy: "[env]\n\"*_API_KEY\" = true\nROW_API_KEY = false\n", set: key("ROW_API_KEY")},
		{name: "environment/near-names", claim: variable, policy: "[env]\nROW_API = true\nrow_api_key = true\n\"OTHER_*\" = true\n", set: key()},

		{name: "launch/all-descriptors", claim: descriptor, set: func(t *testing.T, s scene) attempt {
			var all []*os.File
			for range 60 { // up to 62
				f, err := os.Open(s.outside())
				must(t, err)
				t.Cleanup(func() { f.Close() })
				all = append(all, f)
			}
			return attempt{extra: all, got: s.tells("a file through an inherited descriptor")}
		}},
		{name: "launch/from-descriptor", claim: descriptor, set: func(t *testing.T, s scene) attempt {
			f, err := os.Open(s.sibling)
			must(t, err)
			t.Cleanup(func() { f.Close() })
			return attempt{args: []string{s.token + ".txt"}, extra: []*os.File{f, f}, got: s.tells("a file beneath an inherited folder")}
		}},
	}
}
