package mcpserver

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeFiles is a Runner with sessions and files, all in memory.
type fakeFiles struct {
	fakeRunner
	mu    sync.Mutex
	made  map[string]*SessionState // by client/name
	files map[string][]byte        // by client/name/path
}

func (f *fakeFiles) at(client, id string) (*SessionState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.made[client+"/"+id]; s != nil {
		return s, nil
	}
	return nil, ErrNoSession
}

func (f *fakeFiles) Sessions(client string) (list []SessionState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range sortedKeys(f.made) {
		if strings.HasPrefix(k, client+"/") {
			list = append(list, *f.made[k])
		}
	}
	return list
}

func (f *fakeFiles) Session(client, id string) (SessionState, error) {
	s, err := f.at(client, id)
	if err != nil {
		return SessionState{}, err
	}
	return *s, nil
}

func (f *fakeFiles) Reset(_ context.Context, client, id string) (SessionState, error) {
	s, err := f.at(client, id)
	if err != nil {
		return SessionState{}, err
	}
	s.Generation++
	s.Lost = true
	return *s, nil
}

func (f *fakeFiles) Close(_ context.Context, client, id string) error {
	if _, err := f.at(client, id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.made, client+"/"+id)
	return nil
}

func (f *fakeFiles) CloseAll(_ context.Context, client string) (closed, busy []string) {
	for _, x := range f.Sessions(client) {
		if x.State == "busy" {
			busy = append(busy, x.ID)
		} else if f.Close(context.Background(), client, x.ID) == nil {
			closed = append(closed, x.ID)
		}
	}
	return closed, busy
}

func (f *fakeFiles) Interrupt(_ context.Context, client, id string) error {
	s, err := f.at(client, id)
	if err == nil && s.State != "busy" {
		err = ErrIdle
	}
	return err
}

func (f *fakeFiles) Pause(_ context.Context, client, id string) (SessionState, error) {
	return f.set(client, id, "paused")
}

func (f *fakeFiles) Resume(_ context.Context, client, id string) (SessionState, error) {
	return f.set(client, id, "idle")
}

func (f *fakeFiles) set(client, id, state string) (SessionState, error) {
	s, err := f.at(client, id)
	if err != nil {
		return SessionState{}, err
	}
	s.State = state
	return *s, nil
}

func (f *fakeFiles) SessionCounts() SessionCounts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return SessionCounts{Live: len(f.made), Started: 1, Ended: map[string]int64{"close": 2}}
}

func (f *fakeFiles) key(at Place) string { return at.Client + "/" + at.Session + "/" + at.Path }

func (f *fakeFiles) ReadFile(_ context.Context, at Place, offset, limit int64) (FileContent, error) {
	if _, err := f.at(at.Client, at.Session); err != nil {
		return FileContent{}, err
	}
	b, there := f.files[f.key(at)]
	switch {
	case at.Path == "folder":
		return FileContent{}, ErrIsFolder
	case !there:
		return FileContent{}, ErrNoFile
	}
	from := min(offset, int64(len(b)))
	return FileContent{FileInfo: FileInfo{Path: at.Path, Kind: "file", Size: int64(len(b)), Mode: 0o644}, Offset: from, Bytes: b[from:min(from+limit, int64(len(b)))]}, nil
}

func (f *fakeFiles) WriteFile(_ context.Context, at Place, content []byte, how Writing) (FileInfo, error) {
	if _, err := f.at(at.Client, at.Session); err != nil {
		return FileInfo{}, err
	}
	if how.Append {
		content = append(slices.Clone(f.files[f.key(at)]), content...)
	}
	f.files[f.key(at)] = content
	return FileInfo{Path: at.Path, Kind: "file", Size: int64(len(content)), Mode: 0o644, SHA256: "0"}, nil
}

func (f *fakeFiles) FindFiles(_ context.Context, at Place, q FindQuery) (list []FileInfo, err error) {
	for _, k := range sortedKeys(f.files) {
		if name, ok := strings.CutPrefix(k, at.Client+"/"+at.Session+"/"); ok && (q.Glob == "" || Matches(q.Glob, name)) {
			list = append(list, FileInfo{Path: name, Kind: "file", Size: int64(len(f.files[k])), Modified: time.Unix(0, 0)})
		}
	}
	return list, nil
}

