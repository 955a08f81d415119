package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exportPolicy is what the probe is exported with: rights of every table, a hidden name inside what it may read, names that need quoting.
const exportPolicy = `version = 1
[env]
MODE = "it's \"a\" $text %n"
PASSED = true
"SET_*" = true
SET_NEVER = false
CACHE = "${CACHE_OF_NOBODY:-/tmp/c d}"
[files]
"/usr/bin/uname" = "exec"
"data/" = "read"
"**/.env" = "hide"
"out/" = "create"
"out/o.csv" = "write"
"./" = "list"
[net]
"rates.example.com:443" = "connect"
[limits]
memory = "512M"
file_size = "1M"
open_files = 64
wall = "50s"
`

// What the probe may do, what it may do where a tool can say it, and what it may not. Every one of them works without a box.
var (
	exportAllowed = []string{"reads", "reads odd name", "makes", "writes", "scratch", "runs", "text", "stdin", "thread", "pair", "own name"}
	exportSayable = []string{"passed", "pattern", "default", "lists"}
	exportRefused = []string{"variable", "refused variable", "variable of a process", "hidden", "hidden below", "hidden change", "bait", "bait beside", "sibling", "home",
		"present", "present removed", "own script", "policy", "new beside", "read only", "listener", "unix socket", "set id", "descriptor", "signal", "namespace",
		"trace", "personality"}
)

// exported is a scene with the probe, its policy and the things of the host that it shall not reach.
type exported struct {
	scene
	port    string
	outside string // a process of the same user
	folder  string // of the export, outside of what the probe may write
}

func newExported(t *testing.T, who person, base string) exported {
	t.Helper()
	s := exported{scene: newSceneIn(t, who, base)}
	ledger.Need(t, "python3", func() error { _, err := s.choose(t, "system", nil); return err }())
	copyTree(t, "testdata/export", s.project)
	in := "home/code/project/"
	s.put(t, in+".py-sandboxes", exportPolicy)
	s.put(t, in+"data/d.csv", "1\n")
	s.put(t, in+"data/odd ' \"$x%n:\\.csv", "odd\n")
	for _, name := range []string{".env", "data/.env", "notes/private.txt", "other.py", "out/present", "out/old", "../sibling/decoy.txt", "../../decoy.txt"} {
		s.put(t, in+name, "# "+s.word+"\n")
	}
	l := listen(t, "tcp", "127.0.0.1:0")
	go accept(l)
	s.port = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	door := filepath.Join(s.project, "data/door")
	go accept(listen(t, "unix", door))
	must(t, os.Chmod(door, 0o777))
	s.give(t)
	s.outside = s.process(t)
	s.folder = filepath.Join(s.home, "box")
	return s
}

func accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// process is one of the same user that lives until the test ends.
func (s exported) process(t *testing.T) string {
	t.Helper()
	cmd := s.command(t.Context(), call{argv: []string{"sleep", "300"}})
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return fmt.Sprint(cmd.Process.Pid)
}

// argv is the probe's command line behind the interpreter.
func (s exported) argv() []string { return []string{"probe.py", s.word, s.port, s.outside} }

// caller is the environment of who starts the box; nothing of it but what the policy passes may come in.
func (s exported) caller() []string {
	return []string{"PASSED=passed-" + s.word, "SET_ONE=one-" + s.word, "SET_NEVER=caller-" + s.word, "OTHER=caller-" + s.word, "MODE=the caller's", "a.b=caller-" + s.word}
}

// start runs a command that starts the probe, with input and with an open file as descriptor 9 that it must not see.
func (s exported) start(t *testing.T, argv ...string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(s.project, ".env"))
	must(t, err)
	defer f.Close()
	extra := make([]*os.File, 7) // descriptors 3 to 8 are closed
	extra[6] = f
	r := s.run(t, call{argv: argv, env: s.caller(), stdin: strings.NewReader("given\n"), extra: extra})
	if r.code != 0 {
		t.Fatalf("%q: %s", argv, r)
	}
	return probed(t, r.out)
}

