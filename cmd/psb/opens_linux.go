// Does to the process: opens host files that a person allowed, and puts them into the process that asked.
// Undone: psb's own descriptors are closed; what was handed in stays the program's.
// Preconditions: the call waits at the listener; Linux 5.9 (SECCOMP_IOCTL_NOTIF_ADDFD).
// Called by: asker_linux.go.
// Proved by: TestAskAnswers, TestAskRaces, TestAskNeverByAnotherName.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"psb/landlock"
	"psb/policy"
	"psb/policy/plan"
	"psb/seccomp"
)

const (
	oAccMode = unix.O_ACCMODE
	oTrunc   = unix.O_TRUNC
	oCreat   = unix.O_CREAT
	oExcl    = unix.O_CREAT | unix.O_EXCL
	oPath    = unix.O_PATH
	// What a program's flags may say of the file that psb opens for it.
	oKept = unix.O_ACCMODE | unix.O_APPEND | unix.O_SYNC | unix.O_DSYNC | unix.O_LARGEFILE | unix.O_NOATIME
)

// opening is one open(2) or openat(2).
type opening struct {
	name  string // absolute, as the program said it: not cleaned
	flags uint64
	mode  uint32
}

// opens answers open and openat. What the box has is let go on: the kernel judges it, whatever the name says by then. Of the rest a person is
// asked, and the file psb opens itself: the name in the program's memory has been read once and counts no more.
func (x *asker) opens(r *seccomp.Request) seccomp.Answer {
	goOn := seccomp.Answer{Continue: true}
	call, ok := openingOf(r)
	if !ok {
		return goOn
	}
	look := newLook(newSightings())
	a, o, ok := x.wanted(look, call)
	if !ok {
		return goOn
	}
	switch yes, interrupted := x.allowed(a, program(r.TID), r.TID); {
	case interrupted:
		return seccomp.Answer{Errno: seccomp.Errno(unix.EINTR)}
	case !yes:
		x.refusedAccess(a)
		return goOn // to the error it gets without --ask
	}
	f, err := openAllowed(a, o, call, umaskOf(r.TID))
	if err == nil {
		defer f.Close()
		err = r.Give(int(f.Fd()), call.flags&unix.O_CLOEXEC != 0)
	}
	var errno unix.Errno
	switch {
	case err == nil:
		return seccomp.Answer{Later: true} // it has its answer
	case errors.As(err, &errno):
		return seccomp.Answer{Errno: seccomp.Errno(errno)}
	}
	return seccomp.Answer{Errno: seccomp.EACCES}
}

func openingOf(r *seccomp.Request) (opening, bool) {
	args, dir := r.Args[:], int32(unix.AT_FDCWD)
	if r.Name == "openat" {
		dir, args = int32(r.Args[0]), r.Args[1:]
	}
	text, err := r.Text(args[0], unix.PathMax)
	if err != nil || text == "" {
		return opening{}, false
	}
	o := opening{name: text, flags: args[1], mode: uint32(args[2])}
	if !filepath.IsAbs(text) {
		at := "cwd"
		if dir != unix.AT_FDCWD {
			at = "fd/" + strconv.Itoa(int(dir))
		}
		base, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", r.TID, at))
		if err != nil || !filepath.IsAbs(base) {
			return o, false
		}
		o.name = base + "/" + text
	}
	return o, o.flags&unix.O_TMPFILE != unix.O_TMPFILE && o.flags&unix.O_DIRECTORY == 0
}

// wanted finds what an opening asks for beyond what the box has, on the host.
func (x *asker) wanted(look *hostLook, call opening) (a policy.Access, o plan.Object, ok bool) {
	need, writes := landlock.FSReadFile, call.flags&oAccMode != 0
	if writes {
		need = landlock.FSWriteFile
	}
	has := func(name string) bool { return x.walls.allow(name, need) && !x.j.plan.Covered(name, writes) }
	if has(filepath.Clean(call.name)) {
		return a, o, false
	}
	o = look.Resolve(call.name)
	dir := look.Resolve(filepath.Dir(o.Path))
	op, ok := kindOfOpen(o, dir, call.flags)
	if !ok || strings.HasSuffix(call.name, "/") || strings.HasSuffix(call.name, "/.") {
		return a, o, false // a folder's name
	}
	if (call.flags&unix.O_NOFOLLOW != 0 || call.flags&oExcl == oExcl) && endsInLink(look, o, call.name) {
		return a, o, false
	}
	a = policy.Access{Op: op, Object: o.Path}
	for _, own := range []string{"/proc", "/dev", "/sys"} {
		if below(o.Path, own) {
			return a, o, false
		}
	}
	if op == policy.OpCreate && x.walls.allow(dir.Path, landlock.FSMakeReg) || op != policy.OpCreate && has(o.Path) {
		return a, o, false
	}
	return a, o, x.j.askable(&x.known, a, x.j.policy.Decide(a)) && x.j.unixAllows(look, a) && !x.refusedElsewhere(look, o, op)
}

// refusedElsewhere: the file has another name (link(2)) under which nobody would be asked about it.
func (x *asker) refusedElsewhere(look *hostLook, o plan.Object, op policy.Op) bool {
	if o.Kind != plan.File {
		return false
	}
	same := func(name string) bool {
		other := look.Resolve(name)
		return other.Kind == plan.File && other.Dev == o.Dev && other.Ino == o.Ino
	}
	kept := slices.ContainsFunc(x.j.plan.Places, func(p *plan.Place) bool { return (p.Hidden || p.Guarded && op != policy.OpRead) && same(p.Path) })
	return kept || op != policy.OpRead && slices.ContainsFunc(x.j.policyFiles(), same)
}

// endsInLink: the last part of the name is a link itself.
func endsInLink(look *hostLook, o plan.Object, name string) bool {
	i := strings.LastIndexByte(name, '/')
	at := filepath.Join(look.Resolve(name[:i+1]).Path, name[i+1:])
	return slices.ContainsFunc(o.Links, func(l plan.Link) bool { return l.At == at })
}

// openAllowed opens the very object that the question named: no link on the way, the same file, a plain one.
func openAllowed(a policy.Access, o plan.Object, call opening, umask uint32) (*os.File, error) {
	how := unix.OpenHow{Flags: call.flags&oKept | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if a.Op == policy.OpCreate {
		how.Flags |= unix.O_CREAT | unix.O_EXCL
		how.Mode = 0o600
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, o.Path, &how)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), o.Path)
	if err := fit(fd, a, o, call, umask); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func fit(fd int, a policy.Access, o plan.Object, call opening, umask uint32) error {
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return unix.EACCES
	case a.Op == policy.OpCreate:
		if err := unix.Fchmod(fd, call.mode&0o777&^umask); err != nil {
			return err
		}
	case st.Dev != o.Dev || st.Ino != o.Ino:
		return unix.EACCES // another one was put there since
	case call.flags&oTrunc != 0 && call.flags&oAccMode != 0:
		if err := unix.Ftruncate(fd, 0); err != nil {
			return err
		}
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == nil && call.flags&unix.O_NONBLOCK == 0 {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&^unix.O_NONBLOCK)
	}
	return err
}

// umaskOf reads a thread's umask; one that cannot be read keeps everything from everybody else.
func umaskOf(tid int) uint32 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0o077
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "Umask:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32); err == nil {
				return uint32(n)
			}
		}
	}
	return 0o077
}
