package main

import (
	"bytes"
	"errors"
	"os"

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
	now := newSightings()
	for _, c := range m.checks {
		if c.Kind == namespaces.CheckText {
			if text, err := os.ReadFile(c.Path); err != nil || !bytes.Equal(text, c.Text) {
				return false
			}
		} else if !now.still(c) {
			return false
		}
	}
	return true
}
