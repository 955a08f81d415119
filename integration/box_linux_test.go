package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// person is who runs psb. Every claim is tried by root and by an ordinary user.
type person struct {
	name     string
	uid, gid uint32
}

// ordinaryID is nobody's: without a line in passwd the home is what HOME says, so the scene's home is really that user's.
const ordinaryID = 54321

// people are those this run can be: root and an ordinary user when it is root itself, else only itself.
func people() []person {
	if os.Getuid() == 0 {
		return []person{{"root", 0, 0}, {"user", ordinaryID, ordinaryID}}
	}
	return []person{{"user", uint32(os.Getuid()), uint32(os.Getgid())}}
}

// scene is one person's small world: a home, a project in it, and a sibling folder the project never uses.
//
//	dir/home/            HOME
//	dir/home/code/project/
//	dir/home/code/sibling/
type scene struct {
	who                         person
	dir, home, project, sibling string
	token                       string        // in the content of every bait and in the name of one file of the sibling; nowhere else
	word                        string        // in the arguments of processes, so that they can be found; tells nothing
	bare                        bool          // an attack's control: nothing holds it, and nothing is waited for
	outer                       *outerGroup   // holds whatever is started from outside; nil: nothing does
	serving                     time.Duration // how long its servers may take; 0: a few minutes
}

// Baits lie in every project and belong to nobody's rules.
var baits = []string{".env", "notes/private.txt", "other.py"}

func newScene(t testing.TB, who person) scene {
	t.Helper()
	return newSceneIn(t, who, workshop)
}

// newSceneIn makes it below another folder than the workshop.
func newSceneIn(t testing.TB, who person, base string) scene {
	t.Helper()
	dir, err := os.MkdirTemp(base, "psb-scene-")
	if err != nil {
		t.Fatal(err)
	}
	s := scene{who: who, dir: dir, home: dir + "/home", project: dir + "/home/code/project", sibling: dir + "/home/code/sibling", token: random(), word: "w" + random()}
	must(t, os.Chmod(dir, 0o755))
	must(t, os.MkdirAll(s.project, 0o755))
	must(t, os.MkdirAll(s.sibling, 0o755))
	s.put(t, "home/token-"+s.token, "")
	s.put(t, "home/code/sibling/"+s.token+".txt", "# "+s.token+"\n")
	s.bait(t)
	must(t, begun(who, s.home+"/.local/state"))
	s.give(t)
	t.Cleanup(func() {
		if os.Getenv("PSB_KEEP") == "" {
			os.RemoveAll(dir)
		}
	})
	return s
}

// bait puts the four things into the project that no row may use.
func (s scene) bait(t testing.TB) {
	t.Helper()
	for _, name := range baits {
		s.put(t, "home/code/project/"+name, "# "+s.token+"\n")
	}
}

// put writes a file below the scene, with its folders.
func (s scene) put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, writeWhole(path, []byte(text), 0o644))
	return path
}

// writeProgram writes a file that is about to be executed.
func writeProgram(path string, b []byte) error { return writeWhole(path, b, 0o755) }

// writeWhole writes while this process starts no other: a child that has not come to its exec yet would hold the file open for writing, and
// whoever executes it meanwhile would get ETXTBSY (execve(2)).
func writeWhole(path string, b []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, b, mode)
}

// give makes the person own everything in the scene.
func (s scene) give(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	must(t, filepath.WalkDir(s.home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(s.who.uid), int(s.who.gid))
	}))
}

// call is one command line run in a scene.
type call struct {
	argv    []string
	dir     string   // the project when ""
	env     []string // added to the scene's own
	stdin   io.Reader
	extra   []*os.File // become descriptors 3, 4, …
	timeout time.Duration
}

// result is how it ended.
type result struct {
	code     int // exit status, or -1
	signal   syscall.Signal
	out, err string
}

func (r result) status() string {
	if r.signal != 0 {
		return "signal " + r.signal.String()
	}
	return strconv.Itoa(r.code)
}

func (r result) String() string {
	return fmt.Sprintf("status %s\n--- stdout\n%s--- stderr\n%s", r.status(), r.out, r.err)
}

