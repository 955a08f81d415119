// Does to the process: looks at host objects (lstat, readlink, readdir); keeps nothing open.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: probe.go, for plan.Compile.
// Proved by: TestLookResolve and the scripts named explain_*.

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/policy/plan"
)

// hostLook answers plan.Look from the real file system; what it resolved it remembers, so that one launch sees one answer.
type hostLook struct {
	noted  *sightings
	seen   map[string]plan.Object
	passed map[string]bool // folders that are no links, of a look that is over before the program can change them; else nil
	idmap  map[uint64]bool // by device
}

func newLook(noted *sightings) *hostLook {
	return &hostLook{noted: noted, seen: map[string]plan.Object{}, idmap: map[uint64]bool{}}
}

// mostLinks is the kernel's own bound on links in one look-up (path_resolution(7)).
const mostLinks = 40

func (l *hostLook) Resolve(asked string) plan.Object {
	if o, ok := l.seen[asked]; ok {
		return o
	}
	o := l.resolve(asked)
	l.seen[asked] = o
	return o
}

func (l *hostLook) resolve(asked string) plan.Object {
	o := plan.Object{Asked: asked}
	if !path.IsAbs(asked) {
		o.Path, o.Err = asked, "not an absolute path"
		return o
	}
	at, rest := "/", strings.Split(asked, "/")
	var last fs.FileInfo // of at, where it was looked at
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			at, last = path.Dir(at), nil
			continue
		}
		next := path.Join(at, name)
		if l.passed[next] {
			at, last = next, nil
			continue
		}
		l.noted.node(next)
		fi, err := os.Lstat(next)
		if err != nil {
			o.Path = path.Join(append([]string{next}, rest...)...)
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				o.Err = errors.Unwrap(err).Error()
			}
			return o
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			at, last = next, fi
			if l.passed != nil && fi.IsDir() {
				l.passed[at] = true
			}
			continue
		}
		if len(o.Links) == mostLinks {
			o.Path, o.Err = next, "too many levels of symbolic links"
			return o
		}
		text, err := os.Readlink(next)
		if err != nil {
			o.Path, o.Err = next, err.Error()
			return o
		}
		o.Links = append(o.Links, plan.Link{At: next, Text: text})
		rest = append(strings.Split(text, "/"), rest...)
		if path.IsAbs(text) {
			at, last = "/", nil
		}
	}
	o.Path = at
	fi := last
	if fi == nil {
		var err error
		if fi, err = os.Lstat(at); err != nil {
			return o
		}
	}
	st := fi.Sys().(*syscall.Stat_t)
	o.Kind, o.Dev, o.Ino, o.UID, o.GID, o.Mode = kindOf(fi.Mode()), uint64(st.Dev), st.Ino, st.Uid, st.Gid, uint32(fi.Mode().Perm())
	o.Modified = uint64(max(fi.ModTime().UnixNano(), 0))
	return o
}

func kindOf(m fs.FileMode) plan.Kind {
	switch {
	case m.IsRegular():
		return plan.File
	case m.IsDir():
		return plan.Dir
	case m&fs.ModeDevice != 0:
		return plan.Device
	}
	return plan.Other
}

func (l *hostLook) Entries(dir string) ([]plan.Entry, error) {
	l.noted.contentBehind(dir)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Entry, 0, len(list))
	for _, e := range list {
		x := plan.Entry{Name: e.Name(), Kind: kindOf(e.Type())}
		if e.Type()&fs.ModeSymlink != 0 {
			if x.Link, err = os.Readlink(filepath.Join(dir, e.Name())); err != nil {
				continue // gone since
			}
			x.Kind = plan.Other
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b plan.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (l *hostLook) Walk(dir string, limit int, visit func(string, plan.Kind) bool) bool {
	w := folderWalk{look: l, left: limit, visit: visit, buf: make([]byte, 64<<10)}
	return w.below(dir) && !w.over
}

func (l *hostLook) Text(p string, limit int) string {
	l.noted.content(p)
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil {
		return ""
	}
	return string(b)
}

func (l *hostLook) IDMap(p string) bool {
	o := l.Resolve(p)
	can, known := l.idmap[o.Dev]
	if !known {
		can = namespaces.ProbeIDMap(p) == nil
		l.idmap[o.Dev] = can
	}
	return can
}

// May reports whether Unix permissions let this user's program read (4), write (2) or execute and search (1) an object, need being their sum.
// Inside a box root's program has none of root's power over the files of others, so for root only the mode counts (path_resolution(7)).
func (l *hostLook) May(o plan.Object, need uint32) bool {
	if os.Geteuid() != 0 {
		return unix.Faccessat(unix.AT_FDCWD, o.Path, need, unix.AT_EACCESS) == nil
	}
	mode := o.Mode
	groups, _ := os.Getgroups()
	switch {
	case o.UID == 0:
		mode >>= 6
	case o.GID == uint32(os.Getegid()) || slices.Contains(groups, int(o.GID)):
		mode >>= 3
	}
	return mode&need == need
}
