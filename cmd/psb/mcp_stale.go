package main

import (
	"errors"

	"psb/namespaces"
)

// errStale: a box was made from what is another by now.
var errStale = errors.New("made from what is another by now")

// madeFrom are the looks that tell whether a box that was made ahead of need is still the one that would be made now; nil where there are none.
type madeFrom struct {
	checks []namespaces.Check
	doubt  string
}

// madeFrom is worked out while nobody waits.
func (b *boxWatcher) madeFrom() *madeFrom {
	if !b.order.Ahead {
		return nil
	}
	seen := b.j.w.seen
	checks := seen.checks()
	return &madeFrom{checks, seen.doubt}
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
