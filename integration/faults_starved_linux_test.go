package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fault is one thing the host lacks while psb works.
type fault struct {
	name   string
	limit  string              // for the shell that becomes psb
	mounts func(s scene) error // in a mount namespace of psb's own
	argv   []string            // behind psb
	says   string              // the one line; "" when nothing is lacking that psb needs
	person string              // "" both
	why    string              // of person
}

var (
	enforceArgs = []string{"--policy", ".py-sandboxes", "mark.py"}
	learnArgs   = []string{"--learn", "--policy", ".py-sandboxes", "mark.py"}
	addArgs     = []string{"policy", "add", "read", "data.csv"}
)

func faults() []fault {
	return []fault{
		{name: "no descriptor/run", limit: "ulimit -n 4", argv: enforceArgs, says: `open files`},
		{name: "no descriptor/learn", limit: "ulimit -n 4", argv: learnArgs, says: `open files`},
		{name: "no descriptor/explain", limit: "ulimit -n 4", argv: append([]string{"explain"}, enforceArgs...), says: `open files`},
		{name: "no descriptor/policy", limit: "ulimit -n 4", argv: addArgs, says: `open files`},
		{name: "few descriptors/run", limit: "ulimit -n 10", argv: enforceArgs, says: `open files`},
		{name: "few descriptors/learn", limit: "ulimit -n 10", argv: learnArgs, says: `open files`},
		{name: "empty files only/run", limit: "ulimit -f 0", argv: enforceArgs, says: `file too large|file size`},
		{name: "empty files only/policy", limit: "ulimit -f 0", argv: addArgs, says: `file too large|file size`},
		{name: "some descriptors/run", limit: "ulimit -n 7", argv: enforceArgs, says: `open files`},
		{name: "some descriptors/policy", limit: "ulimit -n 7", argv: addArgs, says: `open files`},
		{name: "empty files only/learn", limit: "ulimit -f 0", argv: learnArgs, says: `file size`},
		{name: "little address space/run", limit: "ulimit -v 500000", argv: enforceArgs, says: `address space`},
		{name: "little address space/learn", limit: "ulimit -v 500000", argv: learnArgs, says: `address space`},
		{name: "little address space/policy", limit: "ulimit -v 500000", argv: addArgs, says: `address space`},
		{name: "little data/run", limit: "ulimit -d 100000", argv: enforceArgs, says: `data`},
		{name: "few processes/run", limit: "(ulimit -u 3) 2>/dev/null && ulimit -u 3 || ulimit -p 3", argv: enforceArgs, says: `processes`, person: "user", why: "root is not held by it"},
		{name: "few processes/learn", limit: "(ulimit -u 3) 2>/dev/null && ulimit -u 3 || ulimit -p 3", argv: learnArgs, says: `processes`, person: "user", why: "root is not held by it"},

		{name: "policy on a full disk", mounts: full("home/code/project"), argv: addArgs, says: `\.py-sandboxes.*no space left on device`},
		{name: "approvals on a full disk", mounts: full("home/.config"), argv: []string{"policy", "approve"}, says: `approvals: .*no space left on device`},
		{name: "read-only/policy", mounts: readOnly, argv: addArgs, says: `\.py-sandboxes.*read-only file system`},
		{name: "read-only/learn", mounts: readOnly, argv: learnArgs, says: `\.py-sandboxes.*read-only file system`},
		{name: "read-only/approve", mounts: readOnly, argv: []string{"policy", "approve"}, says: `approvals: .*read-only file system`},
		{name: "no proc/run", mounts: covered("/proc"), argv: enforceArgs, says: `/proc`},
		{name: "no proc/learn", mounts: covered("/proc"), argv: learnArgs, says: `/proc`},
		{name: "no proc/exec", mounts: covered("/proc"), argv: []string{"exec", "--policy", ".py-sandboxes", "--", "/bin/sh", "-c", "echo it ran"}, says: `/proc`},

		{name: "full tmp/run", mounts: full("/tmp"), argv: enforceArgs},
		{name: "full tmp/learn", mounts: full("/tmp"), argv: learnArgs},
		{name: "full cache and state/run", mounts: full("home/.config", "home/.cache", "home/.local"), argv: enforceArgs},
	}
}

// TestFaults starts psb where the host lacks something. What psb needs and does not get is one line and status 125, nothing is started and
// nothing is left; what it does not need changes nothing.
func TestFaults(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					if f.person != "" && f.person != who.name {
						t.Skip(f.why)
					}
					s := newMarkingScene(t, who, markingPolicy)
					s.put(t, "home/.config/kept", "")
					s.put(t, "home/.cache/kept", "")
					s.put(t, "home/.local/kept", "")
					s.give(t)
					list, err := s.choose(t, "any", nil)
					ledger.Need(t, "python3", err)
					argv := append([]string{psb(t)}, f.argv...)
					if f.argv[0] != "policy" && f.argv[0] != "exec" {
						argv = append([]string{psb(t), "--python", list[0].path}, f.argv...)
						if f.argv[0] == "explain" {
							argv = append([]string{psb(t), "explain", "--python", list[0].path}, f.argv[1:]...)
						}
					}
					if f.limit != "" {
						argv = append([]string{"/bin/sh", "-c", `{ ` + f.limit + `; } && exec "$@"`, "sh"}, argv...)
					}
					if f.mounts == nil {
						s.starve(t, f, argv)
					} else {
						if os.Getuid() != 0 {
							ledger.Need(t, "root", fmt.Errorf("an ordinary user cannot mount"))
						}
						inMounts(t, func() error { return f.mounts(s) }, func() { s.starve(t, f, argv) })
					}
					until(t, "nobody is left of it", func() bool { return len(withWord(t, s.word)) == 0 })
				})
			}
		})
	}
}

