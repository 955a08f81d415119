// Package export says a plan in another tool's words: bubblewrap's, systemd's, the Open Container Initiative's, Kubernetes'.
//
//	e, err := export.Make(export.Bwrap, export.Request{Plan: p, Written: written, Filter: filter, Program: bytes})
//	e.Files                      // what to write
//	e.Remarks                    // every line of the policy that the other tool cannot hold, or cannot give
//
// What a target cannot say is left out where it is a right, so that the export is stricter, and named where it is a restriction. Values of
// variables that the policy passes on are in no file.
//
// It does not act, look at the host or run a tool; it does not decide what a rule means (package policy) nor what a launch consists of
// (package policy/plan).
package export
