package pythonshim

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Needs is what one program needs to be executed: files without links, and the links that lead to them.
type Needs struct {
	Files []string // the program itself, its loader, its libraries, a script's interpreter; by path
	Links []Link
}

// Programs tells what programs need to be executed. It looks at each file once, and goes on believing what it saw: make one for each launch.
type Programs struct {
	w  *walker
	ld *linker
}

// NewPrograms looks at nothing yet.
func NewPrograms(look Looker) *Programs { return &Programs{w: newWalker(look)} }

// Needs reads what executing a file needs: for an ELF program its loader and libraries, for a script the
// interpreter of its #! line with what that needs (env is looked through to the program it names). A library that is
// not there is an error wrapping what is missing, beside the rest.
func (p *Programs) Needs(name string) (Needs, error) {
	if p.ld == nil {
		p.ld = newLinker(p.w)
	}
	p.w.links = map[string]string{} // of the search folders only those count that are used
	files := map[string]bool{}
	err := linked(p.w, p.ld, name, files, 0)
	n := Needs{Links: p.w.found()}
	for f := range files {
		n.Files = append(n.Files, f)
	}
	slices.Sort(n.Files)
	if err != nil {
		return n, fmt.Errorf("linked %q: %w", name, err)
	}
	return n, nil
}

const maxScripts = 5 // as the kernel: a script may be another script's interpreter

func linked(w *walker, ld *linker, name string, files map[string]bool, depth int) error {
	if depth > maxScripts {
		return fmt.Errorf("more than %d interpreters in a row", maxScripts)
	}
	real, st, err := w.real(name)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file", name)
	}
	files[real] = true
	is := ld.executable(real)
	if is.err != nil {
		return is.err
	}
	if is.kind == isScript {
		words := strings.Fields(is.line)
		if len(words) == 0 || !path.IsAbs(words[0]) {
			return fmt.Errorf("%q: its #! line names no absolute path", name)
		}
		if err := linked(w, ld, words[0], files, depth+1); err != nil {
			return err
		}
		if path.Base(words[0]) == "env" {
			if p := envTarget(words[1:]); p != "" {
				at, err := locate(p, w.look, "")
				if err != nil {
					return fmt.Errorf("%q: its #! line wants %q: %w", name, p, err)
				}
				return linked(w, ld, at, files, depth+1)
			}
		}
		return nil
	}
	if is.kind == isText {
		return nil // text without #!: execve(2) refuses it, a shell reads it; it links nothing
	}
	b := is.image
	if b.loader != "" {
		p, err := ld.find(b.loader, b, nil)
		if err != nil {
			return fmt.Errorf("%q needs the loader %q, which does not exist", real, b.loader)
		}
		files[p] = true
	}
	libs, err := ld.closure(b)
	for _, p := range libs {
		files[p] = true
	}
	return err
}

// envTarget gives the program that env(1) would run: options and assignments come before it.
func envTarget(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return ""
}
