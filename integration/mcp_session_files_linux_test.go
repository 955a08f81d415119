package integration

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

// file asks one of the tools on a session's files; more are arguments in pairs.
func (a *agent) file(tool, path string, more ...any) ran {
	a.t.Helper()
	args := map[string]any{"session": "w", "path": path}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return a.tool(tool, args)
}

// TestMCPSessionFiles: the program and the tools see each other's files at once, byte for byte, while it runs and while it is paused.
func TestMCPSessionFiles(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.file("file_write", "x", "content", "1").says(t, true, `no session "w"`)
		a.inside("w", "1").want(t, "ok")
		var all [256]byte
		for i := range all {
			all[i] = byte(i)
		}
		sum := sha256.Sum256(all[:])
		a.file("file_write", "in/x.bin", "content", base64.StdEncoding.EncodeToString(all[:]), "encoding", "base64").says(t, false, `wrote "in/x.bin", 256 bytes, sha256 `+hex.EncodeToString(sum[:]))
		a.file("file_write", "tool", "content", "#!/bin/sh\necho ran $1\n", "executable", true).says(t, false, "wrote")
		r := a.inside("w", "import subprocess, os\nassert open('in/x.bin', 'rb').read() == bytes(range(256))\nopen('in/x.bin', 'ab').write(b'end')\nos.mkdir('out'); open('out/a.csv', 'w').write('a,b\\n')\nsubprocess.run(['./tool', 'it'], capture_output=True, text=True).stdout")
		r.want(t, "ok", "ran it", `file modified "in/x.bin"`, `file created "out/a.csv"`)
		a.file("file_read", "in/x.bin", "offset", 256).says(t, false, "end", "bytes 256 to 259 of 259")
		a.file("file_edit", "out/a.csv", "old", "b", "new", "c").says(t, false, `replaced 1 in "out/a.csv"`)
		a.file("file_edit", "out/a.csv", "old", "zz", "new", "c").says(t, true, "nothing was changed")
		a.file("file_find", "", "grep", "^a").says(t, false, `file 0644 4`, `"out/a.csv"`, "1: a,c")
		a.file("file_manage", "out/a.csv", "action", "move", "to", "moved/b.csv").says(t, false, "move")
		a.file("file_manage", "moved/b.csv", "action", "chmod", "mode", "600").says(t, false, "mode 0600")
		a.file("file_manage", "in", "action", "delete").says(t, true, "the folder is not empty")
		a.file("file_manage", "in", "action", "delete", "recursive", true).says(t, false, "delete")
		a.inside("w", "open('moved/b.csv').read(), oct(os.stat('moved/b.csv').st_mode), os.path.exists('in')").want(t, "ok", `('a,c\n', '0o100600', False)`)

		_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"session": "w",
			"code": fmt.Sprintf("open('begun', 'w').close()\nwhile not os.path.exists('go'): pass\nopen('go').read(), %q", s.word)}})
		until(t, "it runs", func() bool { return !a.file("file_read", "begun").IsError })
		a.session("pause", "w").says(t, false, "paused")
		a.file("file_write", "go", "content", "on").says(t, false, "wrote")
		a.file("file_read", "go").says(t, false, "on")
		a.session("resume", "w").says(t, false, "session w: ") // it may be over already
		a.result(a.take(ch)).want(t, "ok", "('on', ")

		// The workspace bounds what can be written from outside, too.
		a.tool("run_python", map[string]any{"session": "w", "code": "import shutil; shutil.rmtree('moved')"}).want(t, "ok")
		big := strings.Repeat("x", 8<<20-1)
		var full ran
		for i := range 10 {
			if full = a.file("file_write", fmt.Sprint("big", i), "content", big); full.IsError {
				break
			}
		}
		full.says(t, true, "no space is left in the workspace")
		a.inside("w", "for n in os.listdir('.'):\n  if n.startswith('big'): os.remove(n)\nlen([n for n in os.listdir('.') if n.startswith('.psb')])").want(t, "ok", "0")
	})
}

