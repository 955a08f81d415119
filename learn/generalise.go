package learn

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"psb/policy"
)

// ladder is the state that the steps share: the facts still without an answer, and the answers.
type ladder struct {
	k       *Knowledge
	set     *Set
	facts   []*fact // by path; a step takes out what it has answered
	spare   []*fact // room for what the next step leaves
	grants  map[policy.Access]*Grant
	report  *Report
	step    string
	repos   []string          // folders that became git's in this run, and files that point to one
	stores  []string          // caches of hashes
	secrets map[string]bool   // what was found sensitive, and what not
	wanted  map[string]string // folders the run wanted to make and found, with the reason
}

// step is one rung; do takes its facts off the ladder.
type step struct {
	name string
	do   func(*ladder)
}

// steps in their order; the first that fits a fact decides it.
var steps = []step{
	{"folded", (*ladder).folded},
	{"no name", (*ladder).unnameable},
	{"floor", (*ladder).floor},
	{"outcome", (*ladder).outcome},
	{"private", (*ladder).private},
	{"always there", (*ladder).always},
	{"byte code", (*ladder).bytecode},
	{"repository", (*ladder).repository},
	{"protected", (*ladder).protected},
	{"exec", (*ladder).execs},
	{"device", (*ladder).devices},
	{"cache of hashes", (*ladder).hashCaches},
	{"folder made", (*ladder).folders},
	{"file written", (*ladder).writes},
	{"folder there", (*ladder).there},
	{"list", (*ladder).lists},
	{"shared data", (*ladder).shared},
	{"siblings", (*ladder).siblings},
	{"read", (*ladder).reads},
	{"folder wanted", (*ladder).shown},
	{"environment", (*ladder).environment},
	{"system calls", (*ladder).syscalls},
	{"network", (*ladder).network},
	{"python", (*ladder).python},
	{"covered", (*ladder).covered},
	{"never", (*ladder).never},
	{"marks", (*ladder).marks},
	{"reasons", (*ladder).reasons},
	{"tables", (*ladder).tables},
}

// Generalise proposes the rules that allow a run again, sorted, and tells what it left out. It walks the steps in order. It never
// proposes a floor object, a tree at the root of a file system, the home folder or the project for writing.
func Generalise(s *Set, k Knowledge) ([]Grant, *Report) {
	facts := behindBytecode(madeForIt(s.sorted(), k.Made))
	l := climb(s, k, facts)
	for range mostRounds {
		moved := l.followLinks(facts)
		if moved == nil {
			break
		}
		facts = moved
		l = climb(s, k, facts)
	}
	slices.Sort(l.report.Left)
	l.report.Left = slices.Compact(l.report.Left)
	var out []Grant
	for _, g := range l.grants {
		out = append(out, *g)
	}
	slices.SortFunc(out, compareGrants)
	l.report.Added = out
	return out, l.report
}

// mostRounds bounds how often rules on targets make further folders writable, in which further links stand.
const mostRounds = 4

// climb walks the steps once.
func climb(s *Set, k Knowledge, facts []*fact) *ladder {
	copies, own := make([]fact, len(facts)), make([]*fact, len(facts)) // the steps cross off what they have answered: the facts stay as they are
	for i, f := range facts {
		copies[i] = *f
		own[i] = &copies[i]
	}
	l := &ladder{k: &k, set: s, facts: own, grants: map[policy.Access]*Grant{}, wanted: map[string]string{}, secrets: map[string]bool{}, report: &Report{Floor: map[policy.Access]Errno{},
		Calls: maps.Clone(s.refused), Refused: map[policy.Access]Errno{}, NotYet: map[string]int{}}}
	for _, st := range steps {
		l.step = st.name
		st.do(l)
	}
	return l
}

// take removes from the ladder the facts that do answers.
func (l *ladder) take(do func(*fact) (answered bool)) {
	rest := l.spare[:0] // not in place: do may go through the facts as they were before this step
	for _, f := range l.facts {
		if !do(f) {
			rest = append(rest, f)
		}
	}
	l.facts, l.spare = rest, l.facts
}

