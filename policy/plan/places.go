package plan

import (
	"cmp"
	"slices"
	"strings"

	"psb/namespaces"
	"psb/policy"
)

// Place is one path inside the box and what may be done there.
type Place struct {
	Path     string         // inside
	Source   Object         // host object shown there; Kind Absent: none
	Made     *namespaces.Op // what psb makes there itself; nil for host objects and bare folders
	Rights   Rights
	Link     string // the text of a symbolic link; then nothing else matters
	Hidden   bool   // masked whatever else is granted
	Guarded  bool   // protected: visible as its grant says, never writable
	Overlay  bool   // what is written there goes to a throw-away overlay
	SelfBind bool   // a mount of its own though the folder above shows it the same: it cannot be renamed away
	Origins  []policy.Origin
	Why      string // for explain, where no rule says it
}

// kept: lines speak of the place and none lets what stands there be changed, whatever a line above it says.
func (p *Place) kept() bool {
	return p.Made == nil && p.Source.Kind != Absent && !isAlways(p) && p.Rights&(Read|Exec|Create) != 0 && p.Rights&(Write|UseDevice) == 0
}

// places collects by path inside.
type places map[string]*Place

func (ps places) at(p string) *Place {
	if ps[p] == nil {
		ps[p] = &Place{Path: p}
	}
	return ps[p]
}

// sorted gives parents before what they hold.
func (ps places) sorted() []*Place {
	out := make([]*Place, 0, len(ps))
	for _, p := range ps {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Place) int { return comparePaths(a.Path, b.Path) })
	return out
}

// comparePaths orders by path elements, so that "/a/b" directly follows "/a" and never "/a-x": "/" sorts before whatever a name may hold.
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

// belowHidden takes out what lies in a hidden folder, which nothing can be shown in.
func (ps places) belowHidden() {
	hidden := ""
	for _, p := range ps.sorted() {
		switch {
		case hidden != "" && below(p.Path, hidden):
			if p.Made == nil {
				delete(ps, p.Path)
			}
		case p.Hidden && p.Source.Kind == Dir:
			hidden = p.Path
		}
	}
}

// below reports whether p lies under dir, not at it.
func below(p, dir string) bool {
	if dir == "/" {
		return p != "/" && strings.HasPrefix(p, "/")
	}
	return len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// atOrBelow reports whether p is dir or lies under it.
func atOrBelow(p, dir string) bool { return p == dir || below(p, dir) }

// show grants rights on a resolved host object at its own path and makes the links that led there appear, too.
func (ps places) show(o Object, rights Rights, origin policy.Origin, why string) {
	for _, l := range o.Links {
		ps.at(l.At).Link = l.Text
	}
	p := ps.at(o.Path)
	p.Source, p.Rights = o, p.Rights|rights
	if why != "" && p.Why == "" {
		p.Why = why
	}
	if !slices.Contains(p.Origins, origin) {
		p.Origins = append(p.Origins, origin)
	}
}
