package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nodes makes stand-ins for a graphics card: an open and a closed node, twins of /dev/zero, and a folder with one of each.
func nodes(t *testing.T, word string) (open, closed, folder string) {
	t.Helper()
	open, closed, folder = "/dev/psb-"+word+"-open", "/dev/psb-"+word+"-closed", "/dev/psb-"+word
	t.Cleanup(func() { os.Remove(open); os.Remove(closed); os.RemoveAll(folder) })
	if err := os.Mkdir(folder, 0o755); err != nil {
		ledger.Need(t, "root", err)
	}
	for name, mode := range map[string]uint32{open: 0o666, closed: 0o600, filepath.Join(folder, "card"): 0o666} {
		if err := unix.Mknod(name, unix.S_IFCHR|mode, int(unix.Mkdev(1, 5))); err != nil {
			ledger.Need(t, "root", fmt.Errorf("mknod %s: %w", name, err))
		}
		must(t, os.Chmod(name, os.FileMode(mode)))
	}
	return open, closed, folder
}

// TestBehaviourDevices: a device node is absent unless a rule names it or its folder; then it is the node itself. One that the person may not
// open stays closed, and as root, where that is psb's own doing, it is said before anything starts. Learning makes one rule of one node.
func TestBehaviourDevices(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 {
		ledger.Need(t, "root", errors.New("only root makes device nodes"))
	}
	ledger.Need(t, "root", nil)
	ordinary(t, func(t *testing.T, s scene) {
		s.behave(t, "device")
		open, closed, folder := nodes(t, s.word)
		card := filepath.Join(folder, "card")
		run := func(rules string, options ...string) result {
			s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n"+rules)
			s.give(t)
			return s.run(t, call{argv: append(append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, options...), "device.py", s.word, open, card)})
		}
		works := func(path string) string { return path + ` True 1 5 b'\x00\x00\x00\x00' 1` + "\n" }
		const absent = " No such file or directory\n"
		base := func(paths ...string) string {
			for i, p := range paths {
				paths[i] = "'" + filepath.Base(p) + "'"
			}
			return "[" + strings.Join(paths, ", ") + "]\n"
		}
		if r := s.run(t, call{argv: []string{systemPython, "device.py", s.word, open, card}}); r.out != works(open)+works(card)+base(folder, closed, open) {
			t.Fatalf("the control run: %v", r)
		}
		for _, c := range []struct{ rules, want string }{
			{"", open + absent + card + absent + base()},
			{fmt.Sprintf("%q = \"device\"\n", open), works(open) + card + absent + base(open)},
			{fmt.Sprintf("%q = \"device\"\n", folder+"/"), open + absent + works(card) + base(folder)},
			{fmt.Sprintf("%q = \"device\"\n%q = \"device\"\n%q = \"device\"\n", open, folder+"/", "/dev/psb-no-such-node"), works(open) + works(card) + base(folder, open)},
			{fmt.Sprintf("%q = \"device\"\n", card), open + absent + works(card) + base(folder)},
		} {
			if r := run(c.rules); r.code != 0 || r.out != c.want {
				t.Errorf("%s: %v\nwant %s", c.rules, r, c.want)
			}
		}
		r := run(fmt.Sprintf("%q = \"device\"\n", closed))
		if want := "psb: gap root-id: " + fmt.Sprintf("%q", closed) + " is closed to others"; s.who.uid == 0 && (r.code != 125 || !strings.HasPrefix(r.err, want)) {
			t.Errorf("closed: %v", r)
		}
		r = s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--allow-gap", "root-id", "device.py", s.word, closed}})
		if r.out != closed+" Permission denied\n"+base(closed) {
			t.Errorf("closed, accepted: %v", r)
		}
		if r := run("\"device.py\" = \"device\"\n"); r.code != 125 || r.out != "" {
			t.Errorf("a file outside /dev as a device: %v", r)
		}
	})
}
