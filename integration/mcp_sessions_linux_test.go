package integration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inside runs code in a session; more are arguments in pairs.
func (a *agent) inside(session, code string, more ...any) ran {
	a.t.Helper()
	return a.python(code, append([]any{"session", session}, more...)...)
}

// session asks the tool of that name.
func (a *agent) session(action, session string) ran {
	a.t.Helper()
	args := map[string]any{"action": action}
	if session != "" {
		args["session"] = session
	}
	return a.tool("session", args)
}

// says fails unless the text of a tool's answer holds all of these, and whether it is an error.
func (r ran) says(t testing.TB, bad bool, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.text(), text) {
			t.Errorf("%q is not in\n%s", text, r.text())
		}
	}
	if r.IsError != bad {
		t.Errorf("isError %v\n%s", r.IsError, r.text())
	}
}

// TestMCPSessionKeeps: one call's variables, imports, files, functions and working folder are there in the next, its output is not; a call without the
// session sees none of it.
func TestMCPSessionKeeps(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		r := a.inside("w", "import json, os\nx = 40\ndef f():\n  return 1 / 0\nos.makedirs('d'); os.chdir('d'); open('a.txt', 'w').write('A'); print('first')")
		r.want(t, "ok", "[psb] session w, generation 1")
		if got := r.Meta.Result.Cleanup.State; got != "KEPT_SESSION" {
			t.Errorf("cleanup %s", got)
		}
		if f := r.Meta.Result.Files; len(f) != 1 || f[0].Path != "d/a.txt" || f[0].Change != "created" {
			t.Errorf("%+v", f)
		}
		r = a.inside("w", "import sys\nprint(sys.stdin.read(), sys.argv[1:], os.getcwd(), file=sys.stderr)\njson.dumps([x + 2])", "stdin", "in", "args", []string{"one"}, "variables", []string{"x", "nope"})
		r.want(t, "ok", "'[42]'", "x = 40", "nope: not available: NameError")
		if r.part("stderr") != "in ['one'] /workspace/d\n" || r.part("stdout") != "" || len(r.Meta.Result.Files) != 0 {
			t.Errorf("%s", r.text())
		}
		a.inside("w", "f()").want(t, "error", `File "<code 1>", line 4, in f`, "return 1 / 0", "ZeroDivisionError")
		a.inside("w", "raise SystemExit(4)").want(t, "error", "the program says 4")
		a.inside("w", "import asyncio\nawait asyncio.sleep(0); x = x + 1; x").want(t, "ok", "41")
		a.inside("w", "if True print").want(t, "error", "SyntaxError")
		a.python("x").want(t, "error", "NameError")
		r = a.inside("w", "open('a.txt', 'a').write('B'); os.remove('/workspace/given'); x", "files", []any{map[string]any{"path": "given", "content": "g"}})
		r.want(t, "ok", "41", `[psb] file deleted "given"`, `[psb] file modified "d/a.txt"`)
		r = a.tool("run_shell", map[string]any{"command": "pwd; cat a.txt; cat; exit 7", "session": "w", "cwd": "d", "stdin": "fed"})
		r.want(t, "error", "the program says 7")
		if r.part("stdout") != "/workspace/d\nABfed" {
			t.Errorf("%s", r.text())
		}
		a.inside("w", "x", "memory_mb", 100).want(t, "refused", "session w was made with memory_mb 512")
		a.inside("w", "x", "memory_mb", 512).want(t, "ok", "41")
		a.session("list", "").says(t, false, "session w: idle, generation 1")
		a.session("close", "w").says(t, false, "session w is closed")
		a.session("info", "w").says(t, true, `no session "w"`)
		a.inside("w", "x").want(t, "error", "NameError", "session w, generation 2")
	})
}

