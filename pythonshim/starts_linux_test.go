package pythonshim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOverlayReachesEveryStart: whatever the flags, an empty environment, and every way to make a child.
func TestOverlayReachesEveryStart(t *testing.T) {
	children := `import os, sys, subprocess, multiprocessing, threading
def work(name):
    os.environ.get(name)
if __name__ == "__main__":
    subprocess.run([sys.executable, "-I", "-S", "-E", "-c", "import os\nos.environ.get('EMPTY_ENV')"], env={})
    for method in ("fork", "spawn", "forkserver"):
        p = multiprocessing.get_context(method).Process(target=work, args=("BY_" + method.upper(),))
        p.start(); p.join()
    t = threading.Thread(target=work, args=("BY_THREAD",)); t.start(); t.join()
    pid = os.fork()
    if not pid:
        os.environ.get("AFTER_FORK"); os._exit(0)
    os.waitpid(pid, 0)
`
	inside := `try:
    import _xxsubinterpreters as i
except ImportError:
    import _interpreters as i
s = i.create()
i.run_string(s, "import os\nos.environ.get('SUBINTERPRETER')")
i.destroy(s)
`
	each(t, func(t *testing.T, p python) {
		script := filepath.Join(t.TempDir(), "kids.py")
		if err := os.WriteFile(script, []byte(children), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []Mode{Learn, Enforce} {
			for _, flags := range []string{"", "-I", "-E", "-S", "-s", "-I -E -S", "-X dev", "-X utf8", "-O", "-OO", "-bb", "-B", "-W error"} {
				args := append(strings.Fields(flags), "-c", "import os\nos.environ.get('ASKED')")
				r := p.run(t, p.noisy(mode), nil, nil, args...)
				if r.code != 0 || r.stderr != "" {
					t.Errorf("%v %s: status %d, stderr %q", mode, flags, r.code, r.stderr)
				}
				has(t, r, "env", "ASKED unset | -c |  | 2")
			}
			r := p.run(t, p.noisy(mode), nil, nil, "-c", inside)
			has(t, r, "env", "SUBINTERPRETER unset | -c |  | 2")
			r = p.run(t, p.noisy(mode), nil, nil, script)
			if r.code != 0 {
				t.Errorf("%v: status %d, stderr %q", mode, r.code, r.stderr)
			}
			has(t, r, "env", "EMPTY_ENV unset | -c |  | 2")
			got := strings.Join(r.noted("env"), "\n")
			for _, name := range []string{"BY_FORK", "BY_SPAWN", "BY_FORKSERVER", "BY_THREAD", "AFTER_FORK"} {
				if !strings.Contains(got, name+" unset | ") {
					t.Errorf("%v: no note of %s among\n%s", mode, name, got)
				}
			}
		}
	})
}

// TestPyc: the bytecode that PycCommand makes passes VerifyPyc, and bound in place it is what the interpreter loads.
func TestPyc(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		if p.Pyc == "" {
			t.Skip("this interpreter keeps no bytecode of encodings")
		}
		own, err := os.ReadFile(p.Pyc)
		if err != nil {
			t.Fatal(err)
		}
		sources := []Source{{p.Encodings, p.noisy(Learn)}, {"/é.py", []byte("x = 1\n")}}
		cmd := exec.Command(p.Launch, PycCommand()...)
		cmd.Stdin = bytes.NewReader(PycInput(sources))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		codes, err := PycOutput(out, len(sources), own)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{nil, out[:len(out)-1], append(slices.Clone(out), 0), append([]byte{255, 255, 255, 255}, out[4:]...), append([]byte{4, 0, 0, 0}, out...)} {
			if _, err := PycOutput(bad, len(sources), own); !errors.Is(err, errPyc) {
				t.Errorf("%d bytes: %v", len(bad), err)
			}
		}
		// With the original source beside it, notes can only come out of the bytecode.
		r := p.run(t, nil, codes[0], nil, "-I", "-c", "import os\nos.environ.get('BYTECODE')")
		has(t, r, "env", "BYTECODE unset | -c |  | 2")
	})
}

// TestFallback: PYTHONPATH's sitecustomize notes too, and lets the user's own run as if ours were not there.
func TestFallback(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		ours, theirs := t.TempDir(), t.TempDir()
		for name, data := range files(Learn, 2, Rules{}, "/nowhere") {
			if err := os.WriteFile(filepath.Join(ours, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		env := []string{"PYTHONPATH=" + ours + ":" + theirs}
		say := "import os,sys\nos.environ.get('FALLBACK')\nprint(getattr(sys.modules.get('sitecustomize'),'__file__',None), [x for x in sys.path if x in " + fmt.Sprintf("(%q,%q)", ours, theirs) + "])"
		if err := os.WriteFile(filepath.Join(theirs, "sitecustomize.py"), []byte("print('theirs')\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := p.run(t, nil, nil, env, "-c", say)
		has(t, r, "env", "FALLBACK unset | -c |  | 2")
		if want := fmt.Sprintf("theirs\n%s/sitecustomize.py ['%s']\n", theirs, theirs); r.stdout != want || r.code != 0 {
			t.Errorf("%q %q, want %q", r.stdout, r.stderr, want)
		}
		r = p.run(t, nil, nil, []string{"PYTHONPATH=" + ours}, "-c", say)
		if r.code != 0 || r.stderr != "" {
			t.Errorf("without another sitecustomize: %d %q", r.code, r.stderr)
		}
	})
}
