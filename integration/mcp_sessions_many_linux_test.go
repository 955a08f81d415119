package integration

import (
	"fmt"
	"strings"
	"testing"
)

// listed are the sessions that the tool lists, by name, with what each does.
func (a *agent) listed() string {
	a.t.Helper()
	var all []string
	for line := range strings.Lines(a.session("list", "").text()) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "[psb] session "), ": "); ok {
			state, _, _ := strings.Cut(rest, ",")
			all = append(all, name+" "+state)
		}
	}
	return strings.Join(all, "; ")
}

// TestMCPSessionsBesideEachOther: sessions of one client share nothing, run at the same time, are busy each for itself, and end one by one with all of
// their processes.
func TestMCPSessionsBesideEachOther(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	names := []string{"one", "three", "two"}
	for _, n := range names {
		a.inside(n, fmt.Sprintf("import os, time, subprocess\nx = %q; open('mine', 'w').write(x); open('/tmp/mine', 'w').write(x); os.environ['MINE'] = x\nsubprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)", n, n+s.word)).want(t, "ok")
	}
	if got := a.listed(); got != "one idle; three idle; two idle" {
		t.Errorf("sessions %q", got)
	}
	calls := map[string]<-chan answered{}
	for _, n := range names {
		_, calls[n] = a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"session": n, "code": "open('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)\n" +
			"x, open('mine').read(), open('/tmp/mine').read(), os.environ['MINE'], sorted(os.listdir('.'))"}})
	}
	for _, n := range names { // all of them are in the midst of it at once
		until(t, n+" runs", func() bool {
			return !a.tool("file_read", map[string]any{"session": n, "path": "begun"}).IsError
		})
	}
	if got := a.listed(); got != "one busy; three busy; two busy" {
		t.Errorf("sessions %q", got)
	}
	a.inside("two", "1").want(t, "busy", "session two runs another call")
	a.shell("one", "true").want(t, "busy", "session one runs another call")
	for _, n := range names {
		a.tool("file_write", map[string]any{"session": n, "path": "go", "content": ""}).says(t, false, "wrote")
		a.result(a.take(calls[n])).want(t, "ok", fmt.Sprintf("('%[1]s', '%[1]s', '%[1]s', '%[1]s', ['begun', 'go', 'mine'])", n))
	}
	a.session("close", "three").says(t, false, "session three is closed")
	for _, n := range names {
		if left := len(withWord(t, n+s.word)); (left > 0) != (n != "three") {
			t.Errorf("%d processes of session %s", left, n)
		}
	}
	for _, action := range []string{"close", "info", "reset", "interrupt", "pause", "resume"} {
		a.session(action, "three").says(t, true, `[psb] refused: no session "three"`)
		a.session(action, "never").says(t, true, `[psb] refused: no session "never"`)
	}
	if got := a.listed(); got != "one idle; two idle" {
		t.Errorf("sessions %q", got)
	}
	// An interrupt ends a command with what it started beside itself, and nothing else of the session.
	_, ch := a.begin("tools/call", map[string]any{"name": "run_shell", "arguments": map[string]any{"session": "one",
		"command": fmt.Sprintf("cd /tmp; for i in 1 2 3; do sh -c 'sleep 600; true' child%s & done; wait", s.word)}})
	until(t, "the three run", func() bool { return len(withWord(t, "child"+s.word)) == 4 }) // the shell's own words hold it, too
	a.session("interrupt", "one").says(t, false, "interrupted; the state is kept")
	a.result(a.take(ch)).want(t, "cancelled")
	if left := withWord(t, "child"+s.word); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	a.session("interrupt", "one").says(t, true, `nothing runs in session "one"`)
	a.shell("one", "pwd").want(t, "ok", "/workspace")
	a.inside("one", "x").want(t, "ok", "'one'", "generation 1")
	if len(withWord(t, "one"+s.word)) == 0 {
		t.Error("what an earlier call left running is gone")
	}
	tryCloseAll(t, a, s)
}