// TestMCPSessionInterrupt: a call that takes too long is interrupted and its session goes on; one that does not stop takes its session along, which
// is said, with another generation, by it and by the next call.
func TestMCPSessionInterrupt(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.inside("w", "x = 1").want(t, "ok")
		r := a.inside("w", "import subprocess, time\nprint('so far'); x = 2\nsubprocess.run(['sleep', '600'])", "timeout_s", 0.5)
		r.want(t, "timeout", "so far", "KeyboardInterrupt", "ended by SIGINT, limit timeout_s = 0.5 seconds")
		a.tool("run_shell", map[string]any{"command": "sleep 600 & sleep 600", "session": "w", "timeout_s": 0.5}).want(t, "timeout")
		a.inside("w", "x").want(t, "ok", "2", "generation 1")

		_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
			"session": "w", "code": fmt.Sprintf("subprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}})
		until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
		a.inside("w", "x").want(t, "busy", "session w runs another call")
		a.session("interrupt", "w").says(t, false, "interrupted; the state is kept")
		a.result(a.take(ch)).want(t, "cancelled", "interrupted")
		a.session("interrupt", "w").says(t, true, `nothing runs in session "w"`)
		a.inside("w", "x").want(t, "ok", "2", "generation 1")

		id, _ := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
			"session": "w", "code": fmt.Sprintf("subprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}})
		until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
		a.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
		until(t, "the call is over", func() bool { return a.inside("w", "x").Meta.Result.Status == "ok" })
		a.inside("w", "x").want(t, "ok", "2", "generation 1")

		deaf := "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nimport subprocess\nsubprocess.run(['sh', '-c', 'trap \"\" INT; sleep 600; true', %q], start_new_session=True)"
		r = a.inside("w", fmt.Sprintf(deaf, s.word), "timeout_s", 0.5)
		r.want(t, "timeout", "ended by SIGKILL", "session w, generation 2: its state was lost")
		if left := withWord(t, s.word); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		r = a.inside("w", "'x' in globals()")
		r.want(t, "ok", "False", "session w, generation 2: its state was lost", "a call did not stop at its time limit")
		if text := a.inside("w", "1").text(); strings.Contains(text, "lost") {
			t.Errorf("told for ever: %s", text)
		}
	})
}

// TestMCPSessionLost: what ends the box of a session is named by the call it happened in, and by the next one.
func TestMCPSessionLost(t *testing.T) {
	besideOthers(t)
	if os.Getuid() == 0 && !holds("memory") {
		t.Skip("no control groups")
	}
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		for i, c := range []struct{ code, status, why string }{
			{"a = []\nwhile True: a.append(bytearray(8 << 20))", "killed", "the memory limit ended it"},
			{"import os; os._exit(5)", "error", "its interpreter ended with status 5"},
			{"import ctypes; ctypes.string_at(0)", "killed", "ended by SIGSEGV"},
			{"while True: print('x' * 1000)", "killed", "it printed too much"},
			{"f = open('/run/call/words', 'w')\nwhile True: f.write('over 1 0\\n' * 1000)", "killed", "wrote nonsense to psb's pipe"},
		} {
			a.inside("w", "mark = 1", "memory_mb", 200).want(t, "ok")
			told := fmt.Sprintf("session w, generation %d: its state was lost", i+2)
			a.inside("w", c.code).want(t, c.status, told, c.why)
			a.inside("w", "'mark' in globals()", "memory_mb", 200).want(t, "ok", "False", told, c.why)
		}
		if s.who.uid != 0 {
			return // processes are the user's, there
		}
		// A limit that refuses does not end it.
		a.inside("p", "x = 1", "max_processes", 10).want(t, "ok")
		a.inside("p", "import threading, time\nfor i in range(30): threading.Thread(target=time.sleep, args=(0.1,)).start()").want(t, "error", "can't start new thread")
		a.inside("p", "x").want(t, "ok", "1", "generation 1")
	})
}

// TestMCPSessionLies: nothing that the program does to the pipes and files by which it is given orders changes what psb says, keeps psb waiting, or
// reaches the call of somebody else.
func TestMCPSessionLies(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[len(people())-1])
	a := s.agent(t)
	a.inside("w", "1")
	for _, c := range []struct{ code, status string }{
		{"open('/run/call/words', 'w').write('over 1 0\\n[psb] ok\\n{}\\n\\0\\0')", "ok"},
		{"import os, glob\nfor f in glob.glob('/run/call/*.json'): os.remove(f)\nos.path.exists('/run/call/run.py')", "ok"},
		{"import glob, os\nname = glob.glob('/run/call/*.json')[-1][:-5] + '.report'\nos.mkfifo(name)\nsignal = __import__('signal'); signal.alarm(1)", "killed"},
		{"import glob, os\nname = [f for f in glob.glob('/run/call/*.json') if 'setup' not in f][0][:-5] + '.report'\nos.symlink('/etc/passwd', name)", "ok"},
		{"import os; os.closerange(3, 256)", "ok"},
		{"import os\nif os.fork() == 0: raise SystemExit(9)\nos.wait()[1] >> 8", "ok"},
		{"import sys; sys.stdout.close(); sys.stdin.close()", "ok"},
		{"import builtins; builtins.isinstance = builtins.repr = builtins.type = builtins.len = None", "ok"},
	} {
		r := a.inside("w", c.code)
		if r.Meta.Result.Status != c.status || strings.Contains(r.text(), "root:") {
			t.Errorf("%q: %s", c.code, r.text())
		}
	}
	a.session("reset", "w").says(t, false, "its state is gone: it was reset")
	a.inside("w", "1").want(t, "ok", "1")
	// Orders that psb did not give, and a pipe that is full: the program's own loss.
	a.inside("w", "import os\nfd = os.open('/run/call/orders', os.O_WRONLY | os.O_NONBLOCK)\ntry:\n  while True: os.write(fd, b'nothing\\n' * 512)\nexcept OSError: pass").want(t, "ok")
	if r := a.inside("w", "2"); r.Meta.Result.Status == "ok" {
		t.Errorf("%s", r.text())
	}
	a.inside("other", "3").want(t, "ok", "3")
	a.session("reset", "w").says(t, false, "session w: idle")
	a.inside("w", "4").want(t, "ok", "4")
	// Threads and children of an earlier call print into nobody's result.
	a.inside("w", "import threading, time, subprocess\nsubprocess.Popen(['sh', '-c', 'while sleep 0.05; do echo late; done'], start_new_session=True)\nprint('early')").want(t, "ok", "early")
	until(t, "it printed late", func() bool {
		return strings.Contains(a.inside("w", "time.sleep(0.2)").part("stdout"), "late") // while a call goes on it is that call's
	})
	a.inside("w", "import signal, os\nos.kill(os.getpid(), signal.SIGINT)\n5").want(t, "error", "KeyboardInterrupt")
	a.inside("w", "5").want(t, "ok", "5")
}

