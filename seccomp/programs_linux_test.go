// What it does to the process: nothing; starts programs that wear the filter.
// Undone: the programs end.
// Preconditions: seccomp; the programs, or their row is skipped.
// Called by: go test.
// Proven by: itself.

package seccomp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pythons lists real interpreters: the system's and those a version manager keeps in the home.
func pythons() []string {
	var out []string
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		out = append(out, "/usr/bin/python3")
	}
	if home, err := os.UserHomeDir(); err == nil {
		found, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
		for _, p := range found {
			if !strings.Contains(p, "/3.6.") && !strings.Contains(p, "/3.7.") { // psb starts at 3.8
				out = append(out, p)
			}
		}
	}
	return out
}

// denials runs cmd under the filter, answers as Decide says (connects go on), and returns what was refused.
func denials(t *testing.T, o Options, cmd *exec.Cmd) (refused []string, err error) {
	t.Helper()
	l := startUnder(t, o, cmd)
	o.Arch, _ = Native()
	f := Enforce(o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Supervise(ctx, l, func(r *Request) Answer {
			if r.Name == "connect" {
				return Answer{Continue: true}
			}
			a, why := f.Decide(r.Name, r.Args)
			refused = append(refused, fmt.Sprintf("%s: %s", r.Name, why))
			return Answer{Errno: a.Errno()}
		})
	}()
	err = cmd.Wait()
	if s := <-done; s != nil {
		t.Errorf("supervisor: %v", s)
	}
	return refused, err
}

// Real programs run to their end under the filter, and nothing they do is refused.
func TestKernelPrograms(t *testing.T) {
	must(t, "seccomp")
	must(t, "python3")
	o := Options{NoteFD: testNote, Listener: true, LandlockABI: 7}
	for _, python := range pythons() {
		for _, row := range pythonRows {
			t.Run(python+" "+row.name, func(t *testing.T) {
				runRow(t, o, row.name, []string{python, "-c", row.code}, "ok\n")
			})
		}
	}
	lite := Options{NoteFD: testNote, Listener: true, LandlockABI: 7, Lite: true}
	for _, row := range pythonRows {
		switch row.name {
		case "basic", "threads", "subprocess", "sqlite":
			t.Run("lite "+row.name, func(t *testing.T) {
				runRow(t, lite, row.name, []string{pythons()[0], "-c", row.code}, "ok\n")
			})
		}
	}
	for _, row := range []struct{ name, need, sh, want string }{
		{"git", "git", "git init -q . && echo x > a && git add a && git status --short && git -c user.name=a -c user.email=a@b commit -qm m && git log --format=%s && git gc -q", "A  a\nm\n"},
		{"pipe", "sort", "printf 'b\\na\\n' | sort | tr a-z A-Z", "A\nB\n"},
		{"tar", "tar", "mkdir d && echo x > d/f && tar cf t.tar d && rm -r d && tar xf t.tar && cat d/f && cp -a d e && touch e/f && mv e g && ls -l g >/dev/null", "x\n"},
		{"perl", "perl", `perl -e 'use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or die; print "ok\n"'`, "ok\n"},
		{"node", "node", `node -e 'const fs=require("fs"); require("child_process").execSync("true"); fs.promises.readFile("/etc/hostname").then(()=>console.log("ok"))'`, "ok\n"},
		{"sqlite3", "sqlite3", `sqlite3 t.db 'pragma journal_mode=wal; create table t(x); insert into t values(1); select * from t'`, "wal\n1\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := exec.LookPath(row.need); err != nil {
				t.Skip(err)
			}
			runRow(t, o, row.name, []string{"/bin/sh", "-ec", row.sh}, row.want)
		})
	}
}

func runRow(t *testing.T, o Options, name string, argv []string, want string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := &exec.Cmd{Args: argv, Dir: t.TempDir(), Stdout: &out, Stderr: &errs}
	refused, err := denials(t, o, cmd)
	if name == "node" {
		// libuv asks for io_uring and does without it.
		refused = without(refused, "io_uring_setup: ")
	}
	if strings.Contains(errs.String(), "No module named") {
		t.Skip(strings.TrimSpace(errs.String()))
	}
	if err != nil || out.String() != want || len(refused) != 0 {
		t.Errorf("%v, printed %q, want %q\nrefused: %q\nstderr: %s", err, out.String(), want, refused, errs.String())
	}
}

