// What it does to the process: opens files for reading, never blocking on a pipe or taking a terminal; changes nothing.
// Can it be undone: nothing to undo; every descriptor is closed by its reader.
// Preconditions: none.
// Who calls it: Find, Always, Programs through the Looker interface.
// Which test proves it: TestHostOpensRegularFilesOnly.

package pythonshim

import (
	"fmt"
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
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%q is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

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
