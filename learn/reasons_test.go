package learn

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"psb/policy"
)

// Every line of a learned file says who asked, also where no note told.
func TestEveryLineHasAReason(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ string, _ *txtar.Archive, events []Event, k Knowledge) {
		var silent []Event
		for _, e := range events {
			if _, note := e.(Noted); !note {
				silent = append(silent, e)
			}
		}
		for _, events := range [][]Event{events, silent} {
			grants, _ := Generalise(setOf(events), k)
			text, _, err := policy.Edit(nil, Rules(grants))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				key, reason, _ := strings.Cut(strings.TrimSpace(line), "  # ")
				if rule := strings.Contains(key, "=") && !strings.HasSuffix(key, "= [") || strings.HasSuffix(key, `",`); rule && strings.Trim(reason, "! ") == "" {
					t.Errorf("%s has no reason", key)
				}
			}
		}
	})
}

// A module that is run and the library it is of are one word, not two.
func TestReasonSaysAWordOnce(t *testing.T) {
	for text, want := range map[string]string{
		`{"e":"open","a":["x"],"f":"sphinx","l":"sphinx"}`:   "sphinx",
		`{"e":"open","a":["x"],"f":"report.b","l":"pandas"}`: "report.b, pandas",
	} {
		n, ok := parseNote(text)
		if got := n.reason(); !ok || got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
