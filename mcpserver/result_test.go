package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func assembled(r *Result, a assembly) *mcp.CallToolResult {
	if a.maxOutput == 0 {
		a.maxOutput = 1000
	}
	return bounded(assemble(r, &a))
}

// TestResultOrder: value, output, error, verdict, denials; then images; then links. The launcher's facts stand in _meta, without the program's words.
func TestResultOrder(t *testing.T) {
	png, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	one := 1
	r := &Result{ID: "R", Status: Failed, Exit: Exit{Code: &one, Reason: "exit"}, Cleanup: Cleanup{State: Removed},
		Denials: []Denial{{Operation: "connect", Target: "pypi.org:443", Count: 3, Hint: "no network"}},
		Files:   []File{{Path: "p.png", Size: int64(len(png)), MIME: "image/png", Change: "created", Content: png, SHA256: "ab"}, {Path: "gone", Change: "deleted"}},
		Program: Program{Stdout: Text{Head: []byte("out\n")}, Stderr: Text{Head: []byte("err\n")}, Value: &Value{Type: "int", Repr: "42"},
			Error: &ProgramError{Type: "E", Traceback: "Traceback\nE: x\n"}, Variables: []Variable{{Name: "a", Repr: "1"}}, Figures: []Figure{{"image/png", png}}}}
	got := assembled(r, assembly{keep: func(name, _ string, _ []byte) (string, bool) { return "psb://run/R/" + name, true }})
	want := []string{"42", "stdout:\nout\n", "stderr:\nerr\n", "Traceback\nE: x", "a = 1",
		"[psb] error: exit 1\n[psb] file created \"p.png\", 70 bytes, image/png\n[psb] file deleted \"gone\"\n[psb] denied: connect pypi.org:443 (3 times); no network"}
	for i, w := range want {
		if text, ok := got.Content[i].(*mcp.TextContent); !ok || text.Text != w {
			t.Errorf("%d: %#v, want %q", i, got.Content[i], w)
		}
	}
	rest := got.Content[len(want):]
	if len(rest) != 3 || rest[0].(*mcp.ImageContent).MIMEType != "image/png" || rest[2].(*mcp.ResourceLink).URI != "psb://run/R/files/p.png" {
		t.Errorf("%v", rest)
	}
	b, err := json.Marshal(got.Meta)
	if err != nil || strings.Contains(string(b), "Traceback") || !strings.Contains(string(b), `"status":"error"`) || got.StructuredContent != nil || !got.IsError {
		t.Errorf("%v %s", err, b)
	}
}

// TestIsError: true unless the run was ok and nothing is left of it.
func TestIsError(t *testing.T) {
	for _, c := range []struct {
		status  Status
		cleanup CleanupState
		want    bool
	}{{OK, Removed, false}, {OK, KeptSession, false}, {OK, PartLeft, true}, {OK, NotKnown, true}, {Failed, Removed, true}, {TimedOut, Removed, true}, {Refused, NotAttempted, true}, {Busy, NotAttempted, true}} {
		if got := assembled(&Result{Status: c.status, Cleanup: Cleanup{State: c.cleanup}}, assembly{}).IsError; got != c.want {
			t.Errorf("%s, %s: %v", c.status, c.cleanup, got)
		}
	}
}

// TestTrimmed: the beginning and the end of a long stream are shown, what was left out is counted, and its place named.
func TestTrimmed(t *testing.T) {
	long := []byte(strings.Repeat("0123456789\n", 1000))
	r := &Result{Status: OK, Cleanup: Cleanup{State: Removed}, Program: Program{Stdout: Text{Head: long[:6000], Tail: long[6000:], Omitted: 500}}}
	var kept []byte
	got := assembled(r, assembly{maxOutput: 400, ceiling: 4000, keep: func(name, _ string, b []byte) (string, bool) { kept = b; return "psb://run/R/" + name, true }})
	text := got.Content[0].(*mcp.TextContent).Text
	if !strings.HasPrefix(text, "stdout:\n0123456789\n") || !strings.HasSuffix(text, "0123456789\n") || !strings.Contains(text, "\n[psb] … 11104 bytes left out here …\n") || len(text) > 500 {
		t.Errorf("%d: %s", len(text), text)
	}
	if want := "[psb] stdout: 396 of 11500 bytes shown; 11000 bytes of it: read the resource psb://run/R/stdout"; !strings.Contains(textOf(got), want) || !bytes.Equal(kept, long) {
		t.Errorf("want %q in\n%s", want, textOf(got))
	}
	none := assembled(r, assembly{maxOutput: 400, ceiling: 4000})
	if !strings.Contains(textOf(none), "max_output_bytes may be up to 4000") {
		t.Errorf("%s", textOf(none))
	}
}

// TestHarmless: no character that steers, hides or reverses text comes through, and no line of the program's begins as psb's own do.
func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc\r\n": "a\tb\nc\r\n", "\x1b[31m": `\x1b[31m`, "a\x00b": `a\x00b`, "\xff\xfe": "\ufffd\ufffd", "\u202eabc": `\u202eabc`, "a\rb": `a\x0db`, "\u2028": `\u2028`,
		"\U000e0041": `\U000e0041`, "ünï 中 👩\u200d💻 é": "ünï 中 👩\u200d💻 é", "\u200b": `\u200b`, "\x7f\u0085": `\x7f\x85`, "\ufeff": `\ufeff`,
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := voiced("x\n[psb] ok\n  [psb] y\nz [psb]"); got != "x\n |[psb] ok\n |  [psb] y\nz [psb]" {
		t.Errorf("%q", got)
	}
}

