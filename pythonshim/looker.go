package pythonshim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Looker is all that finding an interpreter may do to a machine: look at names, links, folders and bytes. [Host] is
// the real one. Paths are absolute and clean.
type Looker interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Open(name string) (File, error) // regular files only
	Getenv(name string) string      // PATH, HOME, PYENV_* … of the command to run
	Dir() string                    // working folder of the command to run
}

// File is an open file; nothing beyond bytes at an offset is asked of it.
type File interface {
	io.ReaderAt
	io.Closer
}

// Link is a symbolic link that was followed: the path where it stands (its folder free of links) and its text.
type Link struct{ Path, Text string }

const (
	maxHops   = 40      // as the kernel: more is ELOOP
	maxConfig = 1 << 20 // bytes of any text file that is read whole
)

var (
	errLoop     = errors.New("too many levels of symbolic links")
	errLinkText = errors.New("the text of the link is empty or too long")
)

// walker resolves paths and remembers every link on the way, each once, and the folders it has resolved.
type walker struct {
	look  Looker
	links map[string]string
	dirs  map[string]resolved
}

// resolved is a folder without links, and the links that led to it.
type resolved struct {
	path  string
	links []Link
}

func newWalker(look Looker) *walker {
	return &walker{look: look, links: map[string]string{}, dirs: map[string]resolved{}}
}

// meet adds links that were followed.
func (w *walker) meet(links []Link) {
	for _, l := range links {
		w.links[l.Path] = l.Text
	}
}

// met gives the links that do follows, beside those followed before, by path.
func (w *walker) met(do func() error) ([]Link, error) {
	before := w.links
	w.links = map[string]string{}
	err := do()
	links := w.found()
	w.links = before
	w.meet(links)
	return links, err
}

// found gives the links followed so far, by path.
func (w *walker) found() []Link {
	out := make([]Link, 0, len(w.links))
	for p, t := range w.links {
		out = append(out, Link{p, t})
	}
	slices.SortFunc(out, func(a, b Link) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// real resolves every link in name. A link whose target is missing is an error that says so.
func (w *walker) real(name string) (string, fs.FileInfo, error) {
	if !path.IsAbs(name) {
		return "", nil, fmt.Errorf("resolve %q: path is not absolute", name)
	}
	var hops []Link
	p, st, err := w.resolve(split(name), &hops)
	switch {
	case errors.Is(err, errLoop):
		return "", nil, fmt.Errorf("resolve %q: %w", name, err)
	case err != nil:
		return "", nil, err
	}
	w.meet(hops)
	return p, st, nil
}

// resolve walks to the last of parts; folders on the way are looked at once for all walks.
func (w *walker) resolve(parts []string, hops *[]Link) (string, fs.FileInfo, error) {
	if len(parts) == 0 {
		st, err := w.look.Lstat("/")
		return "/", st, err
	}
	last := parts[len(parts)-1]
	dir, err := w.folderOf(parts[:len(parts)-1], hops)
	if err != nil {
		return "", nil, err
	}
	if last == ".." {
		st, err := w.look.Lstat(path.Dir(dir))
		return path.Dir(dir), st, err
	}
	at := path.Join(dir, last)
	st, err := w.look.Lstat(at)
	if err != nil {
		return "", nil, fmt.Errorf("lstat %q: %w", at, err)
	}
	if st.Mode()&fs.ModeSymlink == 0 {
		return at, st, nil
	}
	text, err := w.look.Readlink(at)
	if err != nil {
		return "", nil, fmt.Errorf("readlink %q: %w", at, err)
	}
	if text == "" || len(text) > 4096 {
		return "", nil, fmt.Errorf("readlink %q: %w", at, errLinkText)
	}
	if *hops = append(*hops, Link{at, text}); len(*hops) > maxHops {
		return "", nil, errLoop
	}
	next := split(text)
	if !path.IsAbs(text) {
		next = slices.Concat(split(dir), next)
	}
	p, target, err := w.resolve(next, hops)
	var known *danglingError
	if errors.Is(err, fs.ErrNotExist) && !errors.As(err, &known) {
		return "", nil, &danglingError{Link{at, text}, err}
	}
	return p, target, err
}

// danglingError is a link that is there while its target is not.
type danglingError struct {
	link Link
	err  error
}

func (e *danglingError) Error() string {
	return fmt.Sprintf("%q is a link to %q, which does not exist", e.link.Path, e.link.Text)
}

func (e *danglingError) Unwrap() error { return e.err }

// folderOf resolves the folder that a name stands in.
func (w *walker) folderOf(parts []string, hops *[]Link) (string, error) {
	key := "/" + strings.Join(parts, "/")
	if dir, ok := w.dirs[key]; ok {
		w.meet(dir.links)
		if *hops = append(*hops, dir.links...); len(*hops) > maxHops {
			return "", errLoop
		}
		return dir.path, nil
	}
	before := len(*hops)
	dir, st, err := w.resolve(parts, hops)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", fmt.Errorf("%q is no folder: %w", dir, fs.ErrNotExist)
	}
	// The links up to here count even when the name behind them turns out missing: they were walked, and the memory of the
	// folder would hide them from the next walk.
	links := slices.Clone((*hops)[before:])
	w.meet(links)
	w.dirs[key] = resolved{dir, links}
	return dir, nil
}

// file is real for what must be a regular file; folder for what must be a folder.
func (w *walker) file(name string) (string, bool) {
	p, st, err := w.real(name)
	return p, err == nil && st.Mode().IsRegular()
}

func (w *walker) folder(name string) (string, bool) {
	p, st, err := w.real(name)
	return p, err == nil && st.IsDir()
}

// split gives the components of a path; "." goes, ".." stays because a link before it matters.
func split(name string) []string {
	var out []string
	for _, p := range strings.Split(name, "/") {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

// readText reads a small file whole; a larger one is an error.
func readText(look Looker, name string) ([]byte, error) {
	f, err := look.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	if len(b) > maxConfig {
		return nil, fmt.Errorf("read %q: longer than %d bytes", name, maxConfig)
	}
	return b, nil
}
