package learn

import (
	"slices"
	"strings"

	"psb/policy"
)

// repository answers what git keeps: it is read as a whole; what git commands write has fixed places; hooks and settings are
// never written. A repository the run made is part of a folder the run made, or it is left out: it brings hooks and settings.
func (l *ladder) repository() {
	l.repos = l.newRepositories()
	l.take(func(f *fact) bool {
		i := strings.Index(f.object+"/", "/.git/")
		if i < 0 || f.object == f.object[:i]+"/.git" && !f.dir {
			return false // a .git file points to a repository elsewhere
		}
		git := f.object[:i] + "/.git"
		switch fresh := l.newRepository(f.object); {
		case fresh == "":
		case f.exec:
			return l.keepOnly(f, policy.OpExec)
		case !l.madeAbove(fresh):
			l.leave("a new repository, " + l.k.written(fresh, true) + ": git runs what its hooks and settings say")
			return true
		default: // the folder around it answers
			return true
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(f.object, git), "/")
		if f.read || f.list {
			l.grant(policy.OpRead, git, true, f.because)
		}
		if f.exec {
			return l.keepOnly(f, policy.OpExec)
		}
		if !f.write && !f.unnamed {
			return true
		}
		if l.k.guarded(f.object) || f.object == git {
			if rest != "" {
				l.leave("write to " + l.k.written(f.object, false) + ", which runs or configures git")
			}
			return true
		}
		top, _, deep := strings.Cut(rest, "/")
		switch {
		case deep && (top == "objects" || top == "refs" || top == "logs"):
			l.grant(policy.OpWrite, git+"/"+top, true, f.because)
		case f.made && f.gone || f.unnamed:
			l.grant(policy.OpCreate, dirOf(f.object), true, f.because)
		default:
			l.grant(policy.OpCreate, dirOf(f.object), true, f.because)
			l.grant(policy.OpWrite, f.object, f.dir, f.because)
		}
		return true
	})
}

// newRepositories finds the folders the run made that are git's: they hold a HEAD, and settings, objects or the way to a common folder.
func (l *ladder) newRepositories() []string {
	made := map[string]bool{}
	for _, f := range l.facts {
		made[f.object] = f.made
	}
	var out []string
	for _, f := range l.facts {
		if p := f.object; f.made && f.dir && made[p+"/HEAD"] && (made[p+"/config"] || made[p+"/objects"] || made[p+"/commondir"]) {
			out = append(out, p)
		}
	}
	return out
}

// newRepository gives the repository of the run's own making that holds p, "" for none.
func (l *ladder) newRepository(p string) string {
	for _, r := range l.repos {
		if atOrBelow(p, r) {
			return r
		}
	}
	return ""
}

// madeAbove reports whether the run made a folder above p that is no part of a repository.
func (l *ladder) madeAbove(p string) bool {
	return slices.ContainsFunc(l.facts, func(f *fact) bool {
		return f.made && f.dir && below(p, f.object) && !strings.Contains(f.object+"/", "/.git/")
	})
}
