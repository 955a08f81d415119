package main

import (
	"os"
	"path/filepath"
	"testing"

	"psb/pythonshim"
)

// TestAModuleOfTheProgramsOwn: a module that lies beside the script and was not found is what the policy keeps from the box.
func TestAModuleOfTheProgramsOwn(t *testing.T) {
	list, read := "denied: list ./ (app.py:3)\nhint: psb policy add list ./\n", "denied: read helper.py (app.py:3)\nhint: psb policy add read helper.py\n"
	for _, tc := range []struct{ files, module, path, want string }{
		{"", "helper", "", list + read},
		{"'./' = 'list'", "helper", "", read},
		{"'helper.py' = 'read'", "helper", "", list},
		{"'./' = 'read'", "helper", "", ""}, // it had all it needs: the error is not the box's
		{"", "pkg", "", list + "denied: read pkg/ (app.py:3)\nhint: psb policy add read pkg/\n"},
		{"'./' = 'list'\n'pkg/__init__.py' = 'read'", "pkg.sub", "", "denied: list pkg/ (app.py:3)\nhint: psb policy add list pkg/\ndenied: read pkg/sub.py (app.py:3)\nhint: psb policy add read pkg/sub.py\n"},
		{"'./' = 'list'\n'helper.py' = 'hide'", "helper", "", "denied: read helper.py (app.py:3)\nhint: .py-sandboxes:4 hides it (\"helper.py\")\n"},
		{"", "nothing", "", ""},
		{"", "helper", "/elsewhere/helper.py", ""}, // cannot import name … from helper
		{"", "../helper", "", ""},
		{"", "", "", ""},
	} {
		j := pythonJob(t, "[files]\n"+tc.files+"\n")
		for _, name := range []string{"helper.py", "app.py", "pkg/__init__.py", "pkg/sub.py"} {
			file := filepath.Join(j.w.cwd, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		n := pythonshim.Note{Event: pythonshim.NoteError, Args: []string{"ModuleNotFoundError", "import", tc.module, tc.path}, At: j.w.cwd + "/app.py:3"}
		if got := spoken(t, j, n); got != tc.want {
			t.Errorf("%q %s:\n%s\nwant\n%s", tc.files, tc.module, got, tc.want)
		}
	}
}
