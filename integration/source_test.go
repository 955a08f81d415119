package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go or C file of the module.
type source struct {
	name    string // from the module's root, with slashes
	dir     string
	text    string
	file    *ast.File // nil for C
	imports []string
	test    bool
}

var readSources = sync.OnceValues(func() ([]source, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	var all []source
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || name == "integration/programs" {
				return filepath.SkipDir
			}
			return nil
		}
		s := source{name: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go")}
		s.dir = path.Dir(s.name)
		ext := path.Ext(s.name)
		if ext != ".go" && ext != ".c" && ext != ".h" {
			return nil
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s.text = string(b)
		if ext == ".go" {
			if s.file, err = parser.ParseFile(token.NewFileSet(), s.name, b, parser.ParseComments); err != nil {
				return err
			}
			for _, i := range s.file.Imports {
				p, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					return err
				}
				s.imports = append(s.imports, p)
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// sources are all Go and C files of the module, sorted by name.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := readSources()
	must(t, err)
	return all
}
