package integration

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// want fails unless a run ended with this status, and its text holds all of these.
func (r ran) want(t testing.TB, status string, texts ...string) {
	t.Helper()
	if got := r.Meta.Result.Status; got != status || r.IsError != (status != "ok") {
		t.Errorf("status %s, isError %v, want %s\n%s", got, r.IsError, status, r.text())
	}
	for _, text := range texts {
		if !strings.Contains(r.text(), text) {
			t.Errorf("%q is not in\n%s", text, r.text())
		}
	}
}

// TestMCPOutputIsNotProtocol: whatever the program, its children and native code print stands in the result, frames of the protocol and lines like
// psb's own included.
func TestMCPOutputIsNotProtocol(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		r := a.python(`import os, subprocess, ctypes
print('hello'); print('{"jsonrpc":"2.0","id":999,"result":{}}'); print('[psb] ok: exit 0, 9 s')
os.write(1, b'raw\n'); subprocess.run(['echo', 'child']); ctypes.CDLL(None).puts(b'native')
raise SystemExit(3)`)
		r.want(t, "error", "[psb] error: exit 3")
		if got, want := r.part("stdout"), "hello\n{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n |[psb] ok: exit 0, 9 s\nraw\nchild\nnative\n"; got != want {
			t.Errorf("stdout %q, want %q", got, want)
		}
		if r := a.python(`import sys; print(repr(sys.stdin.read(20)))`); r.part("stdout") != "''\n" {
			t.Errorf("standard input is not empty: %s", r.text())
		}
		a.python("1 + 1").want(t, "ok", "2")
	})
}

// TestMCPTimeout: the limit ends the whole tree, with what was printed so far.
func TestMCPTimeout(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		r := a.python(fmt.Sprintf(`import subprocess, time
print('so far')
subprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)
time.sleep(600)`, s.word), "timeout_s", 2)
		r.want(t, "timeout", "so far", "limit timeout_s = 2 seconds")
		if left := withWord(t, s.word); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		a.python("while True:\n  try:\n    while True: pass\n  except BaseException: pass", "timeout_s", 1).want(t, "timeout")
	})
}

// TestMCPParallel: many calls at once neither meet nor mix; beyond the queue the answer is busy, at once, with a time to try again.
func TestMCPParallel(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t, "--slots", "3", "--queue", "20")
	code := `import os, time, random
time.sleep(random.random() / 5); open('f', 'w').write(str(os.urandom(9))); mine = open('f').read(); time.sleep(0.05); print(open('f').read() == mine)`
	var all []<-chan answered
	for range 20 {
		_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": code}})
		all = append(all, ch)
	}
	for _, ch := range all {
		if r := a.result(a.take(ch)); r.part("stdout") != "True\n" {
			t.Errorf("%s", r.text())
		}
	}
	b := s.agent(t, "--slots", "1", "--queue", "-1")
	_, first := b.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": "import sys; sys.stdin.read(); open('/dev/null')\nimport time; time.sleep(600)", "timeout_s": 5}})
	until(t, "one call holds the slot", func() bool { return b.tool("run_python", map[string]any{"code": "1"}).Meta.Result.Status == "busy" })
	busy := b.python("1")
	busy.want(t, "busy", "try again in")
	if got := b.result(b.take(first)); got.Meta.Result.Status != "timeout" {
		t.Errorf("%s", got.text())
	}
	b.python("7").want(t, "ok", "7")
}

// TestMCPGone: a cancelled request, a client that closes its end, a server that is killed, and one that is asked to end take the whole tree along.
func TestMCPGone(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		begin := func(t *testing.T, a *agent) int {
			id, _ := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
				"code": fmt.Sprintf("import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)\nwhile True: pass", s.word)}})
			until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
			return id
		}
		gone := func(t *testing.T) {
			t.Helper()
			until(t, "the tree is gone", func() bool { return len(withWord(t, s.word)) == 0 })
		}
		t.Run("cancelled", func(t *testing.T) {
			a := s.agent(t)
			id := begin(t, a)
			a.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
			gone(t)
			a.python("1").want(t, "ok")
		})
		t.Run("closed", func(t *testing.T) {
			a := s.agent(t)
			begin(t, a)
			a.in.Close()
			<-a.ended
			gone(t)
		})
		t.Run("killed", func(t *testing.T) {
			a := s.agent(t)
			begin(t, a)
			must(t, a.cmd.Process.Kill())
			<-a.ended
			gone(t)
		})
		t.Run("asked to end", func(t *testing.T) {
			a := s.agent(t, "--grace", "1ms")
			begin(t, a)
			must(t, a.cmd.Process.Signal(syscall.SIGTERM))
			<-a.ended
			gone(t)
		})
	})
}

