package ptrace

// The kernel's own names of the objects a traced thread means, inside its root.
//
// Does to the process: nothing; opens O_PATH descriptors in psb for a moment.
// Can it be undone: nothing to undo.
// Preconditions: the thread is stopped, /proc shows this process's own pid namespace.
// Called by: accesses_linux.go.
// Proved by: TestPrograms, TestNamesInsideARoot.
//
// readlink(2) of /proc/TID/{cwd,exe,fd/N} prints the path up to the root of the mount tree the object is in. For a thread
// that has pivoted into a root of its own that is the path inside, whatever the reader's root.

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

func procLink(tid int, what string) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(fmt.Sprintf("/proc/%d/%s", tid, what), buf[:])
	if err != nil || n == len(buf) {
		return ""
	}
	return string(buf[:n])
}

const deleted = " (deleted)"

// fdObject gives the name and mode of what descriptor fd of a thread stands for; name is "" for what has no place in a file
// system (a pipe, a socket, an anonymous file).
func fdObject(tid, fd int) (name string, mode uint32) {
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, fd), &st); err != nil {
		return "", 0
	}
	name = procLink(tid, fmt.Sprintf("fd/%d", fd))
	if strings.HasPrefix(name, "/memfd:") || !strings.HasPrefix(name, "/") {
		return "", st.Mode
	}
	if st.Nlink == 0 || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		name = strings.TrimSuffix(name, deleted) // the mark of an unlinked object; a name may also really end so
	}
	return name, st.Mode
}

// object is a place a path argument names.
type object struct {
	name   string // the kernel's name; when the object cannot be reached, the cleaned text. "" when the argument cannot be read
	exists bool
	dir    bool
}

// text joins a path argument to what it is relative to, without cleaning: "..", like everything else, is the kernel's to resolve.
func text(tid int, dirFD int32, p string) string {
	if strings.HasPrefix(p, "/") {
		return p
	}
	base := ""
	if dirFD == unix.AT_FDCWD {
		base = procLink(tid, "cwd")
	} else {
		base, _ = fdObject(tid, int(dirFD))
	}
	if base == "" {
		return ""
	}
	if p == "" {
		return base
	}
	return base + "/" + p
}

// open opens a path inside a thread's root, as O_PATH. Links that lead out of the root cannot: they are resolved inside.
func open(tid int, p string, flags uint64) (int, error) {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", tid), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return openIn(root, p, flags)
}

func openIn(root int, p string, flags uint64) (int, error) {
	return unix.Openat2(root, p, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_IN_ROOT})
}

// ownName is the kernel's name of one of our own descriptors.
func ownName(fd int) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd), buf[:])
	if err != nil || n == len(buf) {
		return ""
	}
	return string(buf[:n])
}

// target finds what a path leads to, a last link followed.
func target(tid int, p string) object {
	if p == "" {
		return object{}
	}
	fd, err := open(tid, p, 0)
	if err != nil {
		return entry(tid, p)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return object{name: path.Clean(p)}
	}
	return object{name: ownName(fd), exists: true, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}
}

// entry finds a name in a folder, a last link not followed: the folder's kernel name and the last element.
func entry(tid int, p string) object {
	if p == "" {
		return object{}
	}
	lexical := object{name: path.Clean(p)}
	trimmed := strings.TrimRight(p, "/")
	slash := strings.LastIndexByte(trimmed, '/')
	last := trimmed[slash+1:]
	if slash < 0 || last == "" || last == "." || last == ".." {
		return lexical
	}
	fd, err := open(tid, trimmed[:slash+1], unix.O_DIRECTORY)
	if err != nil {
		return lexical
	}
	defer unix.Close(fd)
	parent := ownName(fd)
	if parent == "" {
		return lexical
	}
	o := object{name: path.Join(parent, last)}
	var st unix.Stat_t
	if unix.Fstatat(fd, last, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		o.exists, o.dir = true, st.Mode&unix.S_IFMT == unix.S_IFDIR
	}
	return o
}
