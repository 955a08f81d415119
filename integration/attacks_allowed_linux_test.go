package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// allowed does with granted files what looks like an attack and is none.
const allowed = `import mmap, os, pathlib, shutil, sys, tempfile
print("started", flush=True)

def ok(name, yes):
    print(name, "works" if yes else "FAILS")

with tempfile.NamedTemporaryFile("w+") as f, tempfile.TemporaryDirectory() as d, tempfile.TemporaryFile() as g, tempfile.SpooledTemporaryFile(1) as h:
    f.write("x"); g.write(b"x"); h.write(b"xx"); pathlib.Path(d, "y").write_text("y")
    ok("temporary files", os.listdir(d) == ["y"])
with open("out/state.new", "w") as f:
    f.write("two"); f.flush(); os.fsync(f.fileno())
os.replace("out/state.new", "out/state")
ok("replacing in one step", open("out/state").read() == "two")
with open("in/data", "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
    ok("mapping a file for reading", m[:4] == b"data")
with open("out/state", "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[:3] = b"six"
ok("mapping a file for writing", open("out/state").read() == "six")
with os.scandir(pathlib.Path("in")) as entries:
    ok("listing by a path object", sorted(e.name for e in entries if e.is_file()) == ["data", "kept"])
at = os.open("in", os.O_RDONLY | os.O_DIRECTORY)
ok("opening beneath a folder", os.read(os.open("data", os.O_RDONLY, dir_fd=at), 4) == b"data" and sorted(os.listdir(at)) == ["data", "kept"])
with open(os.open("in/data", os.O_RDONLY)) as f:
    ok("opening a descriptor", f.read() == "data")
with open(2, "w", closefd=False) as f:
    f.write("to stderr\n")
ok("standard error stays open", os.write(2, b"again\n") == 6)
os.symlink("state", "out/link"); os.link("out/state", "out/hard"); os.mkfifo("out/pipe"); os.chmod("out/hard", 0o600); os.utime("out/hard", (1, 1))
ok("links, pipes, modes and times of its own", open("out/link").read() == open("out/hard").read() == "six" and os.stat("out/hard").st_mtime == 1)
fd = os.open("out", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(fd, b"nameless"); os.link("/proc/self/fd/%d" % fd, "out/named", src_dir_fd=at)
ok("a file that gets its name last", open("out/named").read() == "nameless")
shutil.copytree("in", "out/copy"); shutil.move("out/copy", "out/moved"); shutil.rmtree("out/moved")
ok("copying, moving and removing trees", not os.path.exists("out/moved"))
with open("in/data", "rb") as a, open("out/sent", "wb") as b:
    os.sendfile(b.fileno(), a.fileno(), 0, 4)
ok("sending a file", open("out/sent").read() == "data")
`

// TestGrantedFilesBehave: the walls that hold the attacks do not stand in the way of what programs do with files they were granted.
func TestGrantedFilesBehave(t *testing.T) {
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				_, err := s.choose(t, "system", nil)
				ledger.Need(t, "python3", err)
				s.files(t, map[string]string{"allowed.py": allowed, "in/data": "data", "in/kept": "", "out/state": "one"})
				s.rules(t, "\"in/\" = \"read\"\n\"out/\" = \"write\"\n")
				r := s.runs(t, "allowed.py")
				if r.code != 0 || strings.Contains(r.out, "FAILS") || strings.Count(r.out, " works\n") != 12 || !strings.HasPrefix(r.err, "to stderr\nagain\n") {
					t.Errorf("boxed %v: %v", boxed, r)
				}
				if b, err := os.ReadFile(filepath.Join(s.project, "out/sent")); err != nil || string(b) != "data" {
					t.Errorf("boxed %v: outside the file is %q (%v)", boxed, b, err)
				}
			}
		})
	}
}

// TestVirtualEnvironmentByRule: a virtual environment that is not in use is read-only within a folder that may be written, and may be written
// where a rule names it, or something in it.
func TestVirtualEnvironmentByRule(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		for _, c := range []struct {
			rules string
			held  bool
		}{{"\"./\" = \"write\"\n", true}, {"\"./\" = \"write\"\n\".venv/\" = \"write\"\n", false}, {"\"./\" = \"write\"\n\".venv/bin/\" = \"write\"\n", false}} {
			s := trial{scene: newScene(t, who), boxed: true}
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			environmentFolder(t, s.scene)
			s.files(t, map[string]string{"put.py": "print('started', flush=True)\nopen('.venv/bin/made', 'x')\n"})
			s.rules(t, c.rules)
			r := s.runs(t, "put.py")
			if held := r.code == 1 && strings.Contains(r.err, "Read-only file system"); held != c.held || r.code > 1 {
				t.Errorf("%s, %q: held %v, want %v: %v", who.name, c.rules, held, c.held, r)
			}
		}
	}
}
