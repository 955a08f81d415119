// Does to the process: makes folders on the host that write and create rules name; replaces the process for provider none.
// Undone: folders stay; a replaced process does not come back.
// Preconditions: none.
// Called by: run.go, exec.go.
// Proved by: the scripts run_makes_folder, run_provider_none.

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// makeFolder makes dir and what is missing above it. It follows no link: the path is the one the plan resolved, and what appeared since is
// not trusted.
func makeFolder(dir string) error {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { unix.Close(fd) }()
	for _, name := range strings.Split(filepath.Clean(dir), "/") {
		if name == "" {
			continue
		}
		if err := unix.Mkdirat(fd, name, 0o777); err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.EROFS) && !errors.Is(err, unix.EACCES) {
			return fmt.Errorf("mkdir %s: %w", dir, err)
		}
		next, err := unix.Openat2(fd, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW,
			Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_BENEATH})
		if err != nil {
			return fmt.Errorf("mkdir %s: %w", dir, err)
		}
		unix.Close(fd)
		fd = next
	}
	return nil
}

// execBare is provider none: no wall, the program takes psb's place.
func execBare(j *job) error {
	p := j.plan
	if len(j.opts.reports) > 0 || j.opts.failOnDenial {
		return j.refused(refuse("leave --report and --fail-on-denial out", "--provider none: the program takes psb's place, and nobody is there to report"))
	}
	return fmt.Errorf("execve %s: %w", p.Spec.Exec, syscall.Exec(p.Spec.Exec, p.Spec.Argv, p.Env))
}

// writable says why a policy file could not be written, before a run whose result would be lost.
func writable(file string) error {
	dir := filepath.Dir(file)
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("its folder %s cannot be written: %w", dir, err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(file, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("it is no regular file")
	} else if in := (unix.Stat_t{}); err == nil && unix.Stat(dir, &in) == nil && in.Mode&unix.S_ISVTX != 0 {
		if id := uint32(unix.Geteuid()); id != 0 && id != st.Uid && id != in.Uid { // renaming over it would fail
			return fmt.Errorf("its folder %s is shared, and the file is somebody else's", dir)
		}
	}
	return nil
}

// moveAside makes room for a policy where the program put something that is no file: a link, a folder. Nothing of it is removed.
func moveAside(file string) error {
	var st unix.Stat_t
	if err := unix.Lstat(file, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFREG {
		return nil
	}
	err := unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, file+".planted", unix.RENAME_NOREPLACE)
	if err != nil {
		return fmt.Errorf("the program put something else there: %w", err)
	}
	return nil
}

// folderID is a folder as it was: names can lead elsewhere after a program could rename and link.
type folderID struct {
	path     string
	dev, ino uint64
}

func lookAtFolder(dir string) folderID {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return folderID{path: dir}
	}
	return folderID{dir, uint64(st.Dev), st.Ino}
}

// same reports whether the path still leads to that folder; one that was not there is never the same.
func (f folderID) same() bool { return f.ino != 0 && lookAtFolder(f.path) == f }
