// Does to the process: moves, deletes, makes and looks at names below the workspace of a session's box, while its program runs.
// Undone: it cannot be; what is there is on the box's memory and goes with it.
// Preconditions: as mcp_workspace_linux.go.
// Called by: mcp_streams_linux.go, mcp_session_linux.go.
// Proved by: TestWorkspaceTricks, TestWorkspaceFiles, TestMCPSessionFileTricks.

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// manage is one change, or a look.
func (w *workspace) manage(name string, act mcpserver.FileAct) (mcpserver.FileInfo, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if act.Do == "mkdir" {
		if err := w.foldersFor(name + "/x"); err != nil {
			return mcpserver.FileInfo{}, err
		}
	}
	fd, st, err := w.held(name)
	if err != nil {
		return mcpserver.FileInfo{}, err
	}
	defer unix.Close(fd)
	info := infoOf(name, st)
	switch act.Do {
	case "mkdir":
		if info.Kind != "folder" {
			return info, mcpserver.ErrThere
		}
	case "stat":
		if info.Kind == "file" {
			if f, err := reopened(fd, unix.O_RDONLY); err == nil { // one that cannot be read is told of without its hash
				defer f.Close()
				info.SHA256, _ = w.sum(f, st.Size)
			}
		}
	case "chmod":
		if info.Kind != "file" && info.Kind != "folder" {
			return info, onlyPlain(st)
		}
		if err := unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), act.Mode&0o777); err != nil {
			return info, wordOf(err)
		}
		info.Mode = act.Mode & 0o777
	case "move":
		if err := w.move(name, act.To); err != nil {
			return info, err
		}
		info.Path = act.To
	case "delete":
		dir, last, err := w.above(name)
		if err != nil {
			return info, err
		}
		defer unix.Close(dir)
		return info, w.remove(dir, last, act.Recursive, new(int), 0)
	default:
		return info, fmt.Errorf("no act %q", act.Do)
	}
	return info, nil
}

// move renames, and never onto something.
func (w *workspace) move(name, to string) error {
	if err := w.foldersFor(to); err != nil {
		return err
	}
	from, last, err := w.above(name)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	into, becomes, err := w.above(to)
	if err != nil {
		return err
	}
	defer unix.Close(into)
	if err := unix.Renameat2(from, last, into, becomes, unix.RENAME_NOREPLACE); errors.Is(err, unix.EINVAL) {
		return mcpserver.FileError("a folder cannot be moved into itself")
	} else if err != nil {
		return wordOf(err)
	}
	return nil
}

// remove deletes one name; a link is deleted itself, and of a folder what is in it, where that is asked for.
func (w *workspace) remove(dir int, last string, recursive bool, seen *int, deep int) error {
	err := unix.Unlinkat(dir, last, 0)
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return wordOf(err)
	}
	err = unix.Unlinkat(dir, last, unix.AT_REMOVEDIR)
	if !errors.Is(err, unix.ENOTEMPTY) || !recursive {
		return wordOf(err)
	}
	if deep == mostDeep {
		return mcpserver.FileError(fmt.Sprintf("more than %d folders deep", mostDeep))
	}
	inner, err := unix.Openat(dir, last, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return wordOf(err)
	}
	f := os.NewFile(uintptr(inner), "folder")
	defer f.Close()
	for {
		names, err := f.Readdirnames(256)
		for _, n := range names {
			if *seen++; *seen > mostEntries {
				return mcpserver.FileError(fmt.Sprintf("more than %d names; a part is deleted", mostEntries))
			}
			if err := w.remove(inner, n, true, seen, deep+1); err != nil && !errors.Is(err, mcpserver.ErrNoFile) {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	return wordOf(unix.Unlinkat(dir, last, unix.AT_REMOVEDIR))
}
