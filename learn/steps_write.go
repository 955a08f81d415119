package learn

import (
	"fmt"
	"slices"
	"strings"

	"psb/policy"
)

// bytecode answers __pycache__: reading it needs no rule, since Python does without; writing it is granted as the whole folder
// where the box keeps imports from writing, so that it was asked for.
func (l *ladder) bytecode() {
	l.take(func(f *fact) bool {
		i := strings.Index(f.object+"/", "/__pycache__/")
		if i < 0 {
			return false
		}
		dir := f.object[:i] + "/__pycache__"
		if !f.write || l.k.Bytecode || l.k.guarded(f.object) {
			if f.object != dir {
				l.report.Bytecode++
			}
			return true
		}
		l.grant(policy.OpWrite, dir, true, f.because)
		return true
	})
}

// keepOnly crosses off everything but one right; it never answers the fact.
func (l *ladder) keepOnly(f *fact, op policy.Op) bool {
	f.read, f.write, f.list, f.unnamed = false, false, false, false
	f.exec = op == policy.OpExec
	return false
}

// protected leaves out writes to policies, start-up files and virtual environments.
func (l *ladder) protected() {
	l.take(func(f *fact) bool {
		if !f.write && !f.unnamed || !l.k.guarded(f.object) {
			return false
		}
		if baseOf(f.object) == ".git" && l.madeAbove(f.object) { // points to a repository from a folder of the run's own making, which answers
			l.repos = append(l.repos, f.object)
			return true
		}
		l.report.Floor[policy.Access{Op: policy.OpWrite, Object: f.object}] = ""
		f.write, f.unnamed = false, false
		return !f.read && !f.list && !f.exec
	})
}

// create proposes new names in a folder; in a folder that is too much for it, nothing.
func (l *ladder) create(dir, because string) {
	if l.k.root(dir) {
		l.leave("new names in " + l.k.written(dir, true))
		return
	}
	l.grant(policy.OpCreate, dir, true, because)
}

// folders answers folders the run made, with everything below them: all of that was made by this run.
func (l *ladder) folders() {
	top := "" // the topmost made folder that holds what follows; facts are sorted by path
	var tree *Grant
	l.take(func(f *fact) bool {
		if top != "" && below(f.object, top) {
			if tree != nil {
				tree.Because = firstOf(tree.Because, f.because)
				if f.write && f.made && policy.RunsCode(baseOf(f.object)) {
					tree.Alert = newCode
				}
			}
			return !f.exec || tree == nil
		}
		if !f.made || !f.dir || !f.write {
			return false
		}
		if slices.ContainsFunc(l.stores, func(s string) bool { return atOrBelow(s, f.object) || below(f.object, s) }) {
			return true // on the way to a cache of hashes, or within: the rule on that is enough, and narrower
		}
		top, tree = f.object, nil
		piece := shard.MatchString(baseOf(f.object)) && below(f.object, l.k.Macros.Cache) // of a hash: other runs make others
		if f.gone || piece || perRun(baseOf(f.object), l.set.pids) {
			l.create(dirOf(f.object), f.because)
			return true
		}
		if l.k.root(f.object) {
			l.leave("write to " + l.k.written(f.object, true))
			return true
		}
		if dir := dirOf(f.object); !l.k.root(dir) {
			l.create(dir, f.because) // in the home folder and its like psb makes the folder at the start: no new names there
		}
		tree = l.grant(policy.OpWrite, f.object, true, f.because)
		if policy.RunsCode(baseOf(f.object)) {
			tree.Alert = newCode
		}
		return true
	})
}

// leastShards is from how many folders named by a piece of a hash a cache is known.
const leastShards = 3

// hashCaches answers caches that spread their files over folders named by the beginning of a hash. Under ${cache} alone: each
// run touches other leaves, so the whole store is granted, with how many were seen.
func (l *ladder) hashCaches() {
	shards := map[string]map[string]bool{}
	store := func(f *fact) string {
		dir := dirOf(f.object)
		if !f.write || f.dir || !shard.MatchString(baseOf(dir)) || !hashLike(baseOf(f.object)) || !below(dirOf(dir), l.k.Macros.Cache) {
			return ""
		}
		return dirOf(dir)
	}
	seen := map[string]int{}
	for _, f := range l.facts {
		if s := store(f); s != "" {
			if shards[s] == nil {
				shards[s] = map[string]bool{}
			}
			shards[s][baseOf(dirOf(f.object))] = true
			seen[s]++
		}
	}
	l.take(func(f *fact) bool {
		s := store(f)
		if s == "" || len(shards[s]) < leastShards {
			return false
		}
		l.grant(policy.OpWrite, s, true, f.because).Seen = seen[s]
		l.stores = append(l.stores, s)
		return true
	})
}

// writes answers files the run wrote, made, replaced or removed.
func (l *ladder) writes() {
	l.take(func(f *fact) bool {
		if f.unnamed {
			l.create(f.object, f.because)
			f.unnamed = false
		}
		if !f.write {
			return false
		}
		f.write, f.read = false, false // write implies read
		dir, name := dirOf(f.object), baseOf(f.object)
		switch {
		case f.dir && f.meta:
			l.leave("mode, owner or times of the folder " + l.k.written(f.object, true))
		case f.dir && (l.k.root(f.object) || f.object == l.k.Macros.Project):
			l.leave("removing the folder " + l.k.written(f.object, true))
		case f.dir:
			l.create(dir, f.because)
			l.grant(policy.OpWrite, f.object, true, f.because).Alert = "removes the folder"
		case f.made && (f.gone || perRun(name, l.set.pids)):
			l.create(dir, f.because)
		default:
			if f.made || f.removed {
				l.create(dir, f.because)
			}
			g := l.grant(policy.OpWrite, f.object, false, f.because)
			if f.made && policy.RunsCode(name) {
				g.Alert = newCode
			} else if slices.Contains(l.k.Homes, dir) { // of which the macros may not know
				g.Alert = policy.InHome
			}
		}
		return !f.exec && !f.list
	})
}

// execs answers programs that were run.
func (l *ladder) execs() {
	l.take(func(f *fact) bool {
		if !f.exec {
			return false
		}
		f.exec = false
		if match(l.k.Runs, f.object) < 0 {
			if f.made && perRun(baseOf(f.object), l.set.pids) {
				l.leave(fmt.Sprintf("running %s, which the run itself made", l.k.written(f.object, false)))
			} else {
				l.grant(policy.OpExec, f.object, false, f.because)
			}
		}
		f.read = false // exec implies read
		return !f.write && !f.list && !f.unnamed
	})
}

// devices answers device nodes, which have a right of their own.
func (l *ladder) devices() {
	l.take(func(f *fact) bool {
		if !strings.HasPrefix(f.object, "/dev/") {
			return false
		}
		if !f.dir && f.known && !f.made { // what the run wanted to make, or made in the box's own /dev, is no device
			l.grant(policy.OpDevice, f.object, false, f.because)
		}
		return true
	})
}
