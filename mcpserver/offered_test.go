package mcpserver

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOnlyWhatIsOfferedIsSpokenOf: whichever tools an operator offers, neither the instructions nor what is said of a tool names one that a client
// could not call, or something that only it could do.
func TestOnlyWhatIsOfferedIsSpokenOf(t *testing.T) {
	belongs := map[string]string{"background": "task", "task id": "task"}
	for _, name := range DefaultTools {
		belongs[name] = name
	}
	delete(belongs, "session") // a word of its own; see below
	check := func(s *Server, where, text string) {
		for word, tool := range belongs {
			if !s.has(tool) && regexp.MustCompile(`\b`+word+`\b`).MatchString(text) {
				t.Errorf("%s is not offered, and %s says: %s", tool, where, text)
			}
		}
		if s.sessions == nil && strings.Contains(text, "session") {
			t.Errorf("there are no sessions, and %s says: %s", where, text)
		}
	}
	// Each tool alone, all but each, all of them.
	subsets := [][]string{DefaultTools}
	for i, name := range DefaultTools {
		subsets = append(subsets, []string{name}, slices.Delete(slices.Clone(DefaultTools), i, i+1))
	}
	for _, tools := range subsets {
		for _, r := range []Runner{&fakeRunner{offer: testOffer()}, newFakeFiles()} {
			s, err := New(Options{Tools: tools}, r)
			if _, sessions := r.(SessionRunner); err != nil && sessions {
				t.Fatal(tools, err)
			}
			if err != nil {
				continue // nothing of it can be offered without sessions
			}
			check(s, "the introduction", s.instructions())
			for _, tool := range s.tools {
				if !slices.Contains(tools, tool.name) {
					t.Errorf("%s is offered, not asked for", tool.name)
				}
				check(s, tool.name, tool.about+" "+string(tool.schema))
			}
			s.stop()
		}
	}
	all := testServer(t, Options{}, newFakeFiles()).instructions()
	for _, name := range []string{"run_python", "session", "task", "describe"} {
		if !strings.Contains(all, name) {
			t.Errorf("%s is not spoken of: %s", name, all)
		}
	}
}
