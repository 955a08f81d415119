package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// askingAt is a scene at whose terminal psb --ask runs a program under a policy.
func askingAt(t *testing.T, policy, program string, do func(t *testing.T, s scene, start func() *console)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.put(t, "home/code/project/.py-sandboxes", bareVersion+policy+kernelTables)
			s.put(t, "home/code/project/ask.py", program)
			s.put(t, "home/code/project/data.txt", "the data\n")
			s.put(t, "home/code/project/log.txt", "first\n")
			s.give(t)
			do(t, s, func() *console {
				return s.console(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--ask", "ask.py"}})
			})
		})
	}
}

const askPrompt = "q deny this and all that follows: "

// TestAskAnswers: what a person allows the program gets, for this run or for good; what is denied it does not get, and each is asked once.
func TestAskAnswers(t *testing.T) {
	besideOthers(t)
	const program = `import os, subprocess
def show(*a, **k):
    try:
        with open(*a, **k) as f:
            if "r" in f.mode: print("read", f.read().strip(), flush=True)
            else: print("wrote", f.write("second\n"), oct(os.fstat(f.fileno()).st_mode), os.get_inheritable(f.fileno()), flush=True)
    except OSError as e:
        print("failed", e.filename, e.strerror, flush=True)
os.umask(0o027)
show("data.txt"); show("data.txt"); show("./data.txt")
show("log.txt", "a"); show("made.txt", "x")
print(subprocess.run(["/usr/bin/cat", "other.py"], capture_output=True, text=True).stdout.strip(), flush=True)
print("end", flush=True)
`
	askingAt(t, "[files]\n\"/usr/bin/cat\" = \"exec\"\n", program, func(t *testing.T, s scene, start func() *console) {
		k := start()
		k.expect("psb: ask: read data.txt (python")
		k.expect("o this run, a always (a line in .py-sandboxes), d deny, " + askPrompt)
		k.line("a", `.py-sandboxes:4 added: "data.txt" = "read"  # asked`)
		k.expect("read the data\r\nread the data\r\nread the data\r\n")
		k.expect("ask: write log.txt (python")
		k.expect(askPrompt)
		k.line("o", "wrote 7 0o100644 False")
		k.expect("ask: create made.txt")
		k.expect(askPrompt)
		k.line("a", "wrote 7 0o100640 False")
		k.expect("ask: read other.py (cat)")
		k.expect(askPrompt)
		k.line("d", "end")
		k.expect("psb: denied: read other.py")
		k.ends("0")
		for name, want := range map[string]string{"log.txt": "first\nsecond\n", "made.txt": "second\n"} {
			if b, err := os.ReadFile(filepath.Join(s.project, name)); string(b) != want {
				t.Errorf("%s: %q %v, want %q", name, b, err, want)
			}
		}
		b, err := os.ReadFile(filepath.Join(s.project, ".py-sandboxes"))
		must(t, err)
		want := "version = 1\n[files]\n\"/usr/bin/cat\" = \"exec\"\n\"./\" = \"create\"  # asked\n\"made.txt\" = \"write\"  # asked\n\"data.txt\" = \"read\"  # asked\n" + kernelTables
		if string(b) != want {
			t.Errorf("the policy is\n%s\nwant\n%s", b, want)
		}
		// Once more: only what was not allowed for good is asked.
		must(t, os.Remove(filepath.Join(s.project, "made.txt")))
		k = start()
		k.expect("ask: write log.txt")
		k.expect(askPrompt)
		k.line("q", "failed log.txt")
		k.expect("end")
		k.ends("0")
	})
}

