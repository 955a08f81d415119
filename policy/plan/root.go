package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"psb/namespaces"
)

// Folders of psb's own inside the box, read-only and without names of the host.
const (
	OwnDir     = "/run/psb"
	PackageDir = OwnDir + "/python" // the Python package psb, see Request.Package
	maskFile   = OwnDir + "/hidden-file"
	maskDir    = OwnDir + "/hidden-folder"
)

// mostMasks bounds the present entries of `create` folders that are covered one by one: each is a mount, and the kernel allows
// 100 000 a namespace (sysctl fs.mount-max).
const mostMasks = 20_000

// cover is the nearest folder above a place that is shown from the host.
type cover struct {
	path   string
	rights Rights
}

// rootBuilder turns places into acts, parents first.
type rootBuilder struct {
	ps    places
	look  Look
	idmap func(*Place) (uid, gid uint32, on bool)
	ops   []namespaces.Op
	above map[string]bool // every folder some place lies below
	seal  []string        // folders of psb's own inside shown ones, made read-only at the end
	masks int
	gaps  []Gap
}

// build emits the acts for every place in order.
func (b *rootBuilder) build() {
	b.above = map[string]bool{}
	for q := range b.ps {
		for d := q; d != "/" && !b.above[path.Dir(d)]; {
			d = path.Dir(d)
			b.above[d] = true
		}
	}
	var covers []cover
	sorted := b.ps.sorted()
	for _, p := range sorted { // what masks and overlays are made of comes first
		if atOrBelow(p.Path, OwnDir) {
			b.place(p, nil)
		}
	}
	for _, p := range sorted {
		if atOrBelow(p.Path, OwnDir) {
			continue
		}
		for len(covers) > 0 && !below(p.Path, covers[len(covers)-1].path) {
			covers = covers[:len(covers)-1]
		}
		var over *cover
		if len(covers) > 0 {
			over = seenThrough(covers[len(covers)-1], p.Path)
		}
		if len(covers) == 0 { // else a folder of the host that is shown has it
			b.apart(p)
		}
		if shown := b.place(p, over); shown != nil {
			covers = append(covers, *shown)
		}
	}
	for _, at := range b.seal {
		b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpReadOnly, Target: at})
	}
}

// apart keeps folders of the host that stand in a private space (a project below /tmp) from being scratch: what a program wrote beside its
// grants would be lost without a word. The topmost of them becomes a file system of its own, read-only in the end.
func (b *rootBuilder) apart(p *Place) {
	for _, space := range []string{"/tmp", "/dev/shm"} {
		if !below(p.Path, space) || p.Made != nil {
			continue
		}
		name, _, deeper := strings.Cut(p.Path[len(space)+1:], "/")
		top := path.Join(space, name)
		shown := p.Source.Kind == Dir && p.Rights&(Read|Write|Create) != 0
		if slices.Contains(b.seal, top) || !deeper && (p.Source.Kind != Dir || shown) {
			continue
		}
		b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpTmpfs, Target: top, Mode: 0o755, Size: 16 << 20})
		b.seal = append(b.seal, top)
	}
}

// seenThrough is what a cover means for a place deep below it: `create` speaks of the folder's own names only, what stands in it
// was covered (or, where the folder may be read, made read-only) by keepPresent.
func seenThrough(c cover, p string) *cover {
	if c.rights.Has(Create) && !c.rights.Has(Write) && path.Dir(p) != c.path {
		if !c.rights.Has(Read) {
			return nil
		}
		c.rights = Read
	}
	return &c
}

// place emits one place's acts; the result is what the places below it lie in, nil when that is unchanged.
func (b *rootBuilder) place(p *Place, over *cover) *cover {
	switch {
	case p.Made != nil:
		b.ops = append(b.ops, *p.Made)
		return nil
	case p.Link != "":
		if over == nil { // inside a shown folder the host's own link is there already
			b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpSymlink, Source: p.Link, Target: p.Path})
		}
		return nil
	case p.Hidden:
		if over != nil || p.Source.Kind != Absent {
			b.mask(p.Path, p.Source.Kind)
		}
		return nil
	case p.Source.Kind == Absent:
		return nil // explain shows it as absent
	case p.Source.Kind == Device:
		b.bind(p, false, true)
		return nil
	case p.Source.Kind == Dir:
		return b.folder(p, over)
	}
	b.file(p, over)
	return nil
}

// file emits a file's mount where what lies over it does not already show it with the same rights. A file that may be written in a
// folder with `create` or `write` gets no mount of its own: a mount point cannot be replaced or removed.
func (b *rootBuilder) file(p *Place, over *cover) {
	write := p.Rights.Has(Write) && !p.Guarded
	if p.Why == byCommandLine && isAlways(p) && !p.Guarded && over != nil && over.rights.Has(Write) {
		return
	}
	switch {
	case over == nil:
	case write && over.rights&(Write|Create) != 0:
		return
	case !write && over.rights&(Write|Create) == 0 && over.rights.Has(Read):
		return
	}
	b.bind(p, !write, false)
}

