package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// compared loads two texts from two folders and words their differences.
func compared(t *testing.T, last, next string) []string {
	t.Helper()
	list, err := Compare(fromText(t, "/base/old", last), fromText(t, "/h/ann/app/new", next), func(r Rule) Risk { return RiskOf(r, riskMacros()) })
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range list {
		l := fmt.Sprintf("%s %s %s:%d %s", d.Effect, d.Kind, filepath.Base(d.Origin.File), d.Origin.Line, d)
		if d.Effect == More {
			l += fmt.Sprintf("  # %s: %s", d.Risk.Tier, d.Risk.Why)
		}
		for _, o := range d.Others {
			l += fmt.Sprintf("  < %s:%d %s", filepath.Base(o.Origin.File), o.Origin.Line, o.Text)
		}
		out = append(out, l)
	}
	return out
}

func fromText(t *testing.T, name, text string) *Policy {
	t.Helper()
	p, err := Load(func(string) ([]byte, error) { return []byte(text), nil }, name, Macros{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompare(t *testing.T) {
	files, err := filepath.Glob("testdata/diff/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(append(compared(t, string(ar.Files[0].Data), string(ar.Files[1].Data)), ""), "\n")
			if *update {
				ar.Files[2].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(ar.Files[2].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for i := range 2 {
				if same := compared(t, string(ar.Files[i].Data), string(ar.Files[i].Data)); len(same) > 0 {
					t.Errorf("%s differs from itself: %q", ar.Files[i].Name, same)
				}
			}
		})
	}
}
