package pythonshim

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fromPyenv resolves a shim of pyenv by reading what `pyenv exec` would read: PYENV_VERSION, else the nearest
// .python-version above the working folder, else $PYENV_ROOT/version, else "system". When none of the chosen
// versions has the program but its name says a version (python3.12), the newest installed one of that version is taken.
func fromPyenv(shim string, look Looker) (string, error) {
	shims := path.Dir(shim)
	root := path.Dir(shims)
	w := newWalker(look)
	if env := look.Getenv("PYENV_ROOT"); path.IsAbs(env) {
		if _, ok := w.folder(path.Join(root, "versions")); !ok {
			root = path.Clean(env)
		}
	}
	name := path.Base(shim)
	chosen, from := pyenvChoice(look, root)
	for _, v := range chosen {
		if v == "system" {
			if p, err := locate(name, look, shims); err == nil {
				return p, nil
			}
			continue
		}
		if dir := pyenvVersion(look, root, v); dir != "" {
			if p := path.Join(dir, "bin", name); runnable(p, look) == nil {
				return p, nil
			}
		}
	}
	if m := fullName.FindStringSubmatch(name); m != nil {
		if dir := pyenvVersion(look, root, m[1]); dir != "" {
			if p := path.Join(dir, "bin", name); runnable(p, look) == nil {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%q is a pyenv shim, and %s chooses %s, which has no %s", shim, from, strings.Join(chosen, ":"), name)
}

// pyenvChoice gives the chosen versions and where that is written.
func pyenvChoice(look Looker, root string) ([]string, string) {
	if v := pyenvList(look.Getenv("PYENV_VERSION")); len(v) > 0 {
		return v, "PYENV_VERSION"
	}
	for dir := path.Clean(look.Dir()); ; dir = path.Dir(dir) {
		file := path.Join(dir, ".python-version")
		if b, err := readText(look, file); err == nil {
			if v := pyenvList(string(b)); len(v) > 0 {
				return v, file
			}
		}
		if dir == "/" || dir == "." {
			break
		}
	}
	file := path.Join(root, "version")
	if b, err := readText(look, file); err == nil {
		if v := pyenvList(string(b)); len(v) > 0 {
			return v, file
		}
	}
	return []string{"system"}, "pyenv"
}

// pyenvList reads names of versions; one that could leave the versions folder is dropped, as pyenv does.
func pyenvList(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, v := range strings.FieldsFunc(line, func(r rune) bool { return r == ':' || r == ' ' || r == '\t' || r == '\r' || r == '\n' }) {
			if v != "." && !strings.Contains(v, "..") && !strings.HasPrefix(v, "/") && len(v) < 256 {
				out = append(out, v)
			}
		}
	}
	return out
}

var releaseRe = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)$`)

// pyenvVersion gives the folder of an installed version: the very name, else the newest release that it begins ("3.12").
func pyenvVersion(look Looker, root, v string) string {
	w := newWalker(look)
	v = strings.TrimPrefix(v, "python-")
	if _, ok := w.folder(path.Join(root, "versions", v)); ok {
		return path.Join(root, "versions", v)
	}
	var best []int
	for _, n := range names(look, path.Join(root, "versions")) {
		m := releaseRe.FindStringSubmatch(n)
		if m == nil || !strings.HasPrefix(n, v+".") {
			continue
		}
		var num []int
		for _, s := range m[1:] {
			i, err := strconv.Atoi(s)
			if err != nil {
				i = -1
			}
			num = append(num, i)
		}
		if slices.Compare(num, best) > 0 {
			best = num
		}
	}
	if best == nil {
		return ""
	}
	return path.Join(root, "versions", fmt.Sprintf("%d.%d.%d", best[0], best[1], best[2]))
}
