package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fileTool is what the tools on files share: a session and a name in its workspace.
func (s *Server) fileTool(name, title, about string, p properties, run func(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error), required ...string) *tool {
	p["session"] = textProperty("The session whose files are meant.", "pattern", sessionPattern, "x-mcp-header", "Session")
	t := &tool{name: name, title: title, about: about, possible: s.files != nil, schema: schema(p, append([]string{"session"}, required...)...)}
	t.run = func(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
		a := readArguments(c.raw)
		at := Place{Client: c.client}
		if id, _ := a.text("session", 64); isSessionName(id) {
			at.Session = id
		} else {
			a.problem("session: a name is needed")
		}
		if text, ok := a.text("path", 1<<10); ok {
			var err error
			if at.Path, err = workspacePath(text); err != nil {
				a.problem("path: %s", err)
			}
		}
		if name != "file_find" && at.Path == "" && len(a.problems) == 0 {
			a.problem("path: a file's name is needed")
		}
		r, err := run(ctx, a, at)
		return s.fileAnswer(at, r, err)
	}
	return t
}

// fileAnswer words what went wrong with a file: each way has its own line.
func (s *Server) fileAnswer(at Place, r *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
	var wrong FileError
	if errors.As(err, &wrong) {
		return s.refuse("%s: %s", quote(at.Path), err), nil
	}
	if errors.Is(err, ErrNoSession) {
		return s.refuse("no session %s", quote(at.Session)), nil
	}
	return r, err
}

func (s *Server) readTool() *tool {
	p := properties{
		"path":     textProperty("Relative to " + Workspace + "."),
		"offset":   property("integer", "First byte.", "default", 0, "minimum", 0),
		"limit":    property("integer", "Bytes at most.", "default", s.offer.Ceilings.Output.Default, "maximum", s.offer.Ceilings.Output.Max, "minimum", 1),
		"encoding": textProperty("utf-8, or base64 for the bytes as they are.", "enum", []string{"utf-8", "base64"}, "default", "utf-8"),
	}
	t := s.fileTool("file_read", "Read a file", "Read a piece of a file of a session.", p, s.fileRead, "path")
	t.readOnly, t.idempotent = true, true
	return t
}

func (s *Server) fileRead(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error) {
	c := s.offer.Ceilings.Output
	offset, _ := a.whole("offset", 0, 0, 1<<53)
	limit, _ := a.whole("limit", c.Default, 1, c.Max)
	encoding := a.word("encoding", "utf-8", []string{"utf-8", "base64"})
	if err := a.end(); err != nil {
		return nil, err
	}
	f, err := s.files.ReadFile(ctx, at, offset, limit)
	if err != nil {
		return nil, err
	}
	whole := f.Bytes
	if end := f.Offset + int64(len(f.Bytes)); end < f.Size { // a character that is cut in two comes with the next piece
		whole = wholeText(f.Bytes)
	}
	text, note := string(whole), ""
	shown := len(whole)
	switch {
	case encoding == "base64" || !isText(whole, f.Offset > 0):
		encoding, text, shown = "base64", base64.StdEncoding.EncodeToString(f.Bytes), len(f.Bytes)
	default:
		if safe := clean(text); safe != text {
			text, note = safe, "; what cannot be shown is written as escapes, encoding=base64 gives the bytes"
		}
	}
	next := f.Offset + int64(shown)
	line := fmt.Sprintf("[psb] %s: bytes %d to %d of %d, %s%s", quote(f.Path), f.Offset, next, f.Size, encoding, note)
	if next < f.Size {
		line += fmt.Sprintf("; next offset %d", next)
	}
	d := map[string]any{"path": clean(f.Path), "offset": f.Offset, "next_offset": next, "bytes": f.Size, "encoding": encoding, "end": next >= f.Size}
	if s.options.Structured {
		d["content"] = text
	}
	r := s.say(text, d)
	r.Content = append(r.Content, &mcp.TextContent{Text: line})
	return r, nil
}

// isText tells text from other bytes: UTF-8 without NUL. A piece from the middle of a file may begin within a character.
func isText(b []byte, middle bool) bool {
	for i := 0; middle && i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return utf8.Valid(b) && !slices.Contains(b, 0)
}

// wholeText leaves a character out whose rest is not there.
func wholeText(b []byte) []byte { // cutHead would go back to a line's end, too
	for i := 1; i < 4 && i < len(b); i++ {
		if c := b[len(b)-i]; c >= 0xc0 {
			need := 2
			if c >= 0xe0 {
				need++
			}
			if c >= 0xf0 {
				need++
			}
			if need > i {
				return b[:len(b)-i]
			}
			return b
		} else if c < 0x80 {
			return b
		}
	}
	return b
}

func (s *Server) writeTool() *tool {
	p := properties{
		"path":       textProperty("Relative to " + Workspace + "; its folders are made."),
		"content":    textProperty("The text, or base64."),
		"encoding":   textProperty("How content is written.", "enum", []string{"utf-8", "base64"}, "default", "utf-8"),
		"executable": property("boolean", "It may be run.", "default", false),
		"append":     property("boolean", "Add to its end.", "default", false),
	}
	t := s.fileTool("file_write", "Write a file", "Write a file of a session, whole.", p, s.fileWrite, "path", "content")
	t.destructive, t.idempotent = true, true
	return t
}