// TestMCPSessionOwners: a session is its client's alone, and each client has so many.
func TestMCPSessionOwners(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	line := func(name, token string) string {
		sum := sha256.Sum256([]byte(token))
		return name + " " + hex.EncodeToString(sum[:]) + "\n"
	}
	tokens := s.put(t, "home/tokens", line("one", "first")+line("two", "second"))
	s.give(t)
	h := s.mcpHTTP(t, "--tokens", tokens, "--sessions", "3", "--sessions-per-client", "2")
	ask := func(token, tool string, args map[string]any, want string) {
		t.Helper()
		header := []string{"Authorization", "Bearer " + token}
		if name, ok := args["session"].(string); ok {
			header = append(header, "Mcp-Param-Session", name)
		}
		if _, _, body := h.post(t, context.Background(), tool, args, header...); !strings.Contains(body, want) {
			t.Errorf("%s %s %v: %q is not in\n%s", token, tool, args, want, body)
		}
	}
	ask("first", "run_python", map[string]any{"code": "secret = 1; open('f', 'w').write('secret')", "session": "w"}, "[psb] ok")
	ask("second", "session", map[string]any{"action": "list"}, "no sessions")
	for _, action := range []string{"info", "reset", "close", "interrupt", "pause", "resume"} {
		ask("second", "session", map[string]any{"action": action, "session": "w"}, `no session \"w\"`)
	}
	ask("second", "session", map[string]any{"action": "close_all"}, "no sessions to close")
	ask("second", "file_read", map[string]any{"path": "f", "session": "w"}, `no session \"w\"`)
	ask("second", "run_python", map[string]any{"code": "secret", "session": "w"}, "NameError")
	ask("second", "run_python", map[string]any{"code": "1", "session": "x"}, "[psb] ok")
	ask("second", "run_python", map[string]any{"code": "1", "session": "y"}, "you have 2 sessions")
	ask("first", "run_python", map[string]any{"code": "1", "session": "x"}, "as many sessions as this server keeps")
	ask("first", "run_python", map[string]any{"code": "secret + 41", "session": "w"}, "42")
	if _, metrics := get(t, h.health+"/metrics"); !strings.Contains(metrics, "\npsb_mcp_sessions 3\n") || !strings.Contains(metrics, "\npsb_mcp_sessions_started_total 3\n") {
		t.Errorf("%s", metrics)
	}
}

// TestMCPSessionProfile: a session has the profile that its first call named, with all of its rules, and no call changes it.
func TestMCPSessionProfile(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/data/set.csv", "1,2\n")
		policy := s.put(t, "home/profiles/data.py-sandboxes", "version = 1\n\n[files]\n\""+s.home+"/data/\" = \"read\"\n\n[limits]\nwall = \"1s\"\n")
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy))
		code := fmt.Sprintf("open(%q).read()", s.home+"/data/set.csv")
		a.inside("w", code, "profile", "data").want(t, "ok", "1,2")
		a.inside("w", code).want(t, "ok", "1,2")
		a.inside("w", code, "profile", "default").want(t, "refused", "session w was made with profile data")
		a.inside("plain", code).want(t, "error", "FileNotFoundError")
		a.inside("w", "while True: pass").want(t, "timeout", "limit timeout_s = 1 seconds", "generation 1")
		a.inside("w", "import subprocess").want(t, "error", "denied: import subprocess")
		a.inside("w", "1").want(t, "ok")
		if r := a.inside("w", "1"); len(r.Meta.Result.Denials) > 0 {
			t.Errorf("denials of an earlier call: %v", r.Meta.Result.Denials)
		}
		a.tool("run_shell", map[string]any{"command": "echo x", "session": "w"}).want(t, "error", "this profile lets no session start programs")
	})
}

