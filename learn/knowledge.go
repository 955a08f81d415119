package learn

import (
	"path"
	"strings"

	"psb/policy"
)

// Knowledge is what Generalise must know of the machine and of the box. It is data and functions of the caller: learning itself
// looks at nothing. In a list of paths a final "/" means everything below, too.
type Knowledge struct {
	Macros policy.Macros // what the words of a path stand for; Project must be set
	Folder string        // folder the policy file stands in, where relative rules start; "" = Macros.Project

	Program []string // script or module on the command line: readable without a rule
	Always  []string // readable and listable without a rule: interpreter, libraries, CA stores, time zones, locale …
	Runs    []string // may be executed without a rule: the interpreter, both ends of its links
	Private []string // the box's own: /tmp/, /dev/shm/, /proc/, /dev/null … A deeper Project or Shown entry wins
	Shown   []string // host objects bound into a private space because the command line names them
	Floor   []string // never granted, whatever was seen: credential stores and the like
	Guarded []string // never granted for writing: policy files, start-up files, ${venv}

	// Bytecode: the program may have written __pycache__ just by importing. False when the box sets PYTHONDONTWRITEBYTECODE, so
	// that what is written there was asked for.
	Bytecode bool

	Tables  map[string]bool           // tables this build enforces: "env" "files" "net" "syscalls" …; others are reported only
	Syscall func(name string) bool    // a call the base set allows
	SetEnv  func(name string) bool    // a variable set outside that has no place in every box
	Entries func(dir string) []string // names in a folder, those of folders with a final "/"; nil = not known. May be nil
	Exists  func(object string) bool  // a floor object that exists outside. May be nil
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

func (k *Knowledge) private(p string) bool {
	n := match(k.Private, p)
	return n >= 0 && n > k.own(p) && n > match(k.Always, p)
}

func (k *Knowledge) always(p string) bool {
	n := match(k.Always, p)
	return n >= 0 && n > k.own(p)
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
		rest := strings.TrimPrefix(p[i:], "/.git")
		if rest == "" || rest == "/config" || atOrBelow(rest, "/hooks") {
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

// bases are the folders that paths are written relative to, with the form each has.
func (k *Knowledge) bases() [][2]string {
	m := k.Macros
	out := [][2]string{{m.Home, "~"}, {m.Cache, "${cache}"}, {m.Config, "${config}"}, {m.Data, "${data}"}, {m.Run, "${run}"},
		{m.Venv, "${venv}"}, {m.Site, "${site}"}, {m.Tmp, "${tmp}"}}
	if n := strings.Count(m.Python, "/"); n > 2 { // "/usr" is no better known by another name
		out = append(out, [2]string{m.Python, "${python}"})
	}
	folder := k.Folder
	if folder == "" {
		folder = m.Project
	}
	if folder != m.Project {
		out = append(out, [2]string{m.Project, "${project}"})
	}
	return append(out, [2]string{folder, "."}) // last: at the same depth the relative form wins
}

// written gives the form of a path in the file: relative to the deepest folder that has a word of its own.
func (k *Knowledge) written(p string, tree bool) string {
	base, word := "", ""
	for _, b := range k.bases() {
		if b[0] != "" && b[0] != "/" && atOrBelow(p, b[0]) && len(b[0]) >= len(base) {
			base, word = b[0], b[1]
		}
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(p, base), "/")
	rest = strings.ReplaceAll(rest, "$", "$$")
	if tree && rest != "" {
		rest += "/"
	}
	switch {
	case word == "" && strings.HasPrefix(p, "/"):
		return "/" + rest
	case word == "." && rest == "":
		return "./"
	case word == "." && (strings.HasPrefix(rest, "~") || strings.HasPrefix(rest, "$")):
		return "./" + rest
	case word == ".":
		return rest
	}
	return word + "/" + rest
}

// root reports whether a folder is too much for a rule on everything below it, or on new names in it: a file system's top
// levels, the home folder and the shared folders in it.
func (k *Knowledge) root(dir string) bool {
	m := k.Macros
	for _, d := range []string{m.Home, m.Cache, m.Config, m.Data, m.Run, m.Tmp, path.Join(m.Home, ".local")} {
		if d != "" && atOrBelow(d, dir) {
			return true
		}
	}
	if atOrBelow(dir, m.Project) {
		return false
	}
	if below(m.Project, dir) {
		return true
	}
	return !below(dir, m.Home) && strings.Count(dir, "/") < 3
}
