package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// mostFirstLines bounds what is read of a script to find its interpreter.
const mostFirstLines = 1024

// ownInterpreter is the python that a script of an environment (what pip writes to bin/) names in its first line, "" where psb has to choose: a
// script elsewhere runs under the python that `python script` would be. Only one that stands beside the script counts, so that no line of text
// chooses what is run.
func ownInterpreter(w *world, script string) string {
	w.seen.contentBehind(script)
	real, err := filepath.EvalSymlinks(script) // pipx links what it installs
	if err != nil {
		return ""
	}
	f, err := os.Open(real)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, mostFirstLines))
	python := namedInterpreter(string(head))
	if base := filepath.Base(python); err != nil || !filepath.IsAbs(python) || !strings.HasPrefix(base, "python") && !strings.HasPrefix(base, "pypy") {
		return ""
	}
	beside, err := filepath.EvalSymlinks(filepath.Dir(python))
	if err != nil || beside != filepath.Dir(real) || !present(python) {
		return ""
	}
	w.seen.node(python)
	return python
}

// namedInterpreter is the program in a script's first line. pip writes one that is too long for the kernel as a shell script, whose second line
// says exec.
func namedInterpreter(head string) string {
	first, rest, _ := strings.Cut(head, "\n")
	line, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return ""
	}
	second, _, _ := strings.Cut(rest, "\n")
	if run, ok := strings.CutPrefix(second, "'''exec' "); ok && strings.TrimSpace(line) == "/bin/sh" {
		if quoted, ok := strings.CutPrefix(run, `"`); ok {
			run, _, _ = strings.Cut(quoted, `"`)
			return run
		}
		line = run
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