// folder emits a folder's mount and says what now lies over the places below it.
func (b *rootBuilder) folder(p *Place, over *cover) *cover {
	rights := p.Rights
	if p.Overlay {
		b.bind(p, false, false)
		b.ops[len(b.ops)-1].Kind, b.ops[len(b.ops)-1].Recursive = namespaces.OpOverlay, false
		return &cover{p.Path, rights}
	}
	if p.Rights.Has(UseDevice) {
		b.bind(p, false, true)
		return &cover{p.Path, rights}
	}
	if p.Guarded {
		if over == nil && rights == 0 {
			return nil
		}
		rights &^= Write | Create
		b.bind(p, true, false)
		return &cover{p.Path, rights | Read}
	}
	// What was present in a `create` folder must not be reached through the folder's own mount, which is writable.
	present := over != nil && over.rights.Has(Create) && !over.rights.Has(Write)
	inherited := Rights(0)
	if over != nil {
		inherited = over.rights & (Read | Write)
	}
	switch {
	case rights.Has(Write):
		if inherited.Has(Write) && !p.SelfBind {
			return nil
		}
		b.bind(p, false, false)
		return &cover{p.Path, rights}
	case rights.Has(Create):
		b.bind(p, false, false)
		b.keepPresent(p, rights.Has(Read) || inherited.Has(Read))
		return &cover{p.Path, rights | inherited&Read}
	case rights.Has(Read):
		if inherited.Has(Write) {
			b.bind(p, true, false)
			return &cover{p.Path, rights}
		}
		if inherited.Has(Read) && !present {
			return nil
		}
		b.bind(p, true, false)
		return &cover{p.Path, rights}
	case present && inherited.Has(Read):
		b.bind(p, true, false)
		return &cover{p.Path, rights | Read}
	case present:
		b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpTmpfs, Target: p.Path, Mode: 0o755, Size: 16 << 20})
		b.seal = append(b.seal, p.Path)
	case over != nil:
		return nil // list inside a shown folder: Landlock alone decides
	default:
		b.ops = append(b.ops, b.own(p))
	}
	if rights.Has(List) {
		b.names(p)
	}
	return nil
}

// own is a folder of psb's that stands for one of the host's, with its time: font caches compare when a folder changed.
func (b *rootBuilder) own(p *Place) namespaces.Op {
	return namespaces.Op{Kind: namespaces.OpDir, Target: p.Path, Mode: 0o755, Modified: p.Source.Modified}
}

// names makes a folder of psb's own that holds the names of the host's, each an object that cannot be opened: `list` grants
// names, not what stands behind them, and Landlock knows no right on one folder without those below it.
func (b *rootBuilder) names(p *Place) {
	entries, err := b.look.Entries(p.Source.Path)
	if err != nil {
		return // what psb cannot list the program could not either
	}
	for _, e := range entries {
		at := path.Join(p.Path, e.Name)
		if b.ps[at] != nil || b.above[at] {
			continue
		}
		op := namespaces.Op{Kind: namespaces.OpFile, Target: at}
		switch {
		case e.Link != "":
			op.Kind, op.Source = namespaces.OpSymlink, e.Link
		case e.Kind == Dir:
			op.Kind = namespaces.OpDir
		}
		b.ops = append(b.ops, op)
	}
}

// keepPresent covers what stands in a `create` folder without a rule of its own, so that it can be neither changed, removed nor
// renamed, and read only where the folder may be.
func (b *rootBuilder) keepPresent(p *Place, readable bool) {
	entries, err := b.look.Entries(p.Source.Path)
	if err != nil {
		b.gaps = addGap(b.gaps, Gap{Name: "create", Lost: fmt.Sprintf("what stands in %q cannot be protected: %v", p.Path, err), Needs: "a folder psb may list"})
		return
	}
	for _, e := range entries {
		at := path.Join(p.Path, e.Name)
		own, inner := b.ps[at], b.above[at]
		if own != nil || e.Link != "" {
			continue
		}
		if b.masks++; b.masks > mostMasks {
			b.gaps = addGap(b.gaps, Gap{Name: "create", Lost: fmt.Sprintf("%q holds more than %d entries, too many to protect one by one", p.Path, mostMasks),
				Needs: "a folder of its own for what the program makes"})
			return
		}
		switch {
		case inner && !readable:
			// something below it is granted: an empty folder that the grants fill
			b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpTmpfs, Target: at, Mode: 0o755, Size: 1 << 20})
			b.seal = append(b.seal, at)
		case readable:
			b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpBindIn, Source: at, Target: at, ReadOnly: true, Recursive: true})
		default:
			b.mask(at, e.Kind)
		}
	}
}

// mask puts an object without any permission over a path.
func (b *rootBuilder) mask(at string, kind Kind) {
	from := maskFile
	if kind == Dir {
		from = maskDir
	}
	b.ops = append(b.ops, namespaces.Op{Kind: namespaces.OpBindIn, Source: from, Target: at, ReadOnly: true})
}

func (b *rootBuilder) bind(p *Place, readOnly, dev bool) {
	op := namespaces.Op{Kind: namespaces.OpBind, Source: p.Source.Path, Target: p.Path, ReadOnly: readOnly, Dev: dev,
		Recursive: p.Source.Kind == Dir, SourceDev: p.Source.Dev, SourceIno: p.Source.Ino}
	if uid, gid, on := b.idmap(p); on {
		op.IDMap, op.IDMapUID, op.IDMapGID = true, uid, gid
	}
	b.ops = append(b.ops, op)
}
