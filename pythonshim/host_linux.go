// What it does to the process: opens files for reading, never blocking on a pipe or taking a terminal; changes nothing.
// Can it be undone: nothing to undo; every descriptor is closed by its reader.
// Preconditions: none.
// Who calls it: Find, Always, Programs through the Looker interface.
// Which test proves it: TestHostOpensRegularFilesOnly.

package pythonshim

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Host is the machine psb runs on, seen with the environment and working folder of the command to run.
type Host struct {
	Env []string // "NAME=value"; of several lines for one name the first counts, as in getenv(3)
	Cwd string   // absolute; "" is the process's own
}

// Lstat is lstat(2).
func (Host) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Readlink is readlink(2).
func (Host) Readlink(name string) (string, error) { return os.Readlink(name) }

// ReadDir reads a folder, sorted by name.
func (Host) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Open opens a regular file; a pipe, device or folder is an error.
func (Host) Open(name string) (File, error) {
	fd, err := opened(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	if err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = fmt.Errorf("%q is no regular file", name)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return hostFile(fd), nil
}

func opened(name string) (int, error) {
	for {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// hostFile is the descriptor alone: an os.File would ask the kernel, for each of hundreds of files, whether it can be waited for.
type hostFile int

// ReadAt is pread(2), as often as it takes.
func (f hostFile) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		m, err := syscall.Pread(int(f), b[n:], at+int64(n))
		if m <= 0 && err != syscall.EINTR {
			return n, cmp.Or(err, io.EOF)
		}
		n += max(m, 0)
	}
	return n, nil
}

// Close gives the descriptor back.
func (f hostFile) Close() error { return syscall.Close(int(f)) }

// Getenv gives a variable of the command's environment, "" when unset.
func (h Host) Getenv(name string) string {
	for _, kv := range h.Env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Dir gives the command's working folder.
func (h Host) Dir() string {
	if h.Cwd != "" {
		return h.Cwd
	}
	dir, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return dir
}
