// Package programs holds the real programs that psb is held to, one folder each, and reads what their row.toml says:
//
//	rows, err := programs.All("integration/programs")
//
// The tests of package integration and the command integration/score both run what it reads. It starts nothing but the
// interpreters it looks for, and knows nothing of psb.
package programs