// probed reads what the probe said of each try.
func probed(t *testing.T, out string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(out) {
		name, answer, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok {
			got[name] = answer
		}
	}
	if n := len(exportAllowed) + len(exportSayable) + len(exportRefused); len(got) != n {
		t.Fatalf("%d answers, want %d:\n%s", len(got), n, out)
	}
	return got
}

// control: without a box the probe does all of it.
func (s exported) control(t *testing.T) {
	t.Helper()
	c := newExported(t, s.who, workshop)
	argv := append([]string{systemPython}, c.argv()...)
	f, err := os.Open(filepath.Join(c.project, ".env"))
	must(t, err)
	defer f.Close()
	extra := make([]*os.File, 7)
	extra[6] = f
	env := append(c.caller(), "MODE=it's \"a\" $text %n", "CACHE=/tmp/c d")
	r := c.run(t, call{argv: argv, env: env, stdin: strings.NewReader("given\n"), extra: extra})
	t.Cleanup(func() { os.Remove("/tmp/psb-export-" + c.word) })
	for name, answer := range probed(t, r.out) {
		if answer != "yes" {
			t.Errorf("control: without a box %s is %s, so it proves nothing", name, answer)
		}
	}
}

// judge holds the answers of a boxed probe against what is allowed; more names what this tool gives of the sayable, open what it says it
// does not hold.
func judge(t *testing.T, got map[string]string, more, open []string) {
	t.Helper()
	for _, name := range slices.Concat(exportAllowed, more) {
		if got[name] != "yes" {
			t.Errorf("allowed, and refused: %s: %s", name, got[name])
		}
	}
	for _, name := range exportRefused {
		if got[name] == "yes" != slices.Contains(open, name) {
			t.Errorf("%s is %s; open are %q", name, got[name], open)
		}
	}
}

// export runs psb policy export for the probe and gives what it said on stdout and stderr.
func (s exported) export(t *testing.T, to string, options ...string) result {
	t.Helper()
	argv := slices.Concat([]string{psb(t), "policy", "export", "--to", to, "--policy", ".py-sandboxes", "--python", systemPython}, options, s.argv())
	r := s.run(t, call{argv: argv, env: s.caller()})
	if r.code != 0 {
		t.Fatalf("%q: %s", argv, r)
	}
	for line := range strings.Lines(r.err) {
		if !strings.HasPrefix(line, "psb: not exported: ") && !strings.HasPrefix(line, "psb: not held: ") {
			t.Errorf("export says %q", line)
		}
	}
	return r
}

// noValues: what the policy passes on stands in no file of an export, nor on stderr.
func (s exported) noValues(t *testing.T, r result) {
	t.Helper()
	texts := map[string]string{"stdout": r.out, "stderr": r.err}
	must(t, filepath.Walk(s.folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 { // the mask is empty, and closed to everybody
			b, rerr := os.ReadFile(path)
			texts[path], err = string(b), rerr
		}
		if os.IsNotExist(err) || os.IsPermission(err) && info != nil && info.IsDir() { // a mask; root's run looks into it
			return nil
		}
		return err
	}))
	for where, text := range texts {
		for _, secret := range []string{"passed-" + s.word, "one-" + s.word, "caller-" + s.word} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a value of the caller's: %q", where, secret)
			}
		}
	}
}

// eachExported is the probe in a scene of each person, with its control run; once more below /tmp, of which every box has its own.
func eachExported(t *testing.T, do func(t *testing.T, s exported)) {
	t.Helper()
	for _, who := range people() {
		for name, base := range map[string]string{who.name: workshop, who.name + " below tmp": "/tmp"} {
			t.Run(name, func(t *testing.T) {
				s := newExported(t, who, base)
				s.control(t)
				if !controlOnly() {
					do(t, s)
				}
			})
		}
	}
}

// tool finds a program that a test needs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	ledger.Need(t, name, err)
	return path
}
