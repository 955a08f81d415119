package learn

import (
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// Knowledge is what Generalise must know of the machine and of the box. It is data and functions of the caller: learning itself
// looks at nothing. In a list of paths a final "/" means everything below, too.
type Knowledge struct {
	Macros policy.Macros // what the words of a path stand for; Project must be set
	Folder string        // folder the policy file stands in, where relative rules start; "" = Macros.Project
	Homes  []string      // home folders beside Macros.Home: the environment may say another one

	Program []string // script or module on the command line: readable without a rule
	Always  []string // readable and listable without a rule: interpreter, libraries, CA stores, time zones, locale …
	Runs    []string // may be executed without a rule: the interpreter, both ends of its links
	Made    []string // folders that were made for this run, for it to write in: it counts as their maker
	Private []string // the box's own: /tmp/, /dev/shm/, /proc/, /dev/null … A deeper Project or Shown entry wins
	Shown   []string // host objects bound into a private space because the command line names them
	Floor   []string // never granted, whatever was seen: credential stores and the like
	Guarded []string // never granted for writing: policy files, start-up files, ${venv}

	// Bytecode: the program may have written __pycache__ just by importing. False when the box sets PYTHONDONTWRITEBYTECODE, so
	// that what is written there was asked for.
	Bytecode bool

	Python string // version of the interpreter, "3.11"; "" = not known

	Tables  map[string]bool           // tables this build enforces: "env" "files" "net" "syscalls", "python" for its layer; others are reported only
	Syscall func(name string) bool    // a call the base set allows
	SetEnv  func(name string) bool    // a variable set outside that has no place in every box
	Entries func(dir string) []string // names in a folder, those of folders with a final "/"; nil = not known. May be nil
	Exists  func(object string) bool  // a floor object that exists outside. May be nil
	Writes  func(dir string) bool     // a folder in which the present policy lets names be changed. May be nil
}

// FixedPrivate lists the private spaces every box has.
func FixedPrivate() []string {
	return []string{"/tmp/", "/dev/shm/", "/dev/pts/", "/dev/mqueue/", "/proc/", "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
		"/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/"}
}

// below reports whether p lies under dir, not at it.
func below(p, dir string) bool {
	if dir == "" {
		return false
	}
	if dir == "/" {
		return p != "/"
	}
	return len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

func atOrBelow(p, dir string) bool { return dir != "" && p == dir || below(p, dir) }

// match gives the length of the longest entry of list that covers p; -1 for none.
func match(list []string, p string) int {
	best := -1
	for _, e := range list {
		dir := strings.TrimSuffix(e, "/")
		if dir == "" {
			continue
		}
		if p == dir || dir != e && below(p, dir) {
			best = max(best, len(dir))
		}
	}
	return best
}

// own is the depth of the deepest place of the user's that holds p: the project, or what the command line names.
func (k *Knowledge) own(p string) int {
	best := match(k.Shown, p)
	if atOrBelow(p, k.Macros.Project) {
		best = max(best, len(k.Macros.Project))
	}
	return best
}

// Own reports a place of the user's: the project, what the command line names, or a home. The virtual environment in use is the interpreter's.
func (k *Knowledge) Own(p string) bool {
	if atOrBelow(p, k.Macros.Venv) {
		return false
	}
	return k.own(p) >= 0 || below(p, k.Macros.Home) || slices.ContainsFunc(k.Homes, func(h string) bool { return below(p, h) })
}

func (k *Knowledge) private(p string) bool {
	n := match(k.Private, p)
	return n >= 0 && n > k.own(p) && n > match(k.Always, p)
}

func (k *Knowledge) always(p string) bool {
	n := match(k.Always, p)
	return n >= 0 && n > k.own(p)
}

// Given reports whether an access needs no rule, or never gets one, wherever the program asked for it.
func (k *Knowledge) Given(a policy.Access) bool {
	p := a.Object
	if a.Op == policy.OpExec {
		return match(k.Runs, p) >= 0 || k.floor(p)
	}
	return k.always(p) || k.private(p) || k.floor(p)
}

// Never reports what no run gets, whoever says so while it goes on: floor objects, and changes to guarded ones.
func (k *Knowledge) Never(a policy.Access) bool {
	changes := a.Op == policy.OpWrite || a.Op == policy.OpCreate
	return k.floor(a.Object) || changes && k.guarded(a.Object)
}

func (k *Knowledge) floor(p string) bool {
	for _, e := range k.Floor {
		if atOrBelow(p, strings.TrimSuffix(e, "/")) {
			return true
		}
	}
	return false
}

func (k *Knowledge) guarded(p string) bool {
	if i := strings.Index(p+"/", "/.git/"); i >= 0 {
		rest := strings.Split(strings.Trim(strings.TrimPrefix((p + "/")[i:], "/.git"), "/"), "/")
		switch {
		case rest[0] == "" || slices.Contains(rest, "hooks"):
			return true
		case len(rest) == 1 && (rest[0] == "modules" || rest[0] == "worktrees"): // made when the first repository comes into it
			return true
		case len(rest) > 1 && rest[len(rest)-2] == "info" && rest[len(rest)-1] == "attributes":
			return true
		}
		switch rest[len(rest)-1] { // by which git runs programs or finds other settings, in submodules and work trees, too
		case "config", "config.worktree", "commondir", "gitdir":
			return true
		}
	}
	for _, e := range k.Guarded {
		if atOrBelow(p, strings.TrimSuffix(e, "/")) {
			return true
		}
	}
	return false
}

// written gives the form of a path in the file: relative to the deepest folder that has a word of its own.
func (k *Knowledge) written(p string, tree bool) string {
	if tree && p != "/" {
		p += "/"
	}
	return policy.RelativeIn(k.folder(), p, k.Macros)
}

func (k *Knowledge) folder() string {
	if k.Folder == "" {
		return k.Macros.Project
	}
	return k.Folder
}

// sensitive reports an object that deserves a look before it is granted.
func (k *Knowledge) sensitive(p string) bool {
	return policy.SensitiveFile(p, k.Macros)
}

// home reports a home folder, or a folder that holds one.
func (k *Knowledge) home(dir string) bool {
	return atOrBelow(k.Macros.Home, dir) || slices.ContainsFunc(k.Homes, func(h string) bool { return atOrBelow(h, dir) })
}

// root reports whether a folder is too much for a rule on everything below it, or on new names in it: a file system's top
// levels, the home folder and the shared folders in it.
func (k *Knowledge) root(dir string) bool {
	m := k.Macros
	for _, d := range []string{m.Cache, m.Config, m.Data, m.Run, m.Tmp, path.Join(m.Home, ".local")} {
		if d != "" && atOrBelow(d, dir) {
			return true
		}
	}
	if k.home(dir) {
		return true
	}
	if atOrBelow(dir, m.Project) {
		return false
	}
	if below(m.Project, dir) {
		return true
	}
	return !below(dir, m.Home) && strings.Count(dir, "/") < 3
}
