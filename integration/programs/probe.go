package programs

import _ "embed"

// Probe is a program that tries to get at files and a folder a policy says nothing of; its first lines tell its arguments.
//
//go:embed probe.py
var Probe string
