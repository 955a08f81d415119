package pythonshim

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

//go:embed psb/*.py psb/*/*.py psb/py.typed
var packageFiles embed.FS

// Package gives the Python package psb as files by slash-separated name, "psb/__init__.py", without its tests: what
// a box shows in [PackageDir].
func Package() map[string][]byte {
	out := map[string][]byte{}
	err := fs.WalkDir(packageFiles, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/tests/") {
			return err
		}
		b, err := packageFiles.ReadFile(name)
		out[name] = b
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: the embedded package: %v", err)) // embedded files can be read
	}
	return out
}

// PackageKey tells one text of the package from another, in a form that fits a file's name.
func PackageKey() string {
	h := sha256.New()
	files := Package()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %d ", name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
