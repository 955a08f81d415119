package integration

import (
	"os"
	"testing"
)

const environmentProgram = `import os, sys
print(os.path.basename(sys.prefix))
for name in (".venv/bin/activate", ".venv/bin/pip", ".venv/pyvenv.cfg", ".venv/lib/site.pth", "made.txt"):
    try:
        open(name, "a").close()
        print("wrote", name)
    except OSError as e:
        print(name, "refused")
try:
    os.rename(".venv", "moved")
    print("moved")
except OSError:
    print("not moved")
`

// TestEnvironmentInUse: the virtual environment that runs the program is protected where a rule lets the whole project be written, and works.
func TestEnvironmentInUse(t *testing.T) {
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			list, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			make := func(s scene) {
				if r := s.run(t, call{argv: []string{list[0].path, "-m", "venv", "--without-pip", ".venv"}}); r.code != 0 {
					t.Fatal(r)
				}
				s.put(t, "home/code/project/row.py", environmentProgram)
				s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n\"./\" = \"write\"\n")
				s.give(t)
			}
			make(s)
			control := s.run(t, call{argv: []string{".venv/bin/python3", "row.py"}})
			want := ".venv\nwrote .venv/bin/activate\nwrote .venv/bin/pip\nwrote .venv/pyvenv.cfg\nwrote .venv/lib/site.pth\nwrote made.txt\nmoved\n"
			if control.out != want {
				t.Fatalf("control: got %v\nwant %s", control, want)
			}
			if controlOnly() {
				return
			}
			s = newScene(t, who)
			make(s)
			r := s.run(t, call{argv: []string{psb(t), "--policy", ".py-sandboxes", "--python", ".venv/bin/python3", "row.py"}})
			want = ".venv\n.venv/bin/activate refused\n.venv/bin/pip refused\n.venv/pyvenv.cfg refused\n.venv/lib/site.pth refused\nwrote made.txt\nnot moved\n"
			if r.code != 0 || r.out != want {
				t.Errorf("got %v\nwant %s", r, want)
			}
			if _, err := os.Lstat(s.project + "/.venv/bin/pip"); err == nil {
				t.Error("something was made in the environment")
			}
		})
	}
}
