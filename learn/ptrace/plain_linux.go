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

// plainOpen tells the access of an open whose outcome is plain before it happens; false when only the exit can tell.
func (t *tracer) plainOpen(th *thread, c *call) bool {
	if t.root < 0 || t.target.Readable == nil || c.shape.kind != kindOpen || c.args[c.shape.flags]&0xffffffff&^harmless != unix.O_RDONLY {
		return false
	}
	asked := c.pathText(th.tid, c.shape.dir, c.shape.path, false)
	if asked == "" {
		return false
	}
	fd, err := openIn(t.root, asked, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Nlink == 0 || st.Mode&(unix.S_IRUSR|unix.S_IRGRP|unix.S_IROTH) != unix.S_IRUSR|unix.S_IRGRP|unix.S_IROTH {
		return false
	}
	op := policy.OpRead
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		op = policy.OpList
	case unix.S_IFREG:
		if c.args[c.shape.flags]&unix.O_DIRECTORY != 0 {
			return false
		}
	default:
		return false
	}
	name := ownName(fd)
	if !strings.HasPrefix(name, "/") || !t.target.Readable(name, op == policy.OpList) || strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") || strings.HasPrefix(name, "/dev/") {
		return false // the kernel has a say there that no mode shows
	}
	c.asked = asked
	t.teller(th.tid, c)(op, name, learn.Plain, "")
	return true
}
