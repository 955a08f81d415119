package learn

import (
	"path"
	"strings"

	"psb/policy"
)

// leastSiblings is from how many files read in one folder the folder itself is granted.
const leastSiblings = 4

// lists answers folders whose names were read.
func (l *ladder) lists() {
	l.take(func(f *fact) bool {
		if !f.list {
			return false
		}
		f.list = false
		l.grant(policy.OpList, f.object, true, f.because)
		return !f.read
	})
}

// shared answers the data of installed packages: many files below one folder of /usr/share are that folder.
func (l *ladder) shared() {
	const share = "/usr/share/"
	pkg := func(p string) string {
		rest, ok := strings.CutPrefix(p, share)
		name, _, deep := strings.Cut(rest, "/")
		if !ok || !deep {
			return ""
		}
		return share + name
	}
	seen := map[string]int{}
	for _, f := range l.facts {
		if p := pkg(f.object); p != "" && f.read {
			seen[p]++
		}
	}
	l.take(func(f *fact) bool {
		p := pkg(f.object)
		if p == "" || !f.read || seen[p] < leastSiblings {
			return false
		}
		l.grant(policy.OpRead, p, true, f.because).Seen = seen[p]
		return true
	})
}

// siblings answers many files read in one folder: the folder, where that opens nothing that looks secret and no folder below
// that was never used.
func (l *ladder) siblings() {
	read := map[string][]string{}
	for _, f := range l.facts {
		if f.read {
			dir := dirOf(f.object)
			read[dir] = append(read[dir], baseOf(f.object))
		}
	}
	whole := map[string]int{} // folder → files in it, or 0
	for dir, names := range read {
		if len(names) < leastSiblings || dir == l.k.Macros.Project || l.k.root(dir) || l.sensitive(dir, names) {
			continue
		}
		of, ok := l.opens(dir, read, 0)
		if !ok {
			continue
		}
		// Settings of the machine lie beside what is nobody's business: nearly all must have been read.
		if below(dir, "/etc") && (of == 0 || len(names)*5 < of*4) {
			continue
		}
		whole[dir] = of
	}
	l.take(func(f *fact) bool {
		dir := dirOf(f.object)
		of, ok := whole[dir]
		if !f.read || !ok {
			return false
		}
		g := l.grant(policy.OpRead, dir, true, f.because)
		g.Seen, g.Of = len(read[dir]), of
		return true
	})
}

// sensitive reports a folder in which some used name, or the folder's own, usually stands for a secret, or that holds something
// of the floor.
func (l *ladder) sensitive(dir string, names []string) bool {
	for _, n := range append(strings.Split(dir, "/"), names...) {
		if secretName(n) {
			return true
		}
	}
	for _, e := range append(append([]string(nil), l.k.Floor...), l.k.Guarded...) {
		if below(strings.TrimSuffix(e, "/"), dir) {
			return true
		}
	}
	return false
}

// opens looks at what a rule on a folder would open beside what was read. It gives the number of files in the folder, 0 when
// that is not known; ok is false when there is a secret, a dot name or a folder that was never used.
func (l *ladder) opens(dir string, read map[string][]string, depth int) (files int, ok bool) {
	if l.k.Entries == nil || depth > 8 {
		return 0, depth <= 8
	}
	for _, name := range l.k.Entries(dir) {
		sub, isDir := strings.CutSuffix(name, "/")
		if sub == "__pycache__" {
			continue
		}
		if secretName(sub) || strings.HasPrefix(sub, ".") && !l.used(path.Join(dir, sub), read) {
			return 0, false
		}
		if !isDir {
			files++
			continue
		}
		if !l.used(path.Join(dir, sub), read) {
			return 0, false
		}
		if _, ok := l.opens(path.Join(dir, sub), read, depth+1); !ok {
			return 0, false
		}
	}
	return files, true
}

// used reports whether p, or something below it, was read.
func (l *ladder) used(p string, read map[string][]string) bool {
	for dir, names := range read {
		if atOrBelow(dir, p) {
			return true
		}
		if dir == dirOf(p) {
			for _, n := range names {
				if n == baseOf(p) {
					return true
				}
			}
		}
	}
	return false
}

// reads answers the rest, file by file.
func (l *ladder) reads() {
	l.take(func(f *fact) bool {
		if f.read {
			g := l.grant(policy.OpRead, f.object, false, f.because)
			if secretName(baseOf(f.object)) {
				g.Alert = "a secret by its name"
			}
		}
		return true
	})
}

// covered drops what another grant already gives: anything readable below a tree that may be read, anything below one that may be
// written.
func (l *ladder) covered() {
	for a, g := range l.grants {
		if !strings.HasPrefix(a.Object, "/") {
			continue
		}
		p := strings.TrimSuffix(a.Object, "/")
		for b := range l.grants {
			if a == b || !strings.HasSuffix(b.Object, "/") {
				continue
			}
			dir := strings.TrimSuffix(b.Object, "/")
			inside := below(p, dir) || p == dir && strings.HasSuffix(a.Object, "/")
			byRead := b.Op == policy.OpRead && (a.Op == policy.OpRead || a.Op == policy.OpList)
			byWrite := b.Op == policy.OpWrite && (a.Op == policy.OpRead || a.Op == policy.OpList || a.Op == policy.OpWrite || a.Op == policy.OpCreate)
			if inside && (byRead || byWrite) && !(g.Alert != "" && a.Op == policy.OpWrite && a.Object != b.Object) {
				delete(l.grants, a)
				break
			}
		}
	}
	for a := range l.grants { // a file that may be written may be read
		if a.Op == policy.OpRead && l.grants[policy.Access{Op: policy.OpWrite, Object: a.Object}] != nil {
			delete(l.grants, a)
		}
	}
}
