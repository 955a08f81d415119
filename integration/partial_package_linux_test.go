package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestPackageInstalls: pip installs the package from the checkout without a network; it works in its environment, and is found under its
// other name only where nobody else has that name.
func TestPackageInstalls(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	i, err := s.choose(t, "system", []string{"pip", "setuptools", "wheel", "ensurepip"})
	ledger.Need(t, "setuptools", err) // Debian: python3-pip brings it and wheel
	if controlOnly() {
		t.Skip("needs psb")
	}
	copyTree(t, "../pythonshim/psb", s.project+"/checkout/psb")
	for _, name := range []string{"pyproject.toml", "setup.py", "psb_sandbox.pth"} {
		b, err := os.ReadFile("../pythonshim/" + name)
		must(t, err)
		s.put(t, "home/code/project/checkout/"+name, string(b))
	}
	s.give(t)
	ok := func(argv ...string) result {
		t.Helper()
		r := s.run(t, call{argv: argv, env: []string{"PSB=" + psb(t), "PIP_DISABLE_PIP_VERSION_CHECK=1"}, timeout: 3 * time.Minute})
		if r.code != 0 {
			t.Fatalf("%q: %v", argv, r)
		}
		return r
	}
	ok(i[0].path, "-m", "venv", "--system-site-packages", "v")
	python := filepath.Join(s.project, "v/bin/python")
	ok(python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "./checkout")
	if made, err := os.ReadDir(s.project + "/checkout"); err != nil || len(made) != 4 {
		t.Errorf("the build left something in the checkout: %v %v", made, err)
	}

	s.put(t, "home/code/project/.py-sandboxes", "version = 1\n")
	s.put(t, "home/code/project/app.py", `from pysandboxes import SandBoxError, is_in_sandbox, sandbox, sandboxes
import pysandboxes.errors, psb, psb.errors

@sandbox
def inside(n):
    import pysandboxes
    return is_in_sandbox(), n, pysandboxes.sandbox is sandbox

if __name__ == "__main__":
    assert pysandboxes.errors is psb.errors and SandBoxError is psb.SandBoxError and psb.errors.__spec__.name == "psb.errors"
    with sandboxes(policy=".py-sandboxes"):
        print(inside(7), psb.__file__)
`)
	want := "(True, 7, True) " + s.project + "/v/lib/python3." + minor(i[0]) + "/site-packages/psb/__init__.py\n"
	if r := ok(python, "app.py"); r.out != want || r.err != "" {
		t.Errorf("want %q: %v", want, r)
	}
	s.put(t, "home/code/project/v/lib/python3."+minor(i[0])+"/site-packages/pysandboxes/__init__.py", "print('another one')\n")
	if r := ok(python, "-c", "import pysandboxes"); r.out != "another one\n" {
		t.Errorf("the alias hides an installed package: %v", r)
	}
	ok(python, "-m", "pip", "uninstall", "-y", "psb-sandbox")
	if r := ok(python, "-c", "import importlib.util as u; print(u.find_spec('psb'), u.find_spec('pysandboxes').origin)"); r.out[:5] != "None " {
		t.Errorf("something is left: %v", r)
	}
}

func minor(i interpreter) string { return strconv.Itoa(i.minor) }
