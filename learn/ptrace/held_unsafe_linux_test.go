package ptrace

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"psb/learn"
)

// The test binary plays two more parts, named by this variable:
//
//	test ── starts ──► parent ── starts ──► held ── exec ──► program
//	  ◄── fd 3: "PID\n", then the wait status ──┘   └ fd 4: ready byte, fd 5: waits for a byte
//
// The parent stands between because the tracer must not be the program's real parent: it would take its exit status.
const partVar = "PTRACE_TEST_PART"

func init() {
	part := os.Getenv(partVar)
	if part == "" {
		return
	}
	os.Unsetenv(partVar)
	var err error
	switch part {
	case "parent":
		err = playParent()
	case "held":
		err = playHeld()
	}
	fmt.Fprintln(os.Stderr, part+":", err)
	os.Exit(99)
}

func playParent() error {
	out := os.NewFile(3, "status")
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), partVar+"=held")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(4, "ready"), os.NewFile(5, "go")}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Getenv("PTRACE_TEST_ROOT") != "" {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}} // 0 inside: an exec keeps capabilities
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Fprintln(out, cmd.Process.Pid)
	_ = cmd.Wait()
	fmt.Fprintln(out, uint32(cmd.ProcessState.Sys().(syscall.WaitStatus)))
	os.Exit(0)
	return nil
}

// playHeld waits to be seized, installs the filter and becomes the program. It runs in init, so on the process's first thread.
func playHeld() error {
	runtime.LockOSThread()
	if root := os.Getenv("PTRACE_TEST_ROOT"); root != "" {
		if err := enterRoot(root); err != nil {
			return err
		}
	}
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	if _, err := unix.Write(3, []byte{1}); err != nil {
		return err
	}
	if n, err := unix.Read(4, make([]byte, 1)); n != 1 {
		return fmt.Errorf("not released: %v", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter, err := traceFilter(strings.Contains(os.Getenv("PTRACE_TEST_EXTRA"), "ptrace"))
	if err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// traceFilter answers TRACE for Calls and what is extra, write only on the note descriptor.
func traceFilter(refuse bool) ([]unix.SockFilter, error) {
	const ret = uint32(unix.SECCOMP_RET_TRACE)
	ins := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	for _, nr := range Calls() {
		if nr == unix.SYS_WRITE {
			continue
		}
		ins = append(ins, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 1}, bpf.RetConstant{Val: ret})
	}
	extra := []int{unix.SYS_GETDENTS64, unix.SYS_SETSID, unix.SYS_UNAME}
	if refuse {
		extra = append(extra, unix.SYS_PTRACE)
	}
	for _, nr := range extra {
		ins = append(ins, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 1}, bpf.RetConstant{Val: ret})
	}
	note := int32(learn.NoteFD)
	ins = append(ins,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_WRITE, SkipTrue: 3},
		bpf.LoadAbsolute{Off: 16, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(note), SkipTrue: 1},
		bpf.RetConstant{Val: ret},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	raw, err := bpf.Assemble(ins)
	if err != nil {
		return nil, err
	}
	out := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		out[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return out, nil
}

// enterRoot makes a root of its own that shows the system folders at their places and root/data at /inside, and goes there.
func enterRoot(root string) error {
	must := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", root+"/new", "tmpfs", 0, "") },
	}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64", "/etc"} {
		must = append(must, func() error { return bind(dir, root+"/new"+dir) })
	}
	must = append(must,
		func() error { return bind(root+"/data", root+"/new/inside") },
		func() error { return os.Mkdir(root+"/new/proc", 0o755) },
		func() error { return unix.Mount("proc", root+"/new/proc", "proc", 0, "") },
		func() error { return unix.Chdir(root + "/new") },
		func() error { return unix.PivotRoot(".", ".") },
		func() error { return unix.Unmount(".", unix.MNT_DETACH) },
		func() error { return unix.Chdir("/inside") },
	)
	for i, do := range must {
		if err := do(); err != nil {
			return fmt.Errorf("root, step %d: %w", i, err)
		}
	}
	return nil
}

func bind(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return nil
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, "")
}