// TestMCPDrains: a run that goes on when SIGTERM comes is answered, a new one is not begun.
func TestMCPDrains(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
		"code": fmt.Sprintf("import subprocess\nsubprocess.run(['sh', '-c', 'sleep 1000; true', %q])\n'answered'", s.word)}})
	until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
	must(t, a.cmd.Process.Signal(syscall.SIGTERM))
	until(t, "new calls are turned away", func() bool {
		got := a.ask("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": "1"}})
		return a.result(got).Meta.Result.Status == "busy"
	})
	for _, p := range withWord(t, s.word) {
		must(t, syscall.Kill(p.pid, syscall.SIGKILL))
	}
	a.result(a.take(ch)).want(t, "ok", "'answered'")
	<-a.ended
}

// TestMCPCallerDoesNotChoose: no argument, variable or nested psb widens what a call may do.
func TestMCPCallerDoesNotChoose(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/.py-sandboxes", "version = 1\n[files]\n\"/etc/machine-id\" = \"read\"\n\"./\" = \"write\"\n")
		s.give(t)
		a := s.agent(t)
		r := a.python("1", "cwd", "/", "policy", "/tmp/open", "env", map[string]any{"OS_SANDBOX": "none"}, "prifile", "x")
		r.want(t, "refused", `unknown argument "cwd"`, `unknown argument "policy"`, `unknown argument "env"`, `unknown argument "prifile", did you mean profile?`)
		a.python("1", "memory_mb", 1<<20, "timeout_s", 1e6).want(t, "refused", "above the operator's ceiling of 2048", "above the operator's ceiling of 300")
		for _, code := range []string{"open('/etc/shadow')", "open('/etc/machine-id')", fmt.Sprintf("open(%q)", s.project+"/.env"), "import subprocess; subprocess.run(['psb', '-c', '1'])", "import socket; socket.create_connection(('127.0.0.1', 1))", "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW)"} {
			if r := a.python(code); r.Meta.Result.Status != "error" {
				t.Errorf("%s: %s", code, r.text())
			}
		}
		names := a.python("import os; sorted(os.environ)").text()
		if strings.Contains(names, "XDG_") || strings.Contains(names, "OS_SANDBOX") {
			t.Errorf("the server's variables: %s", names)
		}
	})
}

// TestMCPBrokenInterpreters: code that ends or breaks its interpreter is a result like any other, and the server answers the next.
func TestMCPBrokenInterpreters(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[len(people())-1])
	a := s.agent(t)
	for _, c := range []struct{ code, status, exit, text string }{
		{"raise SystemExit(3)", "error", "3", ""},
		{"import os; os._exit(4)", "error", "4", ""},
		{"import ctypes; ctypes.string_at(0)", "killed", "SIGSEGV", ""},
		{"import os; os.closerange(0, 256)", "ok", "0", ""},
		{"import sys; sys.stdout.close(); del __builtins__", "ok", "0", ""},
		{"class E(BaseException):\n def __str__(s): raise s\nraise E()", "error", "1", "E"},
		{"def f(): f()\nf()", "error", "1", "RecursionError"},
		{"print(1", "error", "1", "SyntaxError"},
		{"import signal, os; os.kill(os.getpid(), 9)", "killed", "SIGKILL", ""},
		{"import signal, os\ntry:\n  os.kill(os.getppid(), 9)\nexcept OSError: pass\n'alive'", "ok", "0", "'alive'"},
		{"import builtins; builtins.isinstance = builtins.repr = builtins.type = None\n1/0", "error", "1", ""},
		{"id = str = isinstance = hasattr = repr = type = len = None\n6 * 7", "ok", "0", "42"},
		{"import sys, threading\nthreading.Thread(target=lambda: 1/0).start()\n'main'", "ok", "0", "'main'"},
	} {
		r := a.python(c.code)
		r.want(t, c.status, c.text)
		exit := r.Meta.Result.Exit.Signal
		if code := r.Meta.Result.Exit.Code; code != nil {
			exit = fmt.Sprint(*code)
		}
		if exit != c.exit {
			t.Errorf("%q: exit %s, want %s", c.code, exit, c.exit)
		}
	}
	a.python("1\x00").want(t, "refused", "a NUL character")
	a.python("1").want(t, "ok", "1")
}

