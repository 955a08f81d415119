// Does to the process: lists folders of a session's workspace and reads its plain files, while its program runs.
// Undone: nothing to undo.
// Preconditions: as mcp_workspace_linux.go.
// Called by: mcp_workspace_linux.go.
// Proved by: TestWorkspaceTricks, TestWorkspaceFind.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// Bounds of one search.
const (
	mostSearched  = 8 << 20  // bytes of one file
	mostReadAll   = 64 << 20 // bytes of all files
	mostFileLines = 50       // that are told of one file
	mostLine      = 400      // bytes of a line that are told
	binaryLook    = 8 << 10  // a NUL among the first bytes: no text
)

// fileSearch is one walk.
type fileSearch struct {
	query   mcpserver.FindQuery
	lines   *regexp.Regexp // nil: names alone
	found   []mcpserver.FileInfo
	entries int
	read    int64
}

func newFileSearch(q mcpserver.FindQuery) (*fileSearch, error) {
	s := &fileSearch{query: q}
	if q.Grep == "" {
		return s, nil
	}
	var err error
	s.lines, err = regexp.Compile(q.Grep)
	return s, err
}

// find walks, and searches.
func (w *workspace) find(ctx context.Context, from string, q mcpserver.FindQuery) ([]mcpserver.FileInfo, error) {
	s, err := newFileSearch(q)
	if err != nil {
		return nil, err
	}
	fd, err := w.folder(from)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := s.walk(ctx, fd, from, "", 1); err != nil {
		return nil, err
	}
	return s.found, nil
}

// walk looks at what is in a folder, at is its name and below its name from where the search began.
func (s *fileSearch) walk(ctx context.Context, dir int, at, below string, deep int) error {
	f, err := reopened(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("list %s: %w", plainText(at), err)
	}
	defer f.Close()
	names, err := f.Readdirnames(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("list %s: %w", plainText(at), wordOf(err))
	}
	slices.Sort(names)
	for _, n := range names {
		if s.entries++; s.entries > mostEntries {
			return mcpserver.FileError(fmt.Sprintf("more than %d names; begin in a folder below, or set depth", mostEntries))
		}
		if len(s.found) == s.query.Most {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.entry(ctx, int(f.Fd()), n, path.Join(at, n), path.Join(below, n), deep); err != nil {
			return err
		}
	}
	return nil
}

func (s *fileSearch) entry(ctx context.Context, dir int, last, name, below string, deep int) error {
	fd, err := unix.Openat(dir, last, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // it is gone
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil
	}
	info := infoOf(name, &st)
	if s.query.Glob == "" || mcpserver.Matches(s.query.Glob, below) || mcpserver.Matches(s.query.Glob, name) {
		if s.lines == nil || info.Kind == "file" && s.holds(fd, &st, &info) {
			s.found = append(s.found, info)
		}
	}
	if info.Kind != "folder" || deep == mostDeep || s.query.Depth != 0 && deep >= s.query.Depth {
		return nil
	}
	err = s.walk(ctx, fd, name, below, deep+1)
	if errors.Is(err, mcpserver.ErrNoRight) || errors.Is(err, mcpserver.ErrInUse) {
		return nil // the program keeps it closed; it is listed itself
	}
	return err
}

// holds looks for lines in a file.
func (s *fileSearch) holds(fd int, st *unix.Stat_t, info *mcpserver.FileInfo) bool {
	size := min(st.Size, mostSearched)
	if s.read += size; s.read > mostReadAll {
		return false
	}
	f, err := reopened(fd, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := readUpTo(f, size)
	if err != nil || bytes.IndexByte(text[:min(len(text), binaryLook)], 0) >= 0 {
		return false
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if !s.lines.Match(line) {
			continue
		}
		info.Lines = append(info.Lines, mcpserver.FoundLine{Number: number, Text: string(line[:min(len(line), mostLine)])})
		if len(info.Lines) == mostFileLines {
			break
		}
	}
	return len(info.Lines) > 0
}

func readUpTo(f *os.File, size int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f, 0, size))
}
