package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostEdits bounds the replacements of one call.
const mostEdits = 64

func (s *Server) editTool() *tool {
	old := func() map[string]any { return textProperty("The text to replace, exactly.") }
	after := func() map[string]any { return textProperty("What it becomes.") }
	count := func() map[string]any {
		return property("integer", "How often old must stand there; otherwise nothing is changed. 0: as often as it does.", "default", 1, "minimum", 0)
	}
	p := properties{
		"path":         textProperty("Relative to " + Workspace + "."),
		"old":          old(),
		"new":          after(),
		"expect_count": count(),
		"edits": map[string]any{"type": "array", "maxItems": mostEdits, "description": "Instead of old and new: several replacements, each in what those before it left. If one of them cannot be made none is.",
			"items": map[string]any{"type": "object", "required": []string{"old", "new"}, "additionalProperties": false, "properties": properties{"old": old(), "new": after(), "expect_count": count()}}},
	}
	t := s.fileTool("file_edit", "Edit a file", "Replace text in a file of a session: one text, or several at once with edits.", p, s.fileEdit, "path")
	t.destructive = true
	return t
}

// edit is one replacement; expect 0 is any number but none.
type edit struct {
	old, new string
	expect   int64
}

// readEdits reads what is to be replaced, and whether it was told as a list.
func (s *Server) readEdits(a *arguments) (edits []edit, several bool) {
	list, several := a.take("edits")
	if !several {
		return []edit{s.readEdit(a)}, false
	}
	for _, name := range []string{"old", "new", "expect_count"} {
		if _, given := a.take(name); given {
			a.problem("%s: edits has its own", name)
		}
	}
	var raw []json.RawMessage
	if json.Unmarshal(list, &raw) != nil || len(raw) == 0 || len(raw) > mostEdits {
		a.problem("edits: a list of 1 to %d {old, new, expect_count} is needed", mostEdits)
		return nil, true
	}
	for i, one := range raw {
		inner := readArguments(one)
		edits = append(edits, s.readEdit(inner))
		if err := inner.end(); err != nil {
			a.problem("edits[%d]: %s", i, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return edits, true
}

func (s *Server) readEdit(a *arguments) (e edit) {
	e.old, _ = a.text("old", s.offer.Ceilings.FileBytes)
	e.new, _ = a.text("new", s.offer.Ceilings.FileBytes)
	e.expect, _ = a.whole("expect_count", 1, 0, 1e9)
	if e.old == "" && len(a.problems) == 0 {
		a.problem("old: the text to replace is needed")
	}
	return e
}

// replaceAll makes all replacements in order, or none: then no says why. The counts are those of each.
func replaceAll(text string, edits []edit, most int64) (after string, counts []int, no string, err error) {
	for i, e := range edits {
		at := ""
		if len(edits) > 1 {
			at = fmt.Sprintf("edits[%d]: ", i)
		}
		n := strings.Count(text, e.old)
		switch {
		case n == 0:
			return "", nil, at + "old does not stand there; nothing was changed", nil
		case e.expect != 0 && int64(n) != e.expect:
			return "", nil, fmt.Sprintf("%sold stands there %d times, expected %d; nothing was changed", at, n, e.expect), nil
		}
		if size := int64(len(text)) + int64(n)*int64(len(e.new)-len(e.old)); size > most {
			return "", nil, "", fmt.Errorf("%w: it would be %d bytes", ErrTooLarge, size)
		}
		text, counts = strings.ReplaceAll(text, e.old, e.new), append(counts, n)
	}
	return text, counts, "", nil
}

func (s *Server) fileEdit(ctx context.Context, a *arguments, at Place) (*mcp.CallToolResult, error) {
	edits, several := s.readEdits(a)
	if err := a.end(); err != nil {
		return nil, err
	}
	most := int64(s.offer.Ceilings.FileBytes)
	f, err := s.files.ReadFile(ctx, at, 0, most)
	if err != nil {
		return nil, err
	}
	if f.Size > int64(len(f.Bytes)) {
		return nil, fmt.Errorf("%w: %d bytes, at most %d can be edited", ErrTooLarge, f.Size, most)
	}
	text, counts, no, err := replaceAll(string(f.Bytes), edits, most)
	if err != nil {
		return nil, err
	}
	if no != "" {
		return s.refuse("%s: %s", quote(at.Path), no), nil
	}
	info, err := s.files.WriteFile(ctx, at, []byte(text), Writing{Executable: f.Mode&0o100 != 0, If: sum(f.Bytes)})
	if err != nil {
		return nil, err
	}
	all := 0
	for _, n := range counts {
		all += n
	}
	d := infoData(info)
	d["replaced"] = all
	each := ""
	if several {
		d["replaced_each"] = counts
		each = fmt.Sprintf(" (%s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", ", "), "[]"))
	}
	return s.say(fmt.Sprintf("[psb] replaced %d%s in %s, now %d bytes, sha256 %s", all, each, quote(info.Path), info.Size, info.SHA256), d), nil
}

// sum is a SHA-256 in hexadecimal.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
