package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAskNotPaused: a program whose timers let it go on while a question stands gets no yes: it is asked once more, and then never again.
func TestAskNotPaused(t *testing.T) {
	besideOthers(t)
	const program = `import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
def tick(sig, frame): os.write(1, b"OVER\r\n")
running, runs = os.pipe()
if os.fork() == 0:
    signal.signal(signal.SIGCONT, tick)
    event = ctypes.create_string_buffer(struct.pack("qii", 0, signal.SIGCONT, 0), 64)
    timer = ctypes.c_void_p()
    assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
    assert libc.timer_settime(timer, 0, struct.pack("qqqq", 1, 500_000_000, 1, 500_000_000), None) == 0
    os.write(runs, b"x")
    while True: signal.pause()
os.read(running, 1)
for name in ("data.txt", "log.txt"):
    try: open(name); print("GOT", flush=True)
    except OSError: print("refused", flush=True)
`
	askingAt(t, "", program, func(t *testing.T, _ scene, start func() *console) {
		k := start()
		for range 3 {
			k.expect(askPrompt)
			k.expect("OVER")
			k.line("o", "psb: ask: something in the box ran meanwhile: once more")
		}
		k.expect("psb: ask: the program does not stay paused: this is denied, and all that follows")
		k.expect("psb: denied: read log.txt")
		k.ends("0")
		if strings.Contains(k.shown(), "GOT") {
			t.Error("it had a file")
		}
	})
}

// TestAskPausedAgainstEachOther: processes and threads that let each other go on are paused none the less.
func TestAskPausedAgainstEachOther(t *testing.T) {
	besideOthers(t)
	const program = `import os, signal, threading, time
def noise():
    while True:
        os.write(1, b"NOISE\r\n")
        os.kill(-1, signal.SIGCONT)
        time.sleep(0.0002)
r, w = os.pipe()
for i in range(4):
    if os.fork() == 0:
        if i: os.setsid()
        for _ in range(4): threading.Thread(target=noise).start()
        os.write(w, b"x")
        noise()
for _ in range(4): os.read(r, 1)
open("data.txt")
print("GOT")
os.kill(-1, signal.SIGKILL)
`
	askingAt(t, "", program, func(t *testing.T, _ scene, start func() *console) {
		k := start()
		k.expect(askPrompt)
		k.send("no")
		k.expect("no")
		if rest := k.unread(); rest != "" {
			t.Errorf("written over the question: %q", rest)
		}
		k.send("\x7f\x7fo\n")
		k.expect("GOT")
	})
}

// TestAskLegible: what a program told the terminal before hides no question, and no name looks like the words around it.
func TestAskLegible(t *testing.T) {
	besideOthers(t)
	const program = `import os
print("\x1b[8m\x1b[1;1r\x1b(0", end="", flush=True)
for name in ("data.txt (python3)", b"n\xff"):
    try: open(name)
    except OSError as e: print("refused", flush=True)
`
	askingAt(t, "", program, func(t *testing.T, s scene, start func() *console) {
		s.put(t, "home/code/project/data.txt (python3)", "x")
		s.put(t, "home/code/project/n\xff", "x")
		s.give(t)
		k := start()
		k.expect("\x1b7\x1b[r\x1b8\x1b[?7h\x1b[0m\x1b(B\x0fpsb: ask: read \"data.txt (python3)\" (python")
		k.expect(askPrompt)
		k.send("d\n")
		k.expect("psb: ask: read \"n\\xff\" (python")
		k.expect("psb: o this run, d deny, " + askPrompt) // no line can name it
		k.line("a", "psb: denied")
		k.ends("0")
	})
}

// TestAskOpensAsUnixDoes: what is there cannot be made anew, and a file is no folder: nobody is asked about what would fail anyway.
func TestAskOpensAsUnixDoes(t *testing.T) {
	besideOthers(t)
	const program = `import os
for name, flags in (("data.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL), ("data.txt/", os.O_RDONLY), ("data.txt/.", os.O_RDONLY),
                    ("link", os.O_RDONLY | os.O_NOFOLLOW), ("to-nothing", os.O_WRONLY | os.O_CREAT | os.O_EXCL)):
    try: os.open(name, flags); print("GOT", name, flush=True)
    except OSError as e: print("refused", flush=True)
print("linked", os.read(os.open("through/data.txt", os.O_RDONLY | os.O_NOFOLLOW), 20), flush=True)
`
	askingAt(t, "", program, func(t *testing.T, s scene, start func() *console) {
		for name, text := range map[string]string{"link": "data.txt", "to-nothing": "nothing", "through": "."} {
			must(t, os.Symlink(text, filepath.Join(s.project, name)))
		}
		s.give(t)
		k := start()
		k.expect("refused\r\nrefused\r\nrefused\r\nrefused\r\nrefused\r\n")
		k.expect("ask: read data.txt (python")
		k.expect(askPrompt)
		k.line("o", `linked b'the data\n'`)
		k.ends("0")
		if strings.Contains(k.shown(), "GOT") {
			t.Error("it had a file")
		}
	})
}

