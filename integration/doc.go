// Package integration holds the whole of psb to what it says: the real binary, run on real programs and real attacks.
//
//	PSB_ROWS=all go test ./integration           everything; without PSB_ROWS one enforced run less of each program
//	go test ./integration -run TestPrograms/git  one program, learned and then enforced
//	PSB_BIN=$PWD/bin/psb go test ./integration   a binary that is there already, instead of one built for the run
//	PSB_KEEP=1 go test -v ./integration -run X   leaves the folders of the run in place and names them
//
// A program is a folder below programs/, an attack a source file below testdata/attack, a behaviour of one subcommand a
// script below testdata/script: all three are extended by adding a file, not by writing Go. Every claim has its control
// run: the same program without psb must succeed, or the claim proves nothing.
//
// It does not test parts on their own (their tests lie beside them), and nothing imports it.
package integration
