// Command score says how well psb learns. It learns each program of integration/programs once, enforces what was learned, and prints one
// table and a verdict:
//
//	go run ./integration/score -psb bin/psb
//	go run ./integration/score -psb bin/psb -only sqlite,flask -json out.json
//
// Everything is measured through the real binary: what a policy grants is counted on the disk, what the program used by strace of a run
// without psb. A program this machine lacks is named as absent. The end is 1 when the verdict is no. It does not share
// code with psb, and so not its opinions.
package main
