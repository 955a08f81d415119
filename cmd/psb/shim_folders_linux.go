// Does to the process: locks a folder of psb's own for as long as psb lives; removes such folders that nobody uses.
// Undone: the lock goes with the process.
// Preconditions: the folder holds a form of the shim and nothing else.
// Called by: shim_linux.go.
// Proved by: TestShimFolders*.

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mostShimFolders is how many folders of the shim are kept that no running psb holds: one for each text of rules.
const mostShimFolders = 20

const shimFolderPrefix = "shim-"

// holdShimFolder holds a folder: it is not swept while this psb lives, whose programs may start Pythons until then. os.ErrNotExist: it was swept.
func holdShimFolder(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	if err := unix.Flock(fd, unix.LOCK_SH); err != nil {
		unix.Close(fd)
		return &os.PathError{Op: "flock", Path: dir, Err: err}
	}
	var held, there unix.Stat_t
	if unix.Fstat(fd, &held) != nil || unix.Lstat(dir, &there) != nil || held.Dev != there.Dev || held.Ino != there.Ino {
		unix.Close(fd)
		return &os.PathError{Op: "hold", Path: dir, Err: os.ErrNotExist}
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // the least used goes first
	return nil                    // the descriptor stays open: it is the lock
}

// sweepShimFolders removes the folders of the shim beyond the newest, those that somebody holds left out. What cannot be removed stays.
func sweepShimFolders(parent string) {
	list, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	type folder struct {
		name string
		used time.Time
	}
	var found []folder
	for _, e := range list {
		if fi, err := e.Info(); err == nil && e.IsDir() && strings.HasPrefix(e.Name(), shimFolderPrefix) {
			found = append(found, folder{e.Name(), fi.ModTime()})
		}
	}
	if len(found) <= mostShimFolders {
		return
	}
	slices.SortFunc(found, func(a, b folder) int { return b.used.Compare(a.used) })
	for _, f := range found[mostShimFolders:] {
		removeUnheld(filepath.Join(parent, f.name))
	}
}

// removeUnheld takes a folder away that no psb holds. It goes under another name first, so that nobody starts to use it meanwhile.
func removeUnheld(dir string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	away := filepath.Join(filepath.Dir(dir), "swept-"+filepath.Base(dir))
	if os.RemoveAll(away) == nil && os.Rename(dir, away) == nil {
		_ = os.RemoveAll(away)
	}
}
