package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// interpreter is one CPython of this host.
type interpreter struct {
	path                string
	major, minor, micro int
}

func (i interpreter) version() string { return fmt.Sprintf("%d.%d.%d", i.major, i.minor, i.micro) }

const systemPython = "/usr/bin/python3"

// interpreters are the CPythons this run may use: the system's first, then pyenv's and those on PATH, each real file once.
var interpreters = sync.OnceValue(func() []interpreter {
	candidates := []string{systemPython}
	roots := []string{os.Getenv("PYENV_ROOT")}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".pyenv"))
	}
	for _, root := range roots {
		if root != "" {
			more, _ := filepath.Glob(filepath.Join(root, "versions", "*", "bin", "python3"))
			candidates = append(candidates, more...)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		more, _ := filepath.Glob(filepath.Join(dir, "python3.[0-9]*"))
		candidates = append(candidates, more...)
	}
	var found []interpreter
	seen := map[string]bool{}
	for _, path := range candidates {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] || strings.Contains(path, "/shims/") || strings.HasSuffix(path, "-config") {
			continue
		}
		seen[real] = true
		out, err := exec.Command(path, "-I", "-c", "import sys; print(sys.implementation.name, *sys.version_info[:3])").Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) != 4 || f[0] != "cpython" {
			continue
		}
		i := interpreter{path: path}
		i.major, _ = strconv.Atoi(f[1])
		i.minor, _ = strconv.Atoi(f[2])
		i.micro, _ = strconv.Atoi(f[3])
		if i.major == 3 && i.minor >= 8 && i.minor <= 13 {
			found = append(found, i)
		}
	}
	return found
})

// reaches reports whether the person can start the interpreter and whether it has the modules; nil when both.
func (s scene) reaches(t testing.TB, i interpreter, modules []string) error {
	t.Helper()
	const ask = `
import importlib.util, sys
def has(m):
    try:
        return importlib.util.find_spec(m) is not None
    except ImportError:
        return False
print("started", *[m for m in sys.argv[1:] if not has(m)])`
	// sh starts it: whether a folder on the way is closed to the person is only seen when that person tries.
	r := s.run(t, call{argv: append([]string{"/bin/sh", "-c", `exec "$0" -c "$@"`, i.path, ask}, modules...), dir: s.home})
	f := strings.Fields(r.out)
	switch {
	case r.code != 0 || len(f) == 0:
		return fmt.Errorf("%s cannot be started as %s: %s", i.path, s.who.name, strings.TrimSpace(r.err))
	case len(f) > 1:
		return fmt.Errorf("%s has no %s", i.path, strings.Join(f[1:], " "))
	}
	return nil
}

// choose gives the interpreters a row runs under. The error says why there is none.
func (s scene) choose(t testing.TB, which string, modules []string) ([]interpreter, error) {
	t.Helper()
	all := interpreters()
	if which == "system" {
		all = slices.DeleteFunc(slices.Clone(all), func(i interpreter) bool { return i.path != systemPython })
	}
	if len(all) == 0 {
		return nil, errors.New("no CPython 3.8 to 3.13 was found")
	}
	if which == "each" {
		return all, nil // each is a test of its own, and skips on its own
	}
	var why []error
	for _, i := range all {
		err := s.reaches(t, i, modules)
		if err == nil {
			return []interpreter{i}, nil
		}
		why = append(why, err)
	}
	return nil, errors.Join(why...)
}
