package pythonshim

import (
	"embed"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
)

//go:embed psb/*.py psb/*/*.py psb/py.typed
var packageFiles embed.FS

// Package gives the Python package psb as files by slash-separated name, "psb/__init__.py", without its tests: what
// a box shows in [PackageDir].
func Package() map[string][]byte {
	out := map[string][]byte{}
	eachPackageFile(func(name string) error {
		b, err := packageFiles.ReadFile(name)
		out[name] = b
		return err
	})
	return out
}

// eachPackageFile calls do for every file, in the order of the names.
func eachPackageFile(do func(name string) error) {
	err := fs.WalkDir(packageFiles, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/tests/") {
			return err
		}
		return do(name)
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: the embedded package: %v", err)) // embedded files can be read
	}
}

// PackageKey tells one text of the package from another, in a form that fits a file's name. It guards against a change, not against somebody:
// every start works it out.
func PackageKey() string {
	one, other := crc32.New(crc32.MakeTable(crc32.Castagnoli)), crc32.NewIEEE()
	h, buf := io.MultiWriter(one, other), make([]byte, 32<<10)
	eachPackageFile(func(name string) error {
		f, err := packageFiles.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf)
		fmt.Fprintf(h, "%q %d ", name, n)
		return err
	})
	return hex.EncodeToString(other.Sum(one.Sum(nil)))
}