// TestMCPSessionFileTricks: whatever a program puts into its workspace, the tools neither leave it nor wait for somebody, and tell of no file but its.
func TestMCPSessionFileTricks(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		secret := s.put(t, "home/outside/secret", "the secret of the host")
		s.give(t)
		a := s.agent(t)
		a.inside("w", fmt.Sprintf(`import os, socket, fcntl, threading, struct
host = %q
os.symlink(host + '/secret', 'link'); os.symlink(host, 'away'); os.symlink('/', 'root'); os.symlink('/proc/self/root', 'magic'); os.symlink('..', 'up')
os.symlink('/proc/self/fd/1', 'stdout'); os.symlink('loop', 'loop')
os.mkfifo('pipe'); listening = socket.socket(socket.AF_UNIX); listening.bind('socket')
import signal; signal.signal(signal.SIGIO, signal.SIG_IGN)
open('leased', 'w').write('x'); held = open('leased', 'r+'); fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.mkdir('closed'); open('closed/f', 'w').write('x'); os.chmod('closed', 0)
deep = os.getcwd()
for i in range(200):
    os.mkdir('d'); os.chdir('d')
os.chdir('/workspace')
open('sparse', 'w').truncate(1 << 40)
1`, s.home+"/outside")).want(t, "ok")
		for _, name := range []string{"link", "away/secret", "root/etc/passwd", "magic/etc/passwd", "up/etc/passwd", "up/workspace/leased", "stdout", "loop", "pipe", "socket"} {
			for _, r := range []ran{a.file("file_read", name), a.file("file_write", name, "content", "x"), a.file("file_write", name, "content", "x", "append", true), a.file("file_edit", name, "old", "a", "new", "b"),
				a.file("file_manage", name, "action", "chmod", "mode", "777")} {
				if !r.IsError || strings.Contains(r.text(), "secret of") || strings.Contains(r.text(), "root:") || r.Meta.Result.Status != "refused" {
					t.Errorf("%s: %s", name, r.text())
				}
			}
		}
		a.file("file_read", "leased").says(t, true, "holds it in a way that would keep others waiting")
		if s.who.uid != 0 {
			a.file("file_read", "closed/f").says(t, true, "its mode, or that of a folder above, forbids it")
		}
		a.file("file_manage", "away", "action", "move", "to", "root/tmp/x").says(t, true, "links are not followed")
		a.file("file_manage", "sparse", "action", "stat").says(t, false, "1099511627776 bytes")
		a.file("file_write", "sparse", "content", "x", "append", true).says(t, true, "more than the workspace holds")
		a.file("file_manage", "sparse", "action", "delete").says(t, false, "delete")
		a.file("file_find", "", "grep", "secret of|root:").says(t, false, "nothing found")
		r := a.file("file_find", "", "depth", 1)
		r.says(t, false, `link 0777`, `"away"`, `other 0644`, `"pipe"`)
		a.file("file_manage", "d", "action", "delete", "recursive", true).says(t, true, "more than 64 folders deep")
		for _, name := range []string{"link", "away", "root", "up", "pipe", "socket"} {
			a.file("file_manage", name, "action", "delete", "recursive", true).says(t, false, "delete")
		}
		if got, err := os.ReadFile(secret); err != nil || string(got) != "the secret of the host" {
			t.Errorf("%q %v", got, err)
		}
		// A name that is a folder and a link in turn.
		a.inside("w", `import ctypes, sys
os.mkdir('turn'); open('turn/secret', 'w').write('inside'); os.symlink(host, 'turned')
def turning():
    libc = ctypes.CDLL(None)
    while True: libc.renameat2(-100, b'turn', -100, b'turned', 2)
threading.Thread(target=turning, daemon=True).start(); 1`).want(t, "ok")
		inside := 0
		for range 200 {
			r := a.file("file_read", "turn/secret")
			if strings.Contains(r.text(), "inside") {
				inside++
			} else if !r.IsError || strings.Contains(r.text(), "secret of") {
				t.Fatalf("%s", r.text())
			}
			a.file("file_write", "turn/secret", "content", "inside")
		}
		if got, err := os.ReadFile(secret); err != nil || string(got) != "the secret of the host" || inside == 0 {
			t.Errorf("%q %v, read %d times", got, err, inside)
		}
	})
}