// grant proposes a right on a path; a tree's path comes without its final "/".
func (l *ladder) grant(op policy.Op, p string, tree bool, because string) *Grant {
	object := p
	if tree && !strings.HasSuffix(object, "/") {
		object += "/"
	}
	a := policy.Access{Op: op, Object: object}
	g := l.grants[a]
	if g == nil {
		g = &Grant{Access: a, Text: l.k.written(p, tree), Because: because, Step: l.step}
		l.grants[a] = g
	}
	g.Because = firstOf(g.Because, because)
	return g
}

func (l *ladder) leave(sentence string) { l.report.Left = append(l.report.Left, sentence) }

// unnameable leaves out names that no rule can hold. What counts is the form in the file: a project may lie in a folder of any name.
// A new one is made all the same, where its folder can be named.
func (l *ladder) unnameable() {
	l.take(func(f *fact) bool {
		if l.nameable(f.object) {
			return false
		}
		if !f.known || l.k.private(f.object) {
			return true
		}
		dir := dirOf(f.object)
		l.leave("a name that is not UTF-8, in " + l.k.written(dir, true))
		if f.made && l.nameable(dir) && !l.k.floor(dir) && !l.k.guarded(f.object) && !l.k.always(f.object) {
			l.create(dir, f.because)
		}
		return true
	})
}

func (l *ladder) nameable(p string) bool { return utf8.ValidString(l.k.written(p, false)) }

// floor reports what is never granted.
func (l *ladder) floor() {
	l.take(func(f *fact) bool {
		if !l.k.floor(f.object) {
			return false
		}
		for _, op := range f.ops() {
			l.report.Floor[policy.Access{Op: op, Object: f.object}] = ""
		}
		for a, e := range f.failed {
			if e == "ENOENT" && (l.k.Exists == nil || !l.k.Exists(f.object)) {
				l.report.Lookups++
				continue
			}
			if e == "EEXIST" { // no more than a look whether it is there
				continue
			}
			if _, had := l.report.Floor[a]; !had {
				l.report.Floor[a] = e
			}
		}
		return true
	})
}

// ops lists what was done with success.
func (f *fact) ops() []policy.Op {
	var out []policy.Op
	for _, o := range []struct {
		did bool
		op  policy.Op
	}{{f.read, policy.OpRead}, {f.write, policy.OpWrite}, {f.list, policy.OpList}, {f.exec, policy.OpExec}, {f.unnamed, policy.OpCreate}} {
		if o.did {
			out = append(out, o.op)
		}
	}
	return out
}

// outcome answers what only failed: absent names are counted, refused ones named, and nothing of it is granted.
func (l *ladder) outcome() {
	l.take(func(f *fact) bool {
		for a, e := range f.failed {
			switch e {
			case "ENOENT", "ENOTDIR":
				if !f.known {
					l.report.Lookups++
				}
			case "EACCES", "EPERM", "EROFS":
				switch {
				case l.k.private(f.object) || strings.Contains(f.object, "/__pycache__"):
				case a.Op == policy.OpWrite && l.k.guarded(f.object):
					l.report.Floor[a] = e
				default:
					l.report.Refused[a] = e
				}
			}
		}
		return !f.known && !f.wanted
	})
}

// private answers what happens in the box's own spaces.
func (l *ladder) private() {
	l.take(func(f *fact) bool {
		if strings.HasPrefix(f.object, "/dev/") && match(l.k.Private, f.object) <= len("/dev") {
			return false // a real device, if it is one
		}
		return l.k.private(f.object)
	})
}

// always answers reads of what every box holds.
func (l *ladder) always() {
	l.take(func(f *fact) bool {
		program := match(l.k.Program, f.object) >= 0
		if !program && !l.k.always(f.object) {
			return false
		}
		if f.write && !program {
			l.leave("write to " + l.k.written(f.object, false) + ", which belongs to the interpreter or the system")
		}
		f.read = false
		f.list = false
		if !program {
			f.write = false
		}
		return !f.write && !f.exec
	})
}

func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
