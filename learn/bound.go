package learn

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
)

// What a Set keeps, however long a run is. Beyond these bounds things are folded together, and the report says so.
const (
	mostNames   = 1 << 14 // names in one folder: those that sort first, so that the order of events does not matter
	mostFacts   = 1 << 18 // names in all folders
	mostFolds   = 1 << 12 // folders of which names were folded
	mostOthers  = 1 << 14 // addresses
	mostReads   = 1 << 12 // names of variables
	mostPython  = 1 << 12 // modules, functions, names of evaluated text
	mostOdd     = 1 << 5  // of those that no rule can hold
	mostPIDs    = 1 << 18
	mostRefused = 1 << 12 // kinds of calls
)

// lastFirst is a heap whose first is the name that sorts last.
type lastFirst []string

func (h lastFirst) Len() int           { return len(h) }
func (h lastFirst) Less(i, j int) bool { return h[i] > h[j] }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(x any)        { *h = append(*h, x.(string)) }
func (h *lastFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// file gives what is known of one object, or of all that were folded in its folder.
func (s *Set) file(object string) *fact {
	if f := s.files[object]; f != nil {
		return f
	}
	dir := dirOf(object)
	names := s.names[dir]
	if names == nil {
		names = &lastFirst{}
	}
	switch {
	case len(*names) >= mostNames && object > (*names)[0]:
		return s.fold(dir)
	case len(*names) >= mostNames:
		last := heap.Pop(names).(string)
		s.fold(dir).join(s.files[last])
		delete(s.files, last)
	case len(s.files) >= mostFacts:
		return s.fold(dir)
	}
	f := &fact{object: object}
	s.files[object], s.names[dir] = f, names
	heap.Push(names, object)
	return f
}

// fold gives what is known of the names that were too many in a folder, or in one above it when such folders are too many.
func (s *Set) fold(dir string) *fact {
	for {
		f := s.folds[dir]
		if f == nil && (len(s.folds) < mostFolds || dir == "/") {
			f = &fact{object: dir, folded: true}
			s.folds[dir] = f
		}
		if f != nil {
			return f
		}
		dir = dirOf(dir)
	}
}

// room reports whether a map may take one more, or has it already; where not, what is told later.
func room[K comparable, V any](s *Set, m map[K]V, key K, most int, what string) bool {
	if _, had := m[key]; had || len(m) < most {
		return true
	}
	s.cut[what] = true
	return false
}

// folded tells what was too much to remember name by name, and proposes of it what names nothing: new names in a folder that had them.
func (l *ladder) folded() {
	for _, dir := range slices.Sorted(maps.Keys(l.set.folds)) {
		f := l.set.folds[dir]
		if l.k.private(dir) || l.k.always(dir) {
			continue
		}
		l.leave(fmt.Sprintf("names in %s beyond %d: too many for rules of their own", l.k.written(dir, true), mostNames))
		if f.made && !l.k.floor(dir) && !l.k.guarded(dir+"/x") && l.nameable(dir) {
			l.create(dir, f.because)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(l.set.cut)) {
		l.leave(what + ": too many to remember")
	}
}
