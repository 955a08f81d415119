package ptrace

// What a call on files did: from its arguments at the entry and its result at the exit to accesses.
//
// Does to the process: nothing, it looks.
// Can it be undone: nothing to undo.
// Preconditions: the thread is stopped at the entry or exit of the call.
// Called by: tracer_linux.go.
// Proved by: TestPrograms, TestOpens.

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"psb/learn"
	"psb/policy"
)

// call is a call whose result is awaited.
type call struct {
	shape shape
	args  [6]uint64
	flags uint64 // open or AT_ flags
	a, b  object // what its paths name, as found at the entry
	port0 bool
	asked string // the path as the program gave it, absolute; for what is told next
	path  string // the same, where the entry has read it already
}

func (c *call) fd() int { return int(int32(c.args[c.shape.fd])) }

func dirArg(args *[6]uint64, i int) int32 {
	if i == none {
		return unix.AT_FDCWD
	}
	return int32(args[i])
}

// pathText reads a path argument; at may say that an empty or missing path means the descriptor itself.
func (c *call) pathText(tid, dir, arg int, at bool) string {
	p, ok := readString(tid, c.args[arg])
	if !ok && !(at && c.args[arg] == 0) {
		return ""
	}
	if p == "" && !at {
		return "" // ENOENT, whatever it is relative to
	}
	return text(tid, dirArg(&c.args, dir), p)
}

// enter looks at what only the entry can tell: what was there before. The result says whether the exit matters.
func (c *call) enter(tid int) (wanted bool) {
	s := c.shape
	switch s.kind {
	case kindOpen, kindOpenat2, kindCreat:
		c.flags = unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC
		if s.kind == kindOpen {
			c.flags = c.args[s.flags] & 0xffffffff
		} else if s.kind == kindOpenat2 {
			c.flags, _ = readUint64(tid, c.args[2])
		}
		if c.flags&unix.O_PATH != 0 {
			return false // a look-up
		}
		if c.flags&unix.O_TMPFILE == unix.O_TMPFILE {
			c.a = target(tid, c.pathText(tid, s.dir, s.path, false))
		} else if c.flags&unix.O_CREAT != 0 && c.flags&unix.O_EXCL == 0 {
			c.a = target(tid, c.pathText(tid, s.dir, s.path, false))
		}
		return true
	case kindMkdir, kindRmdir, kindUnlink, kindMake:
		c.a = entry(tid, c.pathText(tid, s.dir, s.path, false))
		return c.a.name != ""
	case kindLink:
		c.a = entry(tid, c.pathText(tid, s.dir, s.path, true))
		c.b = entry(tid, c.pathText(tid, s.dir2, s.path2, false))
		return c.b.name != ""
	case kindRename:
		c.a = entry(tid, c.pathText(tid, s.dir, s.path, false))
		c.b = entry(tid, c.pathText(tid, s.dir2, s.path2, false))
		return c.a.name != "" && c.b.name != ""
	case kindTruncate:
		c.a = target(tid, c.pathText(tid, s.dir, s.path, false))
		return c.a.name != ""
	case kindMeta:
		c.a = target(tid, c.pathText(tid, s.dir, s.path, true))
		if s.flags != none && c.args[s.flags]&unix.AT_SYMLINK_NOFOLLOW != 0 {
			c.a = entry(tid, c.pathText(tid, s.dir, s.path, true))
		}
		return c.a.name != ""
	case kindMetaLink:
		c.a = entry(tid, c.pathText(tid, s.dir, s.path, false))
		return c.a.name != ""
	case kindMetaFD:
		c.a.name, _ = fdObject(tid, c.fd())
		return c.a.name != ""
	case kindLook:
		c.asked = c.pathText(tid, s.dir, s.path, false)
		return programName(c.asked)
	case kindExec:
		at := s.flags != none && c.args[s.flags]&unix.AT_EMPTY_PATH != 0
		c.asked = c.pathText(tid, s.dir, s.path, at) // the exec replaces the memory it stands in
		c.a = target(tid, c.asked)
		return true
	}
	return false
}

