// Does to the process: starts the keeper with the launch in a sealed memory file.
// Undone: Kill and Wait end the box; the process itself is not changed.
// Preconditions: Linux 5.12.
// Called by: cmd/psb.
// Proved by: TestExitStatus, TestOnlyStdio, TestKillAnyStage.

package namespaces

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start runs the keeper, which builds the box. The program is not started before Ready and Release. stdio are the program's own 0, 1, 2;
// one that is nil, or that is this process's own and was closed when it started, is closed in the program. A folder and a socket
// that is not connected are refused: both are ways out of the box.
func Start(spec *Spec, stdio [3]*os.File) (*Box, error) {
	blob, err := Encode(spec)
	if err != nil {
		return nil, err
	}
	files := make([]uintptr, 0, 7)
	for i, f := range stdio {
		fd := f.Fd() // of nil: -1, which syscall.ProcAttr takes as closed
		if closedAtStart(fd) {
			fd = ^uintptr(0)
		}
		if err := harmless(fd); err != nil {
			return nil, fmt.Errorf("descriptor %d: %w", i, err)
		}
		files = append(files, fd)
	}
	mem, err := sealed(blob)
	if err != nil {
		return nil, err
	}
	defer unix.Close(mem)
	control, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(control[1])
	start, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		unix.Close(control[0])
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	defer unix.Close(start[1])
	b := &Box{control: control[0], start: start[0], first: -1, pids: spec.Unshare.PID, jobs: make(chan Job, 4), made: make(chan madeSocket, 1), paused: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{})}
	files = append(files, uintptr(mem), uintptr(control[1]), uintptr(start[1]))
	if spec.Landlock != nil {
		files = append(files, uintptr(spec.Landlock.FD))
	}
	if err = unix.SetsockoptInt(b.start, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err == nil {
		b.keeper, err = syscall.ForkExec("/proc/self/exe", []string{StageName}, &syscall.ProcAttr{Env: []string{}, Files: files})
	}
	runtime.KeepAlive(stdio)
	if err != nil {
		unix.Close(b.control)
		unix.Close(b.start)
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	go b.watch()
	return b, nil
}

// harmless refuses descriptors that lead out of the box: a folder can be walked from, an unconnected socket can be connected.
func harmless(fd uintptr) error {
	var st unix.Stat_t
	if fd == ^uintptr(0) {
		return nil
	}
	if err := unix.Fstat(int(fd), &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return errors.New("it is a folder")
	case unix.S_IFSOCK:
		if _, err := unix.Getpeername(int(fd)); err != nil {
			return fmt.Errorf("it is a socket that is not connected: getpeername: %w", err)
		}
	}
	return nil
}

// sealed puts the encoded Spec where nobody can change it any more.
func sealed(blob []byte) (int, error) {
	// Linux 6.3; with sysctl vm.memfd_noexec=2 nothing else is given out.
	fd, err := unix.MemfdCreate("psb-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("psb-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	for rest := blob; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("write the launch: %w", err)
		}
		rest = rest[n:]
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("seal the launch: %w", err)
	}
	return fd, nil
}
