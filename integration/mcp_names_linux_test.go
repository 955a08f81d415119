package integration

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// TestMCPNames: a name that leaves the workspace is refused before anything is looked at, one that only looks odd is what it comes to; a file that is
// not there, a folder, and an empty file are three different things; what is written lies in folders that are made, in place of what was there.
func TestMCPNames(t *testing.T) {
	besideOthers(t)
	a := newScene(t, people()[0]).agent(t)
	a.inside("w", "import os, hashlib, shutil").want(t, "ok")
	for _, bad := range []string{"/etc/passwd", "../etc/passwd", "a/../../etc/passwd", "/workspacex/f", "/workspace2", "/workspace/../etc/passwd", "a/../../workspace/x", "/workspace/", ".", "", "a\nb", "a\u202eb", strings.Repeat("x", 300)} {
		for _, tool := range []string{"file_write", "file_read"} {
			args := []any{}
			if tool == "file_write" {
				args = []any{"content", "x"}
			}
			r := a.file(tool, bad, args...)
			if r.says(t, true, "[psb] refused: path: "); strings.ContainsAny(r.text(), "\u202e") {
				t.Errorf("%q", r.text())
			}
		}
	}
	a.file("file_write", "./d//e/../f", "content", "one").says(t, false, `wrote "d/f", 3 bytes`)
	for _, same := range []string{"d/f", "d/./f", "./d/f", "d/x/../f", "/workspace/d/../d/f", "d/f/", "d//f"} {
		a.file("file_read", same).says(t, false, `one`, `[psb] "d/f": bytes 0 to 3 of 3`)
	}
	a.file("file_write", "d/f", "content", "").says(t, false, `wrote "d/f", 0 bytes`)
	a.file("file_read", "d/f").says(t, false, `[psb] "d/f": bytes 0 to 0 of 0`)
	a.file("file_read", "d/none").says(t, true, "no such file")
	a.file("file_read", "d").says(t, true, "it is a folder")
	a.file("file_write", "d", "content", "x").says(t, true, "it is a folder")
	a.file("file_write", "d/f/x", "content", "x").says(t, true, "something else stands where a folder is needed")
	a.inside("w", "open('d/f').read(), os.listdir('d')").want(t, "ok", "('', ['f'])")

	// Python and the shell see at once what the other, or the tools, changed.
	shell := func(command, out string) {
		t.Helper()
		r := a.tool("run_shell", map[string]any{"command": command, "session": "w"})
		if r.want(t, "ok"); r.part("stdout") != out {
			t.Errorf("%s: %s", command, r.text())
		}
	}
	a.inside("w", "os.mkdir('m'); open('m/p', 'w').write('py\\n')").want(t, "ok")
	shell("cat m/p; echo sh > m/s; rm m/p; mkdir m/n", "py\n")
	a.inside("w", "sorted(os.listdir('m')), open('m/s').read()").want(t, "ok", `(['n', 's'], 'sh\n')`)
	a.file("file_write", "m/s", "content", "tool\n").says(t, false, "wrote")
	shell("cat m/s; echo over > m/s", "tool\n")
	a.file("file_manage", "m/n", "action", "delete").says(t, false, "delete")
	a.inside("w", "os.path.exists('m/n'), open('m/s').read()").want(t, "ok", `(False, 'over\n')`)

	// A mebibyte of bytes, and one of text, go in and out each way as they are.
	bytes := make([]byte, 1<<20)
	for i := range bytes {
		bytes[i] = byte(i * 31 >> (i % 5))
	}
	text := strings.Repeat("ünï\n中\r\n", 1<<17)
	hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }
	a.file("file_write", "big.bin", "content", base64.StdEncoding.EncodeToString(bytes), "encoding", "base64").says(t, false, "sha256 "+hash(bytes))
	a.file("file_write", "big.txt", "content", text).says(t, false, "sha256 "+hash([]byte(text)))
	whole := func(name, encoding string) string {
		var b strings.Builder
		for {
			r := a.file("file_read", name, "offset", b.Len(), "limit", 262144, "encoding", encoding)
			piece := []byte(r.Content[0].Text)
			if encoding == "base64" {
				var err error
				piece, err = base64.StdEncoding.DecodeString(string(piece))
				must(t, err)
			}
			if b.Write(piece); !strings.Contains(r.text(), "next offset") || len(piece) == 0 {
				return b.String()
			}
		}
	}
	if whole("big.bin", "base64") != string(bytes) || whole("big.txt", "utf-8") != text {
		t.Error("what was read is not what was written")
	}
	r := a.inside("w", "for n in ('bin', 'txt'): shutil.copy('big.' + n, 'copy.' + n)")
	r.want(t, "ok")
	for _, f := range r.Meta.Result.Files {
		want, ok := map[string]string{"copy.bin": string(bytes), "copy.txt": text}[f.Path]
		if !ok || f.SHA256 != hash([]byte(want)) || a.resource(r, f.Path) != want {
			t.Errorf("%+v", f)
		}
	}
	if len(r.Meta.Result.Files) != 2 {
		t.Errorf("%+v", r.Meta.Result.Files)
	}
}

// resource reads the file of a result that has a link of this name.
func (a *agent) resource(r ran, name string) string {
	a.t.Helper()
	for _, c := range r.Content {
		if c.Type != "resource_link" || c.Name != name {
			continue
		}
		return a.kept(c.URI)
	}
	return "no link of that name"
}

// kept reads a resource.
func (a *agent) kept(uri string) string {
	a.t.Helper()
	var read struct {
		Contents []struct {
			Text string
			Blob []byte
		}
	}
	must(a.t, json.Unmarshal(a.ask("resources/read", map[string]any{"uri": uri}).Result, &read))
	if len(read.Contents) != 1 {
		a.t.Fatalf("%s: %d contents", uri, len(read.Contents))
	}
	return read.Contents[0].Text + string(read.Contents[0].Blob)
}

// TestMCPFilesThatAreTold: nothing is told where nothing was made; a file that is too large to come along is listed with its length and hash, and with
// nothing that nobody looked at; what comes along is what the hash is of.
func TestMCPFilesThatAreTold(t *testing.T) {
	besideOthers(t)
	a := newScene(t, people()[0]).agent(t)
	if r := a.python("import os; os.mkdir('folder'); os.symlink('/etc/passwd', 'link')"); len(r.Meta.Result.Files) > 0 {
		t.Errorf("%+v", r.Meta.Result.Files)
	}
	r := a.python("open('big', 'wb').write(b'\\0' * (9 << 20)); open('small', 'wb').write(b'y\\xff'); open('none', 'w').close()")
	r.want(t, "ok", `file created "big", 9437184 bytes, not taken along: larger than 8388608 bytes`)
	want := map[string]string{"big": strings.Repeat("\x00", 9<<20), "small": "y\xff", "none": ""}
	for _, f := range r.Meta.Result.Files {
		sum := sha256.Sum256([]byte(want[f.Path]))
		if f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != int64(len(want[f.Path])) || (f.Path == "big") != (f.Omitted != "") || (f.MIME == "") != (f.Path == "big") {
			t.Errorf("%+v", f)
		}
		if f.Path != "big" && a.resource(r, f.Path) != want[f.Path] {
			t.Errorf("%s is another one than was made", f.Path)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 || a.resource(r, "big") != "no link of that name" {
		t.Errorf("%v", want)
	}
}
