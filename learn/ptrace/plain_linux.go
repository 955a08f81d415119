package ptrace

// Opens that only read what everybody may read: told at the entry, so that they stop the program once and not twice.
//
// Does to the process: nothing; opens O_PATH descriptors in psb for a moment.
// Can it be undone: nothing to undo.
// Preconditions: the thread is stopped at the entry of the call; no traced thread can change its root (chroot and mounts are refused).
// Called by: tracer_linux.go.
// Proved by: TestPlainOpens, TestSameAsStrace.
//
// What the name leads to is resolved here, a moment before the kernel does it for the program. A program that moves things about in
// between hides an access from the record, and is then refused it; it gains nothing.

import (
	"strings"

	"golang.org/x/sys/unix"

	"psb/learn"
	"psb/policy"
)

// harmless are the flags that change nothing about which object is opened and whether it may be.
const harmless = unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_DIRECTORY

// mostTold bounds what is remembered of each thread.
const mostTold = 4096

// plainOpen tells the access of an open whose outcome is plain before it happens; false when only the exit can tell. What was told a moment ago, under
// the same words and for the same reason, is not told again: nothing would come of it.
func (t *tracer) plainOpen(th *thread, c *call) bool {
	if t.places.root < 0 || t.target.Readable == nil || c.shape.kind != kindOpen || c.args[c.shape.flags]&0xffffffff&^harmless != unix.O_RDONLY {
		return false
	}
	t.places.refresh()
	words, ok := readWords(th.tid, c.args[c.shape.path], t.scratch[1:])
	if !ok || words == 0 {
		return false
	}
	p := t.scratch[1 : 1+words]
	t.scratch[0] = 0
	folderOnly := c.args[c.shape.flags]&unix.O_DIRECTORY != 0
	if folderOnly {
		t.scratch[0] = 1
	}
	key := t.scratch[:1+words]
	dir := dirArg(&c.args, c.shape.dir)
	short := p[0] == '/' || dir == unix.AT_FDCWD
	if short && th.toldAge == t.places.age {
		if _, told := th.told[string(key)]; told {
			return true
		}
	}
	if p[0] != '/' && dir == unix.AT_FDCWD {
		c.path = t.places.standing(th)
		if c.path == "" {
			return false
		}
		c.path += "/" + string(p)
	} else if c.path = text(th.tid, dir, string(p)); c.path == "" {
		return false
	}
	name, kind, ok := t.readable(c.path)
	if !ok || folderOnly && kind != unix.S_IFDIR {
		return false
	}
	op := policy.OpRead
	if kind == unix.S_IFDIR {
		op = policy.OpList
	}
	if !t.target.Readable(name, op == policy.OpList) {
		return false
	}
	c.asked = c.path
	t.teller(th.tid, c)(op, name, learn.Plain, "")
	if short {
		t.remember(th, key)
	}
	return true
}

func (t *tracer) remember(th *thread, key []byte) {
	switch {
	case th.told == nil:
		th.told = map[string]struct{}{}
	case th.toldAge != t.places.age || len(th.told) >= mostTold:
		clear(th.told)
	}
	th.toldAge = t.places.age
	th.told[string(key)] = struct{}{}
}

// readable finds the file or folder an absolute path leads to and gives the kernel's name of it, where everybody may read it.
func (t *tracer) readable(p string) (name string, kind uint32, ok bool) {
	var st unix.Stat_t
	slash := strings.LastIndexByte(p, '/')
	last := p[slash+1:]
	if last != "" && last != "." && last != ".." {
		if in, ok := t.places.folder(p[:slash+1]); ok {
			if unix.Fstatat(in.fd, last, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				return "", 0, false
			}
			if st.Mode&unix.S_IFMT != unix.S_IFLNK {
				return in.name + last, st.Mode & unix.S_IFMT, everybody(&st)
			}
		}
	}
	fd, err := openIn(t.places.root, p, 0)
	if err != nil {
		return "", 0, false
	}
	defer unix.Close(fd)
	if unix.Fstat(fd, &st) != nil || !everybody(&st) {
		return "", 0, false
	}
	name = ownName(fd)
	return name, st.Mode & unix.S_IFMT, strings.HasPrefix(name, "/") && !ofKernel(name)
}

// everybody reports a file or folder that is there and that everybody may read.
func everybody(st *unix.Stat_t) bool {
	const all = unix.S_IRUSR | unix.S_IRGRP | unix.S_IROTH
	kind := st.Mode & unix.S_IFMT
	return st.Nlink > 0 && st.Mode&all == all && (kind == unix.S_IFREG || kind == unix.S_IFDIR)
}
