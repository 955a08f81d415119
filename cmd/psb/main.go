package main

import (
	"errors"
	"os"
	"path/filepath"

	"psb/namespaces"
)

// version is set by the linker.
var version = "0.1.0-dev"

func main() { os.Exit(start(os.Args)) }

// start picks the journey: a subcommand, or a run line.
func start(argv []string) int {
	running := namespaces.Handed()
	w, err := newWorld(argv)
	if err != nil {
		voice{os.Stderr}.say("working folder: %v", err)
		return exitRefused
	}
	args, always := argv[1:], true
	switch filepath.Base(argv[0]) {
	case "python-sb", "python3-sb":
	case boxName:
		return w.end(boxRun(w))
	case "ipython-sb":
		args = afterOptions(args, "-m", "IPython")
	default:
		always = false
	}
	if running != nil {
		return w.end(takeOver(w, args, running))
	}
	if always {
		return w.end(run(w, args))
	}
	if len(args) > 0 && isSubcommand(args[0]) {
		return w.end(subcommand(w, args))
	}
	return w.end(run(w, args))
}

// end says why psb refused, if it did.
func (w *world) end(status int, err error) int {
	if err == nil {
		return status
	}
	var r *refusal
	var u *usageError
	var stage *namespaces.StageError
	switch {
	case errors.As(err, &r):
		if r.what != "" {
			w.ui.say("%s", r.what)
		}
		for _, h := range r.hints {
			w.ui.hint("%s", h)
		}
		return r.status
	case errors.As(err, &u):
		w.ui.say("%s", u.what)
		if u.hint != "" {
			w.ui.hint("%s", u.hint)
		}
	case errors.As(err, &stage):
		w.ui.say("%v", err)
		w.ui.hint("psb doctor says what this host lacks")
	default:
		w.ui.say("%v", err)
	}
	return exitRefused
}
