package pythonshim

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCodecOnEveryInterpreter: what travels arrives, what is hostile is refused; tests/test_codec.py says what that is.
func TestCodecOnEveryInterpreter(t *testing.T) { runUnittest(t, "tests/test_codec.py") }

// TestInsideOnEveryInterpreter: a yes is for a box alone.
func TestInsideOnEveryInterpreter(t *testing.T) { runUnittest(t, "tests/test_inside.py") }

// TestWhatABoxSaysOnEveryInterpreter: its words cost their reader what he allows; tests/test_partial.py says what that is.
func TestWhatABoxSaysOnEveryInterpreter(t *testing.T) { runUnittest(t, "tests/test_partial.py") }

// TestAgentOnEveryInterpreter: a server that misbehaves or ends harms no caller; tests/test_agent.py says how.
func TestAgentOnEveryInterpreter(t *testing.T) { runUnittest(t, "tests/test_agent.py") }

// runUnittest runs a unittest file of the package from the checkout, with warnings as errors.
func runUnittest(t *testing.T, file string) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// What was read here is what go test looks at before it takes a result from its cache.
	if err := filepath.WalkDir("psb", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".py" {
			_, err = os.ReadFile(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, p python) {
		cmd := exec.Command(p.Launch, "-B", "-W", "error", filepath.Join(here, file))
		cmd.Env = append(os.Environ(), "PYTHONPATH="+here)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
