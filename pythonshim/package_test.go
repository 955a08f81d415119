package pythonshim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackageIsWhole: every module of the package is embedded, and nothing else.
func TestPackageIsWhole(t *testing.T) {
	files := Package()
	err := filepath.WalkDir("psb", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want := (strings.HasSuffix(name, ".py") || name == "psb/py.typed") && !strings.Contains(name, "/tests/") && !strings.Contains(name, "__pycache__")
		if _, there := files[name]; there != want {
			t.Errorf("%s embedded: %v, want %v", name, there, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files["psb/errors.py"] == nil || len(PackageKey()) != 16 {
		t.Errorf("%d files, key %q", len(files), PackageKey())
	}
}
