package plan

import (
	"path"
	"slices"
	"strings"
)

// fakeTree is a file system for tests: path → "dir", "file", "dev", "link TEXT"; parents are folders.
type fakeTree map[string]string

func (t fakeTree) kind(p string) string {
	if k, ok := t[p]; ok {
		return k
	}
	for q := range t {
		if below(q, p) {
			return "dir"
		}
	}
	return ""
}

func (t fakeTree) Resolve(asked string) Object {
	o := Object{Asked: asked}
	at, rest := "/", strings.Split(path.Clean(asked), "/")[1:]
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" {
			continue
		}
		if name == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		k := t.kind(next)
		if text, ok := strings.CutPrefix(k, "link "); ok {
			o.Links = append(o.Links, Link{next, text})
			if len(o.Links) > 40 {
				o.Path, o.Err = next, "too many levels of symbolic links"
				return o
			}
			rest = append(strings.Split(text, "/"), rest...)
			if path.IsAbs(text) {
				at = "/"
			}
			continue
		}
		if k == "" {
			o.Path = path.Join(append([]string{next}, rest...)...)
			return o
		}
		at = next
	}
	o.Path, o.Mode, o.Ino, o.Dev = at, 0o755, uint64(len(at)), 1
	switch t.kind(at) {
	case "dir":
		o.Kind = Dir
	case "file":
		o.Kind, o.Mode = File, 0o644
	case "dev":
		o.Kind = Device
	}
	if at == "/" {
		o.Kind = Dir
	}
	return o
}

func (t fakeTree) Entries(dir string) ([]Entry, error) {
	names := map[string]bool{}
	for q := range t {
		if below(q, dir) {
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(q, dir), "/"), "/")
			names[name] = true
		}
	}
	var out []Entry
	for n := range names {
		k := t.kind(path.Join(dir, n))
		e := Entry{Name: n, Kind: File}
		if text, ok := strings.CutPrefix(k, "link "); ok {
			e.Kind, e.Link = Other, text
		} else if k == "dir" {
			e.Kind = Dir
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (t fakeTree) Walk(dir string, limit int, visit func(string, Kind) bool) bool {
	entries, _ := t.Entries(dir)
	for _, e := range entries {
		if limit--; limit < 0 {
			return false
		}
		p := path.Join(dir, e.Name)
		if visit(p, e.Kind) && e.Kind == Dir && !t.Walk(p, limit, visit) {
			return false
		}
	}
	return true
}

func (t fakeTree) IDMap(string) bool { return true }

func (t fakeTree) Text(string, int) string { return "" }