// TestAskTypedAhead: keys that were typed before a question answer nothing, an empty line is a no, and the terminal is left as it was.
func TestAskTypedAhead(t *testing.T) {
	besideOthers(t)
	const program = `import os, sys, termios, tty
was = termios.tcgetattr(0)
tty.setraw(0)
raw = termios.tcgetattr(0)
print("ready", end="\r\n", flush=True)
while not termios.tcgetattr(0)[6][termios.VMIN]: pass
import select; select.select([0], [], [])
try: open("data.txt").close(); print("GOT", end="\r\n")
except OSError as e: print("none", end="\r\n")
print("same", termios.tcgetattr(0) == raw, end="\r\n", flush=True)
termios.tcsetattr(0, termios.TCSAFLUSH, was)
`
	askingAt(t, "", program, func(t *testing.T, _ scene, start func() *console) {
		k := start()
		k.expect("ready")
		k.send("a\na\na\n")
		k.expect(askPrompt)
		k.send("\r")
		k.expect("none")
		k.expect("same True")
		k.ends("0")
	})
}

// TestAskNever: about what a line refuses, or not even a learning run gets, nobody is asked; nothing that is asked can be answered by the program.
func TestAskNever(t *testing.T) {
	besideOthers(t)
	const program = `import os
for name in ("hidden.txt", os.path.expanduser("~/.ssh/id_rsa"), "/etc/shadow", ".py-sandboxes"):
    try: open(name, "a" if name.startswith(".py") else "r").close(); print("GOT", name)
    except OSError as e: print("refused", e.errno)
print("end")
`
	askingAt(t, "[files]\n\"hidden.txt\" = \"hide\"\n", program, func(t *testing.T, s scene, start func() *console) {
		s.put(t, "home/code/project/hidden.txt", "x")
		s.put(t, "home/.ssh/id_rsa", "x")
		s.give(t)
		control := s.run(t, call{argv: []string{systemPython, "ask.py"}})
		for _, name := range []string{"hidden.txt", ".ssh/id_rsa", ".py-sandboxes"} {
			if !strings.Contains(control.out, name+"\n") {
				t.Fatalf("control: without psb it does not open %s: %v", name, control)
			}
		}
		k := start()
		k.expect("end")
		k.ends("0")
		if shown := k.shown(); strings.Contains(shown, "ask:") || strings.Contains(shown, "GOT") || strings.Count(shown, "refused") != 4 {
			t.Errorf("asked, or had: %s", shown)
		}
	})
}

// TestAskPaused: while a question stands nothing in the box writes over it, and Ctrl-C ends the program, which is then no answer.
func TestAskPaused(t *testing.T) {
	besideOthers(t)
	const program = `import threading, os, time
r, w = os.pipe()
def noise():
    os.write(1, b"NOISE\r\n"); os.write(w, b"!")
    while True: os.write(1, b"NOISE\r\n"); time.sleep(0.001)
os.fork() or noise()
threading.Thread(target=noise, daemon=True).start()
os.read(r, 1); os.read(r, 1)
open("data.txt")
print("GOT")
`
	askingAt(t, "", program, func(t *testing.T, _ scene, start func() *console) {
		k := start()
		k.expect("NOISE") // which the question ends
		k.expect(askPrompt)
		k.send("no")
		k.expect("no")
		if rest := k.unread(); rest != "" {
			t.Errorf("written over the question: %q", rest)
		}
		k.send(ctrlC)
		k.ends("signal interrupt")
		if strings.Contains(k.shown(), "GOT") {
			t.Error("it had the file")
		}
	})
}

// TestAskRefusesToStart: without a terminal, or under a locked policy, nothing starts.
func TestAskRefusesToStart(t *testing.T) {
	besideOthers(t)
	askingAt(t, "", "print('ran')\n", func(t *testing.T, s scene, _ func() *console) {
		cmd := s.command(t.Context(), call{argv: []string{psb(t), "--policy", ".py-sandboxes", "--ask", "ask.py"}})
		cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true
		out, _ := cmd.CombinedOutput()
		if got := string(out); cmd.ProcessState.ExitCode() != 125 || !strings.HasPrefix(got, "psb: --ask needs a terminal\npsb: hint: ") {
			t.Errorf("status %v: %s", cmd.ProcessState, got)
		}
	})
	askingAt(t, "locked = true\n", "print('ran')\n", func(t *testing.T, _ scene, start func() *console) {
		k := start()
		k.expect("psb: .py-sandboxes is locked: nothing can be allowed by --ask")
		k.ends("125")
	})
}

