package integration

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar over the real binary; each is named after its subcommand and holds one behaviour. Beside
// testscript's own commands there are
//
//	status N COMMAND…   the command must end with this status (or signal:NAME), which ! and exec cannot tell apart
//	user N COMMAND…     the same, as an ordinary user whose home is $HOME; what is in $WORK is then that user's
//
// and the conditions [root], [cgroup] and [git]. Files stand below p/, the project; HOME is $WORK/home.
func TestScripts(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	bin := filepath.Dir(psb(t))
	for _, name := range []string{"python-sb", "python3-sb", "ipython-sb"} {
		if err := os.Symlink("psb", filepath.Join(bin, name)); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         workshop,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", bin+":/usr/local/bin:/usr/bin:/bin")
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("XDG_CONFIG_HOME", home+"/.config")
			env.Setenv("XDG_CACHE_HOME", home+"/.cache")
			env.Setenv("XDG_STATE_HOME", home+"/.local/state")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return begun(people()[0], home+"/.local/state")
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "git":
				_, err := exec.LookPath("git")
				return err == nil, nil
			case "cgroup":
				return os.Getuid() == 0 && holds("memory"), nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "user": user},
	})
}

// holds reports whether this process could limit by a controller ("memory", "pids"): v1 or v2 offers it.
func holds(controller string) bool {
	if _, err := os.Stat("/sys/fs/cgroup/" + controller + "/cgroup.procs"); err == nil {
		return true
	}
	b, _ := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
	return slices.Contains(strings.Fields(string(b)), controller)
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENTS]")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = strconv.Itoa(exit.ExitCode())
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			got = "signal:" + ws.Signal().String()
		}
	}
	if got != args[0] {
		ts.Fatalf("status %s, want %s", got, args[0])
	}
}

func user(ts *testscript.TestScript, neg bool, args []string) {
	if os.Getuid() != 0 || len(args) < 2 {
		status(ts, neg, args)
		return
	}
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, ordinaryID, ordinaryID)
	}))
	id := strconv.Itoa(ordinaryID)
	status(ts, neg, append([]string{args[0], "setpriv", "--reuid", id, "--regid", id, "--clear-groups"}, args[1:]...))
}