func (s scene) env() []string {
	return []string{
		"PATH=" + filepath.Join(workshop, "bin") + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"HOME=" + s.home, "USER=" + fmt.Sprint("row", s.who.uid), "LANG=C.UTF-8", "TZ=UTC",
		// Root's passwd home is not the scene's: approvals and records of a test must not end up there.
		"XDG_CONFIG_HOME=" + s.home + "/.config", "XDG_CACHE_HOME=" + s.home + "/.cache", "XDG_STATE_HOME=" + s.home + "/.local/state",
	}
}

// patience is how long a server of the scene may take.
func (s scene) patience(otherwise time.Duration) time.Duration { return max(s.serving, otherwise) }

func (s scene) command(ctx context.Context, c call) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = s.project
	}
	cmd.Env = append(s.env(), c.env...)
	cmd.Stdin = c.stdin
	cmd.ExtraFiles = c.extra
	// A group of its own, so that a run that hangs is ended as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 && s.who.uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.who.uid, Gid: s.who.gid}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 30 * time.Second
	if s.outer != nil {
		s.outer.hold(cmd)
	}
	return cmd
}

func (s scene) run(t testing.TB, c call) result {
	t.Helper()
	if c.timeout == 0 {
		c.timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	cmd := s.command(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatalf("%q: %v", c.argv, err)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q: not done after %v\n--- stdout\n%s\n--- stderr\n%s", c.argv, c.timeout, out.String(), errs.String())
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%q: %v\n%s", c.argv, err, errs.String())
	}
	return ended(cmd.ProcessState, out.String(), errs.String())
}

func ended(state *os.ProcessState, out, errs string) result {
	r := result{code: state.ExitCode(), out: out, err: errs}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.signal = ws.Signal()
	}
	return r
}

// psbLines are the lines psb itself wrote: what it says is law 7 of the user's terminal, everything else is the program's.
func psbLines(stderr string) (said, hints []string) {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "psb: hint: "):
			hints = append(hints, line)
		case strings.HasPrefix(line, "psb: "):
			said = append(said, line)
		}
	}
	return said, hints
}

// process is one line of /proc.
type process struct {
	pid, parent int
	state       byte
	cmdline     string
}

// processes reads /proc; what ends while it reads is left out.
func processes(t testing.TB) []process {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	var all []process
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The name of a process may hold anything, brackets too: what follows starts after the last one.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, process{pid, parent, fields[0][0], commandLine(pid)})
	}
	return all
}

// commandLine is a process's arguments with blanks between, "" where it is gone.
func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// withWord are the living processes that have the word in their arguments.
func withWord(t testing.TB, word string) []process {
	t.Helper()
	var found []process
	for _, p := range processes(t) {
		if p.state != 'Z' && p.state != 'X' && strings.Contains(p.cmdline, word) {
			found = append(found, p)
		}
	}
	return found
}

// descendants are the living processes below this one. Orphans land here as well: TestMain made us a subreaper.
func descendants(t testing.TB) []process {
	t.Helper()
	all := processes(t)
	below := map[int]bool{os.Getpid(): true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if below[p.parent] && !below[p.pid] {
				below[p.pid], grew = true, true
			}
		}
	}
	var found []process
	for _, p := range all {
		if below[p.pid] && p.pid != os.Getpid() && p.state != 'Z' && p.state != 'X' {
			found = append(found, p)
		}
	}
	return found
}

// until asks again until the answer is yes; it fails with what after a minute, which only a test that fails waits out.
func until(t testing.TB, what string, yes func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for pause := 4 * time.Millisecond; !yes(); pause = min(pause*5/4, mostPause) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute still not: %s", what)
		}
		time.Sleep(pause)
	}
}

// mostPause between two looks: one at all processes takes some milliseconds, and what is waited for wants the processors, too.
const mostPause = 40 * time.Millisecond

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func random() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// copyTree copies files, folders and links with their permission bits.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if err := os.MkdirAll(target, 0o755); err != nil {
				return err
			}
			return os.Chmod(target, info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		default:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(target, b, info.Mode().Perm())
		}
	}))
}