// tryCloseAll: what is at rest is closed with all of its processes; what is busy is told as busy, goes on, and has its answer.
func tryCloseAll(t *testing.T, a *agent, s scene) {
	t.Helper()
	a.inside("lost", "import os; os._exit(3)").want(t, "error")
	a.inside("still", "1").want(t, "ok")
	a.session("pause", "still").says(t, false, "paused")
	_, call := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"session": "two", "code": "open('begun2', 'w').close()\nwhile not os.path.exists('go2'): time.sleep(0.01)\nx"}})
	until(t, "it runs", func() bool { return !a.tool("file_read", map[string]any{"session": "two", "path": "begun2"}).IsError })
	a.session("close_all", "two").says(t, true, "close_all is of all of them")
	a.session("close_all", "").says(t, true, "[psb] sessions closed: lost, one, still\n[psb] busy, and left as they are: two")
	if got := a.listed(); got != "two busy" {
		t.Errorf("sessions %q", got)
	}
	for _, n := range []string{"one", "two"} {
		if left := len(withWord(t, n+s.word)); (left > 0) != (n == "two") {
			t.Errorf("%d processes of session %s", left, n)
		}
	}
	a.tool("file_write", map[string]any{"session": "two", "path": "go2", "content": ""}).says(t, false, "wrote")
	a.result(a.take(call)).want(t, "ok", "'two'")
	a.session("close_all", "").says(t, false, "[psb] sessions closed: two")
	a.session("close_all", "").says(t, false, "[psb] no sessions to close")
	if left := withWord(t, "two"+s.word); a.listed() != "" || len(left) > 0 {
		t.Errorf("%s is listed, %v left", a.listed(), left)
	}
	a.inside("one", "'x' in globals()").want(t, "ok", "False")
}

// TestMCPSessionStandsStill: a paused session's threads and processes do nothing until it goes on, and its files can be seen meanwhile.
func TestMCPSessionStandsStill(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.inside("w", "import threading, time, subprocess\nsubprocess.Popen(['sh', '-c', 'while true; do echo x >>by-child; done'], start_new_session=True)\ndef count():\n"+
			"  with open('by-thread', 'a', buffering=1) as f:\n    while True: f.write('x'); f.flush(); time.sleep(0.0001)\nthreading.Thread(target=count, daemon=True).start()").want(t, "ok")
		sizes := func() string {
			var all []string
			for _, name := range []string{"by-child", "by-thread"} {
				r := a.file("file_manage", name, "action", "stat")
				_, size, _ := strings.Cut(r.text(), "mode ")
				all = append(all, size)
			}
			return strings.Join(all, " ")
		}
		grows := func(why string) {
			t.Helper()
			was := strings.Fields(sizes())
			until(t, why, func() bool {
				now := strings.Fields(sizes())
				return len(now) == len(was) && now[1] != was[1] && now[len(now)/2+1] != was[len(was)/2+1]
			})
		}
		until(t, "both write", func() bool { return !strings.Contains(sizes(), "refused") && strings.Count(sizes(), "bytes") == 2 })
		grows("both go on")
		for range 3 {
			a.session("pause", "w").says(t, false, "session w: paused")
			was := sizes()
			for range 20 {
				if now := sizes(); now != was {
					t.Fatalf("paused, and %s became %s", was, now)
				}
			}
			a.session("resume", "w").says(t, false, "session w: idle")
			grows("both go on again")
		}
	})
}

