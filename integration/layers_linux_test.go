package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// marking leaves a trace on stdout and in a file: whether it ran is then no matter of opinion.
const marking = "print('it ran', flush=True)\nopen('out/ran', 'w').close()\n"

const markingPolicy = kernelPolicy + "[files]\n\"out/\" = \"create\"\n"

// walled runs a command behind an outer wall.
func (s scene) walled(t *testing.T, wall string, argv ...string) result {
	t.Helper()
	target, err := outerCopy()
	must(t, err)
	return s.run(t, call{argv: append([]string{target}, argv...), env: []string{outerWall + "=" + wall}})
}

// outerCopy is this test's binary beside the folder of go test, which is closed to others.
var outerCopy = sync.OnceValues(func() (string, error) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	target := filepath.Join(workshop, "bin", "outer")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	return target, writeProgram(target, self)
})

func (s scene) ran(t *testing.T, r result) bool {
	t.Helper()
	_, err := os.Lstat(filepath.Join(s.project, "out/ran"))
	return err == nil || strings.Contains(r.out, "it ran")
}

func newMarkingScene(t *testing.T, who person, policy string) scene {
	t.Helper()
	s := newScene(t, who)
	s.put(t, "home/code/project/mark.py", marking)
	s.put(t, "home/code/project/out/kept", "")
	if policy != "" {
		s.put(t, "home/code/project/.py-sandboxes", policy)
	}
	s.give(t)
	return s
}

// TestLayerTakenAway starts psb where one layer's calls fail: the run is refused, says which, and the program never ran.
func TestLayerTakenAway(t *testing.T) {
	for _, c := range []struct {
		wall, policy string
		learn        bool
		says         string // in psb's line
		rootOnly     string // why
	}{
		{"landlock", "", false, `landlock`, ""},
		{"landlock restrict", "", false, `landlock`, ""},
		{"seccomp", "", false, `seccomp`, ""},
		{"notify", "", false, `notify`, ""},
		{"namespaces", "", false, `namespace`, ""},
		{"network namespace", "", false, `namespaces|network`, ""},
		{"mount", "", false, `mount|namespaces`, ""},
		{"pivot_root", "", false, `pivot_root|mount|namespaces`, ""},
		{"setattr", "", false, `mount_setattr|mount|namespaces`, ""},
		{"rlimits", "", false, `rlimit`, ""},
		{"capset", "", false, `capabilit|capset|prctl`, ""},
		{"ptrace", "", true, `ptrace`, ""},
		{"cgroup", "[limits]\nmemory = \"64M\"\n", false, `limits\.memory`, "only root can hide the cgroup file system; without it an ordinary user has none to begin with"},
	} {
		t.Run(c.wall, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					if c.rootOnly != "" && who.uid != 0 {
						t.Skip(c.rootOnly)
					}
					s := newMarkingScene(t, who, markingPolicy+c.policy)
					if tried := s.walled(t, c.wall, "try"); tried.code != 0 || strings.Contains(tried.out, "false") {
						t.Fatalf("control: the outer wall does not hold: %v", tried)
					}
					list, err := s.choose(t, "any", nil)
					ledger.Need(t, "python3", err)
					if open := s.walled(t, "none", list[0].path, "mark.py"); !s.ran(t, open) {
						t.Fatalf("control: %v", open)
					}
					if controlOnly() {
						return
					}
					must(t, os.Remove(filepath.Join(s.project, "out/ran")))
					argv := []string{psb(t), "--python", list[0].path}
					switch {
					case c.learn:
						argv = append(argv, "--learn", "--policy", ".py-sandboxes")
					default:
						argv = append(argv, "--policy", ".py-sandboxes")
					}
					s.refused(t, s.walled(t, c.wall, append(argv, "mark.py")...), 125, c.says)
					if after, _ := s.policy(t); after != markingPolicy+c.policy {
						t.Errorf("the policy changed to %q", after)
					}
				})
			}
		})
	}
}

// TestNothingTakenAway is the control of TestLayerTakenAway: behind a wall that refuses nothing psb runs the program.
func TestNothingTakenAway(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newMarkingScene(t, who, markingPolicy)
			list, err := s.choose(t, "any", nil)
			ledger.Need(t, "python3", err)
			r := s.walled(t, "none", psb(t), "--python", list[0].path, "--policy", ".py-sandboxes", "mark.py")
			if _, err := os.Lstat(filepath.Join(s.project, "out/ran")); r.code != 0 || r.out != "it ran\n" || r.err != "" || err != nil {
				t.Errorf("%v\n%v", r, err)
			}
		})
	}
}

// refused checks that psb itself ended with this status and one line, before the program ran.
func (s scene) refused(t *testing.T, r result, status int, says string) {
	t.Helper()
	if s.ran(t, r) {
		t.Errorf("the program ran: %v", r)
	}
	said, _ := psbLines(r.err)
	if r.code != status || len(said) != 1 || !regexp.MustCompile(says).MatchString(said[0]) {
		t.Errorf("want status %d and one line that matches %q: %v", status, says, r)
	}
	if extra := withoutPsb(r.err); extra != "" || r.out != "" {
		t.Errorf("something else was printed: %v", r)
	}
}
