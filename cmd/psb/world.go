package main

import (
	"os"
	"strings"

	"psb/policy/plan"
)

// world is what psb was given by its caller; nothing else of the process is read.
type world struct {
	env   []string
	cwd   string
	stdio [3]*os.File
	ui    voice
	id    plan.Identity // the caller's account
	root  bool
}

func newWorld() (*world, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	w := &world{env: os.Environ(), cwd: cwd, stdio: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, ui: voice{os.Stderr}, root: os.Geteuid() == 0}
	w.id = account(os.Geteuid(), os.Getegid(), func(n string) string { v, _ := w.lookup(n); return v })
	return w, nil
}

// lookup gives a variable of the caller's environment; of several lines for one name the first counts, as in getenv(3).
func (w *world) lookup(name string) (string, bool) {
	for _, kv := range w.env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// terminal reports whether stdin and stderr are one a person sits at.
func (w *world) terminal() bool { return isTerminal(w.stdio[0]) && isTerminal(w.stdio[2]) }
