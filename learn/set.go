package learn

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// Set is what a run did, folded together. The zero Set is not ready: use NewSet.
type Set struct {
	files   map[string]*fact
	others  map[policy.Access]*fact // connect, private, listen; objects canonical
	calls   map[string]bool
	refused map[string]int
	env     map[string]*envRead
	python  map[policy.Access]*said // imports, calls and names of evaluated text
	odd     map[string]bool         // of those what no rule can hold, in words
	threads map[int]*speaker
	pids    map[int]bool
	names   map[string]*lastFirst // of files, by folder
	folds   map[string]*fact      // of names that were too many, by folder
	cut     map[string]bool       // what else was too much to remember
}

// fact is all that is known of one object.
type fact struct {
	object  string
	read    bool
	write   bool
	list    bool
	exec    bool
	unnamed bool // files without a name were made in this folder
	removed bool // at some time
	meta    bool // only its mode, owner or times were written
	dir     bool
	known   bool     // some access succeeded
	made    bool     // the first of them made it: it was not there before
	gone    bool     // the last one that made or removed it removed it
	folded  bool     // speaks for many names; made means that some were
	wanted  bool     // making the folder failed because it is there
	target  string   // the kernel's name, where object is the program's and leads there through links
	links   []string // where those stand
	failed  map[policy.Access]Errno
	because string
}

type envRead struct {
	set     bool
	because string
}

// speaker is what a thread has said of late.
type speaker struct {
	notes   []note
	wide    []note // on whole folders: what they explain may come much later
	program string // base name of what it runs, "" for the program itself
}

// recentNotes bounds what is kept of each thread: the note that explains an access comes just before it.
const recentNotes = 64

// NewSet gives an empty set.
func NewSet() *Set {
	return &Set{files: map[string]*fact{}, others: map[policy.Access]*fact{}, calls: map[string]bool{}, refused: map[string]int{},
		env: map[string]*envRead{}, python: map[policy.Access]*said{}, odd: map[string]bool{}, threads: map[int]*speaker{}, pids: map[int]bool{}, names: map[string]*lastFirst{}, folds: map[string]*fact{}, cut: map[string]bool{}}
}

// Add takes one event in. It is what a tracer or Replay is given to emit to; it is not safe for several goroutines at once.
func (s *Set) Add(e Event) {
	switch e := e.(type) {
	case Accessed:
		s.accessed(e)
	case Noted:
		s.noted(e)
	case Called:
		if room(s, s.calls, e.Name, mostRefused, "system calls") {
			s.calls[e.Name] = true
		}
	case Refused:
		if room(s, s.refused, e.Name, mostRefused, "refused calls") {
			s.refused[e.Name]++
		}
	case Spawned:
		child := &speaker{}
		if parent := s.threads[e.TID]; parent != nil {
			child.notes, child.wide, child.program = slices.Clone(parent.notes), slices.Clone(parent.wide), parent.program
		}
		s.threads[e.Child] = child
		if len(s.pids) < mostPIDs {
			s.pids[e.PID] = true
		}
	case Executed:
		delete(s.threads, e.Old)
		s.threads[e.TID] = &speaker{program: path.Base(e.File)}
	case Exited:
		delete(s.threads, e.TID)
	}
}

func (s *Set) thread(tid int) *speaker {
	if s.threads[tid] == nil {
		s.threads[tid] = &speaker{}
	}
	return s.threads[tid]
}

func (s *Set) noted(e Noted) {
	n, ok := parseNote(e.Text)
	if !ok {
		return
	}
	if n.Event == "env" {
		if len(n.Args) > 0 && n.Args[0] != "" && room(s, s.env, n.Args[0], mostReads, "variables") {
			r := s.env[n.Args[0]]
			if r == nil {
				r = &envRead{because: n.reason()}
				s.env[n.Args[0]] = r
			}
			r.set = r.set || len(n.Args) > 1 && n.Args[1] == "set"
			r.because = firstOf(r.because, n.reason())
		}
		return
	}
	if n.speaks() {
		s.heard(n)
		return
	}
	th := s.thread(e.TID)
	to := &th.notes
	if n.wide() {
		to = &th.wide
	}
	*to = append(*to, n)
	if len(*to) >= 2*recentNotes { // not at every note: it moves all of them
		*to = slices.Delete(*to, 0, len(*to)-recentNotes)
	}
}

