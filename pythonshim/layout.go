package pythonshim

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Layout is one interpreter as its files show it. All paths are absolute; except Launch, Prefix, BasePrefix and Venv they
// are free of links, the links that lead there are in Links.
type Layout struct {
	Requested  string // as asked for: "python3", "./.venv/bin/python"
	Launch     string // what execve(2) gets, so that a virtual environment stays one: /proj/.venv/bin/python
	Executable string // the file at the end of all links
	Links      []Link // every link between names used here and their files, by path
	Version    string // "3.11"
	Prefix     string // sys.prefix: the virtual environment, or BasePrefix
	BasePrefix string // sys.base_prefix
	Venv       string // folder of pyvenv.cfg; "" outside virtual environments
	Stdlib     string // …/lib/python3.11
	Platlib    string // …/lib/python3.11/lib-dynload; "" when all is built in
	Sites      []string
	Encodings  string   // …/encodings/__init__.py, where the overlay goes
	Pyc        string   // its cached bytecode; "" when there is none: see [VerifyPyc]
	Loader     string   // ELF interpreter as the executable names it (its links are in Links); "" for a static one
	Libs       []string // linked by it or its lib-dynload modules and outside SystemLibs: /opt/py/lib/libpython3.12.so.1.0
	Reads      []string // files, and folders as trees, that must be readable: never a whole prefix
	SystemLibs []string // folders where ld.so looks and that hold libraries and little else: multiarch, lib64, ld.so.conf
}

// ShimFits says whether the shim can run in this interpreter: CPython 3.8 or later.
func (l Layout) ShimFits() bool {
	major, minor, ok := numbers(l.Version)
	return ok && major == 3 && minor >= 8
}

func numbers(version string) (major, minor int, ok bool) {
	a, b, _ := strings.Cut(version, ".")
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	return major, minor, err1 == nil && err2 == nil
}

var (
	pythonName = regexp.MustCompile(`^python(\d+(\.\d+)?)?[a-z]*(-dbg)?$`)
	fullName   = regexp.MustCompile(`^python(\d+\.\d+)[a-z]*(-dbg)?$`)
	libName    = regexp.MustCompile(`^libpython(\d+\.\d+)[a-z]*\.so`)
	versionRe  = regexp.MustCompile(`^(\d+\.\d+)(\.|$|[a-z])`)
)

// fill completes a layout whose Launch, Executable, Venv, Version and home are known.
func (l *Layout) fill(w *walker, home string) error {
	for dir := home; ; dir = path.Dir(dir) {
		for _, lib := range []string{"lib", "lib64"} {
			if l.stdlibAt(w, path.Join(dir, lib)) {
				l.BasePrefix = dir
				break
			}
		}
		if l.BasePrefix != "" || dir == "/" {
			break
		}
	}
	if l.BasePrefix == "" {
		return fmt.Errorf("no standard library of python%s (lib/python%s/os.py, encodings) at or above %q", l.Version, l.Version, home)
	}
	l.Prefix = l.BasePrefix
	if l.Venv != "" {
		l.Prefix = l.Venv
	}
	if p, ok := w.folder(path.Join(l.Stdlib, "lib-dynload")); ok {
		l.Platlib = p
	}
	return nil
}

// stdlibAt looks for pythonX.Y or pythonX.Yt in a lib folder. The folder at the end of links must still bear that
// name: a link made by somebody else must not turn another folder into "the standard library".
func (l *Layout) stdlibAt(w *walker, lib string) bool {
	for _, name := range []string{"python" + l.Version, "python" + l.Version + "t"} {
		dir, ok := w.folder(path.Join(lib, name))
		if !ok || path.Base(dir) != name {
			continue
		}
		enc, ok := w.file(path.Join(dir, "encodings", "__init__.py"))
		if _, landmark := w.file(path.Join(dir, "os.py")); !ok || !landmark || !under(enc, dir) {
			continue
		}
		l.Stdlib, l.Encodings = dir, enc
		cache := path.Join(path.Dir(enc), "__pycache__", "__init__.cpython-"+strings.ReplaceAll(strings.TrimPrefix(name, "python"), ".", "")+".pyc")
		if p, ok := w.file(cache); ok && p == cache {
			l.Pyc = p
		}
		return true
	}
	return false
}

// sites lists the package folders that are there. system: those of the base interpreter count too.
func (l *Layout) sites(w *walker, system bool) {
	dir := path.Base(l.Stdlib)
	var try []string
	add := func(prefix string) {
		for _, lib := range []string{"lib", "lib64"} {
			try = append(try, path.Join(prefix, lib, dir, "site-packages"), path.Join(prefix, lib, dir, "dist-packages"),
				path.Join(prefix, lib, "python3", "dist-packages"))
		}
	}
	if l.Venv != "" {
		add(l.Venv)
	}
	if l.Venv == "" || system {
		base := w.look.Getenv("PYTHONUSERBASE")
		if home := w.look.Getenv("HOME"); base == "" && home != "" {
			base = path.Join(home, ".local")
		}
		if path.IsAbs(base) {
			try = append(try, path.Join(base, "lib", dir, "site-packages"))
		}
		add(l.BasePrefix)
		if l.BasePrefix == "/usr" {
			add("/usr/local")
		}
	}
	for _, t := range try {
		p, ok := w.folder(t)
		if base := path.Base(p); ok && (base == "site-packages" || base == "dist-packages") && !slices.Contains(l.Sites, p) {
			l.Sites = append(l.Sites, p)
		}
	}
}

// reads collects what must be readable.
func (l *Layout) reads(w *walker) {
	add := func(p string) {
		if p != "" {
			l.Reads = append(l.Reads, p)
		}
	}
	add(l.Executable)
	bins := []string{path.Dir(l.Executable), path.Dir(l.Launch), path.Join(l.BasePrefix, "bin")}
	if l.Venv != "" {
		bins = append(bins, path.Join(l.Venv, "bin"))
		if p, ok := w.file(path.Join(l.Venv, "pyvenv.cfg")); ok && path.Base(p) == "pyvenv.cfg" {
			add(p)
		}
	}
	for _, dir := range bins {
		for _, name := range names(w.look, dir) {
			if !pythonName.MatchString(name) {
				continue
			}
			if p, ok := w.file(path.Join(dir, name)); ok && pythonName.MatchString(path.Base(p)) {
				add(p)
			}
		}
	}
	lib := path.Dir(l.Stdlib)
	for _, name := range names(w.look, lib) {
		if !strings.HasPrefix(name, "libpython") {
			continue
		}
		if p, ok := w.file(path.Join(lib, name)); ok && strings.HasPrefix(path.Base(p), "libpython") {
			add(p)
		}
	}
	add(l.Stdlib)
	for _, s := range l.Sites {
		add(s)
	}
	l.Reads = append(l.Reads, l.Libs...)
	slices.Sort(l.Reads)
	l.Reads = slices.Compact(l.Reads)
	l.Reads = slices.DeleteFunc(l.Reads, func(p string) bool {
		return p != l.Stdlib && under(p, l.Stdlib) || slices.ContainsFunc(l.Sites, func(s string) bool { return p != s && under(p, s) })
	})
}

// names gives the names in a folder, none when it cannot be read.
func names(look Looker, dir string) []string {
	entries, err := look.ReadDir(dir)
	if err != nil {
		return nil
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// under says whether p is dir or lies below it; both clean.
func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
