package integration

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// row is one folder of programs/; programs/README.md tells what the keys mean.
type row struct {
	Name      string `toml:"-"`
	About     string
	Argv      []string
	Python    string
	Needs     []string
	Commands  []string
	Setup     [][]string
	Produces  []string
	Normalise [][]string
	Status    int
	Timeout   string
	Cases     []rowCase `toml:"case"`

	folder    string
	normalise []replacement
	timeout   time.Duration
}

type rowCase struct {
	Name, From, Until string
	Long              bool
	Argv              []string
}

type replacement struct {
	match *regexp.Regexp
	put   string
}

// rows reads every folder; a row with a mistake fails here, before anything runs.
func rows(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob("programs/*/row.toml")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("programs/ has no row")
	}
	var all []row
	for _, file := range files {
		r, err := readRow(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func readRow(file string) (row, error) {
	r := row{folder: filepath.Dir(file), Name: filepath.Base(filepath.Dir(file)), timeout: time.Minute}
	meta, err := toml.DecodeFile(file, &r)
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return r, fmt.Errorf("%s: unknown keys %v", file, unknown)
	}
	if !slices.Contains([]string{"any", "system", "each"}, r.Python) {
		return r, fmt.Errorf("%s: python is %q, not any, system or each", file, r.Python)
	}
	if r.About == "" || (len(r.Argv) == 0) == (len(r.Cases) == 0) {
		return r, fmt.Errorf("%s: about, and either argv or cases, must be there", file)
	}
	for _, pair := range r.Normalise {
		if len(pair) != 2 {
			return r, fmt.Errorf("%s: normalise holds pairs, not %q", file, pair)
		}
		match, err := regexp.Compile(pair[0])
		if err != nil {
			return r, fmt.Errorf("%s: %w", file, err)
		}
		r.normalise = append(r.normalise, replacement{match, pair[1]})
	}
	if r.Timeout != "" {
		if r.timeout, err = time.ParseDuration(r.Timeout); err != nil {
			return r, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

func (r row) wait() time.Duration { return r.timeout }

// fits reports whether the case is meant for this version of Python.
func (c rowCase) fits(i interpreter) bool {
	at := func(text string, otherwise int) int {
		var major, minor int
		if n, _ := fmt.Sscanf(text, "%d.%d", &major, &minor); n == 2 {
			return major*100 + minor
		}
		return otherwise
	}
	v := i.major*100 + i.minor
	return at(c.From, 0) <= v && v <= at(c.Until, 9999)
}

func TestCaseFits(t *testing.T) {
	for _, c := range []struct {
		from, until string
		minor       int
		want        bool
	}{
		{"", "", 8, true}, {"3.11", "", 10, false}, {"3.11", "", 11, true}, {"", "3.10", 10, true}, {"", "3.10", 11, false}, {"", "3.10", 9, true},
	} {
		if got := (rowCase{From: c.from, Until: c.until}).fits(interpreter{major: 3, minor: c.minor}); got != c.want {
			t.Errorf("from %q until %q fits 3.%d: %v", c.from, c.until, c.minor, got)
		}
	}
}
