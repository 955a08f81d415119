package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"psb/namespaces"
	"psb/policy/plan"
)

// Bounds of a look at what overlays hold.
const (
	mostChanges = 200_000
	mostDepth   = 100    // of folders within folders
	mostHeld    = 10_000 // objects counted in a folder that was removed
)

// node is what an object is.
type node struct {
	kind string // file folder link fifo socket device, or removedMark
	mode uint32 // permission bits
	size int64  // of a file, else -1
	time int64  // of its change, in nanoseconds since 1970
}

// removedMark is the kind of what the kernel puts in a layer for a name that was removed.
const removedMark = "removed"

// comparison is the state of a look: a layer's folders are walked, and what the host has in their place is looked up.
type comparison struct {
	layers
	plan   *plan.Plan
	look   *hostLook
	out    []change
	names  map[string]string // of created files: where they stand in the layers
	missed []string
}

// lookAtChanges tells what the overlays hold: what the program would have changed, as the kernel kept it.
func (j *job) lookAtChanges(upper *os.File) (list []change, missed []string) {
	l := &comparison{layers: layers{int(upper.Fd()), "trusted."}, plan: j.plan, look: newLook(newSightings()), names: map[string]string{}, missed: []string{}}
	if slices.ContainsFunc(j.plan.Spec.Ops, func(o namespaces.Op) bool { return o.UserXattr }) {
		l.space = "user."
	}
	for i, at := range j.plan.Overlaid {
		l.folder(entry{name: fmt.Sprintf("%d/upper", i), at: at, host: at})
	}
	l.renames()
	for i := range l.out {
		l.out[i].Risk = j.riskOf(l.out[i])
	}
	sortChanges(l.out)
	return l.out, l.missed
}

// entry is one name of a layer.
type entry struct {
	name  string // in the layers
	at    string // for the program
	host  string // what of the host shows through there, "" for nothing
	depth int
}

func (e entry) below(name string) entry {
	b := entry{name: e.name + "/" + name, at: path.Join(e.at, name), depth: e.depth + 1}
	if e.host != "" {
		b.host = path.Join(e.host, name)
	}
	return b
}

// folder walks one folder of a layer.
func (l *comparison) folder(e entry) {
	if e.depth > mostDepth {
		l.miss(e.at, errors.New("too deep"))
		return
	}
	list, err := l.layers.names(e.name)
	if err != nil {
		l.miss(e.at, err)
	}
	for _, n := range list {
		if len(l.out) >= mostChanges {
			l.miss(e.at, errors.New("too many changes"))
			return
		}
		below := e.below(n)
		now, err := l.stat(below.name)
		if err != nil {
			l.miss(below.at, err)
			continue
		}
		l.entry(below, now)
	}
}

func (l *comparison) miss(at string, err error) {
	if len(l.missed) < mostLines {
		l.missed = append(l.missed, at+": "+err.Error())
	}
}

func (l *comparison) entry(e entry, now node) {
	old, there := hostNode(e.host)
	switch {
	case now.kind == removedMark:
		if there {
			l.removed(e, old)
		}
		return
	case now.kind == "folder":
		l.subfolder(e, now, old, there)
		return
	}
	c := change{Kind: now.kind, Path: e.at, Before: -1, After: now.size}
	if c.Kind == "link" {
		c.Link = l.text(e.name)
	}
	switch {
	case there && old.kind == now.kind:
		c.Before = old.size
		if c.How = l.compared(e, c, now, old); c.How == "chmod" {
			c.Mode = modes(old, now)
		}
	case there:
		c.How, c.Before = "change", old.size
	default:
		c.How = "create"
		l.names[c.Path] = e.name
	}
	if c.How != "" {
		l.out = append(l.out, c)
	}
}

func modes(old, now node) string { return fmt.Sprintf("%#o, then %#o", old.mode, now.mode) }

