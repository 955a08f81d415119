package pythonshim

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// TestProgramsAskedTogether: what a program needs does not depend on what was asked before it, and each file is opened once.
func TestProgramsAskedTogether(t *testing.T) {
	nodes := joined(debian(), prefix("/opt/py", "3.12"), map[string]string{
		"/proj/run": "#!/opt/py/bin/python3 -I\n", "/proj/again": "#!/opt/py/bin/python3\n", "/proj/broken": program(loader, "", "libgone.so.1", "libc.so.6"),
		"/usr/bin/gzip": program(loader, "", "libz.so.1"), "/lib32": "-> usr/lib32", "/usr/lib32/x": "", "/usr/lib/linked": "-> x86_64-linux-gnu",
		"/usr/bin/far": program(loader, "/usr/lib/linked", "libz.so.1"), "/usr/bin/near": program(loader, "/usr/lib/linked:/opt/py/lib", "libssl.so.3"),
		"/usr/bin/bad": "\x7fELF and no more",
	})
	names := []string{"/bin/ls", "/usr/bin/ls", "/proj/run", "/proj/again", "/usr/bin/gzip", "/bin/gzip", "/usr/bin/far", "/usr/bin/near", "/proj/broken", "/usr/bin/bad", "/usr/bin/bad",
		"/gone", "/usr/bin/far", "/bin/ls"}
	said := func(n Needs, err error) string { return fmt.Sprintf("%q %q %s", n.Files, n.Links, errText(err)) }
	m := machine("/proj", nil, nodes)
	together := NewPrograms(m)
	for _, name := range names {
		want := said(NewPrograms(machine("/proj", nil, nodes)).Needs(name))
		if got := said(together.Needs(name)); got != want {
			t.Errorf("%s after others: %s\nalone: %s", name, got, want)
		}
	}
	slices.Sort(m.opens)
	for i := 1; i < len(m.opens); i++ {
		if m.opens[i] == m.opens[i-1] {
			t.Errorf("%s was opened twice", m.opens[i])
		}
	}
	if !slices.Contains(m.opens, "/usr/lib/x86_64-linux-gnu/libz.so.1.2") {
		t.Errorf("opened %q", m.opens)
	}
}

// TestProgramsOfThisSystem: the same of real programs.
func TestProgramsOfThisSystem(t *testing.T) {
	names, err := filepath.Glob("/usr/bin/*a*")
	if err != nil || len(names) == 0 {
		t.Skipf("no programs: %v", err)
	}
	together, libraries := NewPrograms(Host{}), 0
	for _, name := range names[:min(len(names), 25)] {
		want, _ := NewPrograms(Host{}).Needs(name)
		got, _ := together.Needs(name)
		if !slices.Equal(got.Files, want.Files) || !slices.Equal(got.Links, want.Links) {
			t.Errorf("%s after others: %q %q\nalone: %q %q", name, got.Files, got.Links, want.Files, want.Links)
		}
		libraries += max(len(want.Files)-2, 0)
	}
	if libraries == 0 {
		t.Error("no program needs a library")
	}
}

// TestLinksAreCountedThroughKnownFolders: as many links as the kernel follows, whatever was walked before.
func TestLinksAreCountedThroughKnownFolders(t *testing.T) {
	nodes := map[string]string{"/end/x": "x"}
	for i := range 45 {
		nodes[fmt.Sprintf("/l/%02d", i)] = fmt.Sprintf("-> /l/%02d", i+1)
	}
	nodes["/l/45"] = "-> /end"
	m := machine("/", nil, nodes)
	w := newWalker(m)
	for i := 45; i >= 0; i-- { // each time one link more, all but the first through folders that are known
		name := fmt.Sprintf("/l/%02d/x", i)
		_, _, err := w.real(name)
		_, _, alone := newWalker(m).real(name)
		if follow := 46 - i; (err == nil) != (follow <= maxHops) || (alone == nil) != (err == nil) {
			t.Errorf("%d links: %v, alone: %v", follow, err, alone)
		}
	}
}
