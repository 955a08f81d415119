// Does to the process: opens, reads and writes single control files of cgroups; makes and removes single folders there.
// Undone: a written limit by writing the old one, a made group by removing it.
// Preconditions: folders come from Probe; Linux 5.6 for openat2(2).
// Called by: this package's Probe, Create, Group and Sweep.
// Proved by: TestNoLinkIsFollowed, TestErrorsNameFileAndValue.

package cgroups

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is an open folder of a cgroup hierarchy. No link below or on the way to it was or will be followed.
type folder struct {
	path string
	fd   int
}

func openFolder(path string) (*folder, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return nil, fmt.Errorf("openat2 %q: %w", path, err)
	}
	return &folder{path, fd}, nil
}

func (d *folder) close() { unix.Close(d.fd) }

// openat opens one entry of the folder, which must be in the same file system and no link.
func (d *folder) openat(name string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	fd, err := unix.Openat2(d.fd, name, &how)
	if err != nil {
		return -1, fmt.Errorf("openat2 %q: %w", d.path+"/"+name, err)
	}
	return fd, nil
}

// write hands one value to the kernel in one write(2): cgroup files take a value as a whole. It never makes a file.
func (d *folder) write(name, value string) error {
	fd, err := d.openat(name, unix.O_WRONLY)
	if err != nil {
		return fmt.Errorf("write %q: %w", value, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(value)); err != nil {
		return fmt.Errorf("write %q to %q: %w", value, d.path+"/"+name, err)
	}
	return nil
}

func (d *folder) read(name string) ([]byte, error) {
	fd, err := d.openat(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path+"/"+name)
	defer f.Close()
	return io.ReadAll(f)
}

// groups lists the names of the groups in the folder.
func (d *folder) groups() ([]string, error) {
	fd, err := d.openat(".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// sub opens a group in the folder.
func (d *folder) sub(name string) (*folder, error) {
	fd, err := d.openat(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{d.path + "/" + name, fd}, nil
}

func (d *folder) mkdir(name string) error {
	if err := unix.Mkdirat(d.fd, name, 0o755); err != nil {
		return fmt.Errorf("mkdir %q: %w", d.path+"/"+name, err)
	}
	return nil
}

// processes are the process ids in the group, as this process's pid namespace counts them; 0 is one outside it.
func (d *folder) processes() ([]string, error) {
	text, err := d.read("cgroup.procs")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(text)), nil
}
