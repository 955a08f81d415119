package policy

// What it does to the process: opens policy files and their folder, holds a lock on the folder while writing.
// Can it be undone: the lock ends with the descriptor; a replaced file does not come back.
// Preconditions: none; any thread, any user.
// Who calls it: the command line, through Load, and wherever a policy is written.
// Which test proves it: TestUpdate, TestReadFile.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockWait is how long Update waits for another writer of the same folder.
const lockWait = 10 * time.Second

// ReadFile reads a policy file of at most MaxSize bytes. It follows links and refuses everything that is no regular
// file, without waiting for a writer when it is a pipe. A missing file is fs.ErrNotExist.
func ReadFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("policy %q: %s, not a regular file", name, kind(st.Mode()))
	}
	src, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if len(src) > MaxSize {
		return nil, fmt.Errorf("policy %q: larger than %d bytes", name, MaxSize)
	}
	return src, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Update replaces the policy file at name by what change makes of it, whole or not at all: under a lock on its folder
// it reads the file (old is nil and exists false when there is none), writes the result beside it, syncs and renames.
// Mode and, where permitted, owner are kept; a new file gets mode 0644 less the umask. When change returns an error or
// the same bytes, nothing is touched. A symbolic link and everything else that is no regular file is refused.
//
// The lock is flock(2) on the folder, so that no lock file is left behind; it waits ten seconds for another writer.
func Update(name string, change func(old []byte, exists bool) ([]byte, error)) error {
	return UpdateThen(name, change, func() error { return nil })
}

// UpdateThen is Update, and calls then once the file is as it shall be, while the lock still holds: what belongs to the new text is settled
// before the next writer sees it.
func UpdateThen(name string, change func(old []byte, exists bool) ([]byte, error), then func() error) error {
	name = filepath.Clean(name)
	folder, base := filepath.Dir(name), filepath.Base(name)
	dir, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", name, err)
	}
	defer dir.Close()
	if err := lock(dir); err != nil {
		return fmt.Errorf("cannot write %q: %w", name, err)
	}
	var (
		old  []byte
		mode fs.FileMode = 0o644
		own  *unix.Stat_t
	)
	st, err := os.Lstat(name)
	exists := err == nil
	switch {
	case exists && !st.Mode().IsRegular():
		return fmt.Errorf("cannot write %q: %s, not a regular file", name, kind(st.Mode()))
	case exists:
		if old, err = ReadFile(name); err != nil {
			return err
		}
		mode = st.Mode().Perm()
		own = new(unix.Stat_t)
		if err := unix.Lstat(name, own); err != nil {
			return fmt.Errorf("cannot write %q: lstat: %w", name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %q: %w", name, err)
	}
	text, err := change(old, exists)
	if err != nil {
		return err
	}
	if exists && string(text) == string(old) {
		return then()
	}
	if len(text) > MaxSize {
		return fmt.Errorf("cannot write %q: larger than %d bytes", name, MaxSize)
	}
	if err := replace(dir, folder, base, text, mode, own); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
			return fmt.Errorf("cannot write %q: folder %q is not writable: %w", name, folder, unwrapPath(err))
		}
		return fmt.Errorf("cannot write %q: %w", name, err)
	}
	return then()
}

// WriteFile puts text in place of the policy file at name; see Update.
func WriteFile(name string, text []byte) error {
	return Update(name, func([]byte, bool) ([]byte, error) { return text, nil })
}

func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func lock(dir *os.File) error {
	for end := time.Now().Add(lockWait); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case err == unix.EINTR:
		case err != unix.EWOULDBLOCK:
			return fmt.Errorf("flock: %w", err)
		case time.Now().After(end):
			return fmt.Errorf("another program holds the lock on its folder")
		}
	}
}

// replace puts text in place of base, with mode and, where permitted, owner of the old file.
func replace(dir *os.File, folder, base string, text []byte, mode fs.FileMode, own *unix.Stat_t) error {
	create := mode
	if own != nil {
		create = 0o600 // until owner and mode are the old file's
	}
	err := Replace(folder, base, create, func(f *os.File) error {
		if own != nil {
			if int(own.Uid) != os.Geteuid() || int(own.Gid) != os.Getegid() {
				// Only root can give a file away; for others the folder's owner has become the file's.
				if err := f.Chown(int(own.Uid), int(own.Gid)); err != nil && os.Geteuid() == 0 {
					return err
				}
			}
			if err := f.Chmod(mode); err != nil {
				return err
			}
		}
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return dir.Sync()
}
