// Command psb replaces python on a command line and runs the program with the rights written in one reviewed file.
//
//	psb -m my_module          run under .py-sandboxes
//	psb --learn -m my_module  watch a run and write .py-sandboxes
//	psb explain -m my_module  print the plan, run nothing
//
// Each journey (run, learn, explain, …) is one straight function. This command wires the packages together and is the only caller of
// what acts; it does not decide what a rule means (package policy) nor what a launch consists of (package policy/plan).
package main
