// Does to the process: nothing; writes folders of psb's own: the Python package, the shim as PYTHONPATH finds it.
// Undone: the folders stay; their names tell their content.
// Preconditions: none.
// Called by: shim_linux.go.
// Proved by: TestOwnFolderIsWholeOrRefused, TestPackageIsWhole, TestShimFolders*.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"psb/pythonshim"
)

// pythonFolder gives the folder of the host in which a box finds the Python package psb; "" where it is not there and must not be made.
func (j *job) pythonFolder(key string, content func(dir string) map[string][]byte) (string, error) {
	if j.bare {
		return "", nil
	}
	return j.ownFolder("python-"+version+"-"+key, content)
}

// packageInside has the package written into the box itself, where psb's own folder has no room for it, or is to keep nothing. Slower, and not
// otherwise.
func (j *job) packageInside() {
	j.request.Package = ""
	if j.bare || j.again {
		return
	}
	for name, text := range pythonshim.Package() {
		j.request.Shim[pythonshim.PackageDir+"/"+name] = string(text)
	}
}

// ownFolder gives a folder of psb's own whose name tells its content: made whole on first use, and never written again. What somebody else could
// have written is refused. No box can write it.
func (j *job) ownFolder(name string, content func(dir string) map[string][]byte) (string, error) {
	state := stateDir(j.w.id, j.w.lookup)
	dir := filepath.Join(state, name)
	err := checkOwn(dir)
	if errors.Is(err, os.ErrNotExist) {
		if j.again || j.w.traceless {
			return "", nil
		}
		if err = makeOwn(state, dir, content(dir)); err == nil {
			err = checkOwn(dir)
		}
	}
	if err != nil {
		return "", err
	}
	j.w.seen.node(dir) // replaced, never written into
	return dir, nil
}

// checkOwn refuses a folder that somebody else could have written into.
func checkOwn(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s: others could have written it", dir)
	}
	return nil
}

// makeOwn writes a folder aside and gives it its name when it is whole; one that another start has made meanwhile is as good.
func makeOwn(state, dir string, files map[string][]byte) error {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(state, ".making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	for name, text := range files {
		file := filepath.Join(aside, name)
		if !mayWrite(len(text)) {
			return fmt.Errorf("%s: %d bytes are beyond the limit on file sizes", name, len(text))
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	err = filepath.WalkDir(aside, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(name, map[bool]os.FileMode{true: 0o755, false: 0o644}[d.IsDir()]) // whatever the umask is
	})
	if err != nil {
		return err
	}
	err = unix.Rename(aside, dir)
	if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY) {
		return nil
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: aside, New: dir, Err: err}
	}
	return nil
}
