// Package approval remembers which policy texts a user has accepted.
//
//	store := approval.At(macros.Config)
//	state, last, err := store.Check(path, p.Sources)
//	if state == approval.Changed {
//		fmt.Print(approval.Diff(last, p.Sources))
//	}
//
// A policy found by look-up may have been written by somebody else, so it counts only once its text and that of its
// includes has been approved. The store keeps a digest and the text, so that the difference can be shown.
//
// It does not decide when to ask, and it does not ask.
package approval
