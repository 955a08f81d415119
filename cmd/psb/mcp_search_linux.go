// Does to the process: lists folders of a session's workspace and reads its plain files, while its program runs.
// Undone: nothing to undo.
// Preconditions: as mcp_workspace_linux.go.
// Called by: mcp_streams_linux.go.
// Proved by: TestWorkspaceTricks, TestWorkspaceFind, TestMCPSessionFiles.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"

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
	query mcpserver.FindQuery
	lines *regexp.Regexp // nil: names alone
	found []mcpserver.FileInfo
	read  int64
}

// find walks, and searches.
func (w *workspace) find(ctx context.Context, from string, q mcpserver.FindQuery) ([]mcpserver.FileInfo, error) {
	s := &fileSearch{query: q}
	if q.Grep != "" {
		var err error
		if s.lines, err = regexp.Compile(q.Grep); err != nil {
			return nil, err
		}
	}
	fd, err := w.folder(from)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	l := lookedAt{visit: func(fd int, st *unix.Stat_t, name string, deep int) (bool, error) {
		s.entry(fd, st, name, strings.TrimPrefix(strings.TrimPrefix(name, from), "/"))
		if len(s.found) == q.Most {
			return false, errEnough
		}
		return q.Depth == 0 || deep < q.Depth, ctx.Err()
	}}
	if err := l.folder(fd, from, 1); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return s.found, nil
}

// entry takes a name that fits; below is its name from where the search began.
func (s *fileSearch) entry(fd int, st *unix.Stat_t, name, below string) {
	info := infoOf(name, st)
	if s.query.Glob != "" && !mcpserver.Matches(s.query.Glob, below) && !mcpserver.Matches(s.query.Glob, name) {
		return
	}
	if s.lines == nil || info.Kind == "file" && s.holds(fd, st, &info) {
		s.found = append(s.found, info)
	}
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
