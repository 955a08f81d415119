package learn

import (
	"path"
	"strings"

	"psb/policy"
)

// leastSiblings is from how many files read in one folder the folder itself is granted.
const leastSiblings = 4

// lists answers folders whose names were read. The root, /etc and the home folder tell too much: no policy may name them.
func (l *ladder) lists() {
	l.take(func(f *fact) bool {
		if !f.list {
			return false
		}
		f.list = false
		if f.object == "/" || f.object == "/etc" || l.k.home(f.object) {
			l.leave("the names in " + l.k.written(f.object, true))
		} else {
			l.grant(policy.OpList, f.object, true, f.because)
		}
		return !f.read
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
	for _, n := range names {
		if l.secret(path.Join(dir, n)) {
			return true
		}
	}
	if l.secret(dir) {
		return true
	}
	for _, e := range append(append([]string(nil), l.k.Floor...), l.k.Guarded...) {
		if below(strings.TrimSuffix(e, "/"), dir) {
			return true
		}
	}
	return false
}

// secret is Knowledge.sensitive, asked once for each path: a folder's names are gone through once as they were used and once as they are there.
func (l *ladder) secret(p string) bool {
	s, known := l.secrets[p]
	if !known {
		s = l.k.sensitive(p)
		l.secrets[p] = s
	}
	return s
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
		if l.secret(path.Join(dir, sub)) || strings.HasPrefix(sub, ".") && !l.used(path.Join(dir, sub), read) {
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
			l.grant(policy.OpRead, f.object, false, f.because)
		}
		return true
	})
}

// covered drops what another grant already gives: anything readable below a tree that may be read, anything below one that may be
// written. A marked file keeps its line.
func (l *ladder) covered() {
	has := func(op policy.Op, object string) bool { return l.grants[policy.Access{Op: op, Object: object}] != nil }
	for a, g := range l.grants {
		if !strings.HasPrefix(a.Object, "/") || a.Object == "/" {
			continue
		}
		reads := a.Op == policy.OpRead || a.Op == policy.OpList
		writes := reads || a.Op == policy.OpCreate || a.Op == policy.OpWrite && !l.marked(g)
		if reads && has(policy.OpWrite, a.Object) || a.Op != policy.OpWrite && writes && has(policy.OpWrite, a.Object) ||
			a.Op == policy.OpList && has(policy.OpRead, a.Object) {
			delete(l.grants, a)
			continue
		}
		for dir := dirOf(strings.TrimSuffix(a.Object, "/")); dir != "/"; dir = dirOf(dir) {
			if reads && has(policy.OpRead, dir+"/") || writes && has(policy.OpWrite, dir+"/") {
				delete(l.grants, a)
				break
			}
		}
	}
}
