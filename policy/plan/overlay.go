package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"psb/policy"
)

// Mount is one line of the caller's mount table.
type Mount struct {
	Path     string // where it is mounted; a later one at the same path covers an earlier one
	ReadOnly bool   // by the mount or by its file system
}

// Bounds of an audit's overlays.
const (
	overlayBytes = 1 << 30 // of all changes together; `[limits] disk` says another
	mostOverlays = 200     // each is a mount and three folders
)

func overlaySize(l map[string]policy.Limit) uint64 {
	if disk, ok := l["disk"]; ok && disk.Bytes != 0 {
		return disk.Bytes
	}
	return overlayBytes
}

// trusted: the box's mounts are made by real root, in the host's user namespace. Overlays then may keep their marks where no program can set
// them, and a folder that holds other mounts can be a layer: elsewhere the kernel locks the two together.
func (c *compiler) trusted() bool { return c.host.Root && c.host.PlainNS && !c.host.Nested }

// protectedOnly names what a learning run would protect, and leaves the places as they are: an audit lets the program have its way with it, in
// an overlay, and tells.
func (c *compiler) protectedOnly() []string {
	kept, gaps := c.places, c.gaps
	c.places = places{}
	for at, p := range kept {
		copied := *p
		c.places[at] = &copied
	}
	c.protect()
	var out []string
	for _, p := range c.places.sorted() {
		if p.Guarded {
			out = append(out, p.Source.Path)
		}
	}
	for _, n := range c.protected() {
		out = append(out, n.Path)
	}
	c.places, c.gaps = kept, gaps
	slices.Sort(out)
	return slices.Compact(out)
}

// overlay lets the program write everywhere, into overlays: one for each mount and top-level folder, and one for each folder it is to work in
// where the change could not be kept otherwise, as an owner on the way has no name in the box.
func (c *compiler) overlay(r Request) {
	o := &overlays{c: c, mounts: map[string]Mount{}, readOnly: map[string]string{}}
	for _, m := range c.host.Mounts {
		o.mounts[m.Path] = m
	}
	shown := c.places.sorted()
	for _, p := range shown {
		if p.Source.Kind == Dir && p.Made == nil && !p.Hidden && p.Link == "" && path.Dir(p.Path) == "/" {
			o.tree(p.Path)
		}
	}
	work := slices.Concat(Homes(r.Macros), []string{r.Host.Identity.Home, r.Macros.Project, r.Command.Dir, r.Macros.Cache, "/var/tmp"})
	for _, d := range slices.Concat(work, r.Command.Given) {
		if at := c.look.Resolve(d); d != "" && at.Kind == Dir && at.Path != "/" && !c.owned(at.Path) && !c.hidden(at.Path) && !c.private(at.Path) {
			o.tree(at.Path)
		}
	}
	for _, d := range r.Command.Given {
		if at := c.look.Resolve(d); at.Kind == File && c.overlayOf(at.Path) == nil && below(at.Path, "/tmp") {
			o.leave(at.Path, "it is a single file of a private space")
		}
	}
	for _, p := range shown { // what learning shows by itself, the overlay around it shows, too
		if over := c.overlayOf(p.Path); over != nil && over != p && p.Made == nil && !p.Hidden && p.Link == "" && !p.Overlay && o.mounts[p.Path].Path == "" {
			delete(c.places, p.Path)
		}
	}
	o.tell()
}

// private reports a path that is, or holds, a space of the box's own.
func (c *compiler) private(at string) bool {
	for _, space := range []string{"/tmp", "/run", "/dev", "/proc", "/sys"} {
		if atOrBelow(space, at) || space != "/tmp" && below(at, space) {
			return true
		}
	}
	return false
}

// overlayOf is the place whose overlay a path lies in, nil for none.
func (c *compiler) overlayOf(at string) *Place {
	for d := at; d != "/"; d = path.Dir(d) {
		if p := c.places[d]; p != nil && p.Overlay {
			return p
		}
	}
	return nil
}

// hidden reports a path at or below something hidden.
func (c *compiler) hidden(at string) bool {
	for d := at; d != "/"; d = path.Dir(d) {
		if p := c.places[d]; p != nil && p.Hidden {
			return true
		}
	}
	return false
}

// owned reports whether a change below dir can be kept by the overlay that holds it: each folder from there to dir is made anew in its upper
// layer, with its owner, who must be the one whom the box knows.
func (c *compiler) owned(dir string) bool {
	over := c.overlayOf(dir)
	if over == nil {
		return false
	}
	uid, gid := c.host.Identity.UID, c.host.Identity.GID
	if c.host.Root {
		uid, gid = over.Source.UID, over.Source.GID
	}
	for d := dir; d != over.Path; d = path.Dir(d) {
		if o := c.look.Resolve(d); o.UID != uid || o.GID != gid {
			return false
		}
	}
	return true
}

