package learn

import (
	"slices"
	"strings"

	"psb/policy"
)

// there takes the folders that the program wanted to make and found: they need no right, but they have to be there again.
func (l *ladder) there() {
	l.take(func(f *fact) bool {
		if f.wanted {
			l.wanted[f.object] = f.because
		}
		return f.wanted && !f.read && !f.list
	})
}

// shown lets a folder the program wanted be seen in the box where no other rule brings it there. The least that does is its list.
func (l *ladder) shown() {
	for dir, because := range l.wanted {
		brought := atOrBelow(l.k.Macros.Project, dir) || slices.ContainsFunc(l.k.Always, func(e string) bool { return atOrBelow(strings.TrimSuffix(e, "/"), dir) })
		for a := range l.grants {
			brought = brought || atOrBelow(strings.TrimSuffix(a.Object, "/"), dir) || strings.HasSuffix(a.Object, "/") && a.Op != policy.OpList && below(dir, strings.TrimSuffix(a.Object, "/"))
		}
		switch {
		case brought || l.k.guarded(dir):
		case dir == "/etc" || l.k.root(dir) || l.k.sensitive(dir):
			l.leave("making " + l.k.written(dir, true) + ", which is there")
		default:
			l.grant(policy.OpList, dir, true, because)
		}
	}
}

// never drops whatever the steps before let through on the top of a tree that no policy may name.
func (l *ladder) never() {
	for a := range l.grants {
		p := strings.TrimSuffix(a.Object, "/")
		if !strings.HasPrefix(a.Object, "/") || p != "" && p != "/etc" && !l.k.home(p) {
			continue
		}
		delete(l.grants, a)
		l.leave(string(a.Op) + " " + l.k.written(p+"/", false))
	}
}

// newCode is the mark of a line by which something came to be that others run or obey.
const newCode = "new code or settings"

// marked says whether a rule comes with a mark.
func (l *ladder) marked(g *Grant) bool {
	return g.Alert != "" || policy.RiskOf(g.rule(), l.k.Macros).Mark
}

// marks grades every rule as policy.RiskOf does. What a step has seen happening, or a tree that holds a new repository, is worth a look, too.
func (l *ladder) marks() {
	for a, g := range l.grants {
		tree := strings.TrimSuffix(a.Object, "/")
		if a.Op == policy.OpWrite && g.Alert == "" && slices.ContainsFunc(l.repos, func(r string) bool { return atOrBelow(r, tree) }) {
			g.Alert = newCode
		}
		risk := policy.RiskOf(g.rule(), l.k.Macros)
		if g.Alert == "" && risk.Mark {
			g.Alert = risk.Why
		}
		g.Tier, g.Risk = risk.Tier, risk.Why
		if g.Alert != "" {
			g.Tier, g.Risk = max(risk.Tier, policy.TierWarn), g.Alert
		}
	}
}

// byPython is the reason of what no note explains and no other program asked for: the interpreter itself did, or native code in it.
const byPython = "python"

// reasons gives every line one; the rights on one object share a line. Of a call it is not told who made it.
func (l *ladder) reasons() {
	said := map[string]bool{}
	for a, g := range l.grants {
		said[a.Object] = said[a.Object] || g.Because != ""
	}
	for a, g := range l.grants {
		switch {
		case said[a.Object]:
		case a.Op == policy.OpSyscall:
			g.Because = "seen in the run"
		default:
			g.Because = byPython
		}
	}
}

// followLinks gives the facts anew with those under the kernel's name that were reached through a link in a folder the box may write: such a
// link could lead elsewhere in the next run, so that no rule may go through it. It gives nil when there are none.
func (l *ladder) followLinks(facts []*fact) []*fact {
	writes := func(link string) bool {
		dir := dirOf(link)
		if l.k.Writes != nil && l.k.Writes(dir) {
			return true
		}
		for a := range l.grants {
			tree := strings.TrimSuffix(a.Object, "/")
			if a.Op == policy.OpCreate && tree == dir || a.Op == policy.OpWrite && strings.HasSuffix(a.Object, "/") && atOrBelow(dir, tree) {
				return true
			}
		}
		return false
	}
	moved := false
	by := map[string]*fact{}
	var out []*fact
	put := func(f *fact) {
		if same := by[f.object]; same != nil {
			same.join(f)
			return
		}
		by[f.object] = f
		out = append(out, f)
	}
	for _, f := range facts {
		own := *f
		if slices.ContainsFunc(f.links, writes) {
			moved = true
			own.object, own.links, own.target = f.target, nil, ""
			own.failed = nil
		}
		put(&own)
	}
	if !moved {
		return nil
	}
	slices.SortFunc(out, func(a, b *fact) int { return comparePaths(a.object, b.object) })
	return out
}
