package pythonshim

import (
	"bytes"
	"regexp"
	"testing"
)

// TestPastedFilesShareNoName: the shim's files become one function, in which a name that two of them define would be the later one's for both.
func TestPastedFilesShareNoName(t *testing.T) {
	define := regexp.MustCompile(`(?m)^ (?:def|class) (\w+)|^ (\w+)(?:, \w+)* = `)
	for _, mode := range []Mode{Learn, Enforce} {
		seen := map[string]bool{}
		var out bytes.Buffer
		shim(&out, mode, NoteFD, ShimDir, startPy)
		text := out.Bytes()
		for _, m := range define.FindAllSubmatch(text, -1) {
			if name := string(m[1]); name != "" {
				if seen[name] {
					t.Errorf("%s: %s is defined twice", mode, name)
				}
				seen[name] = true
			}
		}
		if !seen["install"] || !seen["emit"] || bytes.Contains(text, []byte("from common import")) {
			t.Errorf("%s: the text is read wrongly: %d names", mode, len(seen))
		}
		for _, m := range define.FindAllSubmatch(text, -1) {
			if name := string(m[2]); name != "" && seen[name] {
				t.Errorf("%s: %s is a function or class, and assigned, too", mode, name)
			}
		}
	}
}
