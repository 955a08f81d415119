package main

import (
	"os"
	"path/filepath"
	"strings"
)

// policyName is the file a project's rights stand in.
const policyName = ".py-sandboxes"

// whereabouts is what the words of a run line mean on this file system: no policy is read yet.
type whereabouts struct {
	script  string   // the script as python gets it, "" for other forms
	reads   []string // the script, or the module's own files: readable without a rule
	policy  string   // the policy file to use; "" when there is none and the form takes none
	exists  bool     // it is there
	named   bool     // by --policy
	project string   // ${project}
}

// locate finds script, module and policy. A form without a file of its own (REPL, -c, -) takes ./.py-sandboxes where there is one.
func locate(r *runLine, of *world) whereabouts {
	var w whereabouts
	cwd, present := of.cwd, of.present
	folder := cwd
	switch {
	case r.caller != "":
		w.script = r.target
		folder, w.reads = callerFolder(cwd, r.caller, absolute(cwd, r.target), present)
	case r.form == formScript:
		w.script = r.target
		abs := absolute(cwd, r.target)
		of.seen.nodeBehind(abs)
		if fi, err := os.Stat(abs); err == nil && fi.IsDir() {
			w.reads = mainFiles(abs, present)
			folder = abs
		} else {
			w.reads = []string{abs}
			if folder = filepath.Dir(abs); (installed(folder) || environment(folder, of.id.Home, present)) && !present(filepath.Join(folder, policyName)) {
				folder = cwd // as with a module from elsewhere
			}
		}
	case r.form == formModule:
		folder, w.reads = moduleFolder(cwd, r.target, present)
	}
	w.project = folder
	if named := r.named(); named != "" {
		w.policy, w.named = absolute(cwd, named), r.policy != ""
		w.exists = present(w.policy)
		if r.form == formModule {
			w.project = cwd
		}
		return w
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if p := filepath.Join(dir, policyName); present(p) {
			w.policy, w.exists, w.project = p, true, dir
			return w
		}
		if up := r.form == formModule && dir != cwd && below(dir, cwd) || r.caller != "" && packaged(dir, present); !up {
			break
		}
	}
	if p := filepath.Join(cwd, policyName); present(p) {
		w.policy, w.exists, w.project = p, true, cwd
		return w
	}
	// A policy learned now stands beside the script, or in the working folder.
	if r.form == formModule {
		w.project = cwd
	}
	w.policy = filepath.Join(w.project, policyName)
	return w
}

// named is the policy file the command line names; learning into a file works with that. "" when it names none.
func (r *runLine) named() string {
	if r.learnFile != "" {
		return r.learnFile
	}
	return r.policy
}

// installed reports a folder of the system's programs: a script there is no part of a project.
func installed(folder string) bool {
	switch folder {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games":
		return true
	}
	return false
}

// environment reports a folder of scripts that pip and its like put beside an interpreter (of a virtual environment, a conda or pyenv prefix), or
// below the user's home: what they start is a module from elsewhere.
func environment(folder, home string, present func(string) bool) bool {
	if filepath.Base(folder) != "bin" {
		return false
	}
	return folder == filepath.Join(home, ".local/bin") || present(filepath.Join(folder, "python3")) || present(filepath.Join(folder, "python"))
}

// moduleFolder finds a module of the working folder (python -m puts it first on sys.path): its package's folder and the files that
// starting it reads. A module from elsewhere (the standard library, site-packages) belongs to the working folder.
func moduleFolder(cwd, module string, present func(string) bool) (string, []string) {
	base := filepath.Join(append([]string{cwd}, strings.Split(module, ".")...)...)
	if present(filepath.Join(base, "__init__.py")) || present(filepath.Join(base, "__main__.py")) {
		return base, mainFiles(base, present)
	}
	if present(base + ".py") {
		return filepath.Dir(base), []string{base + ".py"}
	}
	return cwd, nil
}

// callerFolder is where the look-up for a box of the Python package begins, and what is readable there without a rule: the caller's file,
// the packages it stands in, and the package itself, of which script is the half inside.
func callerFolder(cwd, caller, script string, present func(string) bool) (string, []string) {
	own := filepath.Dir(filepath.Dir(script))
	if caller == "-" {
		return cwd, []string{script, own}
	}
	file := absolute(cwd, caller)
	reads := []string{file}
	for dir := filepath.Dir(file); packaged(dir, present); dir = filepath.Dir(dir) {
		reads = append(reads, filepath.Join(dir, "__init__.py"))
	}
	return filepath.Dir(file), append(reads, own)
}

// packaged reports a folder that is a Python package: its modules belong to the folder above.
func packaged(dir string, present func(string) bool) bool {
	return dir != "/" && present(filepath.Join(dir, "__init__.py"))
}

func mainFiles(dir string, present func(string) bool) []string {
	var out []string
	for _, n := range []string{"__init__.py", "__main__.py"} {
		if p := filepath.Join(dir, n); present(p) {
			out = append(out, p)
		}
	}
	return out
}

func absolute(cwd, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(cwd, p)
}

// present is present, noted.
func (w *world) present(p string) bool {
	w.seen.node(p)
	return present(p)
}

func present(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

func below(p, dir string) bool {
	return dir == "/" && p != "/" || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
