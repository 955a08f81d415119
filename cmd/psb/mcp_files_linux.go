// Does to the process: makes, writes, reads and lists files below folders of a box that it holds open.
// Undone: the folders are on the box's memory and go with it.
// Preconditions: none of the names is trusted: no link is followed, nothing above the folder is reached, nothing that could block is opened.
// Called by: mcp_box_linux.go.
// Proved by: TestMCPFiles, TestMCPHostileResults.

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// fileOwner is the program's id outside.
type fileOwner struct{ uid, gid int }

// openInside opens a folder of the box's own root, while its program is held.
func openInside(program int, dir string) (*os.File, error) {
	root, err := unix.Open("/proc/"+strconv.Itoa(program)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the box's root: %w", err)
	}
	defer unix.Close(root)
	return beneath(root, strings.TrimPrefix(dir, "/"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// beneath opens a name below a folder, without links.
func beneath(dir int, name string, flags int, mode uint32) (*os.File, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Mode: uint64(mode), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(dir, name, &how)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// putFile writes a new file and the folders it needs.
func putFile(dir *os.File, name string, content []byte, executable bool, owner fileOwner) error {
	if at := path.Dir(name); at != "." {
		if err := makeFolders(dir, at, owner); err != nil {
			return err
		}
	}
	mode := uint32(0o644)
	if executable {
		mode = 0o755
	}
	f, err := beneath(int(dir.Fd()), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		return errors.Unwrap(err)
	}
	if err := f.Chmod(os.FileMode(mode)); err != nil {
		return err
	}
	return f.Chown(owner.uid, owner.gid)
}

// makeFolders makes a folder and those above it, below dir.
func makeFolders(dir *os.File, name string, owner fileOwner) error {
	done := ""
	for part := range strings.SplitSeq(name, "/") {
		above := done
		if above == "" {
			above = "."
		}
		done = path.Join(done, part)
		in, err := beneath(int(dir.Fd()), above, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		err = unix.Mkdirat(int(in.Fd()), part, 0o755)
		if err == nil {
			err = unix.Fchownat(int(in.Fd()), part, owner.uid, owner.gid, unix.AT_SYMLINK_NOFOLLOW)
		} else if errors.Is(err, unix.EEXIST) {
			err = nil
		}
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// readPlain reads a plain file, at most so many bytes and one more, and tells its size.
func readPlain(dir *os.File, name string, most int64) ([]byte, int64, error) {
	f, err := beneath(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, mcpserver.ErrNotFile
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	return b, fi.Size(), err
}

// Bounds of a look at a workspace.
const (
	mostEntries = 20_000
	mostDeep    = 64
)

// collectFiles compares the workspace with what the call brought. The program is gone: nothing changes any more.
func collectFiles(dir *os.File, o *callOrder, v *boxVerdict) error {
	names, err := plainFiles(dir)
	brought := map[string][]byte{}
	for _, f := range o.Files {
		brought[f.Path] = f.Content
	}
	pick, budget := newPick(o, v), newReading(dir)
	for _, name := range names {
		f, found := lookAtFile(dir, name, brought, budget)
		delete(brought, name)
		if found {
			pick.add(f)
		}
	}
	pickGone(pick, brought)
	return err
}

// pick chooses which changed files come back, and with their bytes.
type pick struct {
	order   *callOrder
	verdict *boxVerdict
	room    int64
}

func newPick(o *callOrder, v *boxVerdict) *pick { return &pick{o, v, o.ReturnAll} }

func (p *pick) wants(name string) bool {
	return mcpserver.Return{All: p.order.All, Globs: p.order.Globs}.Wants(name)
}

func (p *pick) add(f *boxFile) {
	o, v := p.order, p.verdict
	switch {
	case !p.wants(f.Path):
		f.Content = nil
		if len(o.Globs) > 0 || !o.All {
			return
		}
	case len(v.Files) == o.Returned:
		v.Unlisted++
		return
	case f.Omitted != "":
	case f.Size > o.ReturnMax:
		f.Content, f.Omitted = nil, fmt.Sprintf("larger than %d bytes", o.ReturnMax)
	case f.Size > p.room:
		f.Content, f.Omitted = nil, "more than fits into one result"
	default:
		p.room -= f.Size
	}
	v.Files = append(v.Files, *f)
}

// pickGone adds those that are not there any more.
func pickGone[V any](p *pick, left map[string]V) {
	for _, name := range slices.Sorted(mapKeys(left)) {
		if p.wants(name) && len(p.verdict.Files) < p.order.Returned {
			p.verdict.Files = append(p.verdict.Files, boxFile{Path: name, Change: "deleted"})
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// lookAtFile reads a file if it is new or another one than was brought.
func lookAtFile(dir *os.File, name string, brought map[string][]byte, budget *reading) (*boxFile, bool) {
	f, err := beneath(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	was, had := brought[name]
	change := "created"
	if had {
		change = "modified"
	}
	if err != nil {
		return &boxFile{Path: name, Change: change, Omitted: err.Error()}, true
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil {
		err = budget.allows(fi.Size())
	}
	if err != nil {
		return &boxFile{Path: name, Change: change, Omitted: err.Error()}, true
	}
	const inMemory = 64 << 20
	h := sha256.New()
	content, err := io.ReadAll(io.TeeReader(io.LimitReader(f, inMemory), h))
	if err != nil {
		return &boxFile{Path: name, Change: change, Omitted: err.Error()}, true
	}
	size := int64(len(content))
	if size == inMemory {
		rest, err := io.Copy(h, f)
		if err != nil {
			return &boxFile{Path: name, Change: change, Omitted: err.Error()}, true
		}
		if size += rest; rest > 0 {
			content = nil
		}
	}
	if had && string(was) == string(content) && size == int64(len(was)) {
		return nil, false
	}
	out := &boxFile{Path: name, Size: size, SHA256: hex.EncodeToString(h.Sum(nil)), Change: change, Content: content}
	if content == nil {
		out.Omitted = "too large"
	}
	return out, true
}

// plainFiles lists the plain files below a folder by their names, sorted. Links, pipes and the like are left out; so is Python's bytecode.
func plainFiles(dir *os.File) (names []string, err error) {
	seen := 0
	var walk func(at string, deep int) error // the first error counts, and the rest is looked at all the same
	walk = func(at string, deep int) (first error) {
		name := at
		if name == "" {
			name = "."
		}
		d, err := beneath(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return fmt.Errorf("list %s: %w", plainText(at), err)
		}
		entries, err := d.ReadDir(mostEntries)
		d.Close()
		if err != nil && err != io.EOF {
			return fmt.Errorf("list %s: %w", plainText(at), err)
		}
		slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if seen++; seen > mostEntries {
				return fmt.Errorf("more than %d names; the rest was not looked at", mostEntries)
			}
			p := path.Join(at, e.Name())
			switch {
			case e.IsDir() && e.Name() == "__pycache__":
			case e.IsDir() && deep < mostDeep:
				if err := walk(p, deep+1); first == nil {
					first = err
				}
			case e.Type().IsRegular():
				names = append(names, p)
			}
		}
		return first
	}
	err = walk("", 0)
	return names, err
}
