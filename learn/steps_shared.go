package learn

import (
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// publicTrees hold no secret and come as many small files: settings for fonts, and what compilers search. Which headers a build reads
// changes with every line of its sources.
var publicTrees = []string{"/etc/fonts", "/usr/include", "/usr/lib/gcc"}

// sharedTree gives the folder that holds the data of one installed package, or the public tree; "" when p is in neither.
func sharedTree(p string) string {
	for _, t := range publicTrees {
		if below(p, t) {
			return t
		}
	}
	const share = "/usr/share/"
	rest, ok := strings.CutPrefix(p, share)
	name, _, deep := strings.Cut(rest, "/")
	if !ok || !deep {
		return ""
	}
	return share + name
}

// mostOpened is how many files the folder of a package may open for each that was read; mostNarrow is how many lines narrower folders may
// take instead.
const mostOpened, mostNarrow = 5, 8

// shared answers the data of installed packages: many files of one are the whole of it, or the folders in it where that would open much else.
func (l *ladder) shared() {
	read := map[string][]string{}
	for _, f := range l.facts {
		if p := sharedTree(f.object); p != "" && f.read {
			read[p] = append(read[p], f.object)
		}
	}
	seen := map[string]int{} // by tree to be granted
	for p, files := range read {
		trees, lines := l.narrow(p, files)
		if len(files) >= leastSiblings && (slices.Contains(publicTrees, p) || lines > mostNarrow) {
			trees = []string{p}
		}
		for _, t := range trees {
			seen[t] = 0
		}
	}
	l.take(func(f *fact) bool {
		if !f.read || sharedTree(f.object) == "" {
			return false
		}
		for dir := dirOf(f.object); dir != "/"; dir = dirOf(dir) {
			if _, whole := seen[dir]; whole {
				seen[dir]++
				l.grant(policy.OpRead, dir, true, f.because).Seen = seen[dir]
				return true
			}
		}
		return false
	})
	for dir := range seen {
		if g := l.grants[policy.Access{Op: policy.OpRead, Object: dir + "/"}]; g != nil {
			g.Of, _ = l.filesBelow(dir, mostCounted)
		}
	}
}

// narrow gives the topmost folders, dir or below it, of which enough was read to have them whole, and how many lines they and the files
// beside them are.
func (l *ladder) narrow(dir string, files []string) (trees []string, lines int) {
	if len(files) < leastSiblings {
		return nil, len(files)
	}
	if _, few := l.filesBelow(dir, mostOpened*len(files)); few {
		return []string{dir}, 1
	}
	in := map[string][]string{}
	for _, f := range files {
		name, _, deep := strings.Cut(strings.TrimPrefix(f, dir+"/"), "/")
		if deep {
			in[path.Join(dir, name)] = append(in[path.Join(dir, name)], f)
		} else {
			lines++
		}
	}
	for sub, files := range in {
		more, n := l.narrow(sub, files)
		trees, lines = append(trees, more...), lines+n
	}
	return trees, lines
}

// mostCounted bounds how many files of a tree are counted for the reason of a line.
const mostCounted = 100_000

// filesBelow counts the files of a tree, 0 when that is not known. Where there are more than most it gives 0 and false.
func (l *ladder) filesBelow(dir string, most int) (n int, few bool) {
	if l.k.Entries == nil {
		return 0, true
	}
	for todo := []string{dir}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, name := range l.k.Entries(at) {
			if sub, isDir := strings.CutSuffix(name, "/"); isDir {
				todo = append(todo, path.Join(at, sub))
			} else if n++; n > most {
				return 0, false
			}
		}
	}
	return n, true
}