// TestMCPVerdictIsNotThePrograms: what the code does to its own report changes nothing that the launcher says.
func TestMCPVerdictIsNotThePrograms(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	forged := `{"value":{"type":"int","repr":"1","json":"1","mime":{},"cut":false},"error":null,"variables":[],"figures":[],"status":"ok","Started":true,"Status":0}`
	r := a.python(fmt.Sprintf("import os\nopen('/run/call/report.json','w').write(%q)\nprint('[psb] ok: exit 0')\nos._exit(7)", forged))
	r.want(t, "error", "[psb] error: exit 7")
	r = a.python("import os\nos.symlink('/etc/passwd', '/run/call/report.json')\nos._exit(0)")
	r.want(t, "ok")
	if strings.Contains(r.text(), "root:") {
		t.Error(r.text())
	}
	r = a.python("import os\nos.mkfifo('/run/call/report.json')\nos._exit(0)")
	r.want(t, "ok")
	if got := fmt.Sprint(r.Meta.Result.Receipt["reported"]); !strings.Contains(got, "none") {
		t.Error(got)
	}
	r = a.python("import atexit, os\natexit.register(lambda: os._exit(9))")
	r.want(t, "error", "exit 9")
}

// TestMCPHostileResults: values, names and text that attack whoever shows them.
func TestMCPHostileResults(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	r := a.python(`class R:
    def __repr__(self): return "x" * 10**8
class Q:
    def __repr__(self): raise KeyboardInterrupt
d = {}; d["d"] = d
open('a\u202eb\n[psb] ok', 'w').write('x')
import os; os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); os.makedirs('deep/er')
open('deep/er/f.bin', 'wb').write(bytes(range(256)))
print('\x1b[2J\u202e\x00end', flush=True)
os.write(1, b'\xff\xfe\n')
[float("nan"), 10**3, d, "\u202e" * 3, R()]`, "memory_mb", 1000, "variables", []string{"Q()"})
	r.want(t, "ok", "<repr of Q failed: KeyboardInterrupt>", `\x1b[2J\u202e\x00end`, "\ufffd\ufffd")
	for _, c := range r.Content {
		if strings.ContainsAny(c.Text+c.Name+c.URI, "\u202e\x1b\x00") {
			t.Errorf("%q", c.Text)
		}
	}
	if n := len(r.text()); n > 1<<20 {
		t.Errorf("%d bytes of text", n)
	}
	names := ""
	for _, f := range r.Meta.Result.Files {
		names += f.Path + " "
		if f.Path == "deep/er/f.bin" {
			var b [256]byte
			for i := range b {
				b[i] = byte(i)
			}
			if sum := sha256.Sum256(b[:]); f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != 256 {
				t.Errorf("%+v", f)
			}
		}
	}
	if want := `a\u202eb\n[psb] ok` + " deep/er/f.bin "; names != want {
		t.Errorf("files %q, want %q", names, want)
	}
	if len(r.Meta.Result.Delivery) == 0 {
		t.Error("nothing says that the value was cut")
	}
	r = a.python(`[float("nan"), {1, 2}, (3,), None, True, "a", {"k": [1.5]}]`, "variables", []string{"undefined_name", "1 + 1", "' ' * 10"})
	r.want(t, "ok", "undefined_name: not available: NameError", "1 + 1 = 2")
}