func (f *fakeFiles) ManageFile(_ context.Context, at Place, act FileAct) (FileInfo, error) {
	b, there := f.files[f.key(at)]
	if !there {
		return FileInfo{}, ErrNoFile
	}
	switch act.Do {
	case "move":
		delete(f.files, f.key(at))
		at.Path = path.Clean(act.To)
		f.files[f.key(at)] = b
	case "delete":
		delete(f.files, f.key(at))
	}
	return FileInfo{Path: at.Path, Kind: "file", Size: int64(len(b)), Mode: act.Mode}, nil
}

func newFakeFiles() *fakeFiles {
	f := &fakeFiles{fakeRunner: fakeRunner{offer: testOffer()}, made: map[string]*SessionState{}, files: map[string][]byte{}}
	f.run = func(_ context.Context, r *Request) (*Result, error) {
		out := okResult()
		if r.Session != "" {
			f.mu.Lock()
			defer f.mu.Unlock()
			k := r.Client + "/" + r.Session
			if f.made[k] == nil {
				f.made[k] = &SessionState{ID: r.Session, Generation: 1, State: "idle"}
			}
			copied := *f.made[k]
			out.Session, out.Cleanup.State = &copied, KeptSession
		}
		return out, nil
	}
	return f
}

// TestSessionTool: a session is made by use, listed, told of, paused, reset and closed; what is not there is a refusal that names it.
func TestSessionTool(t *testing.T) {
	f := newFakeFiles()
	c := connect(t, testServer(t, Options{}, f), "http")
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
		bad  bool
	}{
		{"session", map[string]any{"action": "list"}, "no sessions", false},
		{"run_python", map[string]any{"code": "1", "session": "work"}, "[psb] session work, generation 1", false},
		{"run_python", map[string]any{"code": "1", "session": "Not a name"}, "1 to 64 of a-z 0-9 _ -", true},
		{"session", map[string]any{"action": "list"}, "session work: idle, generation 1", false},
		{"session", map[string]any{"action": "pause", "session": "work"}, "session work: paused", false},
		{"session", map[string]any{"action": "resume", "session": "work"}, "session work: idle", false},
		{"session", map[string]any{"action": "interrupt", "session": "work"}, `nothing runs in session "work"`, true},
		{"session", map[string]any{"action": "reset", "session": "work"}, "generation 2, idle 0 s, ends in 0 s; its state is gone", false},
		{"session", map[string]any{"action": "info", "session": "other"}, `no session "other"`, true},
		{"session", map[string]any{"action": "explode"}, `action: "explode" is none of list, info`, true},
		{"session", map[string]any{"action": "info"}, "session: a name is needed", true},
		{"session", map[string]any{"action": "close", "session": "work"}, "session work is closed", false},
		{"session", map[string]any{"action": "close", "session": "work"}, `no session "work"`, true},
		{"session", map[string]any{"action": "close_all"}, "[psb] no sessions to close", false},
		{"session", map[string]any{"action": "close_all", "session": "work"}, "session: close_all is of all of them", true},
		{"run_python", map[string]any{"code": "1", "session": "a"}, "[psb] session a, generation 1", false},
		{"run_python", map[string]any{"code": "1", "session": "b"}, "[psb] session b, generation 1", false},
		{"run_python", map[string]any{"code": "1", "session": "c"}, "[psb] session c, generation 1", false},
		{"session", map[string]any{"action": "close_all"}, "[psb] sessions closed: a, c\n[psb] busy, and left as they are: b", true},
		{"session", map[string]any{"action": "list"}, "session b: busy, generation 1", false},
	} {
		if step.args["action"] == "close_all" {
			_, _ = f.set("local", "b", "busy")
		}
		r := callTool(t, c, step.tool, step.args)
		if !strings.Contains(textOf(r), step.want) || r.IsError != step.bad {
			t.Errorf("%s %v: %v %s", step.tool, step.args, r.IsError, textOf(r))
		}
	}
}