// overlays is the state of laying them out.
type overlays struct {
	c        *compiler
	mounts   map[string]Mount
	count    int
	readOnly map[string]string // folders left read-only, with the reason
}

const whole = Read | Write | Exec | List

// tree overlays a folder, and each mount below it of its own.
func (o *overlays) tree(dir string) {
	var inner []string
	for at := range o.mounts {
		if below(at, dir) {
			inner = append(inner, at)
		}
	}
	slices.SortFunc(inner, comparePaths)
	if len(inner) > 0 && !o.c.trusted() {
		o.around(dir, inner)
		return
	}
	o.one(dir)
	for _, at := range inner {
		o.one(at)
	}
}

// around leaves a folder with mounts in it as it is, which the kernel does not let be a layer, and overlays what stands in it.
func (o *overlays) around(dir string, inner []string) {
	if o.c.hidden(dir) {
		return
	}
	o.plain(dir)
	o.leave(dir, "it holds other mounts")
	entries, err := o.c.look.Entries(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		there := o.c.look.Resolve(at)
		holds := slices.ContainsFunc(inner, func(m string) bool { return atOrBelow(m, at) })
		if e.Kind == Dir && (holds || o.c.mayChange(there)) { // others the program could not change anyway
			o.tree(at)
		}
	}
}

// one overlays a single folder.
func (o *overlays) one(dir string) {
	at := o.c.look.Resolve(dir)
	if p := o.c.places[dir]; at.Kind == Absent || at.Path != dir || o.c.hidden(dir) || p != nil && p.Made != nil {
		return
	}
	why := o.c.host.NoOverlay[dir]
	switch {
	case at.Kind == Other || at.Kind == Device:
		return
	case at.Kind == File: // mounted there for itself, as containers do
		why = "it is a mount of a single file"
	case o.mountOf(dir).ReadOnly:
		o.plain(dir) // as on the host
		return
	case why == "" && o.c.trusted() && !o.c.look.IDMap(dir):
		why = "its file system knows no id-mapped mounts, by which root's own files could be shown to an unprivileged id"
	case why == "" && o.count >= mostOverlays:
		why = fmt.Sprintf("there are more than %d mounts", mostOverlays)
	}
	o.plain(dir)
	if why != "" {
		o.leave(dir, why)
		return
	}
	o.count++
	p := o.c.places.at(dir)
	p.Overlay, p.Why = true, "changes are thrown away"
	p.Rights |= whole
}

// mountOf is the mount that holds a folder.
func (o *overlays) mountOf(dir string) Mount {
	for d := dir; d != "/"; d = path.Dir(d) {
		if m, there := o.mounts[d]; there {
			return m
		}
	}
	return o.mounts["/"]
}

// plain shows a folder or file as it is, read-only.
func (o *overlays) plain(dir string) {
	at := o.c.look.Resolve(dir)
	if at.Path != dir || at.Kind != Dir && at.Kind != File || o.c.hidden(dir) {
		return
	}
	o.c.places.show(at, Read|Exec|List, policy.Origin{From: "audit"}, "")
	p := o.c.places[dir]
	p.Rights, p.Why = p.Rights&^Write, "as it is, read-only"
}

// leave remembers why a folder is read-only, where the program could have written to it.
func (o *overlays) leave(dir, why string) {
	if at := o.c.look.Resolve(dir); o.c.host.Root || o.c.mayChange(at) {
		o.readOnly[dir] = why
	}
}

// mayChange: an ordinary caller may have a right to write there, as far as owner and mode say.
func (c *compiler) mayChange(o Object) bool { return o.UID == c.host.Identity.UID || o.Mode&0o022 != 0 }

// tell makes gaps of what could not be done.
func (o *overlays) tell() {
	for _, at := range slices.Sorted(maps.Keys(o.readOnly)) {
		o.c.gaps = addGap(o.c.gaps, Gap{Name: "overlay", Lost: fmt.Sprintf("%q is read-only: %s", at, o.readOnly[at]), Needs: "a folder that overlayfs takes as its lower layer", Soft: true})
	}
	if o.count == 0 {
		o.c.gaps = addGap(o.c.gaps, Gap{Name: "audit", Lost: "no folder can be overlaid, so nothing can be written", Needs: "Linux 5.11 and overlayfs that may be mounted in a user namespace"})
	}
}
