package main

import (
	"errors"

	"psb/namespaces"
)

// againWhereChanged makes a journey once more when a host object was another one by the time its box was built: somebody had put a new one
// there, as another psb does with a policy it adds to. Nothing had started, so nothing happens twice.
func againWhereChanged(w *world, journey func() (int, error)) (int, error) {
	for range 3 {
		status, err := journey()
		var stage *namespaces.StageError
		if !errors.As(err, &stage) || !stage.Changed() {
			return status, err
		}
		w.seen, w.asked = newSightings(), map[string]bool{}
	}
	return journey()
}
