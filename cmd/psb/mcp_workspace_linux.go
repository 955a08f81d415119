// Does to the process: reads, writes, moves and deletes files below the workspace of a session's box, while its program runs.
// Undone: what is there is on the box's memory and goes with it.
// Preconditions: none of the names is trusted, and each may become something else at any moment: everything is held by a descriptor before it is judged;
// no link is followed, no other file system entered, and nothing but plain files is ever opened.
// Called by: mcp_session_linux.go, mcp_streams_linux.go.
// Proved by: TestWorkspaceTricks, TestWorkspaceFiles, TestMCPSessionFileTricks.

package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// workspace is the folder of a session, from outside.
type workspace struct {
	dir     *os.File
	owner   fileOwner
	writing sync.Mutex // one change at a time, of those that come from outside
}

// wordOf puts the kernel's error into the server's words.
func wordOf(err error) error {
	for _, x := range []struct {
		is   unix.Errno
		word mcpserver.FileError
	}{{unix.ENOENT, mcpserver.ErrNoFile}, {unix.ENOTDIR, mcpserver.ErrNoFile}, {unix.ELOOP, mcpserver.ErrLink}, {unix.EXDEV, mcpserver.ErrNotFile}, {unix.EISDIR, mcpserver.ErrIsFolder},
		{unix.EEXIST, mcpserver.ErrThere}, {unix.ENOTEMPTY, mcpserver.ErrNotEmpty}, {unix.ENOSPC, mcpserver.ErrNoSpace}, {unix.EDQUOT, mcpserver.ErrNoSpace}, {unix.EFBIG, mcpserver.ErrTooLarge},
		{unix.EACCES, mcpserver.ErrNoRight}, {unix.EPERM, mcpserver.ErrNoRight}, {unix.EAGAIN, mcpserver.ErrInUse}, {unix.ETXTBSY, mcpserver.ErrInUse}, {unix.EBUSY, mcpserver.ErrInUse}} {
		if errors.Is(err, x.is) {
			return x.word
		}
	}
	return err
}

// held opens nothing: it holds what stands at a name, whatever that is.
func (w *workspace) held(name string) (int, *unix.Stat_t, error) {
	if name == "" {
		name = "."
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	fd, err := -1, error(unix.EAGAIN)
	for try := 0; try < 32 && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)); try++ { // EAGAIN: something was renamed meanwhile
		fd, err = unix.Openat2(int(w.dir.Fd()), name, &how)
	}
	if err != nil {
		return -1, nil, wordOf(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, nil, wordOf(err)
	}
	return fd, &st, nil
}

// folder holds a folder.
func (w *workspace) folder(name string) (int, error) {
	fd, st, err := w.held(name)
	if err != nil {
		return -1, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		unix.Close(fd)
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return -1, mcpserver.ErrLink
		}
		return -1, mcpserver.ErrNoFolder
	}
	return fd, nil
}

// above holds the folder that a name stands in, and gives its last part.
func (w *workspace) above(name string) (int, string, error) {
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	fd, err := w.folder(dir)
	return fd, path.Base(name), err
}

// reopened opens what a descriptor holds: it can be nothing else any more. A lease of the program's would keep the opener waiting: O_NONBLOCK refuses.
func reopened(fd, flags int) (*os.File, error) {
	n, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, wordOf(err)
	}
	return os.NewFile(uintptr(n), "workspace"), nil
}

// plain opens a plain file, and nothing else.
func (w *workspace) plain(name string, flags int) (*os.File, *unix.Stat_t, error) {
	fd, st, err := w.held(name)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(fd)
	if err := onlyPlain(st); err != nil {
		return nil, nil, err
	}
	f, err := reopened(fd, flags)
	return f, st, err
}

func onlyPlain(st *unix.Stat_t) error {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFDIR:
		return mcpserver.ErrIsFolder
	case unix.S_IFLNK:
		return mcpserver.ErrLink
	}
	return mcpserver.ErrNotFile
}

func infoOf(name string, st *unix.Stat_t) mcpserver.FileInfo {
	kind := map[uint32]string{unix.S_IFREG: "file", unix.S_IFDIR: "folder", unix.S_IFLNK: "link"}[st.Mode&unix.S_IFMT]
	if kind == "" {
		kind = "other"
	}
	return mcpserver.FileInfo{Path: name, Kind: kind, Size: st.Size, Mode: st.Mode & 0o7777, Modified: time.Unix(st.Mtim.Unix())}
}

