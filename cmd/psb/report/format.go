package report

import (
	"fmt"
	"strings"
)

// Format is one form of a report, known by the end of a file's name.
type Format struct {
	Suffix string
	Render func(*Report) ([]byte, error)
}

// formats: a name is tried against each in turn, so the longer of two ends that fit stands first.
var formats = []Format{{".sarif.json", SARIF}, {".sarif", SARIF}, {".jsonl", Lines}, {".json", JSON}, {".xml", JUnit}}

// Suffixes are the ends of names that FormatOf knows.
func Suffixes() []string { return []string{".json", ".jsonl", ".sarif", ".xml"} }

// FormatOf gives the form that a file's name asks for.
func FormatOf(name string) (Format, error) {
	for _, f := range formats {
		if strings.HasSuffix(name, f.Suffix) {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("%q: the name must end in one of %s", name, strings.Join(Suffixes(), " "))
}