func (s *Server) fileWrite(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error) {
	raw, given := a.take("content")
	var text string
	if !given || json.Unmarshal(raw, &text) != nil {
		a.problem("content: a string is needed")
	}
	encoding := a.word("encoding", "utf-8", []string{"utf-8", "base64"})
	how := Writing{Executable: a.flag("executable", false), Append: a.flag("append", false)}
	content := []byte(text)
	if encoding == "base64" {
		var err error
		if content, err = base64.StdEncoding.DecodeString(text); err != nil {
			a.problem("content: no base64")
		}
	}
	if len(content) > s.offer.Ceilings.FileBytes {
		a.problem("content: %d bytes, at most %d", len(content), s.offer.Ceilings.FileBytes)
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	info, err := s.files.WriteFile(ctx, at, content, how)
	if err != nil {
		return nil, err
	}
	return s.say(fmt.Sprintf("[psb] wrote %s, %d bytes, sha256 %s", quote(info.Path), info.Size, info.SHA256), infoData(info)), nil
}

func (s *Server) findTool() *tool {
	p := properties{
		"path":  textProperty("Folder to begin in.", "default", ""),
		"glob":  textProperty("Names: \"*.csv\", \"src/**/*.py\"."),
		"grep":  textProperty("Files with a line that this regular expression (RE2) matches."),
		"depth": property("integer", "Folders deep at most; 0 is any.", "default", 0, "minimum", 0, "maximum", 64),
	}
	t := s.fileTool("file_find", "Find files", "List, and search, files of a session. Links are listed and not followed.", p, s.fileFind)
	t.readOnly, t.idempotent = true, true
	return t
}

func (s *Server) fileFind(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error) {
	q := FindQuery{Most: 1000}
	q.Glob, _ = a.text("glob", 256)
	q.Grep, _ = a.text("grep", 1<<10)
	depth, _ := a.whole("depth", 0, 0, 64)
	q.Depth = int(depth)
	if err := goodPattern(q.Glob); err != nil {
		a.problem("glob: %s", err)
	}
	if _, err := regexp.Compile(q.Grep); err != nil {
		a.problem("grep: no regular expression")
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	found, err := s.files.FindFiles(ctx, at, q)
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	var b strings.Builder
	for _, f := range found {
		list = append(list, infoData(f))
		fmt.Fprintf(&b, "%s %04o %d %s %s\n", f.Kind, f.Mode&0o7777, f.Size, second(f.Modified), quote(f.Path))
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "  %d: %s\n", l.Number, l.Text)
		}
	}
	if len(found) == 0 {
		b.WriteString("nothing found")
	}
	return s.say(voiced(strings.TrimRight(b.String(), "\n")), map[string]any{"files": list, "cut": len(found) == q.Most}), nil
}

var fileActions = []string{"move", "delete", "mkdir", "chmod", "stat"}

func (s *Server) manageTool() *tool {
	p := properties{
		"action":    textProperty("move, delete, mkdir, chmod or stat.", "enum", fileActions),
		"path":      textProperty("Relative to " + Workspace + "."),
		"to":        textProperty("move: the new name."),
		"mode":      textProperty("chmod: octal, such as 755.", "pattern", "^[0-7]{3,4}$"),
		"recursive": property("boolean", "delete: a folder with what is in it.", "default", false),
	}
	t := s.fileTool("file_manage", "Manage files", "Move, delete, make folders, change modes, or look at one name.", p, s.fileManage, "action", "path")
	t.destructive = true
	return t
}

func (s *Server) fileManage(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error) {
	act := FileAct{Do: a.word("action", "", fileActions), Recursive: a.flag("recursive", false)}
	if to, ok := a.text("to", 1<<10); ok {
		var err error
		if act.To, err = filePath(to); err != nil {
			a.problem("to: %s", err)
		}
	}
	if mode, ok := a.text("mode", 4); ok {
		m, err := strconv.ParseUint(mode, 8, 32)
		if err != nil || m > 0o777 {
			a.problem("mode: octal up to 777 is needed")
		}
		act.Mode = uint32(m)
	} else if act.Do == "chmod" {
		a.problem("mode: it is needed")
	}
	switch {
	case act.Do == "" && len(a.problems) == 0:
		a.problem("action: one of %s is needed", strings.Join(fileActions, ", "))
	case act.Do == "move" && act.To == "" && len(a.problems) == 0:
		a.problem("to: it is needed")
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	info, err := s.files.ManageFile(ctx, at, act)
	if err != nil {
		return nil, err
	}
	line := fmt.Sprintf("[psb] %s %s", act.Do, quote(at.Path))
	if act.Do != "delete" {
		line += fmt.Sprintf(": %s, mode %04o, %d bytes", info.Kind, info.Mode&0o7777, info.Size)
	}
	if act.Do == "stat" && !info.Modified.IsZero() {
		line += ", " + second(info.Modified)
	}
	if info.SHA256 != "" {
		line += ", sha256 " + info.SHA256
	}
	return s.say(line, infoData(info)), nil
}

// second is a time as text for people.
func second(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func infoData(f FileInfo) map[string]any {
	d := map[string]any{"path": clean(f.Path), "kind": f.Kind, "bytes": f.Size, "mode": fmt.Sprintf("%04o", f.Mode&0o7777)}
	if !f.Modified.IsZero() {
		d["modified"] = f.Modified.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if f.SHA256 != "" {
		d["sha256"] = f.SHA256
	}
	if len(f.Lines) > 0 {
		var lines []map[string]any
		for _, l := range f.Lines {
			lines = append(lines, map[string]any{"line": l.Number, "text": clean(l.Text)})
		}
		d["lines"] = lines
	}
	return d
}
