package pythonshim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// venv is what a pyvenv.cfg says. venv, virtualenv and uv write the same keys; "version" is uv's and
// virtualenv's "version_info" too.
type venv struct {
	dir     string // folder of the file
	home    string // folder of the base interpreter
	version string
	system  bool // include-system-site-packages
}

// readVenv looks where CPython looks: beside the path that is launched and one folder up, without following its links.
func readVenv(w *walker, launch string) (venv, bool, error) {
	for _, dir := range []string{path.Dir(launch), path.Dir(path.Dir(launch))} {
		name := path.Join(dir, "pyvenv.cfg")
		real, st, err := w.real(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return venv{}, false, err
		}
		if !st.Mode().IsRegular() {
			return venv{}, false, fmt.Errorf("%q is no regular file", name)
		}
		text, err := readText(w.look, real)
		if err != nil {
			return venv{}, false, err
		}
		v := parseVenv(string(text))
		v.dir = dir
		if !path.IsAbs(v.home) {
			return venv{}, false, fmt.Errorf("%q: home = %q is not an absolute path", name, v.home)
		}
		v.home = path.Clean(v.home)
		return v, true, nil
	}
	return venv{}, false, nil
}

func parseVenv(text string) venv {
	var v venv
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "home":
			v.home = value
		case "version", "version_info":
			v.version = value
		case "include-system-site-packages":
			v.system = strings.EqualFold(value, "true")
		}
	}
	return v
}
