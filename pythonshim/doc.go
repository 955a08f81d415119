// Package pythonshim is the part of psb that runs inside Python, what Python says about itself, and how an interpreter is
// found without running it.
//
//	layout, err := pythonshim.Find("python3", pythonshim.Host{Env: os.Environ()})
//	original, err := os.ReadFile(layout.Encodings)
//	overlay := pythonshim.Overlay(original, pythonshim.Learn)   // bind it over layout.Encodings inside the box
//	note, err := pythonshim.ParseNote(line)                     // what the box then wrote to NoteFD
//
// It does not act: it mounts nothing, starts nothing, and nothing that the shim says is a right. The one thing taken
// from the shim alone is the name of an environment variable.
package pythonshim