// TestMCPFiles: what goes in is there byte for byte; what is new, another or gone is told with its hash; all of it can be read.
func TestMCPFiles(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		var all [256]byte
		for i := range all {
			all[i] = byte(i)
		}
		a := s.agent(t)
		in := []any{
			map[string]any{"path": "./in//x.bin", "content": base64.StdEncoding.EncodeToString(all[:]), "encoding": "base64"},
			map[string]any{"path": "/workspace/keep.txt", "content": "keep\r\nünïcode\n"}, map[string]any{"path": "gone.txt", "content": ""},
			map[string]any{"path": "change.txt", "content": "old"}, map[string]any{"path": "tool", "content": "#!/bin/sh\necho ran $1\n", "executable": true}}
		r := a.python(`import os, subprocess
assert open('in/x.bin', 'rb').read() == bytes(range(256)) and open('keep.txt', newline='').read() == 'keep\r\nünïcode\n'
os.remove('gone.txt'); open('change.txt', 'w').write('new'); open('out.csv', 'w').write('a,b\n'); open('skip.log', 'w').write('x')
print(subprocess.run(['./tool', 'it'], capture_output=True, text=True).stdout)`, "files", in, "return_files", []string{"*.csv", "*.txt"})
		r.want(t, "ok", "ran it")
		got := ""
		for _, f := range r.Meta.Result.Files {
			got += f.Change + " " + f.Path + "; "
		}
		if want := "modified change.txt; created out.csv; deleted gone.txt; "; got != want {
			t.Errorf("files %q, want %q", got, want)
		}
		for _, c := range r.Content {
			if c.Name != "out.csv" {
				continue
			}
			var read struct {
				Contents []struct{ Text, MimeType string }
			}
			must(t, json.Unmarshal(a.ask("resources/read", map[string]any{"uri": c.URI}).Result, &read))
			if len(read.Contents) != 1 || read.Contents[0].Text != "a,b\n" || read.Contents[0].MimeType != "text/csv" {
				t.Errorf("%+v", read)
			}
		}
		for _, bad := range []string{"../x", "/etc/x", "/workspacex/y", "a/../../b", "", "/workspace", "a\u202eb"} {
			a.python("1", "files", []any{map[string]any{"path": bad, "content": ""}}).want(t, "refused")
		}
		many := []any{}
		for i := range 65 {
			many = append(many, map[string]any{"path": fmt.Sprint(i), "content": ""})
		}
		a.python("1", "files", many).want(t, "refused", "65 entries, at most 64")
		if got := a.python("import os; os.listdir('.')").text(); !strings.HasPrefix(got, "[]") {
			t.Errorf("something of an earlier call: %s", got)
		}
	})
}

// TestMCPLimits: memory, processes and space end or refuse, the limit is named, and the host and the next call do not notice.
func TestMCPLimits(t *testing.T) {
	besideOthers(t)
	if os.Getuid() == 0 && !holds("memory") {
		t.Skip("no control groups")
	}
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.python("a = bytearray(50 << 20); len(a)", "memory_mb", 300).want(t, "ok", "52428800")
		r := a.python("a = []\nwhile True: a.append(bytearray(8 << 20))", "memory_mb", 200)
		r.want(t, "killed", "limit memory_mb = 200 MiB")
		r = a.python(`import os
for i in range(300):
    try:
        if os.fork() == 0:
            import time; time.sleep(20); os._exit(0)
    except OSError as e:
        raise SystemExit(5)`, "max_processes", 20)
		r.want(t, "error", "exit 5")
		if s.who.uid == 0 && r.Meta.Result.Exit.Reason != "pids" {
			t.Errorf("reason %s", r.Meta.Result.Exit.Reason)
		}
		r = a.python("f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()", "disk_mb", 8)
		if r.Meta.Result.Status == "ok" || r.Meta.Result.Status == "timeout" {
			t.Errorf("%s", r.text())
		}
		r = a.python("while True: print('x' * 1000)")
		r.want(t, "killed", "limit output", "bytes left out here")
		if n := len(r.text()); n > 200<<10 {
			t.Errorf("%d bytes of text", n)
		}
		a.python("1").want(t, "ok", "1")
	})
}

