package main

import (
	"os"
	"strings"

	"psb/policy/plan"
)

// world is what psb was given by its caller; nothing else of the process is read.
type world struct {
	argv      []string
	env       []string
	cwd       string
	stdio     [3]*os.File
	ui        voice
	id        plan.Identity // the caller's account
	root      bool
	traceless bool            // psb keeps nothing of its own on the host: no folder, no filter, no interpreter found
	seen      *sightings      // what a launch is worked out from
	asked     map[string]bool // names of variables that were looked up
}

func newWorld(argv []string) (*world, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	w := &world{argv: argv, env: os.Environ(), cwd: cwd, stdio: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, ui: voice{os.Stderr}, root: os.Geteuid() == 0, seen: newSightings(), asked: map[string]bool{}}
	w.seen.nodeBehind(cwd)
	for _, name := range []string{"/etc/passwd", "/etc/group"} {
		w.seen.contentBehind(name)
	}
	w.id = account(os.Geteuid(), os.Getegid(), func(n string) string { v, _ := w.lookup(n); return v })
	w.seen.nodeBehind(w.id.Home)
	return w, nil
}

// lookup gives a variable of the caller's environment; of several lines for one name the first counts, as in getenv(3).
func (w *world) lookup(name string) (string, bool) {
	if w.asked != nil {
		w.asked[name] = true
	}
	for _, kv := range w.env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// terminal reports whether stdin and stderr are one a person sits at.
func (w *world) terminal() bool { return isTerminal(w.stdio[0]) && isTerminal(w.stdio[2]) }
