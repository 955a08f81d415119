package main

import (
	"os"
	"path/filepath"
	"slices"

	"psb/learn"
	"psb/policy"
)

// bringFolders makes the folders that the run may write in and that are not there: only what is there can be opened to it. It gives those it
// made, the upper ones first.
func bringFolders(dirs []string) (made []string, err error) {
	for _, dir := range dirs {
		var missing []string
		for at := dir; !present(at); at = filepath.Dir(at) {
			missing = append(missing, at)
		}
		for _, at := range slices.Backward(missing) {
			if err := os.Mkdir(at, 0o700); err != nil {
				return made, err
			}
			made = append(made, at)
		}
	}
	return made, nil
}

// takeAway removes those of them that stayed empty.
func takeAway(made []string) {
	for _, dir := range slices.Backward(made) {
		_ = os.Remove(dir)
	}
}

// among gives those of list that are in the other one, too.
func among(list, other []string) (both []string) {
	for _, s := range list {
		if slices.Contains(other, s) {
			both = append(both, s)
		}
	}
	return both
}

// couldNotWrite reports a write that was refused for no other reason than its place.
func couldNotWrite(refused map[policy.Access]learn.Errno) bool {
	for a, e := range refused {
		if a.Op == policy.OpWrite && e == "EROFS" {
			return true
		}
	}
	return false
}