// TestAskRaces: a program that changes the name while the question stands gets the file that was asked about, or none.
func TestAskRaces(t *testing.T) {
	besideOthers(t)
	const program = `import ctypes, os, sys, threading, time
sys.setswitchinterval(1e-5)
libc = ctypes.CDLL(None, use_errno=True)
name = ctypes.create_string_buffer(b"data.txt", 64)
def swap():
    while True:
        name.value = b"other.py"; name.value = b"data.txt"
threading.Thread(target=swap, daemon=True).start()
got, n, end = set(), 0, time.monotonic() + 20
while len(got) < 2 and (n < 3000 or "bare" in sys.argv and time.monotonic() < end):
    n += 1
    fd = libc.open(name, 0)
    if fd >= 0:
        got.add(os.read(fd, 100)); os.close(fd)
print("got", sorted(got), flush=True)
os._exit(0)
`
	askingAt(t, "", program, func(t *testing.T, s scene, start func() *console) {
		other, err := os.ReadFile(filepath.Join(s.project, "other.py"))
		must(t, err)
		control := s.run(t, call{argv: []string{systemPython, "ask.py", "bare"}})
		if !strings.Contains(control.out, strings.TrimSpace(string(other))) || !strings.Contains(control.out, "the data") {
			t.Fatalf("control: without psb it does not get both files: %v", control)
		}
		k := start()
		answered := 0
		for done := false; !done; {
			until(t, "a question or the end", func() bool {
				return strings.Contains(k.unread(), askPrompt) || strings.Contains(k.unread(), "got [")
			})
			switch rest := k.unread(); {
			case strings.Contains(rest, "got ["):
				done = true
			case strings.Contains(rest, "read data.txt"):
				k.expect(askPrompt)
				k.send("o\n")
				answered++
			default:
				k.expect(askPrompt)
				k.send("d\n")
			}
		}
		k.expect(`got [b'the data\n']`)
		k.ends("0")
		if answered != 1 {
			t.Errorf("asked %d times about one file", answered)
		}
	})
}

// TestAllowLastAsks: after a refused run each access is asked about, what is allowed is added, and q leaves the rest.
func TestAllowLastAsks(t *testing.T) {
	besideOthers(t)
	const program = `for name in ("data.txt", "other.py", "log.txt"):
    try: open(name).close()
    except OSError: pass
`
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newScene(t, who)
			s.put(t, "home/code/project/.py-sandboxes", "version = 1\n")
			for name, text := range map[string]string{"ask.py": program, "data.txt": "d", "log.txt": "l"} {
				s.put(t, "home/code/project/"+name, text)
			}
			s.give(t)
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--explain-denials", "ask.py"}})
			if r.status() != "0" || strings.Count(r.err, "psb: denied: read ") != 3 {
				t.Fatalf("%v", r)
			}
			for _, round := range []struct {
				keys []string
				ends string
				want string
			}{
				{[]string{"n", "y", "q"}, "1", "version = 1\n\n[files]  # read, write (also reads), exec, hide: name/ is everything below; create, list: that folder only\n\"other.py\" = \"read\"\n"},
				{[]string{"y", ""}, "1", "version = 1\n\n[files]  # read, write (also reads), exec, hide: name/ is everything below; create, list: that folder only\n\"data.txt\" = \"read\"\n\"other.py\" = \"read\"\n"},
			} {
				k := s.console(t, call{argv: []string{psb(t), "policy", "allow-last"}})
				for _, key := range round.keys {
					k.expect("psb: allow it? [y/N/q] ")
					k.send(key + "\n")
				}
				k.expect("still refused: ")
				k.ends(round.ends)
				if b, err := os.ReadFile(filepath.Join(s.project, ".py-sandboxes")); string(b) != round.want {
					t.Errorf("after %q the policy is (%v)\n%s", round.keys, err, b)
				}
			}
		})
	}
}
