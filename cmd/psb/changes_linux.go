// Does to the process: walks the folder that a box's overlays wrote to, and looks at what the host has in its place; reads files of both.
// Undone: nothing to undo; folders in the throw-away layers that their owner may not enter get a mode that lets psb in.
// Preconditions: the box is gone, so that nothing of it changes any more. Nothing in those layers is followed, whatever it is called.
// Called by: audit.go.
// Proved by: TestAudit, TestLookAtChanges.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/policy/plan"
)

// Bounds of the look.
const (
	mostChanges  = 200_000
	mostDepth    = 100      // of folders within folders
	mostHeld     = 10_000   // objects counted in a folder that was removed
	mostCompared = 16 << 20 // bytes of a file that is compared with the host's
)

// layers is the state of a look at what overlays hold.
type layers struct {
	j      *job
	top    int
	out    []change
	places map[string]string // of created files: where they stand below top
	missed []string
}

// lookAtChanges tells what the overlays hold: what the program would have changed, as the kernel kept it.
func (j *job) lookAtChanges(upper *os.File) (list []change, missed []string) {
	l := &layers{j: j, top: int(upper.Fd()), places: map[string]string{}}
	for i, at := range j.plan.Overlaid {
		l.folder(fmt.Sprintf("%d/upper", i), at, at, 0)
	}
	l.renames()
	for i := range l.out {
		l.out[i].Risk = j.riskOf(l.out[i])
	}
	sortChanges(l.out)
	return l.out, append([]string{}, l.missed...)
}