// starve runs one fault; word marks its processes.
func (s scene) starve(t *testing.T, f fault, argv []string) {
	t.Helper()
	before := tree(t, s.project)
	if strings.HasSuffix(argv[len(argv)-1], "mark.py") {
		argv = append(argv, s.word)
	}
	r := s.run(t, call{argv: argv})
	said, _ := psbLines(r.err)
	if f.says == "" {
		if r.code != 0 || r.out != "it ran\n" || argv[3] != "--learn" && r.err != "" {
			t.Errorf("what psb does not need is lacking: %v", r)
		}
	} else {
		if s.ran(t, r) {
			t.Errorf("the program ran: %v", r)
		}
		if r.code != 125 || len(said) != 1 || !regexp.MustCompile(f.says).MatchString(said[0]) || withoutPsb(r.err) != "" {
			t.Errorf("want status 125 and one line that matches %q: %v", f.says, r)
		}
		if after := tree(t, s.project); after != before {
			t.Errorf("the project changed from\n%s\nto\n%s", before, after)
		}
	}
	for _, name := range s.everything(t) {
		if base := filepath.Base(name); strings.HasSuffix(base, ".psb-new") || strings.HasSuffix(base, ".tmp") || strings.HasPrefix(base, ".new-") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestFaultClosedStdio: with descriptors closed a program runs as it does without psb, and a refusal has its status and lands in nobody's file.
func TestFaultClosedStdio(t *testing.T) {
	besideOthers(t)
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		t.Run(closed, func(t *testing.T) {
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					s := newMarkingScene(t, who, markingPolicy)
					list, err := s.choose(t, "any", nil)
					ledger.Need(t, "python3", err)
					shell := func(argv ...string) result {
						return s.run(t, call{argv: append([]string{"/bin/sh", "-c", `"$@" ` + closed, "sh"}, argv...)})
					}
					bare := shell(list[0].path, "mark.py")
					if _, err := os.Lstat(filepath.Join(s.project, "out/ran")); err != nil {
						t.Fatalf("control: %v, %v", err, bare)
					}
					if controlOnly() {
						return
					}
					must(t, os.Remove(filepath.Join(s.project, "out/ran")))
					boxed := shell(psb(t), "--python", list[0].path, "--policy", ".py-sandboxes", "mark.py")
					if _, err := os.Lstat(filepath.Join(s.project, "out/ran")); err != nil || boxed.status() != bare.status() || boxed.out != bare.out || boxed.err != bare.err {
						t.Errorf("%v\nwithout psb: %v\nwith psb: %v", err, bare, boxed)
					}
					before := tree(t, s.project)
					refused := shell(psb(t), "--python", list[0].path, "--policy", "absent.toml", "mark.py")
					want := 1
					if strings.Contains(closed, "2>&-") {
						want = 0
					}
					if said, _ := psbLines(refused.err); refused.code != 125 || len(said) != want || refused.out != "" {
						t.Errorf("want status 125 and %d lines: %v", want, refused)
					}
					if after := tree(t, s.project); after != before {
						t.Errorf("the project changed from\n%s\nto\n%s", before, after)
					}
				})
			}
		})
	}
}

// inMounts does both in a mount namespace of their own: a thread's, which ends with it, and of what is started there.
func inMounts(t *testing.T, mounts func() error, do func()) {
	t.Helper()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		if err = unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
			return
		}
		if err = unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return
		}
		if err = mounts(); err == nil {
			do()
		}
	}()
	<-done
	if err != nil {
		ledger.Need(t, "mountns", err)
	}
}

// full puts a file system without a free byte over each folder, with what was in it.
func full(folders ...string) func(s scene) error {
	return func(s scene) error {
		for _, name := range folders {
			dir, owner, mode := name, 0, "1777"
			if !filepath.IsAbs(name) {
				dir, owner, mode = filepath.Join(s.dir, name), int(s.who.uid), "755"
			}
			files := map[string]string{}
			if dir == s.project {
				for _, name := range []string{"mark.py", ".py-sandboxes"} {
					b, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						return err
					}
					files[name] = string(b)
				}
			}
			if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=64k,mode=%s,uid=%d,gid=%d", mode, owner, owner)); err != nil {
				return fmt.Errorf("mount over %s: %w", dir, err)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					return err
				}
				if err := os.Chown(filepath.Join(dir, name), owner, owner); err != nil {
					return err
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "fills"), make([]byte, 1<<20), 0o644); err == nil {
				return fmt.Errorf("%s is not full", dir)
			}
		}
		return nil
	}
}

// readOnly makes the home read-only, and with it the project and every XDG folder.
func readOnly(s scene) error {
	if err := unix.Mount(s.home, s.home, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("none", s.home, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

func covered(dir string) func(s scene) error {
	return func(scene) error { return unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, "") }
}
