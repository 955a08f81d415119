package integration

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// ownFolders is where a world finds what the run outside made by its first starts.
const ownFolders = "PSB_INTEGRATION_FIRST_STARTS"

var firstStarts sync.Map // of uid: func() (string, error)

// firstStart gives the folder in which psb made its own for the system's interpreter, by a start as this person. "" where it made none: then every
// start of a test is the first.
func firstStart(who person) (string, error) {
	base := os.Getenv(ownFolders)
	if base == "" {
		base = filepath.Join(workshop, "first")
	}
	dir := filepath.Join(base, strconv.Itoa(int(who.uid)))
	once, _ := firstStarts.LoadOrStore(who.uid, sync.OnceValues(func() (string, error) { return dir, startFirst(who, dir) }))
	return once.(func() (string, error))()
}

func startFirst(who person, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil // by the run outside
	}
	path, err := builtPsb()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command(path, "--python", systemPython, "-c", "")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_CACHE_HOME=" + dir + "/cache", "XDG_CONFIG_HOME=" + dir + "/config", "PATH=/usr/bin:/bin"}
	if os.Getuid() == 0 && who.uid != 0 {
		if err := os.Chown(dir, int(who.uid), int(who.gid)); err != nil {
			return err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid}}
	}
	var failed *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &failed) { // that psb works at all is told by the tests
		return err
	}
	return nil
}

// begun gives a state folder what a first start has made there, so that not every test pays for it again: the interpreter's folder, and nothing that
// was worked out from a policy. It belongs to whoever runs this.
func begun(who person, state string) error {
	if controlOnly() {
		return nil
	}
	dir, err := firstStart(who)
	if err != nil {
		return err
	}
	from := filepath.Join(dir, "psb")
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(state, "psb"), 0o700)
	}
	for _, e := range list {
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), "python-") {
			err = os.CopyFS(filepath.Join(state, "psb", e.Name()), os.DirFS(filepath.Join(from, e.Name())))
		}
	}
	return err
}

// TestFirstStart: a scene begins with the folder that psb would make, and psb takes it for its own: it makes no other.
func TestFirstStart(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	each(t, func(t *testing.T, s scene) {
		folders := func() []string {
			found, err := filepath.Glob(s.home + "/.local/state/psb/python-*")
			must(t, err)
			return found
		}
		before := folders()
		if len(before) != 1 {
			t.Fatalf("%q", before)
		}
		s.put(t, "home/code/project/empty.toml", emptyPolicy)
		s.give(t)
		inside := "import psb.evals, sys; print(psb.evals.__cached__)"
		r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", "empty.toml", "-c", inside}})
		if r.code != 0 || !strings.Contains(r.out, "__pycache__") || r.err != "" {
			t.Error(r)
		}
		if after := folders(); len(after) != 1 || after[0] != before[0] {
			t.Errorf("%q, before %q", after, before)
		}
	})
}
