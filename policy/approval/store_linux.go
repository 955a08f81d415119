package approval

// What it does to the process: makes and checks the store's folders, reads and replaces records in them.
// Can it be undone: a record that was replaced does not come back; the policy can be approved again.
// Preconditions: none; any thread, any user.
// Who calls it: Store's methods, for the command line.
// Which test proves it: TestStoreOwner, TestStoreMode, TestRecordKind.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"psb/policy"
)

// maxRecord bounds what is read: a policy's files in base64, with room.
const maxRecord = 96 * policy.MaxSize

func (s Store) folders() (config, psb, approved string, err error) {
	if !filepath.IsAbs(s.config) {
		return "", "", "", fmt.Errorf("the configuration folder %q is not absolute", s.config)
	}
	psb = filepath.Join(s.config, "psb")
	return s.config, psb, filepath.Join(psb, "approved"), nil
}

// trusted refuses folders that somebody else owns or could write: whoever writes there approves. The configuration
// folder may be shared with a group or carry the sticky bit; the approvals' own folder may not, nor be a link.
func (s Store) trusted() (string, error) {
	config, psb, approved, err := s.folders()
	if err != nil {
		return "", err
	}
	for _, f := range []struct {
		name   string
		stat   func(string) (fs.FileInfo, error)
		banned fs.FileMode
		owned  bool
	}{{config, os.Stat, 0o002, false}, {psb, os.Stat, 0o002, true}, {approved, os.Lstat, 0o022, true}} {
		st, err := f.stat(f.name)
		if err != nil {
			return "", err
		}
		if !st.IsDir() {
			return "", fmt.Errorf("%q is no folder", f.name)
		}
		if err := guarded(f.name, st, f.banned, f.owned); err != nil {
			return "", err
		}
	}
	return approved, nil
}

func guarded(name string, st fs.FileInfo, banned fs.FileMode, owned bool) error {
	if st.Mode().Perm()&banned != 0 && (owned || st.Mode()&fs.ModeSticky == 0) {
		return fmt.Errorf("%q can be written by others: chmod go-w it", name)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %q is not known", name)
	}
	if owned && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%q belongs to uid %d, not to you (uid %d)", name, sys.Uid, os.Geteuid())
	}
	return nil
}

func (s Store) read(name string) ([]byte, error) {
	folder, err := s.trusted()
	if err != nil {
		return nil, err
	}
	full := filepath.Join(folder, name)
	f, err := os.OpenFile(full, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", full)
	}
	if err := guarded(full, st, 0o022, true); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err == nil && len(b) > maxRecord {
		err = fmt.Errorf("%q is larger than %d bytes", full, maxRecord)
	}
	return b, err
}

func (s Store) write(name string, b []byte) error {
	config, psb, approved, err := s.folders()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	for _, dir := range []string{psb, approved} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if _, err := s.trusted(); err != nil {
		return err
	}
	return policy.Replace(approved, name, 0o600, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

func (s Store) remove(name string) error {
	folder, err := s.trusted()
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(folder, name))
}