// TestAskOnceForAll: who allows a change allows reading, and who allows a new file allows what its maker does with it.
func TestAskOnceForAll(t *testing.T) {
	besideOthers(t)
	const program = `open("log.txt", "a").close()
print(open("log.txt").read())
open("made.txt", "w").write("made")
open("made.txt", "a").write("twice")
print(open("made.txt").read(), flush=True)
`
	askingAt(t, "", program, func(t *testing.T, _ scene, start func() *console) {
		k := start()
		k.expect("ask: write log.txt")
		k.expect(askPrompt)
		k.send("o\n")
		k.expect("ask: create made.txt")
		k.expect(askPrompt)
		k.send("o\n")
		k.expect("madetwice")
		k.ends("0")
		if n := strings.Count(k.shown(), "psb: ask:"); n != 2 {
			t.Errorf("%d questions, want 2", n)
		}
	})
}

// TestAskInBackground: behind another job nobody is asked, and what was refused there is asked about once psb is in front.
func TestAskInBackground(t *testing.T) {
	besideOthers(t)
	const program = `try: open("data.txt"); print("GOT", flush=True)
except OSError: print("refused behind", flush=True)
input()
print(open("data.txt").read(), flush=True)
`
	askingAt(t, "", program, func(t *testing.T, s scene, _ func() *console) {
		k := s.bash(t)
		k.send(psb(t) + " --python " + systemPython + " --policy .py-sandboxes --ask ask.py " + s.word + " &\n")
		k.expect("refused behind")
		until(t, "the reading job is stopped", func() bool { return stopped(t, s.word) >= 2 })
		k.knowsStopped()
		k.line("fg", "ask.py")
		k.send("in front\n")
		k.expect("ask: read data.txt")
		k.expect(askPrompt)
		k.line("o", "the data")
		k.send("exit\n")
		k.ends("0")
	})
}

// TestAskSaysRisks: a question says what allow-last would mark, and nothing about what is harmless.
func TestAskSaysRisks(t *testing.T) {
	besideOthers(t)
	const program = `import os, socket
for name in ("data.txt", "Makefile", os.path.expanduser("~/code/sibling/notes.txt")):
    try: open(name, "a" if name == "Makefile" else "r").close()
    except OSError as e: pass
for host in ("192.0.2.1", "127.0.0.1"):
    try: socket.create_connection((host, 9))
    except OSError as e: pass
`
	askingAt(t, "", program, func(t *testing.T, s scene, start func() *console) {
		s.put(t, "home/code/project/Makefile", "all:\n")
		s.put(t, "home/code/sibling/notes.txt", "x")
		s.give(t)
		exe, err := filepath.EvalSymlinks(systemPython)
		must(t, err)
		running := filepath.Base(exe)
		k := start()
		for _, q := range []struct{ what, why string }{
			{"read data.txt (" + running + ")", ""}, {"write Makefile (" + running + ")", "code or settings"},
			{"read ../sibling/notes.txt (" + running + ")", "outside the project"},
			{"connect 192.0.2.1:9", ""}, {"connect 127.0.0.1:9", "a server of this machine"},
		} {
			want := "psb: ask: " + strings.Replace(q.what, "../sibling", filepath.Dir(s.project)+"/sibling", 1) + "\r\n"
			if q.why != "" {
				want += "psb: ask: think first: " + q.why + "\r\n"
			}
			k.expect(want + "psb: o this run, ")
			k.expect(askPrompt)
			k.send("d\n")
		}
		k.ends("0")
	})
}

// TestAskNeverByAnotherName: what nobody is asked about is not asked about under its other names either, nor is psb's own state, nor a file of
// the host's where the box shows another folder.
func TestAskNeverByAnotherName(t *testing.T) {
	besideOthers(t)
	const program = `import os
for name, mode in (("policy", "a"), ("open.txt", "r"), ("shown/data.txt", "a"), ("shown/new.txt", "w"), (os.environ["STATE"] + "/psb/launches/x", "w")):
    try: open(name, mode).close(); print("GOT", name)
    except OSError as e: print("refused", flush=True)
print("end")
`
	const rules = "[env]\nSTATE = true\n[files]\n\"hidden.txt\" = \"hide\"\n\"shown/\" = { from = \"instead/\", right = \"read\" }\n"
	askingAt(t, rules, program, func(t *testing.T, s scene, _ func() *console) {
		for _, name := range []string{"hidden.txt", "shown/data.txt", "instead/data.txt"} {
			s.put(t, "home/code/project/"+name, "x")
		}
		must(t, os.MkdirAll(s.home+"/.local/state/psb/launches", 0o700))
		must(t, os.Link(filepath.Join(s.project, ".py-sandboxes"), filepath.Join(s.project, "policy")))
		must(t, os.Link(filepath.Join(s.project, "hidden.txt"), filepath.Join(s.project, "open.txt")))
		s.give(t)
		k := s.console(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--ask", "ask.py"}, env: []string{"STATE=" + s.home + "/.local/state"}})
		k.expect("end")
		k.ends("0")
		if shown := k.shown(); strings.Contains(shown, "ask:") || strings.Contains(shown, "GOT") || strings.Count(shown, "refused\r\n") != 5 {
			t.Errorf("asked, or had: %s", shown)
		}
	})
}