// leave tells the accesses of a call that returned result: an errno below zero.
func (c *call) leave(tid int, result int64, tell func(policy.Op, string, learn.How, learn.Errno)) {
	e := errnoOf(result)
	s := c.shape
	switch s.kind {
	case kindOpen, kindOpenat2, kindCreat:
		c.opened(tid, int(result), e, tell)
	case kindMkdir:
		tell(policy.OpWrite, c.a.name, learn.NewDir, e)
	case kindMake:
		tell(policy.OpWrite, c.a.name, learn.New, e)
	case kindRmdir:
		tell(policy.OpWrite, c.a.name, learn.RemDir, e)
	case kindUnlink:
		how := learn.Remove
		if s.flags != none && c.args[s.flags]&unix.AT_REMOVEDIR != 0 {
			how = learn.RemDir
		}
		tell(policy.OpWrite, c.a.name, how, e)
	case kindLink:
		tell(policy.OpRead, c.a.name, learn.Plain, e)
		tell(policy.OpWrite, c.b.name, learn.New, e)
	case kindRename:
		away, there := learn.Remove, learn.New
		if c.a.dir {
			away, there = learn.RemDir, learn.NewDir
		}
		if c.b.exists {
			there = learn.Plain
		}
		tell(policy.OpWrite, c.a.name, away, e)
		tell(policy.OpWrite, c.b.name, there, e)
		const exchange = 2 // RENAME_EXCHANGE
		if s.flags != none && c.args[s.flags]&exchange != 0 {
			tell(policy.OpWrite, c.a.name, learn.Plain, e)
		}
	case kindTruncate:
		tell(policy.OpWrite, c.a.name, learn.Plain, e)
	case kindMeta, kindMetaLink, kindMetaFD:
		tell(policy.OpWrite, c.a.name, learn.Meta, e)
	case kindLook:
		if e != "" {
			tell(policy.OpExec, path.Clean(c.asked), learn.Look, e)
		}
	case kindExec: // only one that failed comes here; the name is that of the file, not of its interpreter
		tell(policy.OpExec, c.a.name, learn.Plain, e)
	}
}

// opens is the path an open asked for.
func (c *call) opens(tid int) string {
	if c.path == "" {
		c.path = c.pathText(tid, c.shape.dir, c.shape.path, false)
	}
	return c.path
}

func (c *call) opened(tid, fd int, e learn.Errno, tell func(policy.Op, string, learn.How, learn.Errno)) {
	op := policy.OpRead
	if c.flags&unix.O_ACCMODE != unix.O_RDONLY || c.flags&unix.O_TRUNC != 0 {
		op = policy.OpWrite
	}
	if e != "" {
		p := c.opens(tid)
		if p == "" {
			return
		}
		if c.flags&unix.O_TMPFILE == unix.O_TMPFILE {
			tell(policy.OpCreate, path.Clean(p), learn.Unnamed, e)
			return
		}
		how := learn.Plain
		name := path.Clean(p)
		if e != "ENOENT" && e != "ENOTDIR" { // those are only counted, and there are many: the text will do
			o := target(tid, p)
			name = o.name
			if c.flags&unix.O_CREAT != 0 && !o.exists {
				op, how = policy.OpWrite, learn.New
			} else if o.dir {
				op = policy.OpList
			}
		} else if c.flags&unix.O_CREAT != 0 {
			op, how = policy.OpWrite, learn.New
		}
		tell(op, name, how, e)
		return
	}
	if c.flags&unix.O_TMPFILE == unix.O_TMPFILE {
		tell(policy.OpCreate, c.a.name, learn.Unnamed, "")
		return
	}
	name, mode := fdObject(tid, fd)
	if name == "" {
		return
	}
	c.asked = c.opens(tid)
	if mode&unix.S_IFMT == unix.S_IFDIR {
		tell(policy.OpList, name, learn.Plain, "")
		return
	}
	if c.flags&unix.O_CREAT != 0 && (c.flags&unix.O_EXCL != 0 || c.a.name != "" && !c.a.exists) {
		tell(policy.OpWrite, name, learn.New, "")
		return
	}
	tell(op, name, learn.Plain, "")
}

// executed tells the exec that has just happened: the file asked for and, where that is a script, the program that runs it.
func (c *call) executed(tid int, tell func(policy.Op, string, learn.How, learn.Errno)) (program string) {
	program = procLink(tid, "exe")
	if c != nil && c.a.exists && c.a.name != "" && c.a.name != program {
		tell(policy.OpExec, c.a.name, learn.Plain, "")
		c.asked = ""
	}
	if path.IsAbs(program) && !strings.HasPrefix(program, "/memfd:") {
		tell(policy.OpExec, program, learn.Plain, "")
	}
	return program
}

// programName: a name in a folder where programs stand.
func programName(p string) bool {
	dir := path.Base(path.Dir(p))
	return path.IsAbs(p) && (dir == "bin" || dir == "sbin")
}

// errnoOf names the error of a call's result.
func errnoOf(result int64) learn.Errno {
	if result >= 0 || result < -4095 {
		return ""
	}
	e := unix.Errno(-result)
	if name := unix.ErrnoName(e); name != "" {
		return learn.Errno(name)
	}
	return learn.Errno(fmt.Sprintf("E%d", int(e)))
}

// restarts reports a call that ended only to be made again: it is no outcome (ERESTARTSYS and its kin).
func restarts(result int64) bool { return result <= -512 && result >= -516 }
