package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// moved is what moves.py prints: within one grant everything goes; between two grants the kernel sees two mounts and says EXDEV, which
// shutil.move and every other tool that moves between file systems knows.
const moved = "within ['d', 'moved'] ['f3'] ['f']\nacross %s\nread-only %s\nshutil True False\n"

// TestBehaviourMoves: files are moved and linked within a folder that may be written, with every layer stacked; between two such folders as
// between two disks; never into or out of one that may only be read.
func TestBehaviourMoves(t *testing.T) {
	for _, c := range []struct{ name, policy, across, readOnly string }{
		{"three grants", "\"one/\" = \"write\"\n\"two/\" = \"write\"\n\"kept/\" = \"read\"\n", "EXDEV EXDEV EXDEV", "EXDEV EXDEV EXDEV"},
		{"one grant", "\"./\" = \"write\"\n", "ok ok ok", "ok ok ENOENT"},
		{"writing inside reading", "\"./\" = \"read\"\n\"one/\" = \"write\"\n\"two/\" = \"write\"\n", "EXDEV EXDEV EXDEV", "EXDEV EXDEV EXDEV"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					want := func(across, readOnly string) string { return fmt.Sprintf(moved, across, readOnly) }
					lay := func() scene {
						s := newScene(t, who)
						s.behave(t, "moves")
						s.put(t, "home/code/project/kept/there", "x")
						for _, dir := range []string{"one", "two"} {
							must(t, os.Mkdir(filepath.Join(s.project, dir), 0o755))
						}
						s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n"+c.policy)
						s.give(t)
						return s
					}
					s := lay()
					i := s.system(t, nil)
					if r := s.run(t, call{argv: []string{i.path, "moves.py", "kept"}}); r.out != want("ok ok ok", "ok ok ENOENT") {
						t.Fatalf("the control run: %v", r)
					}
					if controlOnly() {
						return
					}
					s = lay()
					r := s.run(t, call{argv: []string{psb(t), "--python", i.path, "--policy", ".py-sandboxes", "moves.py", "kept"}})
					if r.code != 0 || r.out != want(c.across, c.readOnly) || r.err != "" {
						t.Errorf("want %s%v", want(c.across, c.readOnly), r)
					}
					if _, err := os.Stat(filepath.Join(s.project, "kept/there")); (err == nil) != (c.name != "one grant") {
						t.Errorf("what may only be read: %v", err)
					}
				})
			}
		})
	}
}