// TestMCPSessionFollowsThePolicy: no call of a session runs under a policy that is gone, and neither does what a call left behind. The name stays the
// profile's; a policy that cannot be read lets nothing run, whichever way it is asked for.
func TestMCPSessionFollowsThePolicy(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		write := func(line string) string {
			name := s.put(t, "home/profiles/p.py-sandboxes", "version = 1\n[env]\n"+line+"\n")
			s.give(t)
			return name
		}
		policy := write(`GREETING = "one"`)
		a := s.agent(t, "--profiles", filepath.Dir(policy))
		told := func(generation int) string {
			return fmt.Sprintf("session w, generation %d: its state was lost, variables and files are gone: the policy of its profile was changed", generation)
		}
		code := "import os; ('mark' in globals(), os.environ.get('GREETING'))"
		a.inside("w", "mark = 1", "profile", "p").want(t, "ok")
		a.inside("w", code).want(t, "ok", "(True, 'one')", "generation 1")
		write(`GREETING = "two"`)
		a.inside("w", code).want(t, "ok", "(False, 'two')", told(2))
		a.inside("w", "mark = 2\n"+code).want(t, "ok", "(True, 'two')", "generation 2")
		write("[")
		for range 2 {
			a.inside("w", code).want(t, "refused", "the policy of profile p was changed, and nothing runs under it now")
		}
		a.session("reset", "w").says(t, true, "its box is gone, and no other could be made: the policy of profile p was changed, and nothing runs under it now")
		a.inside("other", "import os; 'GREETING' in os.environ").want(t, "ok", "False")
		write(`GREETING = "three"`)
		a.inside("w", code).want(t, "ok", "(False, 'three')", told(3))
		write(`GREETING = "four"`)
		a.session("reset", "w").says(t, false, "session w: idle")
		a.inside("w", code).want(t, "ok", "(False, 'four')")
	})
}

// TestMCPSessionEnds: a session that is not used ends, and so does one that is old; the next call says so. A paused one stands still.
func TestMCPSessionEnds(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t, "--session-idle", "1s")
	a.inside("w", fmt.Sprintf("import subprocess\np = subprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)", s.word)).want(t, "ok")
	until(t, "it ended", func() bool { return len(withWord(t, s.word)) == 0 })
	until(t, "it is told", func() bool { return strings.Contains(a.session("list", "").text(), "session w: lost, generation 2") })
	a.inside("w", "1").want(t, "ok", "session w, generation 2: its state was lost", "it was not used for 1s")

	b := s.agent(t, "--session-life", "2s")
	b.inside("w", "x = 1").want(t, "ok")
	until(t, "it is old", func() bool {
		return strings.Contains(b.inside("w", "import time; time.sleep(0.3)").text(), "it was older than 2s")
	})

	c := s.agent(t)
	c.inside("w", "import threading, time\nn = 0\ndef count():\n  global n\n  while True: n += 1; time.sleep(0.01)\nthreading.Thread(target=count, daemon=True).start()").want(t, "ok")
	c.session("pause", "w").says(t, false, "session w: paused")
	c.inside("w", "n").want(t, "refused", "session w is paused")
	c.session("resume", "w").says(t, false, "session w: idle")
	_, ch := c.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
		"session": "w", "timeout_s": 2, "code": fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}})
	until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
	c.session("pause", "w").says(t, false, "session w: paused")
	select { // its time stands still, too
	case got := <-ch:
		t.Fatalf("it ended while it was paused: %s", c.result(got).text())
	case <-time.After(4 * time.Second):
	}
	c.session("interrupt", "w").says(t, false, "the state is kept")
	c.result(c.take(ch)).want(t, "cancelled")
	c.inside("w", "n > 0").want(t, "ok", "True")
}

// TestMCPSessionGone: whichever way the server ends, nothing of its sessions is left.
func TestMCPSessionGone(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		for _, way := range []string{"closed", "killed"} {
			a := s.agent(t)
			a.inside("w", fmt.Sprintf("import subprocess\np = subprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)", s.word)).want(t, "ok")
			if len(withWord(t, s.word)) == 0 {
				t.Fatal("it does not run")
			}
			if way == "closed" {
				a.in.Close()
			} else {
				must(t, a.cmd.Process.Kill())
			}
			<-a.ended
			until(t, way+": the tree is gone", func() bool { return len(withWord(t, s.word)) == 0 })
		}
	})
}
