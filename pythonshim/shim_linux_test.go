package pythonshim

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// each runs f for each of the interpreters that are tried.
func each(t *testing.T, f func(t *testing.T, p python)) {
	for _, p := range tried(t) {
		t.Run(p.Version+"_"+strings.ReplaceAll(strings.Trim(filepath.Dir(p.Executable), "/"), "/", "_"), func(t *testing.T) {
			t.Parallel()
			f(t, p)
		})
	}
}

// tried are the system's interpreter, the oldest and the newest; every one found with PSB_ROWS=all.
func tried(t *testing.T) (list []python) {
	all := pythons(t)
	for i, p := range all {
		if everyRow() || i == 0 || endOfRow(p, all) {
			list = append(list, p)
		}
	}
	return list
}

// everyRow: all interpreters are asked for, and for each of them all.
func everyRow() bool { return os.Getenv("PSB_ROWS") == "all" }

// endOfRow: no other interpreter is older, or none is newer.
func endOfRow(p python, all []python) bool {
	minor := func(p python) int { n, _ := strconv.Atoi(strings.TrimPrefix(p.Version, "3.")); return n }
	older := slices.ContainsFunc(all, func(o python) bool { return minor(o) < minor(p) })
	newer := slices.ContainsFunc(all, func(o python) bool { return minor(o) > minor(p) })
	return !older || !newer
}

// noisy makes an overlay whose notes go to stderr and whose rules grant everything.
func (p python) noisy(mode Mode) []byte { return overlay(p.original, mode, 2, p.granted) }

// silent is noisy with the notes' own descriptor.
func (p python) silent(mode Mode) []byte { return overlay(p.original, mode, NoteFD, p.granted) }

// TestFindAgreesWithPython: what was read from files is what the interpreter says.
func TestFindAgreesWithPython(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		check := func(t *testing.T, p python) {
			r := p.run(t, nil, nil, nil, "-c", `import sys,os,encodings,site
for x in (sys.prefix,sys.base_prefix,"%d.%d"%sys.version_info[:2],os.path.realpath(os.path.dirname(os.__file__)),os.path.realpath(encodings.__file__)): print(x)
for x in sys.path[1:]:
  if x.endswith("-packages") and os.path.isdir(x): print(os.path.realpath(x))`)
			lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
			want := []string{p.Prefix, p.BasePrefix, p.Version, p.Stdlib, p.Encodings}
			if len(lines) < 5 || !slices.Equal(lines[:5], want) {
				t.Fatalf("python says %q %s, files say %q", lines, r.stderr, want)
			}
			for _, s := range lines[5:] {
				if !slices.Contains(p.Sites, s) {
					t.Errorf("sites %q lack %q", p.Sites, s)
				}
			}
		}
		check(t, p)
		dir := filepath.Join(t.TempDir(), "v")
		if out, err := exec.Command(p.Launch, "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
			t.Fatalf("venv: %v %s", err, out)
		}
		l, err := Find(dir+"/bin/python", Host{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Venv != dir || l.Executable != p.Executable {
			t.Errorf("venv %q of %q, want %q of %q", l.Venv, l.Executable, dir, p.Executable)
		}
		v := python{l, p.original, p.granted}
		check(t, v)
		has(t, v.run(t, v.noisy(Learn), nil, nil, "-c", "import os\nos.environ.get('IN_VENV')"), "env", "IN_VENV unset | -c |  | 2")
	})
}

func TestHostOpensRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("mkfifo", dir+"/pipe").Run(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, dir + "/pipe", "/dev/null", dir + "/none"} {
		if f, err := (Host{}).Open(p); err == nil {
			f.Close()
			t.Errorf("opened %q", p)
		}
	}
}
