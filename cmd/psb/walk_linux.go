// Does to the process: goes through folders of the host (open, getdents); keeps nothing open.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: look_linux.go, for plan.Compile.
// Proved by: TestLookWalkStopsAtItsLimit, TestLookWalkVisitsInOrderFollowsNoLinkAndEntersWhereToldTo and the scripts named explain_*.

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"psb/policy/plan"
)

// folderWalk goes through a tree, a folder's names in their order. A learning run goes through all of the project and the cache before it
// starts, so the names are taken as getdents(2) gives them: no look at each object, nothing made for each name but its path.
type folderWalk struct {
	look  *hostLook
	visit func(string, plan.Kind) bool
	left  int    // objects that may still be seen
	over  bool   // there were more
	buf   []byte // for one getdents(2)
}

type named struct {
	name string
	kind plan.Kind
}

// below visits everything below dir; false when something of it could not be read.
func (w *folderWalk) below(dir string) bool {
	w.look.noted.contentBehind(dir)
	list, err := w.names(dir)
	if err != nil {
		return false
	}
	complete := true
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for _, e := range list {
		if w.left--; w.left < 0 {
			w.over = true
			return complete
		}
		p := prefix + e.name
		if w.visit(p, e.kind) && e.kind == plan.Dir {
			complete = w.below(p) && complete
			if w.over {
				return complete
			}
		}
	}
	return complete
}

// names lists a folder, sorted.
func (w *folderWalk) names(dir string) ([]named, error) {
	fd, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var list []named
	for {
		n, err := unix.Getdents(fd, w.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		list = appendNames(list, fd, w.buf[:n])
	}
	slices.SortFunc(list, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

func openFolder(dir string) (int, error) {
	for {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// appendNames adds the names in a buffer of struct linux_dirent64: inode, offset, length of the record, type, name.
func appendNames(list []named, fd int, buf []byte) []named {
	const head = 19
	text := string(buf) // one copy for all its names
	for at := 0; at+head <= len(buf); {
		size := int(binary.NativeEndian.Uint16(buf[at+16:]))
		if size < head || at+size > len(buf) {
			break
		}
		end := bytes.IndexByte(buf[at+head:at+size], 0)
		if end < 0 {
			end = size - head
		}
		name := text[at+head : at+head+end]
		if name != "." && name != ".." {
			list = append(list, named{name, kindOfEntry(fd, name, buf[at+18])})
		}
		at += size
	}
	return list
}

func kindOfEntry(fd int, name string, kind byte) plan.Kind {
	if kind == unix.DT_UNKNOWN { // a file system that does not tell
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return plan.Other
		}
		kind = byte(st.Mode >> 12 & 0xf) // DT_ is S_IFMT without its zeros
	}
	switch kind {
	case unix.DT_REG:
		return plan.File
	case unix.DT_DIR:
		return plan.Dir
	case unix.DT_CHR, unix.DT_BLK:
		return plan.Device
	}
	return plan.Other
}
