package policy

// What it does to the process: writes a file that has no name yet, and puts it in place of another.
// Can it be undone: a replaced file does not come back.
// Preconditions: none; any thread, any user.
// Who calls it: Update, the store of approvals, reports.
// Which test proves it: TestReplace, TestKilled.

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Replace puts a file with what fill writes in place of base in folder, whole or not at all. The file is written and synced before it has a
// name. Whoever is killed meanwhile leaves nothing behind, but for the moment between its naming and its renaming: then a dot name stays,
// which the next Replace takes away. A file system without such files (O_TMPFILE) gets a dot name from the start.
func Replace(folder, base string, mode fs.FileMode, fill func(*os.File) error) (err error) {
	target := filepath.Join(folder, base)
	f, temp, err := fresh(folder, base, mode)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil && temp != "" {
			os.Remove(temp)
		}
	}()
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == f.Name() {
		return &fs.PathError{Op: pe.Op, Path: target, Err: pe.Err} // the file's own name says nothing
	}
	if err != nil {
		return err
	}
	if temp != "" {
		return os.Rename(temp, target)
	}
	// Whoever has the lock lives.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return &fs.PathError{Op: "flock", Path: target, Err: err}
	}
	name := filepath.Join(folder, "."+base+".psb-new")
	if err = link(f, name); errors.Is(err, fs.ErrExist) && takeAway(name) {
		err = link(f, name)
	}
	if errors.Is(err, fs.ErrExist) { // another writer is at it
		name = dotName(folder, base)
		err = link(f, name)
	}
	if err != nil {
		return err
	}
	temp = name
	return os.Rename(temp, target)
}

func link(f *os.File, name string) error {
	if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

// takeAway removes what a dead writer left; the name of a living one, or of something that is no file, stays.
func takeAway(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	// With the lock held nobody renames it any more; what stands there now must be what was opened.
	opened, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(opened, there) && opened.Mode().IsRegular() && unix.Unlink(name) == nil
}

// fresh makes the file; temp is its name where it needs one already: the file system has no others, or no /proc can name it later.
func fresh(folder, base string, mode fs.FileMode) (f *os.File, temp string, err error) {
	if _, err = os.Lstat("/proc/self/fd"); err == nil {
		f, err = os.OpenFile(folder, os.O_WRONLY|unix.O_TMPFILE, mode)
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		temp = dotName(folder, base)
		f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, mode)
	}
	return f, temp, err
}

func dotName(folder, base string) string {
	var tail [8]byte
	rand.Read(tail[:]) // it never fails
	return filepath.Join(folder, "."+base+"."+hex.EncodeToString(tail[:])+".tmp")
}