// TestMCPSessionFileLists: what the tools on files tell: pieces, counts, names in order and as deep as asked, kinds, modes and times, and links as links.
func TestMCPSessionFileLists(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[len(people())-1])
	a := s.agent(t)
	a.inside("w", `import os
for n in ('z/1', 'a/2', 'a/b/3', 'a/b/c/4', '0'):
    os.makedirs(os.path.dirname('./' + n), exist_ok=True)
    open(n, 'w').write('one two one\n' * 3)
    os.utime(n, (1e9, 1e9)); os.chmod(n, 0o640)
os.symlink('a', 'inner'); os.symlink('/etc/passwd', 'outer'); os.chmod('z/1', 0o750)
`).want(t, "ok")
	names := func(more ...any) string {
		t.Helper()
		var all []string
		for line := range strings.Lines(a.file("file_find", "", more...).text()) {
			f := strings.Fields(line)
			all = append(all, f[0][:2]+" "+strings.Trim(f[len(f)-1], `"`))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		more []any
		want string
	}{
		{[]any{"depth", 1}, "fi 0, fo a, li inner, li outer, fo z"},
		{[]any{"depth", 2}, "fi 0, fo a, fi a/2, fo a/b, li inner, li outer, fo z, fi z/1"},
		{[]any{"depth", 0}, "fi 0, fo a, fi a/2, fo a/b, fi a/b/3, fo a/b/c, fi a/b/c/4, li inner, li outer, fo z, fi z/1"},
		{nil, "fi 0, fo a, fi a/2, fo a/b, fi a/b/3, fo a/b/c, fi a/b/c/4, li inner, li outer, fo z, fi z/1"},
		{[]any{"glob", "a/**"}, "fo a, fi a/2, fo a/b, fi a/b/3, fo a/b/c, fi a/b/c/4"},
		{[]any{"glob", "[0-3]"}, "fi 0, fi a/2, fi a/b/3, fi z/1"},
	} {
		if got := names(c.more...); got != c.want {
			t.Errorf("%v: %s, want %s", c.more, got, c.want)
		}
	}
	a.file("file_find", "z").says(t, false, `file 0750 36 2001-09-09T01:46:40Z "z/1"`)
	a.file("file_find", "inner").says(t, true, "links are not followed")
	a.file("file_manage", "z/1", "action", "stat").says(t, false, `stat "z/1": file, mode 0750, 36 bytes, 2001-09-09T01:46:40Z, sha256 6f61016ba936c796ae3d139577304d3759c1bd7fbe4fd66652a03be352220a5d`)
	a.file("file_manage", "outer", "action", "stat").says(t, false, `stat "outer": link, mode 0777, 11 bytes`)
	for _, c := range []struct {
		more []any
		text string
	}{{[]any{"offset", 4, "limit", 3}, "two"}, {[]any{"offset", 30}, "o one\n"}, {[]any{"offset", 36}, ""}, {[]any{"offset", 1000}, ""}, {[]any{"limit", 1}, "o"}} {
		if r := a.file("file_read", "0", c.more...); r.IsError || r.Content[0].Text != c.text {
			t.Errorf("%v: %s, want %q", c.more, r.text(), c.text)
		}
	}
	for _, c := range []struct {
		old   string
		count int
		bad   bool
		text  string
	}{
		{"three", 1, true, "old does not stand there; nothing was changed"}, {"one", 1, true, "old stands there 6 times, expected 1; nothing was changed"},
		{"one", 7, true, "old stands there 6 times, expected 7; nothing was changed"}, {"one", 6, false, `replaced 6 in "0"`}, {"two 1\n1 two 1\n", 1, false, `replaced 1 in "0"`},
	} {
		a.file("file_edit", "0", "old", c.old, "new", "1", "expect_count", c.count).says(t, c.bad, c.text)
	}
	if got := a.file("file_read", "0").Content[0].Text; got != "1 11 two 1\n" {
		t.Errorf("after the changes %q", got)
	}
	edits := func(more ...any) (list []map[string]any) {
		for i := 0; i+2 < len(more); i += 3 {
			list = append(list, map[string]any{"old": more[i], "new": more[i+1], "expect_count": more[i+2]})
		}
		return list
	}
	before := a.file("file_manage", "0", "action", "stat").text() // its time, too: nothing was written
	a.file("file_edit", "0", "edits", edits("two", "2", 1, "1", "x", 5)).says(t, true, `"0": edits[1]: old stands there 4 times, expected 5; nothing was changed`)
	a.file("file_edit", "0", "edits", edits("two", "2", 1, "two", "3", 1)).says(t, true, "edits[1]: old does not stand there; nothing was changed")
	if after := a.file("file_manage", "0", "action", "stat").text(); after != before {
		t.Errorf("%s, and nothing was to be changed in %s", after, before)
	}
	a.file("file_edit", "0", "edits", edits("two", "1", 1, "1", "one", 0, "oneone", "11", 1)).says(t, false, `replaced 7 (1, 5, 1) in "0", now 15 bytes`)
	if got := a.file("file_read", "0").Content[0].Text; got != "one 11 one one\n" {
		t.Errorf("after several changes at once %q", got)
	}
	a.file("file_manage", "0", "action", "stat").says(t, false, "mode 0640")
	a.file("file_manage", "a/2", "action", "move", "to", "new/folder/2").says(t, false, `move "a/2"`)
	a.file("file_read", "a/2").says(t, true, "no such file")
	a.file("file_read", "new/folder/2").says(t, false, "one two one")
	a.file("file_manage", "new/folder/2", "action", "move", "to", "z/1").says(t, true, "something is there already")
	a.file("file_manage", "a", "action", "move", "to", "a/b/x").says(t, true, "a folder cannot be moved into itself")
}
