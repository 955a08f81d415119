package ptrace

// The table of understood calls: which argument holds a path, and what the call does with it.
//
// Does to the process: nothing, it is data.
// Can it be undone: nothing to undo.
// Preconditions: none.
// Called by: tracer_linux.go, accesses_linux.go.
// Proved by: TestPrograms.

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

type kind uint8

const (
	kindOther kind = iota // no object: told by its name alone
	kindOpen
	kindOpenat2
	kindCreat
	kindMkdir
	kindRmdir
	kindUnlink
	kindMake // symlink, mknod
	kindLink
	kindRename
	kindTruncate
	kindMeta     // mode, owner, times: follows a last link
	kindMetaLink // the same on the link itself
	kindMetaFD   // the same on a descriptor
	kindExec
	kindMove // to another working folder
	kindLook
	kindConnect
	kindSend
	kindBind
	kindListen
	kindWrite
)

// none marks an argument that a call does not have.
const none = -1

// shape says where a call keeps what; each field is the index of an argument.
type shape struct {
	kind        kind
	fd          int // the descriptor acted on
	dir, path   int
	dir2, path2 int
	flags       int // open flags, or AT_ flags
}

var genericCalls = map[int]shape{
	unix.SYS_OPENAT:       {kind: kindOpen, dir: 0, path: 1, flags: 2},
	unix.SYS_OPENAT2:      {kind: kindOpenat2, dir: 0, path: 1},
	unix.SYS_MKDIRAT:      {kind: kindMkdir, dir: 0, path: 1},
	unix.SYS_UNLINKAT:     {kind: kindUnlink, dir: 0, path: 1, flags: 2},
	unix.SYS_MKNODAT:      {kind: kindMake, dir: 0, path: 1},
	unix.SYS_SYMLINKAT:    {kind: kindMake, dir: 1, path: 2},
	unix.SYS_LINKAT:       {kind: kindLink, dir: 0, path: 1, dir2: 2, path2: 3},
	unix.SYS_RENAMEAT2:    {kind: kindRename, dir: 0, path: 1, dir2: 2, path2: 3, flags: 4},
	unix.SYS_TRUNCATE:     {kind: kindTruncate, dir: none, path: 0},
	unix.SYS_FCHMODAT:     {kind: kindMeta, dir: 0, path: 1, flags: none},
	unix.SYS_FCHMODAT2:    {kind: kindMeta, dir: 0, path: 1, flags: 3},
	unix.SYS_FCHOWNAT:     {kind: kindMeta, dir: 0, path: 1, flags: 4},
	unix.SYS_UTIMENSAT:    {kind: kindMeta, dir: 0, path: 1, flags: 3},
	unix.SYS_SETXATTR:     {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_LSETXATTR:    {kind: kindMetaLink, dir: none, path: 0, flags: none},
	unix.SYS_REMOVEXATTR:  {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_LREMOVEXATTR: {kind: kindMetaLink, dir: none, path: 0, flags: none},
	unix.SYS_FCHMOD:       {kind: kindMetaFD, fd: 0},
	unix.SYS_FCHOWN:       {kind: kindMetaFD, fd: 0},
	unix.SYS_FSETXATTR:    {kind: kindMetaFD, fd: 0},
	unix.SYS_FREMOVEXATTR: {kind: kindMetaFD, fd: 0},
	unix.SYS_EXECVE:       {kind: kindExec, dir: none, path: 0, flags: none},
	unix.SYS_EXECVEAT:     {kind: kindExec, dir: 0, path: 1, flags: 4},
	unix.SYS_CHDIR:        {kind: kindMove, dir: none, path: 0},
	unix.SYS_FCHDIR:       {kind: kindMove, fd: 0},
	unix.SYS_CONNECT:      {kind: kindConnect, fd: 0},
	unix.SYS_SENDTO:       {kind: kindSend, fd: 0},
	unix.SYS_BIND:         {kind: kindBind, fd: 0},
	unix.SYS_LISTEN:       {kind: kindListen, fd: 0},
	unix.SYS_WRITE:        {kind: kindWrite, fd: 0},
}

// genericLooks are look-ups: what a shell asks along PATH. They are traced only where Target.Looks says so.
var genericLooks = map[int]shape{
	unix.SYS_NEWFSTATAT: {kind: kindLook, dir: 0, path: 1},
	unix.SYS_STATX:      {kind: kindLook, dir: 0, path: 1},
	unix.SYS_FACCESSAT:  {kind: kindLook, dir: 0, path: 1},
	unix.SYS_FACCESSAT2: {kind: kindLook, dir: 0, path: 1},
}

// looks joins both tables of look-ups.
var looks = func() map[int]shape {
	all := maps.Clone(genericLooks)
	maps.Copy(all, archLooks)
	return all
}()

// LookCalls lists, sorted, the numbers of the calls to trace beside FileCalls where Target.Looks is set.
func LookCalls() []int { return slices.Sorted(maps.Keys(looks)) }

// shapes joins both tables once, at start: a constant of the machine.
var shapes = func() map[int]shape {
	all := maps.Clone(genericCalls)
	maps.Copy(all, archCalls)
	return all
}()

// Calls lists, sorted, the numbers of the calls a filter must answer with SECCOMP_RET_TRACE for learning to see every access to
// files and sockets. write(2) is among them, for the note descriptor alone: compare its first argument, as 32 bits, with
// learn.NoteFD. Look-ups (stat, access, readlink) and getdents are not: a look-up never becomes a rule, and a folder's names are
// asked for by opening it. chdir(2) is, as relative names mean something else after it.
func Calls() []int {
	return slices.Sorted(maps.Keys(shapes))
}

// FileCalls lists, sorted, those of Calls that name files or act on them.
func FileCalls() []int {
	return slices.DeleteFunc(Calls(), func(nr int) bool {
		switch shapes[nr].kind {
		case kindOther, kindConnect, kindSend, kindBind, kindListen, kindWrite:
			return true
		}
		return false
	})
}
