package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorder is a testing.TB whose end can be looked at.
type recorder struct{ fatal, skip string }

func (r *recorder) Helper()                        {}
func (r *recorder) Fatalf(format string, a ...any) { r.fatal = fmt.Sprintf(format, a...) }
func (r *recorder) Skipf(format string, a ...any)  { r.skip = fmt.Sprintf(format, a...) }

func TestNeed(t *testing.T) {
	besideOthers(t)
	gone := errors.New("kernel 5.12 has none")
	for _, c := range []struct {
		must, name  string
		missing     error
		fatal, skip string
	}{
		{"", "landlock", nil, "", ""},
		{"landlock", "landlock", nil, "", ""},
		{"", "landlock", gone, "", "no landlock: kernel 5.12 has none"},
		{"userns", "landlock", gone, "", "no landlock: kernel 5.12 has none"},
		{"landlock", "landlock", gone, "PSB_MUST names landlock, and it is missing: kernel 5.12 has none", ""},
		{"userns, landlock", "landlock", gone, "PSB_MUST names landlock, and it is missing: kernel 5.12 has none", ""},
		{"all", "cgroup", gone, "PSB_MUST names cgroup, and it is missing: kernel 5.12 has none", ""},
		{"", "landlok", nil, `BUG: the need "landlok" is not in the known list of must.go`, ""},
	} {
		l, err := NewLedger(c.must)
		if err != nil {
			t.Fatal(err)
		}
		var r recorder
		l.Need(&r, c.name, c.missing)
		if r.fatal != c.fatal || r.skip != c.skip {
			t.Errorf("PSB_MUST=%q need %s (%v): failed %q, skipped %q; want %q, %q", c.must, c.name, c.missing, r.fatal, r.skip, c.fatal, c.skip)
		}
	}
}

func TestMustRefusesUnknownNames(t *testing.T) {
	besideOthers(t)
	_, err := NewLedger("landlock,usernss")
	if err == nil || !strings.HasPrefix(err.Error(), `PSB_MUST: unknown name "usernss"`) {
		t.Fatalf("got %v", err)
	}
}

func TestClosingLine(t *testing.T) {
	besideOthers(t)
	l, err := NewLedger("")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Closing(); got != "exercised: nothing" {
		t.Errorf("empty: %q", got)
	}
	l.Need(&recorder{}, "userns", nil)
	l.Need(&recorder{}, "landlock", nil)
	l.Need(&recorder{}, "landlock", nil)
	l.Need(&recorder{}, "cgroup", errors.New("no controller"))
	const want = "exercised: landlock 2, userns 1; skipped for want of: cgroup 1 (no controller)"
	if got := l.Closing(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
