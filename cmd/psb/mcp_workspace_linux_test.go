package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

func openWorkspace(t *testing.T) (*workspace, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &workspace{dir: f, owner: fileOwner{os.Getuid(), os.Getgid()}}, dir
}

// inTime fails where an act waits for somebody: whoever made the file could let it wait for ever.
func inTime(t *testing.T, name string, act func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- act() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: it waits", name)
	}
	return nil
}

// TestWorkspaceFiles: what is written is there whole, with its hash, mode and owner; what was expected and is not there leaves everything as it was.
func TestWorkspaceFiles(t *testing.T) {
	w, dir := openWorkspace(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.write("a/b/c.sh", []byte("one\n"), mcpserver.Writing{Executable: true})
	must(err)
	sum := sha256.Sum256([]byte("one\n"))
	if hex.EncodeToString(sum[:]) != info.SHA256 || info.Mode != 0o755 || info.Size != 4 {
		t.Errorf("%+v", info)
	}
	info, err = w.write("a/b/c.sh", []byte("two\n"), mcpserver.Writing{})
	must(err)
	if fi, err := os.Stat(dir + "/a/b/c.sh"); err != nil || fi.Mode().Perm() != 0o755 || info.Mode != 0o755 {
		t.Errorf("a file that is written again keeps its mode: %v %v", fi, err)
	}
	_, err = w.write("a/b/c.sh", []byte("x"), mcpserver.Writing{New: true})
	wantErr(t, "new", err, mcpserver.ErrThere)
	_, err = w.write("a/b/c.sh", []byte("x"), mcpserver.Writing{If: info.SHA256[1:] + "0"})
	wantErr(t, "changed", err, mcpserver.ErrChanged)
	_, err = w.write("none", []byte("x"), mcpserver.Writing{If: info.SHA256})
	wantErr(t, "gone", err, mcpserver.ErrNoFile)
	info, err = w.write("a/b/c.sh", []byte("three\n"), mcpserver.Writing{If: info.SHA256, Append: true})
	must(err)
	sum = sha256.Sum256([]byte("two\nthree\n"))
	if hex.EncodeToString(sum[:]) != info.SHA256 || info.Size != 10 {
		t.Errorf("%+v", info)
	}
	got, err := w.read("a/b/c.sh", 4, 3)
	must(err)
	if string(got.Bytes) != "thr" || got.Offset != 4 || got.Size != 10 {
		t.Errorf("%+v", got)
	}
	got, err = w.read("a/b/c.sh", 99, 3)
	must(err)
	if len(got.Bytes) != 0 || got.Offset != 10 {
		t.Errorf("%+v", got)
	}
	_, err = w.read("a/b", 0, 1)
	wantErr(t, "folder", err, mcpserver.ErrIsFolder)
	_, err = w.read("a/b/none", 0, 1)
	wantErr(t, "none", err, mcpserver.ErrNoFile)
	_, err = w.write("a/b", nil, mcpserver.Writing{})
	wantErr(t, "onto a folder", err, mcpserver.ErrIsFolder)
	_, err = w.write("a/b/c.sh/d", nil, mcpserver.Writing{})
	wantErr(t, "below a file", err, mcpserver.ErrNoFolder)

	for _, step := range []struct {
		name string
		act  mcpserver.FileAct
		want error
		kind string
	}{
		{"a/b/c.sh", mcpserver.FileAct{Do: "stat"}, nil, "file"},
		{"a/b/c.sh", mcpserver.FileAct{Do: "chmod", Mode: 0o600}, nil, "file"},
		{"new/deep", mcpserver.FileAct{Do: "mkdir"}, nil, "folder"},
		{"new/deep", mcpserver.FileAct{Do: "mkdir"}, nil, "folder"},
		{"a/b/c.sh", mcpserver.FileAct{Do: "mkdir"}, mcpserver.ErrThere, ""},
		{"a/b/c.sh", mcpserver.FileAct{Do: "move", To: "new/deep"}, mcpserver.ErrThere, ""},
		{"a/b/c.sh", mcpserver.FileAct{Do: "move", To: "other/c"}, nil, "file"},
		{"a/b/c.sh", mcpserver.FileAct{Do: "stat"}, mcpserver.ErrNoFile, ""},
		{"new", mcpserver.FileAct{Do: "delete"}, mcpserver.ErrNotEmpty, ""},
		{"new", mcpserver.FileAct{Do: "delete", Recursive: true}, nil, "folder"},
		{"new", mcpserver.FileAct{Do: "delete"}, mcpserver.ErrNoFile, ""},
		{"other/c", mcpserver.FileAct{Do: "delete"}, nil, "file"},
	} {
		info, err := w.manage(step.name, step.act)
		wantErr(t, step.act.Do+" "+step.name, err, step.want)
		if err == nil && info.Kind != step.kind {
			t.Errorf("%+v", info)
		}
	}
	if _, err := w.manage("a", mcpserver.FileAct{Do: "move", To: "a/b/a"}); err == nil || !strings.Contains(err.Error(), "into itself") {
		t.Error(err)
	}
	if left, err := filepath.Glob(dir + "/*/.psb-*"); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

func wantErr(t *testing.T, name string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// TestWorkspaceTricks: links, pipes, sockets, leases and unreadable folders that a program puts into its workspace are named, and neither followed,
// waited for nor opened.
func TestWorkspaceTricks(t *testing.T) {
	w, dir := openWorkspace(t)
	outside := t.TempDir()
	secret := outside + "/secret"
	for _, err := range []error{os.WriteFile(secret, []byte("secret"), 0o644), os.Symlink(secret, dir+"/link"), os.Symlink(outside, dir+"/away"), os.Symlink("..", dir+"/up"),
		os.Symlink("/proc/self/root", dir+"/magic"), os.Symlink("loop", dir+"/loop"), unix.Mkfifo(dir+"/pipe", 0o644), os.WriteFile(dir+"/leased", []byte("l"), 0o644), os.Mkdir(dir+"/inner", 0o755),
		os.Symlink(secret, dir+"/inner/link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", dir+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	leased, err := os.Open(dir + "/leased")
	if err != nil {
		t.Fatal(err)
	}
	defer leased.Close()
	if _, err := unix.FcntlInt(leased.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		t.Fatal(err)
	}
	acts := map[string]func(name string) error{
		"read":   func(n string) error { _, err := w.read(n, 0, 100); return err },
		"write":  func(n string) error { _, err := w.write(n, []byte("x"), mcpserver.Writing{}); return err },
		"append": func(n string) error { _, err := w.write(n, []byte("x"), mcpserver.Writing{Append: true}); return err },
		"chmod":  func(n string) error { _, err := w.manage(n, mcpserver.FileAct{Do: "chmod", Mode: 0o777}); return err },
		"mkdir":  func(n string) error { _, err := w.manage(n, mcpserver.FileAct{Do: "mkdir"}); return err },
		"move in": func(n string) error {
			if err := os.WriteFile(dir+"/moved", nil, 0o644); err != nil {
				return nil
			}
			_, err := w.manage("moved", mcpserver.FileAct{Do: "move", To: n})
			return err
		},
	}
	for _, name := range []string{"link", "away", "away/secret", "away/new", "up/x", "magic/etc/passwd", "loop", "loop/x", "pipe", "pipe/x", "socket", "inner/link"} {
		for act, run := range acts {
			if err := inTime(t, act+" "+name, func() error { return run(name) }); err == nil {
				t.Errorf("%s %s: no error", act, name)
			}
		}
	}
	for act, want := range map[string]error{"append": mcpserver.ErrInUse} { // reading breaks no lease of a reader
		wantErr(t, act+" leased", inTime(t, act, func() error { return acts[act]("leased") }), want)
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("%q %v", b, err)
	}
	if fi, err := os.Stat(secret); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", fi, err)
	}
	found, err := w.find(context.Background(), "", mcpserver.FindQuery{Most: 1000})
	kinds := map[string]string{}
	for _, f := range found {
		kinds[f.Path] = f.Kind
	}
	if err != nil || kinds["away"] != "link" || kinds["pipe"] != "other" || kinds["away/secret"] != "" || kinds["inner/link"] != "link" {
		t.Errorf("%v %v", kinds, err)
	}
	if _, err := w.find(context.Background(), "away", mcpserver.FindQuery{Most: 10}); !errors.Is(err, mcpserver.ErrLink) {
		t.Error(err)
	}
	if got, err := w.find(context.Background(), "", mcpserver.FindQuery{Most: 10, Grep: "secret"}); len(got) > 0 || err != nil {
		t.Errorf("%v %v", got, err)
	}
	for _, name := range []string{"away", "pipe", "socket", "loop", "inner"} { // deleted themselves
		if _, err := w.manage(name, mcpserver.FileAct{Do: "delete", Recursive: true}); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// TestWorkspaceRaces: a name that is a file, a link and a folder in turn is read as the file or refused; a file that only grows is read to where it
// was.
func TestWorkspaceRaces(t *testing.T) {
	w, dir := openWorkspace(t)
	outside := t.TempDir()
	for _, err := range []error{os.WriteFile(outside+"/f", []byte("secret"), 0o644), os.Symlink(outside, dir+"/l"), os.Mkdir(dir+"/d", 0o755), os.WriteFile(dir+"/d/f", []byte("inside"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, dir+"/l", unix.AT_FDCWD, dir+"/d", unix.RENAME_EXCHANGE)
			}
		}
	}()
	reads := map[string]int{}
	for range 3000 {
		got, err := w.read("d/f", 0, 100)
		if err != nil {
			reads[err.Error()]++
			continue
		}
		reads[string(got.Bytes)]++
		if _, err := w.write("d/f", []byte("inside"), mcpserver.Writing{}); err != nil {
			reads["not written"]++
		}
	}
	close(stop)
	<-stopped
	if b, err := os.ReadFile(outside + "/f"); reads["secret"] > 0 || reads["inside"] == 0 || err != nil || string(b) != "secret" {
		t.Errorf("%v, outside %q", reads, b)
	}
	if left, _ := filepath.Glob(outside + "/*"); len(left) != 1 {
		t.Errorf("outside: %v", left)
	}
}

// TestWorkspaceFind: names by pattern, depth and text; the bounds are told.
func TestWorkspaceFind(t *testing.T) {
	w, dir := openWorkspace(t)
	for name, text := range map[string]string{"a.csv": "x,y\n1,2\n", "src/m.py": "import os\nprint(1)\n", "src/sub/n.py": "print(2)\r\n", "bin": "print\x00", "long.txt": strings.Repeat("print ", 1000)} {
		if _, err := w.write(name, []byte(text), mcpserver.Writing{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		from  string
		query mcpserver.FindQuery
		want  string
	}{
		{"", mcpserver.FindQuery{Most: 100}, "a.csv bin long.txt src src/m.py src/sub src/sub/n.py"},
		{"", mcpserver.FindQuery{Most: 100, Depth: 1}, "a.csv bin long.txt src"},
		{"", mcpserver.FindQuery{Most: 2}, "a.csv bin"},
		{"src", mcpserver.FindQuery{Most: 100, Glob: "*.py"}, "src/m.py src/sub/n.py"},
		{"", mcpserver.FindQuery{Most: 100, Glob: "src/*.py"}, "src/m.py"},
		{"", mcpserver.FindQuery{Most: 100, Grep: `^print\(\d\)$`}, "src/m.py:2 src/sub/n.py:1"},
		{"", mcpserver.FindQuery{Most: 100, Grep: "print"}, "long.txt:1 src/m.py:2 src/sub/n.py:1"},
	} {
		got, err := w.find(context.Background(), tc.from, tc.query)
		var names []string
		for _, f := range got {
			name := f.Path
			for _, l := range f.Lines {
				name += fmt.Sprintf(":%d", l.Number)
				if len(l.Text) > mostLine {
					t.Errorf("%d bytes of a line", len(l.Text))
				}
			}
			names = append(names, name)
		}
		if text := strings.Join(names, " "); text != tc.want || err != nil {
			t.Errorf("%+v: %q %v, want %q", tc, text, err, tc.want)
		}
	}
	if err := os.Mkdir(dir+"/many", 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range mostEntries + 1 {
		if err := unix.Mknod(fmt.Sprintf("%s/many/%d", dir, i), unix.S_IFREG|0o644, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.find(context.Background(), "", mcpserver.FindQuery{Most: 1 << 20}); err == nil || !strings.Contains(err.Error(), "more than 20000 names") {
		t.Error(err)
	}
}

// TestWorkspaceChanges: every way a file may become another one is seen, also within one tick of the clock, and nothing else is.
func TestWorkspaceChanges(t *testing.T) {
	w, dir := openWorkspace(t)
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(dir+"/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		for _, name := range []string{"same", "bytes", "longer", "touched", "gone", "sub/replaced", "__pycache__/m.pyc"} {
			put(name, "one")
		}
		before, err := w.marks()
		if err != nil {
			t.Fatal(err)
		}
		put("bytes", "two")
		put("longer", "one more")
		put("new", "n")
		put("__pycache__/m.pyc", "other")
		put("other", "sub")
		now := time.Now()
		for _, err := range []error{os.Chtimes(dir+"/bytes", now, now.Add(-time.Hour)), os.Chtimes(dir+"/touched", now, now), os.Remove(dir + "/gone"), os.Rename(dir+"/other", dir+"/sub/replaced"),
			os.Symlink("same", dir+"/link"), unix.Mkfifo(dir+"/pipe", 0o644)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		v := &boxVerdict{}
		if err := w.changes(before, &callOrder{All: true, Returned: 100, ReturnMax: 100, ReturnAll: 100}, v); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range v.Files {
			if f.Path == "touched" && f.Change == "modified" && (*before)["touched"].sum == "" {
				continue // looked at so late that its times were enough to know it by, and they are others now
			}
			got = append(got, f.Change+" "+f.Path+" "+string(f.Content))
		}
		if want := "modified bytes two; modified longer one more; created new n; modified sub/replaced sub; deleted gone "; strings.Join(got, "; ") != want {
			t.Fatalf("%q, want %q", strings.Join(got, "; "), want)
		}
		if err := os.RemoveAll(dir + "/sub"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"new", "link", "pipe"} {
			if err := os.Remove(dir + "/" + name); err != nil {
				t.Fatal(err)
			}
		}
	}
}