// compared says what became of an object of the same kind; "" when it was only opened for writing.
func (l *comparison) compared(e entry, c change, now, old node) string {
	switch {
	case c.Kind == "link":
		if text, err := os.Readlink(e.host); err == nil && text == c.Link {
			return ""
		}
		return "change"
	case c.Kind != "file":
		return ""
	case now.size != old.size || now.time != old.time && !l.equal(e.name, e.host, now.size):
		return "change"
	case now.mode != old.mode:
		return "chmod"
	case now.time != old.time:
		return "touch"
	}
	return ""
}

// subfolder: one that the host has is walked for what is in it; one that it has not was made, or renamed.
func (l *comparison) subfolder(e entry, now, old node, there bool) {
	c := change{Kind: "folder", Path: e.at, Before: -1, After: -1}
	wasFolder := there && old.kind == "folder"
	opaque, redirect := l.marks(e.name)
	switch {
	case redirect != "":
		c.How, c.From = "rename", l.redirected(e, redirect)
		e.host = c.From
	case wasFolder && opaque:
		c.How = "replace"
		l.leftOut(e)
	case wasFolder && old.mode != now.mode:
		c.How, c.Mode = "chmod", modes(old, now)
	case wasFolder:
	case there:
		c.How, e.host = "change", ""
	default:
		c.How, e.host = "create", ""
	}
	if c.How != "" {
		l.out = append(l.out, c)
	}
	l.folder(e)
}

// removed tells of something of the host that is gone for the program.
func (l *comparison) removed(e entry, old node) {
	c := change{How: "delete", Kind: old.kind, Path: e.at, Before: old.size, After: -1}
	if c.Kind == "folder" {
		l.look.Walk(e.host, mostHeld, func(string, plan.Kind) bool { c.Held++; return true })
	}
	l.out = append(l.out, c)
}

// leftOut tells what a folder had in it that the one made in its place has not.
func (l *comparison) leftOut(e entry) {
	was, err := os.ReadDir(e.host)
	if err != nil {
		l.miss(e.at, err)
	}
	for _, w := range was {
		b := e.below(w.Name())
		if _, err := l.stat(b.name); err == nil {
			continue // changed
		}
		if old, there := hostNode(b.host); there {
			l.removed(b, old)
		}
	}
}

// redirected gives the folder of the host that a renamed one was.
func (l *comparison) redirected(e entry, to string) string {
	if !path.IsAbs(to) {
		return path.Join(path.Dir(e.host), to)
	}
	number, _, _ := strings.Cut(e.name, "/")
	for i, at := range l.plan.Overlaid {
		if number == fmt.Sprint(i) {
			return path.Join(at, to)
		}
	}
	return to
}

// renames joins a removed file and a new one of the same bytes and time: that is what a rename leaves. Of a renamed folder the kernel tells itself.
func (l *comparison) renames() {
	moved := map[string]bool{}
	made := map[int64][]int{}
	for i, c := range l.out {
		if c.How == "rename" {
			moved[c.From] = true
		}
		if c.How == "create" && c.Kind == "file" && c.After > 0 {
			made[c.After] = append(made[c.After], i)
		}
	}
	for i := range l.out {
		c := &l.out[i]
		if c.How != "delete" || c.Kind != "file" {
			continue
		}
		for k, to := range made[c.Before] {
			n := &l.out[to]
			if l.moved(l.names[n.Path], c.Path, c.Before) {
				n.How, n.From, n.Before = "rename", c.Path, c.Before
				moved[c.Path] = true
				made[c.Before] = slices.Delete(made[c.Before], k, k+1)
				break
			}
		}
	}
	l.out = slices.DeleteFunc(l.out, func(c change) bool { return c.How == "delete" && moved[c.Path] })
}

func (l *comparison) moved(name, host string, size int64) bool {
	now, err := l.stat(name)
	old, there := hostNode(host)
	return err == nil && there && now.time == old.time && l.equal(name, host, size)
}