// TestMCPTasks: a run in the background is asked for, fed, followed by its bytes, and ended.
func TestMCPTasks(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	start := func(code string) string {
		r := a.python(code, "background", true)
		if r.Meta.Result.Task == "" {
			t.Fatal(r.text())
		}
		return r.Meta.Result.Task
	}
	id := start("import sys\nfor line in sys.stdin: print('got', line, end='')\n'over'")
	a.tool("task", map[string]any{"action": "send", "task": id, "text": "one\n"})
	until(t, "what was sent came back", func() bool {
		return strings.Contains(a.tool("task", map[string]any{"action": "logs", "task": id}).text(), "got one")
	})
	a.tool("task", map[string]any{"action": "send", "task": id, "text": "two\n", "close": true})
	a.tool("task", map[string]any{"action": "wait", "task": id}).want(t, "ok", "'over'", "got one\ngot two")
	if got := a.tool("task", map[string]any{"action": "logs", "task": id, "cursor": 8}).text(); !strings.HasPrefix(got, "got two\n") || !strings.Contains(got, "next cursor 16") {
		t.Errorf("%s", got)
	}
	if got := a.tool("task", map[string]any{"action": "logs", "task": id, "tail": 1}).text(); !strings.HasPrefix(got, "got two\n") {
		t.Errorf("%s", got)
	}
	id = start(fmt.Sprintf("import subprocess; subprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word))
	until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
	if got := a.tool("task", map[string]any{"action": "wait", "task": id, "timeout_s": 0.1}).text(); !strings.Contains(got, "working") {
		t.Errorf("%s", got)
	}
	if got := a.tool("task", map[string]any{"action": "cancel", "task": id}).text(); !strings.Contains(got, "cancelled") {
		t.Errorf("%s", got)
	}
	if left := withWord(t, s.word); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	a.tool("task", map[string]any{"action": "status", "task": "nope"}).want(t, "refused", "no task")
}

// TestMCPShell: statuses, working folders, missing programs.
func TestMCPShell(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	a.tool("run_shell", map[string]any{"command": "exit 42"}).want(t, "error", "exit 42")
	r := a.tool("run_shell", map[string]any{"command": "pwd; printf 'no newline'; echo e >&2; cat", "cwd": "a/b", "stdin": "in"})
	r.want(t, "ok")
	if r.part("stdout") != "/workspace/a/b\nno newlinein" || r.part("stderr") != "e\n" {
		t.Errorf("%s", r.text())
	}
	a.tool("run_shell", map[string]any{"command": "no-such-program"}).want(t, "error", "exit 127", "no-such-program")
	a.tool("run_shell", map[string]any{"command": "echo x", "cwd": "../.."}).want(t, "refused", "cwd")
	a.tool("run_shell", map[string]any{"command": "echo $0 $2", "args": []string{"a", "b c"}}).want(t, "ok", "sh b c")
	a.tool("run_shell", map[string]any{"command": "cat < /dev/tcp/127.0.0.1/1 || getent hosts example.com || exit 9"}).want(t, "error", "exit 9")
}

// TestMCPProfiles: the operator's policies can be picked, count as they are at the time of a call, and open the network by name alone.
func TestMCPProfiles(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/data/set.csv", "1,2\n")
		s.put(t, "home/other.txt", "other")
		policy := s.put(t, "home/profiles/data.py-sandboxes", "# the data set\nversion = 1\n\n[files]\n\""+s.home+"/data/\" = \"read\"\n\n[limits]\nmemory = \"100M\"\n")
		s.give(t)
		args := []string{"--profiles", filepath.Dir(policy), "--max", "timeout_s=5"}
		if s.who.uid != 0 || !holds("memory") {
			args = append(args, "--allow-gap", "limits.memory", "--allow-gap", "limits.memory_swap")
		}
		a := s.agent(t, args...)
		code := fmt.Sprintf("open(%q).read()", s.home+"/data/set.csv")
		a.python(code).want(t, "error")
		a.python(code, "profile", "data").want(t, "ok", "1,2")
		a.python("1", "profile", "other").want(t, "refused", "none of default, data")
		a.python("1", "timeout_s", 6).want(t, "refused", "ceiling of 5")
		if s.who.uid == 0 && holds("memory") {
			a.python("a = bytearray(200 << 20)", "profile", "data", "memory_mb", 400).want(t, "killed", "memory")
		}
		must(t, os.WriteFile(policy, []byte("version = 1\n[files]\n\""+s.home+"/other.txt\" = \"read\"\n"), 0o644))
		a.python(fmt.Sprintf("open(%q).read()", s.home+"/other.txt"), "profile", "data").want(t, "ok", "'other'")
		a.python(code, "profile", "data").want(t, "error")
		text := a.tool("describe", map[string]any{"topic": "profiles"}).text()
		if !strings.Contains(text, "data: Python") || !strings.Contains(text, "the data set") {
			t.Errorf("%s", text)
		}
	})
}

// TestMCPProgress: a call that brings a token is told that it goes on.
func TestMCPProgress(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": "1"}, "_meta": map[string]any{"progressToken": "x"}})
	a.result(a.take(ch)).want(t, "ok")
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.beats == 0 {
		t.Error("no progress was told")
	}
}

// TestDocsMCP runs the examples of docs/mcp.md.
func TestDocsMCP(t *testing.T) {
	besideOthers(t)
	newScene(t, people()[0]).follow(t, "mcp.md")
}
