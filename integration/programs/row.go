package programs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/BurntSushi/toml"
)

// Row is one folder; README.md tells what the keys mean.
type Row struct {
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
	Signal    int
	Timeout   string
	Learn     []string
	Client    []string
	Service   []Service
	Score     bool
	Cases     []Case `toml:"case"`

	Folder    string        `toml:"-"`
	Wait      time.Duration `toml:"-"` // the longest one run may take
	normalise []replacement
}

// Case is one of several runs over the same files.
type Case struct {
	Name, From, Until string
	Long              bool
	Argv              []string
}

// Service is what must be there, outside, while the program runs.
type Service struct {
	Argv  []string
	Ready string // host:port that answers once it is
}

type replacement struct {
	match *regexp.Regexp
	put   string
}

// All reads every folder of dir that has a row.toml; one with a mistake is an error.
func All(dir string) ([]Row, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "row.toml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no row", dir)
	}
	var all []Row
	for _, file := range files {
		r, err := read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func read(file string) (Row, error) {
	r := Row{Folder: filepath.Dir(file), Name: filepath.Base(filepath.Dir(file)), Wait: time.Minute}
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
		if r.Wait, err = time.ParseDuration(r.Timeout); err != nil {
			return r, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

// Normal puts the row's words for what differs from run to run.
func (r Row) Normal(text string) string {
	for _, n := range r.normalise {
		text = n.match.ReplaceAllString(text, n.put)
	}
	return text
}

// Outside reports a row whose program is not alone: somebody else asks it, or serves it.
func (r Row) Outside() bool { return len(r.Client) > 0 || len(r.Service) > 0 }

// Fits reports whether the case is meant for this version of Python.
func (c Case) Fits(i Interpreter) bool {
	at := func(text string, otherwise int) int {
		var major, minor int
		if n, _ := fmt.Sscanf(text, "%d.%d", &major, &minor); n == 2 {
			return major*100 + minor
		}
		return otherwise
	}
	v := i.Major*100 + i.Minor
	return at(c.From, 0) <= v && v <= at(c.Until, 9999)
}
