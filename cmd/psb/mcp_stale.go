package main

import (
	"errors"

	"psb/namespaces"
)

// errStale: a box was made from what is another by now.
var errStale = errors.New("made from what is another by now")

// madeFrom are the looks that tell whether a box, or a plan, is still the one that would be made now; nil where nobody has to know.
type madeFrom struct {
	checks []namespaces.Check
	doubt  string
}

// doubtful says why nobody can tell.
func (m *madeFrom) doubtful() string {
	if m == nil {
		return ""
	}
	return m.doubt
}

// hold looks again.
func (m *madeFrom) hold() bool {
	if m == nil {
		return true
	}
	for i := range m.checks {
		if !unchanged(&m.checks[i]) {
			return false
		}
	}
	return true
}
