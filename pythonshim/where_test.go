package pythonshim

import "testing"

func TestWhere(t *testing.T) {
	m := machine("/proj", nil, debian(), map[string]string{
		"/usr/lib/python3/dist-packages/numpy/__init__.py": "", "/usr/lib/python3/dist-packages/_fast.abi3.so": "", "/usr/lib/python3/dist-packages/README": "",
		"/usr/lib/python3.11/lib-dynload/_bz2.cpython-311-x86_64-linux-gnu.so": "", "/usr/lib/python3.11/json/__init__.py": "",
	})
	l, err := Find("python3", m)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Place{"sys": Standard, "os.path": Standard, "json.tool": Standard, "_ssl": Standard, "_bz2": Standard, "numpy.linalg": Installed,
		"six": Installed, "_fast": Installed, "app": Elsewhere, "README": Elsewhere, "": Elsewhere, ".x": Elsewhere, "../x": Elsewhere, "encodings/__init__": Elsewhere,
		"dist-packages": Elsewhere, "_fas": Elsewhere} {
		if got := l.Where(name, m); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
