package ptrace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"psb/learn"
)

// mixPy has threads, subprocesses, a spawned pool, a change of folder, opens relative to a descriptor, notes. The pool is
// spawned, not forked, so that a process of each kind is there; the files have fixed names, for the comparison with strace.
const mixPy = `
import os, subprocess, sys, threading, multiprocessing as m
base = sys.argv[1]
def work(i):
    with open(f"{base}/pool{i}", "w") as f: f.write("x")
    return i
if __name__ == "__main__":
    ts = [threading.Thread(target=lambda i=i: open(f"{base}/thread{i}", "w").close()) for i in range(8)]
    for t in ts: t.start()
    for t in ts: t.join()
    os.chdir(base)
    d = os.open("sub", os.O_RDONLY)
    os.close(os.open("rel", os.O_RDONLY, dir_fd=d))
    os.rename("rel2", "new2", src_dir_fd=d, dst_dir_fd=d)
    subprocess.run(["/bin/cat", "sub/rel"], check=True)
    subprocess.run("cat < sub/new2 | sort > sorted", shell=True, check=True, start_new_session=True)
    with m.get_context("spawn").Pool(2) as p: assert p.map(work, range(4)) == [0, 1, 2, 3]
    try: os.write(-0x505342, b'{"e":"open"}\n')
    except OSError as e: assert e.errno == 9
`

func mix(t *testing.T) (dir, script string) {
	dir = tempDir(t)
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/sub/rel", "a\n")
	write(t, dir+"/sub/rel2", "b\n")
	return dir, write(t, dir+"/mix.py", mixPy)
}

func TestPrograms(t *testing.T) {
	py := python(t)
	dir, script := mix(t)
	r := &run{t: t, target: Target{Pin: true}}
	r.trace(py, script, dir)
	r.ok()
	r.closed()
	r.has(dir, "read /mix.py", "read /sub/rel", "write /sub/rel2 remove", "write /sub/new2 new", "read /sub/new2", "write /sorted new")
	for i := range 8 {
		r.has(dir, fmt.Sprintf("write /thread%d new", i))
	}
	for i := range 4 {
		r.has(dir, fmt.Sprintf("write /pool%d new", i))
	}
	notes := 0
	for _, e := range r.events {
		if n, ok := e.(learn.Noted); ok {
			notes++
			if n.Text != "{\"e\":\"open\"}\n" {
				t.Errorf("note %q", n.Text)
			}
		}
	}
	if notes != 1 {
		t.Errorf("%d notes, want 1", notes)
	}
}

func TestManySubprocesses(t *testing.T) {
	r := &run{t: t, target: Target{Pin: true}}
	r.trace(python(t), "-I", "-c", "import subprocess\nfor i in range(200): subprocess.run(['/bin/true'], check=True)")
	r.ok()
	r.closed()
	execs := 0
	for _, l := range r.lines("/") {
		if strings.HasPrefix(l, "exec ") && strings.HasSuffix(l, "/true") {
			execs++
		}
	}
	if execs != 200 {
		t.Errorf("%d execs of true, want 200", execs)
	}
}

// TestSameAsStrace compares the data files seen with those strace names: as sets, below the run's own folder.
func TestSameAsStrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	must(t, "strace", err)
	py := python(t)
	dir, script := mix(t)
	r := &run{t: t, target: Target{Pin: true}}
	r.trace(py, script, dir)
	r.ok()
	ours := map[string]bool{}
	for _, e := range r.events {
		if a, ok := e.(learn.Accessed); ok && a.Errno == "" && a.How == learn.Plain && a.Access.Op != "exec" {
			ours[a.Access.Object] = true
		} else if ok && a.Errno == "" && a.How == learn.New {
			ours[a.Access.Object] = true
		}
	}
	must(t, "strace", unix.Rename(dir+"/sub/new2", dir+"/sub/rel2"))
	for _, pattern := range []string{"thread*", "pool*", "sorted"} {
		names, _ := filepath.Glob(dir + "/" + pattern)
		for _, n := range names {
			os.Remove(n)
		}
	}
	log := filepath.Join(t.TempDir(), "log")
	if out, err := exec.Command(strace, "-f", "-y", "-o", log, "-e", "trace=open,openat,creat", py, script, dir).CombinedOutput(); err != nil {
		must(t, "strace", fmt.Errorf("%w: %s", err, out))
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	opened := regexp.MustCompile(`open(?:at)?(?:\(.*|.*resumed>.*)\)\s+= \d+<(/[^>]*)>`)
	theirs := map[string]bool{}
	for _, m := range opened.FindAllStringSubmatch(string(text), -1) {
		theirs[m[1]] = true
	}
	keep := func(name string) bool {
		return !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/dev/") && !strings.Contains(name, "__pycache__") && !strings.HasSuffix(name, ".so")
	}
	var diff []string
	for n := range theirs {
		if keep(n) && !ours[n] {
			diff = append(diff, "only strace: "+n)
		}
	}
	for n := range ours {
		if keep(n) && !theirs[n] && !strings.HasSuffix(n, "/new2") {
			diff = append(diff, "only psb: "+n)
		}
	}
	slices.Sort(diff)
	if len(theirs) < 20 || len(diff) > 0 {
		t.Errorf("%d files in strace\n%s", len(theirs), strings.Join(diff, "\n"))
	}
}

// TestAsOrdinaryUser runs the others again without privileges.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: the tests ran as an ordinary user")
	}
	dir, err := os.MkdirTemp("/tmp", "ptrace-test")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bin, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/test", bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir+"/testdata", os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, dir + "/tmp"} {
		if err := os.Chown(p, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(dir+"/test", "-test.run", "Opens|Inside|Thread|Vfork|Argv|Memory|Signals|Grandchild|GroupStop|Sockets|Refuse|Cancel|Programs", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir + "/tmp", "TMPDIR=" + dir + "/tmp", "PSB_MUST=" + os.Getenv("PSB_MUST")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if passed := strings.Count(string(out), "--- PASS"); passed < 8 {
		t.Fatalf("only %d tests ran\n%s", passed, out)
	}
	for _, l := range strings.Split(string(out), "\n") {
		if strings.Contains(l, "--- SKIP") {
			t.Log(l)
		}
	}
}
