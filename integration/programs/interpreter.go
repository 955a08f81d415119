package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// System is the distribution's own interpreter: what its packages bring is found by it alone.
const System = "/usr/bin/python3"

// Interpreter is one CPython of this host.
type Interpreter struct {
	Path                string
	Major, Minor, Micro int
}

// Version is "3.11.2".
func (i Interpreter) Version() string { return fmt.Sprintf("%d.%d.%d", i.Major, i.Minor, i.Micro) }

// Interpreters are the CPythons 3.8 to 3.13 of this host: the system's first, then pyenv's and those on PATH, each real file once.
var Interpreters = sync.OnceValue(func() []Interpreter {
	candidates := []string{System}
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
	var found []Interpreter
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
		i := Interpreter{Path: path}
		i.Major, _ = strconv.Atoi(f[1])
		i.Minor, _ = strconv.Atoi(f[2])
		i.Micro, _ = strconv.Atoi(f[3])
		if i.Major == 3 && i.Minor >= 8 && i.Minor <= 13 {
			found = append(found, i)
		}
	}
	return found
})

// LacksOf is a program for an interpreter: it prints "started" and which of the modules in its arguments it has not.
const LacksOf = `
import importlib.util, sys
def has(m):
    try:
        return importlib.util.find_spec(m) is not None
    except ImportError:
        return False
print("started", *[m for m in sys.argv[1:] if not has(m)])`