func without(list []string, prefix string) []string {
	var out []string
	for _, s := range list {
		if !strings.HasPrefix(s, prefix) {
			out = append(out, s)
		}
	}
	return out
}

var pythonRows = []struct{ name, code string }{
	{"basic", `
import os, sys, json, time, hashlib, uuid, platform, tempfile, shutil, mmap, signal, locale, socket
time.sleep(0.001); uuid.uuid4(); platform.platform(); os.urandom(8); os.cpu_count(); os.getloadavg()
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "f"); open(p, "w").write("x" * 5000)
    shutil.copy2(p, p + "2"); os.rename(p + "2", p + "3"); os.link(p, p + "4"); os.symlink(p, p + "5"); os.chmod(p, 0o600); os.utime(p)
    with open(p, "r+b") as f: m = mmap.mmap(f.fileno(), 0); m[0:1] = b"y"; m.close()
    os.mkfifo(p + "6"); list(os.scandir(d)); os.statvfs(d)
signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001); signal.pause(); signal.setitimer(signal.ITIMER_REAL, 0)  # again and again: one may come before the wait
try: os.write(-1, b"x")
except OSError as e: assert e.errno == 9, e
print("ok")`},
	{"threads", `
import threading, queue, concurrent.futures as c
with c.ThreadPoolExecutor(8) as e: assert sum(e.map(lambda x: x, range(100))) == 4950
print("ok")`},
	{"subprocess", `
import subprocess, os, sys
assert subprocess.run(["sort"], input=b"b\na\n", stdout=subprocess.PIPE).stdout == b"a\nb\n"
p = subprocess.Popen(["sleep", "60"]); p.terminate(); assert p.wait() == -15
p = subprocess.Popen([sys.executable, "-c", "pass"], start_new_session=True, close_fds=True); assert p.wait() == 0
pid = os.fork()
if pid == 0: os._exit(3)
assert os.waitpid(pid, 0)[1] >> 8 == 3
print("ok")`},
	{"pools", `
import concurrent.futures as c, multiprocessing as m, os
for method in ("fork", "forkserver", "spawn"):
    with c.ProcessPoolExecutor(2, mp_context=m.get_context(method)) as e:
        assert list(e.map(abs, [-1, -2])) == [1, 2]
q = m.get_context("fork").Queue(); q.put(1); assert q.get() == 1
try:
    from multiprocessing import shared_memory as s
    x = s.SharedMemory(create=True, size=100); x.buf[0] = 1; x.close(); x.unlink()
except ImportError: pass
print("ok")`},
	{"sqlite", `
import sqlite3
d = sqlite3.connect("t.db"); d.execute("pragma journal_mode=wal"); d.execute("create table t(x)"); d.execute("insert into t values(1)"); d.commit()
assert d.execute("select x from t").fetchall() == [(1,)]; d.close()
print("ok")`},
	{"asyncio", `
import asyncio, sys
async def main():
    async def serve(r, w): w.write(await r.readline()); await w.drain(); w.close()
    s = await asyncio.start_server(serve, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname()); w.write(b"x\n"); assert await r.readline() == b"x\n"; w.close()
    s.close()
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(1)", stdout=-1); assert (await p.communicate())[0] == b"1\n"
asyncio.run(main())
print("ok")`},
	{"ssl and names", `
import ssl, socket, selectors
ssl.create_default_context(); socket.getaddrinfo("localhost", 80); socket.if_nameindex()
a, b = socket.socketpair(); socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(); socket.socket(socket.AF_INET6).close()
s = socket.socket(socket.AF_UNIX); s.bind("\0psb-test-%d" % __import__("os").getpid()); s.listen(1)
print("ok")`},
	{"numpy", `
import numpy as n
a = n.random.rand(300, 300); (a @ a).sum(); n.save("a.npy", a); n.load("a.npy", mmap_mode="r")
print("ok")`},
}
