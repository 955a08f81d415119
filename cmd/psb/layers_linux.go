// Does to the process: reads the folder that a box's overlays wrote to, and what the host has in its place.
// Undone: nothing to undo; folders in the throw-away layers that their owner closed to itself get a mode that lets psb in.
// Preconditions: the box is gone, so that nothing of it changes any more. Nothing in those layers is followed, whatever it is called.
// Called by: changed.go.
// Proved by: TestAudit, TestLayersFollowNothing.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// mostCompared bounds, in bytes, the files that are compared with the host's.
const mostCompared = 16 << 20

// layers reads what overlays hold. Names in it are relative to the folder of all of them, made of plain names.
type layers struct {
	top   int    // descriptor of that folder
	space string // of the kernel's marks: "trusted." or "user."
}

// open opens a name, which may be anything, and follows nothing.
func (l layers) open(name string, flags uint64) (int, error) {
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK | unix.O_NOCTTY
	}
	return unix.Openat2(l.top, name, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// names lists a folder, sorted. Its owner may have closed it even to itself.
func (l layers) names(name string) ([]string, error) {
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
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	list, err := f.Readdirnames(-1)
	slices.Sort(list)
	return list, err
}

// stat looks at a name itself.
func (l layers) stat(name string) (node, error) {
	fd, err := l.open(name, unix.O_PATH)
	if err != nil {
		return node{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return node{}, err
	}
	return nodeOf(st), nil
}

// hostNode looks at what the host has, itself: the folders on the way were seen to be folders.
func hostNode(p string) (node, bool) {
	var st unix.Stat_t
	if p == "" || unix.Lstat(p, &st) != nil {
		return node{}, false
	}
	return nodeOf(st), true
}

func nodeOf(st unix.Stat_t) node {
	n := node{mode: st.Mode & 0o7777, size: -1, time: st.Mtim.Nano()}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		n.kind, n.size = "file", st.Size
	case unix.S_IFDIR:
		n.kind = "folder"
	case unix.S_IFLNK:
		n.kind = "link"
	case unix.S_IFIFO:
		n.kind = "fifo"
	case unix.S_IFSOCK:
		n.kind = "socket"
	case unix.S_IFCHR:
		n.kind = "device"
		if st.Rdev == 0 {
			n.kind = removedMark
		}
	default:
		n.kind = "device"
	}
	return n
}

// text is what a link holds, "" when it cannot be read.
func (l layers) text(name string) string {
	fd, err := l.open(name, unix.O_PATH)
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

// marks reads what the kernel wrote on a folder: whether it hides what the host has there, and where its content comes from. A program cannot set
// either: the overlay keeps these names to itself.
func (l layers) marks(name string) (opaque bool, redirect string) {
	fd, err := l.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false, ""
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Fgetxattr(fd, l.space+"overlay.opaque", buf)
	opaque = err == nil && n == 1 && buf[0] == 'y'
	if n, err = unix.Fgetxattr(fd, l.space+"overlay.redirect", buf); err == nil {
		redirect = string(buf[:n])
	}
	return opaque, redirect
}

// equal compares a file with one of the host's of the same size.
func (l layers) equal(name, host string, size int64) bool {
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
