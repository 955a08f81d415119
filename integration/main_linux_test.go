package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ledger is what this run asked of the host; TestMain prints its closing line.
var ledger *Ledger

// workshop is the folder of this run: the binary under test and every project live below it. It is not below /tmp, which
// every box has its own of.
var workshop string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if wall := os.Getenv(outerWall); wall != "" {
		return behindOuterWall(wall, os.Args[1:])
	}
	var err error
	if ledger, err = NewLedger(os.Getenv("PSB_MUST")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) { // begun behind a shell script or under nohup; the programs of the tests begin as a person's do
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	// Whatever a killed psb leaves behind becomes our child, so that it can be found, named and ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "prctl PR_SET_CHILD_SUBREAPER:", err)
		return 1
	}
	// A job behind a shell may have the keys ignored, and what it starts inherits that; what is handled here is as usual in a child.
	for _, key := range []os.Signal{unix.SIGINT, unix.SIGQUIT} {
		if signal.Ignored(key) {
			signal.Notify(make(chan os.Signal, 1), key)
		}
	}
	base := os.Getenv("PSB_WORKSHOP")
	if base == "" {
		base = "/var/tmp"
	}
	if workshop, err = os.MkdirTemp(base, "psb-integration-"); err == nil {
		err = os.Chmod(workshop, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv("PSB_KEEP") == "" {
		defer os.RemoveAll(workshop)
	} else {
		fmt.Println("kept:", workshop)
	}
	code := m.Run()
	fmt.Println(ledger.Closing())
	return code
}

// BuildFlags make the one static binary; the Makefile's build target must use the same (TestMakefileBuildsTheSame).
var buildFlags = []string{"-trimpath", "-tags", "netgo,osusergo", "-ldflags", "-s -w -linkmode external -extldflags -static"}

var builtPsb = sync.OnceValues(func() (string, error) {
	target := filepath.Join(workshop, "bin", "psb")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	if given := os.Getenv("PSB_BIN"); given != "" {
		if !filepath.IsAbs(given) {
			return "", fmt.Errorf("PSB_BIN %q: not an absolute path (go test changes the folder)", given)
		}
		b, err := os.ReadFile(given)
		if err != nil {
			return "", err
		}
		return target, writeProgram(target, b) // a copy: the original may lie where an ordinary user cannot look
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", target, "./cmd/psb")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return target, nil
})

// psb is the path of the binary under test: built once for the run, or a copy of $PSB_BIN.
func psb(t testing.TB) string {
	t.Helper()
	path, err := builtPsb()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if mod == "" || mod == os.DevNull {
		return "", errors.New("no go.mod above the working folder")
	}
	return filepath.Dir(mod), nil
}
