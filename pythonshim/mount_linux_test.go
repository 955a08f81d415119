// What it does to the process: the re-executed copy of the test binary enters a mount namespace, binds files and becomes python.
// Can it be undone: no; it is a child and its namespace ends with it.
// Preconditions: root, or user namespaces.
// Who calls it: TestMain, in a copy that python.run starts.
// Which test proves it: the tests of this package that run an interpreter.

package pythonshim

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const becomePython = "bind-and-become-python"

// TestMain: with the word above the binary binds pairs of paths up to "--" and executes the rest.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == becomePython {
		fmt.Fprintln(os.Stderr, bindAndExec(os.Args[2:]))
		os.Exit(125)
	}
	os.Exit(m.Run())
}

func bindAndExec(args []string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount private: %w", err)
	}
	// A child without PYTHONDONTWRITEBYTECODE would, as root, leave the overlay's bytecode on this machine.
	if kept := filepath.Join(filepath.Dir(args[1]), "__pycache__"); os.Geteuid() == 0 && filepath.Base(args[1]) == "__init__.py" && isDir(kept) {
		for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY} {
			if err := syscall.Mount(kept, kept, "", flags, ""); err != nil {
				return fmt.Errorf("mount read-only %q: %w", kept, err)
			}
		}
	}
	for len(args) > 2 && args[0] != "--" {
		if err := syscall.Mount(args[0], args[1], "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount bind %q: %w", args[1], err)
		}
		args = args[2:]
	}
	return syscall.Exec(args[1], args[1:], os.Environ())
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

// python is one interpreter of this machine.
type python struct {
	Layout
	original []byte
	granted  string // a folder as [ShimDir] whose rules grant everything
}

// pythons finds what there is: python3 and python3.8 to python3.14 on PATH, pyenv's versions.
func pythons(t *testing.T) []python {
	t.Helper()
	ask := []string{"python3", "/usr/bin/python3"}
	for minor := 8; minor <= 14; minor++ {
		ask = append(ask, fmt.Sprintf("python3.%d", minor))
	}
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
		ask = append(ask, more...)
	}
	granted := t.TempDir()
	all := map[string]bool{"*": true}
	if err := os.WriteFile(filepath.Join(granted, RulesName), Rules{Imports: all, Calls: all}.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	var out []python
	for _, a := range ask {
		l, err := Find(a, Host{Env: os.Environ()})
		if err != nil || !l.ShimFits() || slices.ContainsFunc(out, func(p python) bool { return p.Executable == l.Executable }) {
			continue
		}
		original, err := os.ReadFile(l.Encodings)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, python{l, original, granted})
	}
	if len(out) == 0 {
		lacks(t, "python3", "no python3.8 or later found")
	}
	return out
}

func lacks(t *testing.T, what, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PSB_MUST"), ","), what) {
		t.Fatal(why)
	}
	t.Skip(why)
}

type result struct {
	stdout, stderr string
	code           int
	notes          []Note
	refused        []string // lines that ParseNote does not take
}

// run starts the interpreter with the overlay; the notes go to stderr, the one descriptor every child keeps, and are
// taken out of it. fd NoteFD leaves them out. A nil overlay runs plain python.
func (p python) run(t *testing.T, overlay []byte, pyc []byte, env []string, args ...string) result {
	t.Helper()
	dir := t.TempDir()
	call := []string{becomePython}
	bind := func(name string, data []byte, onto string) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		call = append(call, file, onto)
	}
	if overlay != nil {
		bind("init.py", overlay, p.Encodings)
	}
	if pyc != nil {
		bind("init.pyc", pyc, p.Pyc)
	}
	call = append(append(call, "--", p.Launch), args...)
	cmd := exec.Command("/proc/self/exe", call...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PYTHONDONTWRITEBYTECODE=1", "PATH=/usr/bin:/bin", "HOME=" + dir}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{21} // CAP_SYS_ADMIN, lost by the exec in another copy otherwise
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		if os.IsPermission(err) || strings.Contains(err.Error(), "operation not permitted") {
			lacks(t, "userns", "no mount namespace here: "+err.Error())
		}
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() == 125 {
		t.Fatalf("the copy could not start python: %s", stderr.String())
	}
	r := result{stdout: stdout.String(), code: cmd.ProcessState.ExitCode()}
	for line := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(line, `{"e":`) {
			n, err := ParseNote([]byte(line))
			if err != nil {
				r.refused = append(r.refused, line)
				continue
			}
			r.notes = append(r.notes, n)
			continue
		}
		r.stderr += line
	}
	return r
}

// noted gives the notes of one event, each "ARGS | FUNC | LIBRARY | LINE".
func (r result) noted(event string) []string {
	var out []string
	for _, n := range r.notes {
		if n.Event == event {
			out = append(out, fmt.Sprintf("%s | %s | %s | %d", strings.Join(n.Args, " "), n.Func, n.Library, n.Line()))
		}
	}
	return out
}

func has(t *testing.T, r result, event string, want ...string) {
	t.Helper()
	got := r.noted(event)
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no note %s %q among\n%s\nstderr: %s", event, w, strings.Join(got, "\n"), r.stderr)
		}
	}
}
