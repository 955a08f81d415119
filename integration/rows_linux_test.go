package integration

import (
	"testing"
	"time"

	"psb/integration/programs"
)

// row is one folder of programs/; programs/README.md tells what the keys mean.
type row struct{ programs.Row }

// rows reads every folder; a row with a mistake fails here, before anything runs.
func rows(t *testing.T) (all []row) {
	t.Helper()
	list, err := programs.All("programs")
	must(t, err)
	for _, r := range list {
		all = append(all, row{r})
	}
	return all
}

func (r row) wait() time.Duration { return r.Wait }

func (i interpreter) asProgram() programs.Interpreter {
	return programs.Interpreter{Path: i.path, Major: i.major, Minor: i.minor, Micro: i.micro}
}

func TestCaseFits(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct {
		from, until string
		minor       int
		want        bool
	}{
		{"", "", 8, true}, {"3.11", "", 10, false}, {"3.11", "", 11, true}, {"", "3.10", 10, true}, {"", "3.10", 11, false}, {"", "3.10", 9, true},
	} {
		if got := (programs.Case{From: c.from, Until: c.until}).Fits(programs.Interpreter{Major: 3, Minor: c.minor}); got != c.want {
			t.Errorf("from %q until %q fits 3.%d: %v", c.from, c.until, c.minor, got)
		}
	}
}
