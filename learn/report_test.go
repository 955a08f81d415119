package learn

import (
	"slices"
	"testing"

	"psb/policy"
)

// TestReportGrades: the summary shows what asks for care first, with the word why, and counts the tiers.
func TestReportGrades(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app", Home: "/h/ann"}, Tables: map[string]bool{"files": true, "env": true, "net": true},
		SetEnv: func(string) bool { return true }}
	_, r := Generalise(setOf([]Event{
		did("read", "/p/app/data.csv", Plain), did("read", "/p/app/.env", Plain), did("exec", "/usr/bin/uname", Plain),
		did("write", "/p/app/out", NewDir), did("write", "/p/app/out/a", New), did("connect", "pypi.org:443", Plain),
	}), k)
	want := []string{
		"learned: exec /usr/bin/uname  # ! runs a program; python",
		"learned: read .env  # ! sensitive; python",
		"learned: write out/ (changes a whole tree)  # python",
		"learned: connect pypi.org:443 (reaches the network)  # python",
		"learned: create ./  # python",
		"learned: read data.csv  # python",
		"learned by risk: 4 warn, 2 normal",
	}
	if got := r.Lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := (&Report{}).Lines(); len(got) > 0 {
		t.Errorf("nothing learned says %q", got)
	}
}
