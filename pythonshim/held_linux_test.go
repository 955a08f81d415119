package pythonshim

import (
	"path/filepath"
	"testing"
)

// TestHeldModules: a module that another one holds is had without a line, its guarded functions are not; a false leaves nobody anything to hold.
func TestHeldModules(t *testing.T) {
	program := `import inspect, logging.handlers, tempfile
def said(do):
    try: return do() or "reached"
    except Exception as e: return getattr(e, "qualname", "") or type(e).__name__
def imported():
    import socket
print(said(imported), said(lambda: logging.handlers.socket.__name__), said(lambda: tempfile._os.system("exit 0")), said(lambda: inspect.builtins.eval("1")),
      said(lambda: tempfile._shutil.os.popen("true").close()))
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"app.py": program})
		for _, c := range []struct {
			what  string
			rules *Rules
			want  string
		}{
			{"without the shim", nil, "reached socket reached 1 reached"},
			{"no line", &Rules{Calls: map[string]bool{}}, "RuleModuleNotFoundError socket os.system builtins.eval os.popen"},
			{"a false", &Rules{Imports: map[string]bool{"socket": false}, Calls: map[string]bool{}}, ""},
		} {
			r := p.run(t, nil, nil, nil, filepath.Join(dir, "app.py"))
			if c.rules != nil {
				r = p.run(t, sceneOf(t, p, *c.rules).overlay(Enforce, ""), nil, nil, filepath.Join(dir, "app.py"))
			}
			if want := c.want; want == "" {
				if r.code == 0 || r.stdout != "" {
					t.Errorf("%s: status %d, %q", c.what, r.code, r.stdout)
				}
			} else if r.stdout != want+"\n" {
				t.Errorf("%s: %q, want %q %s", c.what, r.stdout, want, r.stderr)
			}
		}
	})
}
