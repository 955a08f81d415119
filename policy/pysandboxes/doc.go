// Package pysandboxes turns the rule files of pysandboxes, flat lines of key=value, into policies.
//
//	got, err := pysandboxes.Import("old.rules", src, macros, look)
//	for _, r := range got.Remarks {
//		fmt.Println(r) // what has no equivalent, line by line
//	}
//
// It converts environment, files, network, limits, locks, and what Python's layer holds: imports, calls, evaluated text. It does not convert the
// files that a file includes: each is named with the command that converts it. It reads no file and asks the machine one thing, through look: whether a path is a folder.
package pysandboxes
