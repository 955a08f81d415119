package mcpserver

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostMessage is the size that a whole result stays below, in bytes of JSON: clients give up at 16 MiB.
const mostMessage = 6 << 20

// mostImages bounds the images of one result in bytes, as base64; what is beyond comes as a link.
const mostImages = 4 << 20

// resultKey is where the launcher's facts stand in a result's _meta.
const resultKey = "psb/result"

// assembly is how one result is put together.
type assembly struct {
	maxOutput  int  // bytes of each stream
	ceiling    int  // of maxOutput
	full       bool // the whole receipt
	structured bool
	keep       func(name, mime string, content []byte) (uri string, ok bool) // puts away what does not fit; nil where nothing is kept
	kept       int                                                           // things that keep took
	trimmed    []Trimmed
}

// Trimmed is one part of a result that is not whole.
type Trimmed struct {
	Field string `json:"field"`
	Bytes int64  `json:"bytes"`          // as it was
	More  bool   `json:"more,omitempty"` // Bytes are those that psb was given: there were others
	Shown int64  `json:"shown"`
	Rest  string `json:"rest"` // how to get it
}

// assemble is the one place where a run becomes what a client sees: text first, then images, then links; the launcher's facts in _meta.
func assemble(r *Result, a *assembly) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.Status != OK || !r.Cleanup.confirmed()}
	text := a.texts(r)
	images, links := a.media(r)
	status := statusLine(r)
	for _, t := range a.trimmed {
		of := ""
		if t.More {
			of = "more than "
		}
		status += fmt.Sprintf("\n[psb] %s: %d of %s%d bytes shown; %s", t.Field, t.Shown, of, t.Bytes, t.Rest)
	}
	status += denialLines(r)
	for _, t := range append(text, status) {
		out.Content = append(out.Content, &mcp.TextContent{Text: t})
	}
	out.Content = append(append(out.Content, images...), links...)
	rec := newRecord(r, a)
	out.Meta = mcp.Meta{resultKey: rec}
	if a.structured {
		out.StructuredContent = rec.withProgram(r, a)
	}
	return out
}

// texts are the program's own words, each part under its name.
func (a *assembly) texts(r *Result) []string {
	var out []string
	p := r.Program
	if v := p.Value; v != nil {
		out = append(out, a.cut("result", []byte(v.Repr), a.maxOutput/2, v.Cut))
	}
	if t := a.stream("stdout", p.Stdout); t != "" {
		out = append(out, t)
	}
	if t := a.stream("stderr", p.Stderr); t != "" {
		out = append(out, t)
	}
	if e := p.Error; e != nil {
		out = append(out, a.cut("error", []byte(e.text()), a.maxOutput, false))
	}
	if len(p.Variables) > 0 {
		out = append(out, a.cut("variables", []byte(variableLines(p.Variables)), a.maxOutput, false))
	}
	return out
}

// stream shows an output of the program.
func (a *assembly) stream(name string, t Text) string {
	if t.Size() == 0 {
		return ""
	}
	whole := t.Omitted == 0
	b := append(append([]byte{}, t.Head...), t.Tail...)
	if whole && len(b) <= a.maxOutput {
		return name + ":\n" + voiced(string(b))
	}
	head := cutHead(t.Head, a.maxOutput/2)
	from := t.Tail
	if whole {
		head, from = cutHead(b, a.maxOutput/2), b[len(cutHead(b, a.maxOutput/2)):]
	}
	tail := cutTail(from, a.maxOutput/2)
	left := t.Size() - int64(len(head)+len(tail))
	a.note(Trimmed{Field: name, Bytes: t.Size(), Shown: int64(len(head) + len(tail)), Rest: a.rest(name, "text/plain", b, whole)})
	return fmt.Sprintf("%s:\n%s\n[psb] … %d bytes left out here …\n%s", name, voiced(strings.TrimSuffix(string(head), "\n")), left, voiced(string(tail)))
}

// cut shows the beginning of a text that is too long, or, with more, that is a beginning itself.
func (a *assembly) cut(name string, b []byte, most int, more bool) string {
	if len(b) <= most && !more {
		return voiced(string(b))
	}
	head := cutHead(b, most)
	a.note(Trimmed{Field: name, Bytes: int64(len(b)), More: more, Shown: int64(len(head)), Rest: a.rest(name, "text/plain", b, !more)})
	return voiced(string(head))
}

// toFile is the way to a text of any length.
const toFile = "write it to a file of " + Workspace + " and ask for it with return_files"

// rest puts a text away and says how to get it.
func (a *assembly) rest(name, mime string, b []byte, whole bool) string {
	more := ""
	if a.maxOutput < a.ceiling {
		more = fmt.Sprintf("max_output_bytes may be up to %d", a.ceiling)
	}
	if a.keep != nil {
		if uri, ok := a.keep(name, mime, b); ok {
			how := "all of it: read the resource " + uri
			if !whole {
				how = fmt.Sprintf("%d bytes of it: read the resource %s; for all of it %s", len(b), uri, toFile)
			}
			return how
		}
	}
	if more == "" {
		more = toFile
	}
	return more
}

func (a *assembly) note(t Trimmed) { a.trimmed = append(a.trimmed, t) }

// media are the images, and links to every file.
func (a *assembly) media(r *Result) (images, links []mcp.Content) {
	sum := 0
	image := func(name, mime string, data []byte) bool {
		if size := base64.StdEncoding.EncodedLen(len(data)); shownImage(mime, data) && sum+size <= mostImages {
			sum += size
			images = append(images, &mcp.ImageContent{Data: data, MIMEType: mime})
			return true
		}
		return false
	}
	for i, f := range r.Program.Figures {
		name := fmt.Sprintf("figure-%d%s", i+1, extensionOf(f.MIME))
		if !image(name, f.MIME, f.Data) {
			rest := "save it to a file"
			if a.keep != nil {
				if uri, ok := a.keep(name, f.MIME, f.Data); ok {
					rest = "read the resource " + uri
				}
			}
			a.note(Trimmed{Field: name, Bytes: int64(len(f.Data)), Rest: rest})
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		if f.Change == "deleted" {
			continue
		}
		image(f.Path, f.MIME, f.Content)
		if f.Content == nil || a.keep == nil {
			continue
		}
		if uri, ok := a.keep("files/"+f.Path, f.MIME, f.Content); ok {
			size := f.Size
			links = append(links, &mcp.ResourceLink{URI: uri, Name: oneLine(f.Path), MIMEType: oneLine(f.MIME), Size: &size, Meta: mcp.Meta{"psb/sha256": f.SHA256, "psb/change": f.Change}})
		} else if f.Omitted == "" {
			f.Omitted = "too much is kept already"
		}
	}
	return images, links
}