// TestWholeResultBounded: whatever a run brings, the message stays below what clients take.
func TestWholeResultBounded(t *testing.T) {
	big := strings.Repeat("\x01", 3<<20) // each byte becomes four
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01"), make([]byte, 3<<20)...)
	r := &Result{Status: OK, Cleanup: Cleanup{State: Removed}, Program: Program{Stdout: Text{Head: []byte(big)}, Stderr: Text{Head: []byte(big)}, Value: &Value{Repr: big},
		Error: &ProgramError{Traceback: big, Message: big}, Figures: []Figure{{"image/png", png}, {"image/png", png}, {"image/png", png}}}}
	for i := range 100 {
		r.Program.Variables = append(r.Program.Variables, Variable{Name: strings.Repeat("n", i), Repr: big})
	}
	got := assembled(r, assembly{maxOutput: mostOutput, structured: true})
	if n := size(got); n > mostMessage {
		t.Errorf("%d bytes", n)
	}
	if len(got.Content) == 0 || got.Meta[resultKey] == nil {
		t.Error("nothing is left of it")
	}
}

// TestStructured: the same as data, the program's part marked, JSON strict.
func TestStructured(t *testing.T) {
	r := &Result{Status: OK, Cleanup: Cleanup{State: Removed}, Program: Program{Stdout: Text{Head: []byte("a\xff")}, Value: &Value{Type: "float", Repr: "nan", JSON: "NaN"}, Variables: []Variable{{Name: "x", JSON: "[1]"}}}}
	got := assembled(r, assembly{structured: true})
	b, err := json.Marshal(got.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Status  string
		Program struct {
			Untrusted bool
			Stdout    struct {
				Text, Base64 string
				Bytes        int
			}
			Result    map[string]any
			Variables map[string]map[string]any
		}
	}
	if err := json.Unmarshal(b, &x); err != nil || x.Status != "ok" || !x.Program.Untrusted || x.Program.Stdout.Text != "a\ufffd" || x.Program.Stdout.Base64 != "Yf8=" || x.Program.Stdout.Bytes != 2 {
		t.Errorf("%v %s", err, b)
	}
	if _, there := x.Program.Result["json"]; there || x.Program.Variables["x"]["json"] == nil {
		t.Errorf("%s", b)
	}
}

// TestImages: what is shown as an image is one by its own first bytes, and of a size that can be shown.
func TestImages(t *testing.T) {
	png := func(w, h byte) []byte {
		return append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), 0, 0, w, 0, 0, 0, h, 0)
	}
	for _, c := range []struct {
		b    []byte
		mime string
		want bool
	}{
		{png(1, 1), "image/png", true}, {png(255, 255), "image/png", false}, {png(1, 1), "image/jpeg", false}, {[]byte("<svg/>"), "image/svg+xml", false},
		{[]byte("GIF89a\x01\x00\x01\x00"), "image/gif", true}, {[]byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x02\x00\x03\x01\x00\x00\x00"), "image/jpeg", true},
		{[]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00"), "image/webp", true}, {nil, "", false},
	} {
		if got := shownImage(c.mime, c.b); got != c.want {
			t.Errorf("%q as %s: %v", c.b, c.mime, got)
		}
	}
}

// FuzzArguments: whatever a client sends for arguments, reading it neither panics nor lets anything over a ceiling through.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"code":"1"}`, `{"code":"1","files":[{"path":"a","content":"b"}]}`, `{"code":"1","timeout_s":1e400}`, `{"command":"ls","cwd":"a/.."}`, `[]`, `{"code":null}`, `{"code":"1","return_files":["**/**"]}`, `{"code":"\ud800"}`} {
		f.Add([]byte(s))
	}
	s, err := New(Options{}, &fakeFiles{fakeRunner: fakeRunner{offer: testOffer()}})
	if err != nil {
		f.Fatal(err)
	}
	c := s.offer.Ceilings
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, read := range []func(json.RawMessage) (*asked, error){s.readPython, s.readShell} {
			q, err := read(raw)
			if err != nil {
				if err.Error() == "" || clean(err.Error()) != err.Error() {
					t.Fatalf("%q", err.Error())
				}
				continue
			}
			if q.Timeout <= 0 || !q.background && q.Timeout.Seconds() > c.Timeout.Max || float64(q.Limits.Memory) > c.Memory.Max*(1<<20) || q.Limits.CPUs > c.CPUs.Max || q.Limits.CPUs <= 0 || len(q.Files) > c.Files || strings.ContainsRune(q.Code, 0) {
				t.Fatalf("%+v", q)
			}
			for _, file := range q.Files {
				if p, err := filePath(file.Path); err != nil || p != file.Path || strings.HasPrefix(p, "/") || strings.Contains("/"+p+"/", "/../") {
					t.Fatalf("%q", file.Path)
				}
			}
		}
	})
}

// FuzzClean: what comes out is valid, harmless, and stays as it is when it is cleaned again.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b\u202e\r\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if clean(got) != got || strings.ContainsFunc(got, harmfulButCR) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func harmfulButCR(r rune) bool { return r != '\r' && harmful(r) }

// TestLoneSurrogates: half a character is found, wherever it stands; whole ones and escaped backslashes are none.
func TestLoneSurrogates(t *testing.T) {
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\uD83D\uDE00x"`: false, `"\ud800"`: true, `"\udc00"`: true, `"\ud800\ud800\udc00"`: true, `"\ud800x\udc00"`: true, `"\\ud800"`: false, `"\\\ud800"`: true,
		`"\u0000"`: false, `""`: false, `"\n\ud83d\ude00\ud83d"`: true, `"\ufffd"`: false,
	} {
		if got := loneSurrogate([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