// open opens a name in the layers, which may be anything, and follows nothing.
func (l *layers) open(name string, flags uint64) (int, error) {
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK | unix.O_NOCTTY
	}
	return unix.Openat2(l.top, name, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// enter opens a folder of the layers. Its owner may have closed it even to itself.
func (l *layers) enter(name string) (*os.File, error) {
	fd, err := l.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.EACCES) {
		if by, perr := l.open(name, unix.O_PATH|unix.O_DIRECTORY); perr == nil {
			_ = unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", by), 0o700)
			unix.Close(by)
			fd, err = l.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// folder walks one folder of a layer. at is its path for the program, host the folder of the host whose content shows through, "" for none.
func (l *layers) folder(name, at, host string, depth int) {
	f, err := l.enter(name)
	if err != nil || depth > mostDepth {
		l.miss(at, err)
		return
	}
	defer f.Close()
	entries, err := f.Readdirnames(-1)
	if err != nil {
		l.miss(at, err)
	}
	slices.Sort(entries)
	for _, e := range entries {
		if len(l.out) >= mostChanges {
			l.miss(at, errors.New("too many changes"))
			return
		}
		var st unix.Stat_t
		if err := unix.Fstatat(int(f.Fd()), e, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			l.miss(path.Join(at, e), err)
			continue
		}
		below := ""
		if host != "" {
			below = path.Join(host, e)
		}
		l.entry(entry{name + "/" + e, path.Join(at, e), below, st, depth})
	}
}

func (l *layers) miss(at string, err error) {
	if len(l.missed) < mostLines {
		why := "too deep"
		if err != nil {
			why = err.Error()
		}
		l.missed = append(l.missed, at+": "+why)
	}
}

// entry is one name of a layer.
type entry struct {
	name, at, host string
	st             unix.Stat_t
	depth          int
}

func (l *layers) entry(e entry) {
	old, there := hostObject(e.host)
	c := change{Kind: kindWord(e.st.Mode), Path: e.at, Before: -1, After: -1}
	switch {
	case e.st.Mode&unix.S_IFMT == unix.S_IFCHR && e.st.Rdev == 0: // the mark of something removed
		if there {
			l.removed(e.at, e.host, old)
		}
		return
	case c.Kind == "folder":
		l.subfolder(e, c, old, there)
		return
	}
	c.After = sizeOf(e.st)
	if c.Kind == "link" {
		c.Link = l.link(e)
	}
	switch {
	case there && old.Mode&unix.S_IFMT == e.st.Mode&unix.S_IFMT:
		c.Before = sizeOf(old)
		if c.How = l.compared(e, c, old); c.How == "chmod" {
			c.Mode = fmt.Sprintf("%#o, then %#o", old.Mode&0o7777, e.st.Mode&0o7777)
		}
	case there:
		c.How, c.Before = "change", sizeOf(old)
	default:
		c.How = "create"
		l.places[c.Path] = e.name
	}
	if c.How != "" {
		l.out = append(l.out, c)
	}
}

// compared says what became of an object of the same kind; "" when it was only opened for writing.
func (l *layers) compared(e entry, c change, old unix.Stat_t) string {
	same := c.Before == c.After
	switch {
	case c.Kind == "link":
		if text, err := os.Readlink(e.host); err == nil && text == c.Link {
			return ""
		}
		return "change"
	case c.Kind != "file":
		return ""
	case !same || e.st.Mtim != old.Mtim && !l.equal(e.name, e.host, c.After):
		return "change"
	case e.st.Mode != old.Mode:
		return "chmod"
	case e.st.Mtim != old.Mtim:
		return "touch"
	}
	return ""
}

// subfolder: one that the host has is walked for what is in it; one that it has not was made, or renamed.
func (l *layers) subfolder(e entry, c change, old unix.Stat_t, there bool) {
	wasFolder := there && old.Mode&unix.S_IFMT == unix.S_IFDIR
	opaque, redirect := l.marks(e.name)
	host := ""
	switch {
	case redirect != "":
		c.How, c.From = "rename", l.redirected(e, redirect)
		host = c.From
	case wasFolder && opaque:
		c.How, host = "replace", e.host
		l.leftOut(e)
	case wasFolder:
		host = e.host
		if old.Mode&0o7777 != e.st.Mode&0o7777 {
			c.How, c.Mode = "chmod", fmt.Sprintf("%#o, then %#o", old.Mode&0o7777, e.st.Mode&0o7777)
		}
	case there:
		c.How = "change"
	default:
		c.How = "create"
	}
	if c.How != "" {
		l.out = append(l.out, c)
	}
	l.folder(e.name, e.at, host, e.depth+1)
}

// removed tells of something of the host that is gone for the program.
func (l *layers) removed(at, host string, old unix.Stat_t) {
	c := change{How: "delete", Kind: kindWord(old.Mode), Path: at, Before: sizeOf(old), After: -1}
	if c.Kind == "folder" {
		l.j.look.Walk(host, mostHeld, func(string, plan.Kind) bool { c.Held++; return true })
	}
	l.out = append(l.out, c)
}

// leftOut tells what a folder had in it that the one made in its place has not.
func (l *layers) leftOut(e entry) {
	was, err := os.ReadDir(e.host)
	if err != nil {
		l.miss(e.at, err)
	}
	for _, w := range was {
		var st unix.Stat_t
		if err := unix.Fstatat(l.top, e.name+"/"+w.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
			continue // changed
		}
		host := path.Join(e.host, w.Name())
		if old, there := hostObject(host); there {
			l.removed(path.Join(e.at, w.Name()), host, old)
		}
	}
}

// marks reads what the kernel wrote on a folder of a layer: whether it hides what the host has there, and where its content comes from. A program
// cannot set either: the overlay keeps these names to itself.
func (l *layers) marks(name string) (opaque bool, redirect string) {
	fd, err := l.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false, ""
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	space := "trusted."
	if slices.ContainsFunc(l.j.plan.Spec.Ops, func(o namespaces.Op) bool { return o.UserXattr }) {
		space = "user."
	}
	n, err := unix.Fgetxattr(fd, space+"overlay.opaque", buf)
	opaque = err == nil && n == 1 && buf[0] == 'y'
	if n, err = unix.Fgetxattr(fd, space+"overlay.redirect", buf); err == nil {
		redirect = string(buf[:n])
	}
	return opaque, redirect
}

// redirected gives the folder of the host that a renamed one was.
func (l *layers) redirected(e entry, to string) string {
	if path.IsAbs(to) {
		number, _, _ := strings.Cut(e.name, "/")
		for i, at := range l.j.plan.Overlaid {
			if number == fmt.Sprint(i) {
				return path.Join(at, to)
			}
		}
	}
	return path.Join(path.Dir(e.host), to)
}

// hostObject looks at what the host has, itself: the folders on the way were seen to be folders.
func hostObject(p string) (st unix.Stat_t, there bool) {
	if p == "" || unix.Lstat(p, &st) != nil {
		return unix.Stat_t{}, false
	}
	return st, true
}

func sizeOf(st unix.Stat_t) int64 {
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		return st.Size
	}
	return -1
}

func kindWord(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "file"
	case unix.S_IFDIR:
		return "folder"
	case unix.S_IFLNK:
		return "link"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	}
	return "other"
}

func (l *layers) link(e entry) string {
	fd, err := l.open(e.name, unix.O_PATH)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// equal compares a file of a layer with one of the host's, of the same size.
func (l *layers) equal(name, host string, size int64) bool {
	if size > mostCompared {
		return false
	}
	fd, err := l.open(name, unix.O_RDONLY)
	if err != nil {
		return false
	}
	a := os.NewFile(uintptr(fd), name)
	defer a.Close()
	b, err := os.OpenFile(host, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer b.Close()
	if fi, err := b.Stat(); err != nil || !fi.Mode().IsRegular() {
		return false
	}
	x, err1 := io.ReadAll(io.LimitReader(a, mostCompared+1))
	y, err2 := io.ReadAll(io.LimitReader(b, mostCompared+1))
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// renames joins a removed file and a new one of the same bytes and time: that is what a rename leaves. A renamed folder the kernel tells itself.
func (l *layers) renames() {
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
			if l.sameFile(l.places[n.Path], c.Path, c.Before) {
				n.How, n.From, n.Before = "rename", c.Path, c.Before
				moved[c.Path] = true
				made[c.Before] = slices.Delete(made[c.Before], k, k+1)
				break
			}
		}
	}
	l.out = slices.DeleteFunc(l.out, func(c change) bool { return c.How == "delete" && moved[c.Path] })
}

func (l *layers) sameFile(name, host string, size int64) bool {
	var st, old unix.Stat_t
	if unix.Fstatat(l.top, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || unix.Lstat(host, &old) != nil {
		return false
	}
	return st.Mtim == old.Mtim && l.equal(name, host, size)
}
