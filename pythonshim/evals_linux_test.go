package pythonshim

import (
	"path/filepath"
	"testing"
)

// TestEvaluatedTextOnEveryInterpreter: attacks are refused, limits hold, legitimate text gives what plain Python gives; tests/evals says which.
func TestEvaluatedTextOnEveryInterpreter(t *testing.T) {
	files, err := filepath.Glob("tests/evals/test_*.py")
	if err != nil || len(files) < 6 {
		t.Fatalf("tests of evaluated text: %q %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			runUnittest(t, file)
		})
	}
}
