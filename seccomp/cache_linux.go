// What it does to the process: reads and replaces one file in a folder of the caller's.
// Undone: delete the file.
// Preconditions: a folder that only this user can write and that no box is ever granted, learning runs included.
// Called by: cmd/psb.
// Proven by: TestCache.

package seccomp

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Load gives the program stored under key in dir. Any doubt is ErrCache, and the caller builds anew: a folder or file that
// belongs to or can be written by somebody else, a link, a device, a file whose hash does not fit.
//
// The hash is no signature. Whoever can write dir can choose the filter; see the preconditions above.
func Load(dir, key string) (Program, error) {
	d, err := openOwn(unix.AT_FDCWD, dir, unix.O_DIRECTORY, unix.S_IFDIR)
	if err != nil {
		return Program{}, err
	}
	defer d.Close()
	f, err := openOwn(int(d.Fd()), key, unix.O_NONBLOCK, unix.S_IFREG)
	if err != nil {
		return Program{}, err
	}
	defer f.Close()
	const most = maxInstructions*8 + 1024
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return Program{}, fmt.Errorf("%w: %w", ErrCache, err)
	}
	return unseal(key, b)
}

// openOwn opens name without following a link and checks the object it got, not the name.
func openOwn(dir int, name string, flags int, kind uint32) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|flags, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: open %q: %w", ErrCache, name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: fstat %q: %w", ErrCache, name, err)
	}
	var why string
	switch {
	case st.Mode&unix.S_IFMT != kind:
		why = "wrong kind of file"
	case int(st.Uid) != os.Geteuid():
		why = fmt.Sprintf("belongs to user %d", st.Uid)
	case st.Mode&0o022 != 0:
		why = fmt.Sprintf("others can write it (mode %#o)", st.Mode&0o7777)
	default:
		return f, nil
	}
	f.Close()
	return nil, fmt.Errorf("%w: %q: %s", ErrCache, name, why)
}

// Store writes p under key into dir, which it makes (0700) when absent. Another psb storing the same key at the same moment
// does no harm: the file is written aside and renamed.
func Store(dir, key string, p Program) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("store filter: %w", err)
	}
	_, err = tmp.Write(seal(key, p))
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, key))
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("store filter: %w", err)
	}
	return nil
}
