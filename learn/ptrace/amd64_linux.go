//go:build amd64

package ptrace

// The calls of x86-64 that other machines do not have, and how a call is kept from running there.
//
// Does to the process: skip makes one call of a stopped thread return an error instead of running.
// Can it be undone: no.
// Preconditions: the thread stands in a seccomp stop of the calling thread.
// Called by: tracer_linux.go.
// Proved by: TestRefuse, TestPrograms.

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_X86_64

const x32Bit = 0x40000000 // __X32_SYSCALL_BIT: another ABI behind the same architecture

var archCalls = map[int]shape{
	unix.SYS_OPEN:      {kind: kindOpen, dir: none, path: 0, flags: 1},
	unix.SYS_CREAT:     {kind: kindCreat, dir: none, path: 0, flags: none},
	unix.SYS_MKDIR:     {kind: kindMkdir, dir: none, path: 0},
	unix.SYS_RMDIR:     {kind: kindRmdir, dir: none, path: 0},
	unix.SYS_UNLINK:    {kind: kindUnlink, dir: none, path: 0, flags: none},
	unix.SYS_MKNOD:     {kind: kindMake, dir: none, path: 0},
	unix.SYS_SYMLINK:   {kind: kindMake, dir: none, path: 1},
	unix.SYS_LINK:      {kind: kindLink, dir: none, path: 0, dir2: none, path2: 1},
	unix.SYS_RENAME:    {kind: kindRename, dir: none, path: 0, dir2: none, path2: 1, flags: none},
	unix.SYS_CHMOD:     {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_CHOWN:     {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_LCHOWN:    {kind: kindMetaLink, dir: none, path: 0, flags: none},
	unix.SYS_UTIME:     {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_UTIMES:    {kind: kindMeta, dir: none, path: 0, flags: none},
	unix.SYS_FUTIMESAT: {kind: kindMeta, dir: 0, path: 1, flags: none},
	unix.SYS_RENAMEAT:  {kind: kindRename, dir: 0, path: 1, dir2: 2, path2: 3, flags: none},
}

var archLooks = map[int]shape{
	unix.SYS_STAT:   {kind: kindLook, dir: none, path: 0},
	unix.SYS_ACCESS: {kind: kindLook, dir: none, path: 0},
}

// skip makes the call return errno without running.
func skip(tid int, errno unix.Errno) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0)
	regs.Rax = uint64(-int64(errno))
	return unix.PtraceSetRegs(tid, &regs)
}
