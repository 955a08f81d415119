package pythonshim

import (
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

const maxLinked = 1024 // files one program may pull in

// linker resolves libraries as ld.so(8) does, from its configuration: it has neither LD_LIBRARY_PATH (a box does not
// pass it) nor the cache, which only speeds up the same folders. It looks at each file once.
type linker struct {
	w      *walker
	system []string // folders without links, in the order they are searched
	trees  []string // those of them that hold libraries and little else
	brief  bool     // libraries in trees are taken for good and not followed: all of a tree is readable anyway
	known  map[string]executable
	found  map[search]finding
	window window
}

// search is what decides which file a library is.
type search struct {
	name    string
	class   elf.Class
	machine elf.Machine
	rpath   string
	runpath string
}

// finding is the file that a search found, and the links that it met.
type finding struct {
	file  string
	links []Link
}

func newLinker(w *walker) *linker {
	ld := &linker{w: w, known: map[string]executable{}, found: map[search]finding{}}
	dirs := ldConfig(w, "/etc/ld.so.conf", 0)
	dirs = append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
	for _, base := range []string{"/lib", "/usr/lib"} {
		for _, n := range names(w.look, base) {
			if strings.HasSuffix(n, "-linux-gnu") || strings.HasSuffix(n, "-linux-musl") || strings.HasPrefix(n, "arm-linux-gnueabi") {
				dirs = append(dirs, path.Join(base, n))
			}
		}
	}
	for _, d := range dirs {
		if p, ok := w.folder(d); ok && !slices.Contains(ld.system, p) {
			ld.system = append(ld.system, p)
		}
	}
	ld.trees = libraryTrees(w, ld.system)
	return ld
}

// libraryTrees leaves out the folders that hold much beside libraries (/usr/lib, /usr/local/lib), unless they are where the
// machine keeps its libraries: behind /lib64, or for want of any other.
func libraryTrees(w *walker, system []string) []string {
	wide := []string{"/lib", "/usr/lib", "/usr/local/lib"}
	if p, ok := w.folder("/lib64"); ok {
		wide = slices.DeleteFunc(wide, func(d string) bool { return d == p })
	}
	var out []string
	for _, d := range system {
		if !slices.Contains(wide, d) {
			out = append(out, d)
		}
	}
	all := slices.Clone(out)
	out = slices.DeleteFunc(out, func(d string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o != d && under(d, o) })
	})
	if len(out) == 0 {
		return system
	}
	return out
}

// ldConfig reads ld.so.conf and what it includes; include takes a glob in its last component.
func ldConfig(w *walker, name string, depth int) []string {
	real, ok := w.file(name)
	if !ok || depth > 4 {
		return nil
	}
	text, err := readText(w.look, real)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "include"); ok && strings.TrimLeft(rest, " \t") != rest {
			for _, pattern := range strings.Fields(rest) {
				if !path.IsAbs(pattern) {
					pattern = path.Join(path.Dir(name), pattern)
				}
				for _, n := range names(w.look, path.Dir(pattern)) {
					if ok, err := path.Match(path.Base(pattern), n); ok && err == nil {
						out = append(out, ldConfig(w, path.Join(path.Dir(pattern), n), depth+1)...)
					}
				}
			}
			continue
		}
		line, _, _ = strings.Cut(line, "=")
		if line = strings.TrimSpace(line); path.IsAbs(line) && path.Clean(line) != "/" {
			out = append(out, path.Clean(line))
		}
	}
	return out
}

// find gives the file of one library, which must be of the same machine. rpath comes from all loaders above.
func (ld *linker) find(soname string, of image, rpath []string) (string, error) {
	key := search{soname, of.class, of.machine, strings.Join(rpath, "\x00"), strings.Join(of.runpath, "\x00")}
	if f, ok := ld.found[key]; ok {
		ld.w.meet(f.links)
		return f.file, nil
	}
	var file string
	links, err := ld.w.met(func() (err error) {
		file, err = ld.search(soname, of, rpath)
		return err
	})
	if err == nil {
		ld.found[key] = finding{file, links}
	}
	return file, err
}

func (ld *linker) search(soname string, of image, rpath []string) (string, error) {
	if strings.Contains(soname, "/") {
		if p, ok := ld.w.file(soname); path.IsAbs(soname) && ok {
			return p, nil
		}
		return "", fmt.Errorf("%q: %w", soname, errNoLibrary)
	}
	for _, dirs := range [][]string{rpath, of.runpath, ld.system} {
		for _, dir := range dirs {
			p, ok := ld.w.file(path.Join(dir, soname))
			if !ok {
				continue
			}
			if ld.brief && ld.inTree(p) {
				return p, nil
			}
			if b, ok := ld.read(p); ok && b.class == of.class && b.machine == of.machine {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%q: %w", soname, errNoLibrary)
}

func (ld *linker) inTree(p string) bool {
	return slices.ContainsFunc(ld.trees, func(d string) bool { return under(p, d) })
}

// closure gives every library that a file loads, by path; missing ones are joined into the error, the rest is still given.
func (ld *linker) closure(b image) ([]string, error) {
	type job struct {
		b     image
		rpath []string
	}
	seen := map[string]bool{}
	var out []string
	var missing []error
	todo := []job{{b, b.rpath}}
	for len(todo) > 0 {
		j := todo[0]
		todo = todo[1:]
		for _, so := range j.b.needed {
			p, err := ld.find(so, j.b, j.rpath)
			if err != nil {
				missing = append(missing, err)
				continue
			}
			if seen[p] {
				continue
			}
			if seen[p] = true; len(seen) > maxLinked {
				return nil, fmt.Errorf("more than %d libraries", maxLinked)
			}
			out = append(out, p)
			next := ld.known[p].image // none where it was taken for good
			todo = append(todo, job{next, slices.Concat(j.rpath, next.rpath)})
		}
	}
	slices.Sort(out)
	return out, errors.Join(missing...)
}

// libraries sets Libs: what the interpreter and its extension modules link outside SystemLibs.
func (l *Layout) libraries(ld *linker, exe image) error {
	own, err := ld.closure(exe)
	if err != nil {
		return fmt.Errorf("libraries of %q: %w", l.Executable, err)
	}
	if l.Loader != "" {
		if _, ok := ld.w.file(l.Loader); !ok {
			return fmt.Errorf("%q needs the loader %q, which does not exist", l.Executable, l.Loader)
		}
	}
	if l.Platlib != "" {
		for _, n := range names(ld.w.look, l.Platlib) {
			b, ok := ld.read(path.Join(l.Platlib, n))
			if !ok {
				continue
			}
			// Inherited from the program, as when the module is loaded into it. A missing library is that module's affair.
			b.rpath = slices.Concat(b.rpath, exe.rpath)
			more, _ := ld.closure(b)
			own = append(own, more...)
		}
	}
	for _, p := range own {
		if !ld.inTree(p) && !slices.Contains(l.Libs, p) {
			l.Libs = append(l.Libs, p)
		}
	}
	slices.Sort(l.Libs)
	return nil
}