func (w *workspace) read(name string, offset, limit int64) (mcpserver.FileContent, error) {
	f, st, err := w.plain(name, unix.O_RDONLY)
	if err != nil {
		return mcpserver.FileContent{}, err
	}
	defer f.Close()
	out := mcpserver.FileContent{FileInfo: infoOf(name, st), Offset: min(offset, st.Size)}
	if out.Bytes, err = io.ReadAll(io.NewSectionReader(f, out.Offset, min(limit, st.Size-out.Offset))); err != nil {
		return mcpserver.FileContent{}, wordOf(err)
	}
	return out, nil
}

// sumOf hashes a file as far as it reached when it was held: one that grows as fast as it is read has an end, too.
func sumOf(f io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, size)); err != nil {
		return "", wordOf(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// reading bounds what is read of files as a whole: files with holes, and one file under many names, can be far more than the workspace holds.
type reading struct{ left int64 }

// newReading allows as much as the workspace could hold, twice.
func newReading(dir *os.File) *reading {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &st); err != nil || st.Blocks > 1<<40 {
		return &reading{1 << 40}
	}
	return &reading{2 * int64(st.Blocks) * int64(st.Bsize)}
}

func (r *reading) allows(size int64) error {
	if size > r.left {
		return errHoles
	}
	r.left -= size
	return nil
}

const errHoles = mcpserver.FileError("not read: with holes, or with those before it, it is more than the workspace holds")

// write puts a file in place whole: whoever reads meanwhile sees the old one or the new one.
func (w *workspace) write(name string, content []byte, how mcpserver.Writing) (mcpserver.FileInfo, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	var none mcpserver.FileInfo
	if err := w.foldersFor(name); err != nil {
		return none, err
	}
	dir, last, err := w.above(name)
	if err != nil {
		return none, err
	}
	defer unix.Close(dir)
	mode := uint32(0o644)
	if fd, st, err := w.held(name); err == nil {
		defer unix.Close(fd)
		if how.New {
			return none, mcpserver.ErrThere
		}
		if err := onlyPlain(st); err != nil {
			return none, err
		}
		if how.If != "" || how.Append {
			f, err := reopened(fd, unix.O_RDWR|unix.O_APPEND)
			if err != nil {
				return none, err
			}
			defer f.Close()
			if how.If != "" {
				if sum, err := w.sum(f, st.Size); err != nil || sum != how.If {
					return none, mcpserver.ErrChanged
				}
			}
			if how.Append {
				return w.add(name, f, content)
			}
		}
		mode = st.Mode & 0o777
	} else if !errors.Is(err, mcpserver.ErrNoFile) {
		return none, err
	} else if how.If != "" {
		return none, err
	}
	if how.Executable {
		mode |= 0o111
	}
	if err := w.place(dir, last, content, mode, how.New); err != nil {
		return none, wordOf(err)
	}
	return mcpserver.FileInfo{Path: name, Kind: "file", Size: int64(len(content)), Mode: mode, Modified: time.Now(), SHA256: bytesSum(content)}, nil
}

func bytesSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// add writes to a file's end.
func (w *workspace) add(name string, f *os.File, content []byte) (mcpserver.FileInfo, error) {
	if n, err := f.Write(content); err != nil {
		return mcpserver.FileInfo{}, fmt.Errorf("%w; %d of %d bytes were added", wordOf(err), n, len(content))
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return mcpserver.FileInfo{}, wordOf(err)
	}
	info := infoOf(name, &st)
	var err error
	info.SHA256, err = w.sum(f, st.Size)
	return info, err
}

// sum is sumOf for a file that is no larger than the workspace.
func (w *workspace) sum(f io.ReaderAt, size int64) (string, error) {
	if err := newReading(w.dir).allows(size); err != nil {
		return "", err
	}
	return sumOf(f, size)
}

// foldersFor makes the folders that a name needs.
func (w *workspace) foldersFor(name string) error {
	at := path.Dir(name)
	if at == "." {
		return nil
	}
	err := makeFolders(w.dir, at, w.owner)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return mcpserver.ErrNoFolder
	}
	return wordOf(err)
}

// place makes a file under a name of its own and renames it.
func (w *workspace) place(dir int, last string, content []byte, mode uint32, fresh bool) (err error) {
	own := ".psb-" + rand.Text()
	fd, err := unix.Openat(dir, own, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), own)
	defer f.Close()
	defer func() {
		if err != nil {
			_ = unix.Unlinkat(dir, own, 0) // what the program put there in its place is the program's
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Chown(w.owner.uid, w.owner.gid); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return err
	}
	flags := uint(0)
	if fresh {
		flags = unix.RENAME_NOREPLACE
	}
	return unix.Renameat2(dir, own, dir, last, flags)
}
