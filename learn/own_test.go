package learn

import (
	"testing"

	"psb/policy"
)

// A link in the project, in a home or named by the command line is the user's; one of the system or of the virtual environment in use is not.
func TestOwn(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app", Home: "/h/ann", Venv: "/p/app/.venv"}, Homes: []string{"/h/other"}, Shown: []string{"/tmp/given/"}}
	for p, want := range map[string]bool{
		"/p/app/tools/py": true, "/h/ann/bin/py": true, "/h/other/x": true, "/tmp/given/x": true,
		"/p/app/.venv/lib64": false, "/p/app/.venv": false, "/usr/bin/python3": false, "/p/apple": false, "/tmp/x": false,
	} {
		if k.Own(p) != want {
			t.Errorf("%s is the user's: %v", p, !want)
		}
	}
}
