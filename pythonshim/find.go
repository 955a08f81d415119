package pythonshim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Find looks an interpreter up as a shell would (a name without "/" on PATH, else a path from the working folder) and reads
// its layout from files alone: nothing that a project, a virtual environment or PATH reaches is executed. pyenv's shims, which
// are shell scripts, are resolved by pyenv's own rules. Errors say what stands in the way; a link whose target is missing is named.
func Find(name string, look Looker) (Layout, error) {
	l := Layout{Requested: name}
	if name == "" {
		return l, errors.New("find python: the name is empty")
	}
	launch, err := locate(name, look, "")
	if err != nil {
		return l, fmt.Errorf("find python %q: %w", name, err)
	}
	if l, err = inspect(name, launch, look); err != nil {
		return l, fmt.Errorf("find python %q: %w", name, err)
	}
	return l, nil
}

// locate gives the path to launch. Entries of PATH that lie in the folder skip are passed over.
func locate(name string, look Looker, skip string) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !path.IsAbs(p) {
			p = look.Dir() + "/" + p
		}
		if err := runnable(path.Clean(p), look); err != nil {
			return "", err
		}
		return chosen(path.Clean(p), look)
	}
	list := look.Getenv("PATH")
	if list == "" {
		list = "/usr/local/bin:/usr/bin:/bin" // confstr(_CS_PATH) and what most programs take
	}
	var first error
	for _, dir := range strings.Split(list, ":") {
		if !path.IsAbs(dir) {
			dir = look.Dir() + "/" + dir
		}
		dir = path.Clean(dir)
		if skip != "" && dir == skip {
			continue
		}
		p := path.Join(dir, name)
		err := runnable(p, look)
		if err == nil {
			return chosen(p, look)
		}
		if _, there := look.Lstat(p); there == nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return "", first
	}
	return "", fmt.Errorf("not found on PATH: %w", fs.ErrNotExist)
}

// runnable says why a path cannot be executed, nil when it can.
func runnable(p string, look Looker) error {
	_, st, err := newWalker(look).real(p)
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%q is no regular file", p)
	case st.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%q is not executable", p)
	}
	return nil
}

// chosen passes an interpreter through and replaces a version manager's shim by what it would run.
func chosen(p string, look Looker) (string, error) {
	real, _, err := newWalker(look).real(p)
	if err != nil {
		return "", err
	}
	head, err := start(look, real)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(head, "#!") {
		return p, nil
	}
	switch {
	case path.Base(path.Dir(p)) == "shims" && strings.Contains(head, "pyenv"):
		return fromPyenv(p, look)
	case path.Base(path.Dir(real)) == "shims" && strings.Contains(head, "pyenv"):
		return fromPyenv(real, look)
	case strings.Contains(head, "asdf exec"):
		return "", fmt.Errorf("%q is a shim of asdf, which psb does not run: name the interpreter itself (asdf which %s)", p, path.Base(p))
	}
	return "", fmt.Errorf("%q is a script, not an interpreter", p)
}

// start gives the first bytes of a file.
func start(look Looker, p string) (string, error) {
	f, err := look.Open(p)
	if err != nil {
		return "", fmt.Errorf("open %q: %w", p, err)
	}
	defer f.Close()
	b := make([]byte, 2048)
	n, _ := f.ReadAt(b, 0) // a short file is no error here, an unreadable one reads as empty
	return string(b[:n]), nil
}

// inspect reads the layout of the interpreter that is launched by the path.
func inspect(name, launch string, look Looker) (Layout, error) {
	w := newWalker(look)
	l := Layout{Requested: name, Launch: launch}
	exe, _, err := w.real(launch)
	if err != nil {
		return l, err
	}
	l.Executable = exe
	if !pythonName.MatchString(path.Base(exe)) {
		return l, fmt.Errorf("%q is not a python interpreter: it is %q", launch, exe)
	}
	bin, err := readELF(look, exe)
	if err != nil {
		return l, fmt.Errorf("%q is not a python interpreter: %w", launch, err)
	}
	home, system := path.Dir(exe), false
	env, found, err := readVenv(w, launch)
	if err != nil {
		return l, err
	}
	if found {
		l.Venv, home, system = env.dir, env.home, env.system
		if _, ok := w.folder(home); !ok {
			return l, fmt.Errorf("%q: home = %q, which is no folder", path.Join(env.dir, "pyvenv.cfg"), home)
		}
	}
	if l.Version = version(w, exe, env, bin, home); l.Version == "" {
		return l, fmt.Errorf("cannot tell the version of %q from its name, its libraries or %q", launch, path.Join(path.Dir(home), "lib"))
	}
	if err := l.fill(w, home); err != nil {
		return l, err
	}
	l.sites(w, system)
	ld := newLinker(w)
	ld.brief = true
	l.SystemLibs = ld.trees
	l.Loader = bin.loader
	if err := l.libraries(ld, bin); err != nil {
		return l, err
	}
	l.reads(w)
	l.Links = w.found()
	return l, nil
}

// version is "3.11", from the file's name, the environment's own word, the library it links, or the only standard
// library beside it.
func version(w *walker, exe string, env venv, bin image, home string) string {
	if m := fullName.FindStringSubmatch(path.Base(exe)); m != nil {
		return m[1]
	}
	if m := versionRe.FindStringSubmatch(env.version); m != nil {
		return m[1]
	}
	for _, n := range bin.needed {
		if m := libName.FindStringSubmatch(n); m != nil {
			return m[1]
		}
	}
	only := ""
	for _, n := range names(w.look, path.Join(path.Dir(home), "lib")) {
		m := fullName.FindStringSubmatch(n)
		if m == nil {
			continue
		}
		if _, ok := w.file(path.Join(path.Dir(home), "lib", n, "os.py")); !ok {
			continue
		}
		if only != "" && only != m[1] {
			return ""
		}
		only = m[1]
	}
	return only
}
