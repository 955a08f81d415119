// Does to the process: lists the workspace of a session and reads its plain files, while its program may run.
// Undone: nothing to undo.
// Preconditions: as mcp_workspace_linux.go.
// Called by: mcp_session_linux.go, mcp_search_linux.go.
// Proved by: TestWorkspaceChanges, TestWorkspaceTricks, TestMCPSession*.

package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// lookedAt walks the names below a folder in their order, sorted within each.
type lookedAt struct {
	seen  int
	visit func(fd int, st *unix.Stat_t, name string, deep int) (enter bool, err error) // of each name, held
}

var errEnough = errors.New("enough was seen")

// folder looks at what is in a held folder, whose own name is given.
func (l *lookedAt) folder(dir int, name string, deep int) error {
	f, err := reopened(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("list %s: %w", plainText(name), err)
	}
	defer f.Close()
	names, err := f.Readdirnames(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("list %s: %w", plainText(name), wordOf(err))
	}
	slices.Sort(names)
	for _, n := range names {
		if l.seen++; l.seen > mostEntries {
			return mcpserver.FileError(fmt.Sprintf("more than %d names; the rest was not looked at", mostEntries))
		}
		if err := l.one(int(f.Fd()), n, path.Join(name, n), deep); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookedAt) one(dir int, last, name string, deep int) error {
	fd, err := unix.Openat(dir, last, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // it is gone
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil
	}
	enter, err := l.visit(fd, &st, name, deep)
	if err != nil || !enter || st.Mode&unix.S_IFMT != unix.S_IFDIR || deep == mostDeep {
		return err
	}
	err = l.folder(fd, name, deep+1)
	if errors.Is(err, mcpserver.ErrNoRight) || errors.Is(err, mcpserver.ErrInUse) {
		return nil // the program keeps it closed; it is seen itself
	}
	return err
}

// fileMarks is what the plain files of a workspace looked like.
type fileMarks map[string]fileMark

// fileMark changes with every change of a file but one: the kernel's clock goes by ticks, so what was written in the tick of the look itself is
// known by its bytes.
type fileMark struct {
	inode        uint64
	size         int64
	changed, set unix.Timespec
	sum          string // of a file that was changed only just before
}

// clockTick is more than the kernel's clock for files goes by.
const clockTick = 20 * time.Millisecond

func (w *workspace) eachFile(see func(fd int, st *unix.Stat_t, name string) error) error {
	l := lookedAt{visit: func(fd int, st *unix.Stat_t, name string, _ int) (bool, error) {
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			return false, see(fd, st, name)
		}
		return path.Base(name) != "__pycache__", nil
	}}
	return l.folder(int(w.dir.Fd()), "", 0)
}

// marks looks at every plain file.
func (w *workspace) marks() (*fileMarks, error) {
	m := fileMarks{}
	now, budget := time.Now(), newReading(w.dir)
	err := w.eachFile(func(fd int, st *unix.Stat_t, name string) error {
		k := fileMark{st.Ino, st.Size, st.Ctim, st.Mtim, ""}
		if now.Sub(time.Unix(st.Ctim.Unix())) < clockTick && budget.allows(st.Size) == nil {
			k.sum = heldSum(fd, st.Size)
		}
		m[name] = k
		return nil
	})
	return &m, err
}

// heldSum is the hash of a held file; "" where it cannot be read.
func heldSum(fd int, size int64) string {
	f, err := reopened(fd, unix.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum, _ := sumOf(f, size)
	return sum
}

// changes tells which plain files are new, other ones than before, or gone.
func (w *workspace) changes(before *fileMarks, o *callOrder, v *boxVerdict) error {
	if before == nil {
		return errors.New("the workspace was not looked at before")
	}
	pick := newPick(o, v)
	there, budget := map[string]bool{}, newReading(w.dir)
	err := w.eachFile(func(fd int, st *unix.Stat_t, name string) error {
		there[name] = true
		was, had := (*before)[name]
		same := had && was.inode == st.Ino && was.size == st.Size && was.changed == st.Ctim && was.set == st.Mtim
		if same && was.sum == "" {
			return nil
		}
		f := &boxFile{Path: name, Size: st.Size, Change: "created"}
		if had {
			f.Change = "modified"
		}
		if err := budget.allows(st.Size); err != nil {
			f.Omitted = err.Error()
			pick.add(f)
			return nil
		}
		if w.take(fd, st, f, pick.wants(name) && st.Size <= o.ReturnMax); had && f.SHA256 != "" && f.SHA256 == was.sum {
			return nil
		}
		pick.add(f)
		return nil
	})
	if err != nil {
		return err // what was not seen is not gone
	}
	for name := range *before {
		if there[name] {
			delete(*before, name)
		}
	}
	pickGone(pick, *before)
	return nil
}

// take reads a file that is held, with its bytes where they are wanted.
func (w *workspace) take(fd int, st *unix.Stat_t, out *boxFile, whole bool) {
	f, err := reopened(fd, unix.O_RDONLY)
	if err != nil {
		out.Omitted = err.Error()
		return
	}
	defer f.Close()
	if !whole {
		if out.SHA256, err = sumOf(f, st.Size); err != nil {
			out.Omitted = err.Error()
		}
		return
	}
	if out.Content, err = io.ReadAll(io.NewSectionReader(f, 0, st.Size)); err != nil {
		out.Content, out.Omitted = nil, wordOf(err).Error()
		return
	}
	out.Size = int64(len(out.Content))
	out.SHA256 = bytesSum(out.Content)
}
