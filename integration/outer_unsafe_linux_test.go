package integration

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// outerWall names, in the environment of a copy of this test binary, the wall it puts around itself before it becomes the command in
// its arguments: the host then lacks one layer, and psb has no switch that could pretend so.
const outerWall = "PSB_INTEGRATION_OUTER_WALL"

// refusal makes one system call fail: always, or where its argument has one of the bits.
type refusal struct {
	nr    uint32
	arg   int
	bits  uint32 // 0: always
	errno unix.Errno
}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// walls are the layers that can be taken away.
var walls = map[string][]refusal{
	"none": nil,
	"landlock": {
		{unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.EOPNOTSUPP}, {unix.SYS_LANDLOCK_ADD_RULE, 0, 0, unix.EOPNOTSUPP}, {unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0, unix.EOPNOTSUPP},
	},
	"landlock restrict": {{unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0, unix.EPERM}}, // there when asked, refused when used
	"seccomp":           {{unix.SYS_SECCOMP, 0, 0, unix.ENOSYS}, {unix.SYS_PRCTL, 0, unix.PR_SET_SECCOMP, unix.EINVAL}},
	"notify":            {{unix.SYS_SECCOMP, 1, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, unix.EBUSY}},
	"namespaces": {
		{unix.SYS_CLONE, 0, newNamespaces, unix.EPERM}, {unix.SYS_UNSHARE, 0, newNamespaces, unix.EPERM}, {unix.SYS_CLONE3, 0, 0, unix.ENOSYS},
	},
	"user namespace": {
		{unix.SYS_CLONE, 0, unix.CLONE_NEWUSER, unix.ENOSPC}, {unix.SYS_UNSHARE, 0, unix.CLONE_NEWUSER, unix.ENOSPC}, {unix.SYS_CLONE3, 0, 0, unix.ENOSYS},
	},
	"network namespace": {
		{unix.SYS_CLONE, 0, unix.CLONE_NEWNET, unix.EPERM}, {unix.SYS_UNSHARE, 0, unix.CLONE_NEWNET, unix.EPERM}, {unix.SYS_CLONE3, 0, 0, unix.ENOSYS},
	},
	"mount":      {{unix.SYS_MOUNT, 0, 0, unix.EPERM}, {unix.SYS_MOVE_MOUNT, 0, 0, unix.EPERM}, {unix.SYS_OPEN_TREE, 0, 0, unix.EPERM}, {unix.SYS_FSMOUNT, 0, 0, unix.EPERM}},
	"pivot_root": {{unix.SYS_PIVOT_ROOT, 0, 0, unix.EPERM}},
	"setattr":    {{unix.SYS_MOUNT_SETATTR, 0, 0, unix.EPERM}},
	"rlimits":    {{unix.SYS_PRLIMIT64, 0, 0, unix.EPERM}, {unix.SYS_SETRLIMIT, 0, 0, unix.EPERM}},
	"capset":     {{unix.SYS_CAPSET, 0, 0, unix.EPERM}},
	"ptrace":     {{unix.SYS_PTRACE, 0, 0, unix.EPERM}},
	"cgroup":     nil, // a file system, not a call: hideCgroups
}

// behindOuterWall restricts this process and becomes argv. With argv "try" it makes each refused call once instead and prints what the
// kernel answered, so that a wall that holds nothing back is seen.
func behindOuterWall(wall string, argv []string) int {
	refusals, known := walls[wall]
	if !known || len(argv) == 0 {
		fmt.Fprintf(os.Stderr, "BUG: outer wall %q, arguments %q\n", wall, argv)
		return 1
	}
	runtime.LockOSThread()
	if wall == "cgroup" {
		if err := hideCgroups(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := install(refusals); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if argv[0] == "try" {
		for _, r := range refusals {
			args := [2]uintptr{}
			if r.bits != 0 {
				args[r.arg] = uintptr(r.bits & -r.bits) // its lowest bit
			}
			if r.nr == unix.SYS_PRCTL {
				args[0] = uintptr(r.bits)
			}
			if r.nr == unix.SYS_CLONE {
				args[0] |= unix.CLONE_NEWUSER&uintptr(r.bits) | unix.CLONE_FS // never a process: EINVAL where nothing refuses it
			}
			_, _, errno := unix.RawSyscall6(uintptr(r.nr), args[0], args[1], 0, 0, 0, 0)
			fmt.Println(r.nr, errno == r.errno)
		}
		return 0
	}
	env := []string{}
	for _, e := range os.Environ() {
		if len(e) < len(outerWall) || e[:len(outerWall)] != outerWall {
			env = append(env, e)
		}
	}
	fmt.Fprintln(os.Stderr, "exec:", unix.Exec(argv[0], argv, env))
	return 1
}

func hideCgroups() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount private: %w", err)
	}
	if err := unix.Mount("none", "/sys/fs/cgroup", "tmpfs", unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount over /sys/fs/cgroup: %w", err)
	}
	return nil
}

// install puts the refusals on the calling thread; what it execs inherits them.
func install(refusals []refusal) error {
	if len(refusals) == 0 {
		return nil
	}
	var program []bpf.Instruction
	for _, r := range refusals {
		program = append(program, bpf.LoadAbsolute{Off: 0, Size: 4}) // seccomp_data.nr
		refuse := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(r.errno)}
		if r.bits == 0 {
			program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.nr, SkipFalse: 1}, refuse)
			continue
		}
		test := bpf.Instruction(bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: r.bits, SkipFalse: 1})
		if r.nr == unix.SYS_PRCTL {
			test = bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.bits, SkipFalse: 1} // an option is a number, not bits
		}
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.nr, SkipFalse: 3},
			bpf.LoadAbsolute{Off: uint32(16 + 8*r.arg), Size: 4}, test, refuse) // the low half of seccomp_data.args[arg]
	}
	program = append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("BUG: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl PR_SET_NO_NEW_PRIVS: %w", err)
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errors.New(errno.Error()))
	}
	return nil
}
