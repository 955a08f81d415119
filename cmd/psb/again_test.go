package main

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"psb/namespaces"
)

// TestAgainWhereChanged: a start that met another object than psb had looked at is made again, a few times; any other end is the end.
func TestAgainWhereChanged(t *testing.T) {
	changed := fmt.Errorf("wrapped: %w", &namespaces.StageError{Stage: "mounts", Cause: "another object", Errno: syscall.ESTALE})
	other := &namespaces.StageError{Stage: "mounts", Cause: "no room", Errno: syscall.ENOSPC}
	for _, tc := range []struct {
		name  string
		ends  []error
		calls int
		want  error
	}{
		{"at once", []error{nil}, 1, nil},
		{"changed twice", []error{changed, changed, nil}, 3, nil},
		{"changed for ever", []error{changed, changed, changed, changed, changed}, 4, changed},
		{"another failure", []error{other, nil}, 1, other},
		{"another failure later", []error{changed, other, nil}, 2, other},
	} {
		w, calls := &world{seen: newSightings(), asked: map[string]bool{}}, 0
		status, err := againWhereChanged(w, func() (int, error) {
			if calls++; w.asked == nil {
				t.Errorf("%s: journey %d cannot note what it looks up", tc.name, calls)
			}
			w.asked = nil // as a learning run does that has begun
			return calls, tc.ends[calls-1]
		})
		if calls != tc.calls || status != tc.calls || !errors.Is(err, tc.want) && err != tc.want {
			t.Errorf("%s: %d journeys, status %d, %v", tc.name, calls, status, err)
		}
	}
}
