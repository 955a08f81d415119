package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestValueThatIsABeginning: of a value whose text was cut before psb had it, the result says that there is more than the length it can tell, and
// promises no more than it has.
func TestValueThatIsABeginning(t *testing.T) {
	text := strings.Repeat("9", 5000)
	for _, cut := range []bool{false, true} {
		var kept string
		r := &Result{Status: OK, Cleanup: Cleanup{State: Removed}, Program: Program{Value: &Value{Type: "int", Repr: text, Cut: cut}}}
		got := assembled(r, assembly{maxOutput: 2000, ceiling: 2000, keep: func(name, _ string, b []byte) (string, bool) { kept = string(b); return "psb://run/R/" + name, true }})
		want := "[psb] result: 1000 of 5000 bytes shown; all of it: read the resource psb://run/R/result"
		if cut {
			want = "[psb] result: 1000 of more than 5000 bytes shown; 5000 bytes of it: read the resource psb://run/R/result; for all of it write it to a file of /workspace and ask for it with return_files"
		}
		if !strings.HasSuffix(textOf(got), "\n"+want) || kept != text {
			t.Errorf("%d bytes kept\n%s", len(kept), textOf(got))
		}
		rec := got.Meta[resultKey].(*record)
		if d := rec.Delivery; len(d) != 1 || d[0].Field != "result" || d[0].Bytes != 5000 || d[0].More != cut || d[0].Shown != 1000 {
			t.Errorf("%+v", d)
		}
	}
	short := &Result{Status: OK, Cleanup: Cleanup{State: Removed}, Program: Program{Value: &Value{Repr: "1", Cut: true}}}
	if got := assembled(short, assembly{maxOutput: 2000, ceiling: 2000}); !strings.Contains(textOf(got), "1 of more than 1 bytes shown; write it to a file") {
		t.Errorf("%s", textOf(got))
	}
}

// TestKeptThingsAreWhole: what is read of a resource is what was kept, as text where it is text, and an empty thing is there, too.
func TestKeptThingsAreWhole(t *testing.T) {
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: func(context.Context, *Request) (*Result, error) {
		r := okResult()
		for name, content := range map[string]string{"empty": "", "text": "ünï\r\n", "escape": "\x1b[1m", "bytes": "\x00\xff"} {
			mime := "text/plain"
			if name == "bytes" {
				mime = "application/octet-stream"
			}
			r.Files = append(r.Files, File{Path: name, Size: int64(len(content)), MIME: mime, Change: "created", Content: []byte(content)})
		}
		return r, nil
	}})
	for _, how := range []string{"stdio", "http"} {
		c := connect(t, s, how)
		n := 0
		for _, x := range callTool(t, c, "run_python", map[string]any{"code": "1"}).Content {
			link, ok := x.(*mcp.ResourceLink)
			if !ok {
				continue
			}
			n++
			got, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: link.URI})
			if err != nil || len(got.Contents) != 1 {
				t.Fatal(link.Name, got, err)
			}
			b, _ := json.Marshal(got.Contents[0])
			fields := map[string]any{}
			if err := json.Unmarshal(b, &fields); err != nil {
				t.Fatal(err)
			}
			want := map[string][2]any{"empty": {nil, ""}, "text": {"ünï\r\n", nil}, "escape": {nil, "G1sxbQ=="}, "bytes": {nil, "AP8="}}[link.Name]
			if fields["text"] != want[0] || fields["blob"] != want[1] {
				t.Errorf("%s: %s", link.Name, b)
			}
		}
		if n != 4 {
			t.Errorf("%d links", n)
		}
	}
}

// TestFileReadTellsTextFromBytes: bytes that are no text come as base64 without being asked for; a piece from the middle of a text is text, whichever
// characters it begins and ends within.
func TestFileReadTellsTextFromBytes(t *testing.T) {
	f := newFakeFiles()
	c := connect(t, testServer(t, Options{Structured: true}, f), "stdio")
	callTool(t, c, "run_python", map[string]any{"code": "1", "session": "s"})
	for name, content := range map[string]string{"text": "añb", "nul": "a\x00b", "latin": "a\xf1b", "begun": "a\xc3", "high": "\xff\xfe", "empty": "", "late": strings.Repeat("x", 40) + "\xff"} {
		f.files["local/s/"+name] = []byte(content)
	}
	for _, x := range []struct {
		name          string
		offset, limit int
		encoding      string
		content       string
		next          float64
	}{
		{"text", 0, 100, "utf-8", "añb", 4}, {"text", 0, 2, "utf-8", "a", 1}, {"text", 1, 2, "utf-8", "ñ", 3}, {"text", 2, 9, "utf-8", "\ufffdb", 4},
		{"nul", 0, 100, "base64", "YQBi", 3}, {"latin", 0, 100, "base64", "YfFi", 3}, {"begun", 0, 100, "base64", "YcM=", 2}, {"high", 0, 100, "base64", "//4=", 2},
		{"empty", 0, 100, "utf-8", "", 0}, {"late", 0, 40, "utf-8", strings.Repeat("x", 40), 40}, {"late", 40, 9, "base64", "/w==", 41}, {"nul", 2, 1, "utf-8", "b", 3},
	} {
		r := callTool(t, c, "file_read", map[string]any{"path": x.name, "session": "s", "offset": x.offset, "limit": x.limit})
		d, _ := r.StructuredContent.(map[string]any)
		if r.IsError || d["encoding"] != x.encoding || d["content"] != x.content || d["next_offset"] != x.next || r.Content[0].(*mcp.TextContent).Text != x.content {
			t.Errorf("%s from %d: %v", x.name, x.offset, d)
		}
	}
}

// TestFilesOverTheSumAreRefused: each of them may be small enough; together they are counted as the bytes they are, and nothing runs.
func TestFilesOverTheSumAreRefused(t *testing.T) {
	ran := 0
	offer := testOffer()
	offer.Ceilings.FileBytes = 10
	c := connect(t, testServer(t, Options{}, &fakeRunner{offer: offer, run: func(context.Context, *Request) (*Result, error) { ran++; return okResult(), nil }}), "stdio")
	file := func(path, content, encoding string) map[string]any {
		return map[string]any{"path": path, "content": content, "encoding": encoding}
	}
	r := callTool(t, c, "run_python", map[string]any{"code": "1", "files": []any{file("a", "12345", "utf-8"), file("b", "ÄÖÜ", "utf-8")}})
	if !r.IsError || !strings.HasPrefix(textOf(r), "[psb] refused: files: 11 bytes in all, at most 10") || ran != 0 {
		t.Errorf("%d ran: %s", ran, textOf(r))
	}
	r = callTool(t, c, "run_python", map[string]any{"code": "1", "files": []any{file("a", "12345", "utf-8"), file("b", "AAECAwQ=", "base64")}})
	if r.IsError || ran != 1 {
		t.Errorf("%d ran: %s", ran, textOf(r))
	}
}