// TestFileTools: what is written is read; edits change what they were told, as often as they were told, or nothing.
func TestFileTools(t *testing.T) {
	f := newFakeFiles()
	c := connect(t, testServer(t, Options{}, f), "stdio")
	callTool(t, c, "run_python", map[string]any{"code": "1", "session": "s"})
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
		bad  bool
	}{
		{"file_write", map[string]any{"path": "./a/b.txt", "content": "one two two\n"}, `[psb] wrote "a/b.txt", 12 bytes`, false},
		{"file_read", map[string]any{"path": "/workspace/a/b.txt"}, "one two two\n", false},
		{"file_read", map[string]any{"path": "a/b.txt", "offset": 4, "limit": 3}, `bytes 4 to 7 of 12, utf-8; next offset 7`, false},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "two", "new": "2"}, "old stands there 2 times, expected 1; nothing was changed", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "three", "new": "3"}, "old does not stand there", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "two", "new": "2", "expect_count": 2}, `[psb] replaced 2 in "a/b.txt", now 8 bytes`, false},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "", "new": "2"}, "old: the text to replace is needed", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "edits": []any{map[string]any{"old": "one", "new": "1"}, map[string]any{"old": "3", "new": ""}}}, "edits[1]: old does not stand there; nothing was changed", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "edits": []any{map[string]any{"old": "one", "new": "3"}, map[string]any{"old": "2", "new": "3", "expect_count": 2}, map[string]any{"old": "3 3 3", "new": "9"}}}, `[psb] replaced 4 (1, 2, 1) in "a/b.txt", now 2 bytes`, false},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "9", "new": "8", "edits": nil}, `[psb] replaced 1 in "a/b.txt"`, false},
		{"file_edit", map[string]any{"path": "a/b.txt", "old": "9", "edits": []any{map[string]any{"old": "8", "new": "9"}}}, "old: edits has its own", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "edits": []any{}}, "edits: a list of 1 to 64 {old, new, expect_count} is needed", true},
		{"file_edit", map[string]any{"path": "a/b.txt", "edits": []any{map[string]any{"old": "8", "nwe": "9"}, map[string]any{"new": "9"}}}, "edits[0]: unknown argument \"nwe\", did you mean new?\nedits[1]: old: the text to replace is needed", true},
		{"file_edit", map[string]any{"path": "a/b.txt"}, "old: the text to replace is needed", true},
		{"file_write", map[string]any{"path": "bin", "content": "AP8=", "encoding": "base64"}, "2 bytes", false},
		{"file_read", map[string]any{"path": "bin"}, "AP8=", false},
		{"file_write", map[string]any{"path": "esc", "content": "a\u001bb"}, "3 bytes", false},
		{"file_read", map[string]any{"path": "esc"}, `a\x1bb`, false},
		{"file_read", map[string]any{"path": "folder"}, "it is a folder", true},
		{"file_read", map[string]any{"path": "nope"}, `"nope": no such file`, true},
		{"file_read", map[string]any{"path": "../x"}, `path: "../x": it leaves /workspace`, true},
		{"file_read", map[string]any{"path": "/etc/passwd"}, `path: "/etc/passwd": not below /workspace`, true},
		{"file_find", map[string]any{"glob": "**/*.txt"}, `file 0000 2 1970-01-01T00:00:00Z "a/b.txt"`, false},
		{"file_find", map[string]any{"grep": "("}, "grep: no regular expression", true},
		{"file_manage", map[string]any{"action": "move", "path": "a/b.txt", "to": "c"}, "move", false},
		{"file_manage", map[string]any{"action": "stat", "path": "a/b.txt"}, "no such file", true},
		{"file_manage", map[string]any{"action": "move", "path": "c"}, "to: it is needed", true},
		{"file_manage", map[string]any{"action": "chmod", "path": "c", "mode": "9"}, "mode: octal", true},
		{"file_manage", map[string]any{"action": "delete", "path": "c"}, `[psb] delete "c"`, false},
	} {
		step.args["session"] = "s"
		r := callTool(t, c, step.tool, step.args)
		if !strings.Contains(textOf(r), step.want) || r.IsError != step.bad {
			t.Errorf("%s %v: %v %s", step.tool, step.args, r.IsError, textOf(r))
		}
	}
	r := callTool(t, c, "file_read", map[string]any{"path": "x", "session": "other"})
	if !strings.Contains(textOf(r), `no session "other"`) {
		t.Errorf("%s", textOf(r))
	}
}
