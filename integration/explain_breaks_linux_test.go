package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// explained runs a program under a policy with --explain-denials.
func explained(t *testing.T, s scene) result {
	t.Helper()
	return s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--explain-denials", "why.py"}})
}

// TestExplainFolders: what was refused about folders is offered as lines about folders, under which the program still starts.
func TestExplainFolders(t *testing.T) {
	const program = `import os
for make in (lambda: os.rmdir("old"), lambda: os.mkdir("new"), lambda: os.close(os.open(".", os.O_TMPFILE | os.O_RDWR))):
    try: make(); print("made")
    except OSError as e: print("refused")
`
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.put(t, "home/code/project/.py-sandboxes", "version = 1\n")
			s.put(t, "home/code/project/why.py", program)
			must(t, os.Mkdir(filepath.Join(s.project, "old"), 0o755))
			s.give(t)
			r := explained(t, s)
			const want = "psb: denied: write old/\npsb: hint: psb policy add write old/\n" +
				"psb: denied: create ./ (2 times)\npsb: hint: psb policy add create ./\n"
			if r.status() != "0" || r.err != want {
				t.Fatalf("%v\nwant\n%s", r, want)
			}
			r = s.run(t, call{argv: []string{psb(t), "policy", "allow-last", "--yes"}})
			if r.status() != "1" || !strings.HasSuffix(r.out, `.py-sandboxes:4 added: "./" = "create"`+"\n") {
				t.Fatalf("%v", r)
			}
			for _, out := range []string{"refused\nmade\nmade\n", "refused\nrefused\nmade\n"} { // the second time the folder is there
				if r := explained(t, s); r.status() != "0" || r.out != out {
					t.Errorf("%v\nwant %q", r, out)
				}
			}
		})
	}
}

// TestExplainInterpreters: a script that may be started, but not what its first line names, is told by that.
func TestExplainInterpreters(t *testing.T) {
	const program = `import os
for name in ("./tool", "./without"):
    if os.fork() == 0:
        try: os.execv(name, [name])
        except OSError as e: os._exit(0)
    os.wait()
`
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n\"tool\" = \"exec\"\n\"without\" = \"exec\"\n")
			s.put(t, "home/code/project/why.py", program)
			must(t, os.Chmod(s.put(t, "home/code/project/tool", "#! /usr/bin/env sh\n"), 0o755))
			must(t, os.Chmod(s.put(t, "home/code/project/without", "#!/no/such/interpreter\n"), 0o755))
			s.give(t)
			r := explained(t, s)
			const want = "psb: denied: exec /usr/bin/env\npsb: hint: psb policy add exec /usr/bin/env\n"
			if r.status() != "0" || r.err != want {
				t.Errorf("%v\nwant\n%s", r, want)
			}
		})
	}
}