// because words the reason of an access: the latest note of its thread that fits; without one, the program that asked when that
// is another one than Python.
func (s *Set) because(tid int, a policy.Access) string {
	if n := s.explained(tid, a); n != nil {
		return n.why
	}
	th := s.threads[tid]
	if th == nil || th.program == "" || strings.HasPrefix(th.program, "python") {
		return ""
	}
	return (&note{Func: th.program}).reason()
}

// explained gives the latest note of a thread that fits an access, nil for none; it holds until the next note comes.
func (s *Set) explained(tid int, a policy.Access) *note {
	th := s.threads[tid]
	if th == nil {
		return nil
	}
	base := path.Base(a.Object)
	for _, notes := range [][]note{th.notes, th.wide} {
		recent := notes[max(0, len(notes)-recentNotes):]
		for i := len(recent) - 1; i >= 0; i-- {
			if n := &recent[i]; n.explains(a, base) {
				return n
			}
		}
	}
	return nil
}

// firstOf gives the reason that sorts first; none sorts last.
func firstOf(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func (s *Set) accessed(e Accessed) {
	if e.How == Look {
		return
	}
	var f *fact
	switch e.Access.Op {
	case policy.OpConnect, policy.OpPrivate, policy.OpListen:
		e.Access.Object = canonical(e.Access.Object)
		if e.Errno == "EINPROGRESS" { // what comes of it nobody tells: it was let through
			e.Errno = ""
		}
		if !room(s, s.others, e.Access, mostOthers, "addresses") {
			return
		}
		if f = s.others[e.Access]; f == nil {
			f = &fact{object: e.Access.Object}
			s.others[e.Access] = f
		}
	default:
		object := e.Access.Object
		if !strings.HasPrefix(object, "/") {
			return
		}
		f = s.file(path.Clean(object))
	}
	f.because = firstOf(f.because, s.because(e.TID, e.Access))
	if e.Errno != "" {
		f.wanted = f.wanted || e.How == NewDir && e.Errno == "EEXIST"
		if f.failed == nil {
			f.failed = map[policy.Access]Errno{}
		}
		a := policy.Access{Op: e.Access.Op, Object: f.object}
		if old, ok := f.failed[a]; !ok || e.Errno < old {
			f.failed[a] = e.Errno
		}
		return
	}
	if e.Target != "" && f.target == "" {
		f.target, f.links = path.Clean(e.Target), slices.Sorted(slices.Values(e.Links))
	}
	f.done(e)
}

// join takes over what is known of the same object under another name.
func (f *fact) join(g *fact) {
	f.read, f.write, f.list, f.exec = f.read || g.read, f.write || g.write, f.list || g.list, f.exec || g.exec
	f.unnamed, f.removed, f.dir, f.made = f.unnamed || g.unnamed, f.removed || g.removed, f.dir || g.dir, f.made || g.made
	f.gone = f.gone && g.gone
	f.meta = f.meta && g.meta || f.meta && !g.write || g.meta && !f.write
	f.known, f.wanted = f.known || g.known, f.wanted || g.wanted
	f.because = firstOf(f.because, g.because)
	for a, e := range g.failed {
		if f.failed == nil {
			f.failed = map[policy.Access]Errno{}
		}
		f.failed[policy.Access{Op: a.Op, Object: f.object}] = e
	}
}

// done folds a successful access in.
func (f *fact) done(e Accessed) {
	if !f.known || f.folded {
		f.made = f.made || e.How == New || e.How == NewDir
	}
	f.known = true
	switch e.Access.Op {
	case policy.OpRead:
		f.read = true
	case policy.OpList:
		f.list, f.dir = true, true
	case policy.OpExec:
		f.exec = true
	case policy.OpCreate:
		f.unnamed, f.dir = true, true
	case policy.OpWrite:
		f.meta = e.How == Meta && (f.meta || !f.write)
		f.write = true
	}
	switch e.How {
	case New:
		f.gone, f.dir = false, false
	case NewDir:
		f.gone, f.dir = false, true
	case Remove:
		f.gone, f.removed = true, true
	case RemDir:
		f.gone, f.removed, f.dir = true, true, true
	}
}

// sorted gives the facts on files by path, so that parents come before what they hold.
func (s *Set) sorted() []*fact {
	out := slices.Collect(maps.Values(s.files))
	slices.SortFunc(out, func(a, b *fact) int { return comparePaths(a.object, b.object) })
	return out
}

// comparePaths orders paths name by name: "/" sorts before whatever a name may hold.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
