package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"psb/integration/programs"
)

// TestPrograms learns every program of programs/ and then enforces what was learned: with the learned policy the program
// ends and prints as it does without psb, and the policy stays small, stable, and closed to what the program never used.
//
//	PSB_ROWS=all                    every enforced run of each row, three of them, under every interpreter, too
//	PSB_CONTROL=1                   only the control runs, each twice: tests the rows, needs no psb
func TestPrograms(t *testing.T) {
	var lines lengths
	for _, r := range rows(t) {
		t.Run(r.Name, func(t *testing.T) {
			switch {
			case r.Outside() || len(r.Learn) > 0:
				t.Skip("others ask this program or serve it, or it is learned with options of its own: make score runs it")
			case r.Score && once():
				t.Skip("make programs and make score run it")
			}
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					for _, name := range r.Commands {
						_, err := exec.LookPath(name)
						if name == "git" {
							ledger.Need(t, name, err)
						} else {
							must(t, err)
						}
					}
					s := newScene(t, who)
					list, err := s.choose(t, r.Python, r.Needs)
					ledger.Need(t, "python3", err)
					long := 0 // the interpreter the long cases run under, where once is enough: root's is another than the ordinary user's
					if who.uid == 0 {
						long = len(list) - 1
					}
					for at, i := range list {
						short := once() && at != long
						if r.Python != "each" {
							r.cases(t, who, i, false, &lines)
							continue
						}
						t.Run(i.version(), func(t *testing.T) {
							t.Parallel() // as many as go test -parallel says, one a processor by itself: the tests themselves measure time
							if err := s.reaches(t, i, r.Needs); err != nil {
								t.Skip(err)
							}
							r.cases(t, who, i, short, &lines)
						})
					}
				})
			}
		})
	}
	all := slices.Sorted(slices.Values(lines.list))
	if n := len(all); n > 0 {
		t.Logf("policies: %d, lines: shortest %d, median %d, longest %d", n, all[0], all[n/2], all[n-1])
		if all[n/2] > 30 {
			t.Errorf("the median policy has %d lines, more than a person reads: %v", all[n/2], all)
		}
	}
}

// lengths are the numbers of lines of the learned policies.
type lengths struct {
	mu   sync.Mutex
	list []int
}

func (l *lengths) add(policy string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, strings.Count(policy, "\n"))
}

// cases runs every case of the row, but for the long ones where it should be short; those of a row that every interpreter runs go side by side.
func (r row) cases(t *testing.T, who person, i interpreter, short bool, lines *lengths) {
	if len(r.Cases) == 0 {
		r.prove(t, who, i, r.Argv, lines)
		return
	}
	for _, c := range r.Cases {
		if !c.Fits(i.asProgram()) || short && c.Long {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if r.Python == "each" {
				t.Parallel()
			}
			r.prove(t, who, i, c.Argv, lines)
		})
	}
}

// prove is the whole claim for one program, one person, one interpreter.
func (r row) prove(t *testing.T, who person, i interpreter, argv []string, lines *lengths) {
	s := newScene(t, who)
	pristine := filepath.Join(s.dir, "pristine")
	r.prepare(t, s, i.path, pristine)
	bare := append([]string{i.path}, argv...)

	// Control: what the program does without psb.
	control := s.run(t, call{argv: bare, timeout: r.wait()})
	if control.code != r.Status && r.Python == "each" {
		t.Skipf("the program fails without psb on this host: %v", control)
	}
	if control.code != r.Status {
		t.Fatalf("control: %s wants status %d: %v", r.Name, r.Status, control)
	}
	r.produced(t, s, "control")
	if controlOnly() {
		reset(t, s, pristine)
		again := s.run(t, call{argv: bare, timeout: r.wait()})
		if d := r.differ(s, control, again); d != "" {
			t.Errorf("two control runs differ after the row's normaliser: complete it\n%s", d)
		}
		s.control(t, i)
		return
	}

	boxed := append([]string{psb(t), "--python", i.path}, argv...)
	reset(t, s, pristine)
	learn := s.run(t, call{argv: append([]string{boxed[0], "--learn"}, boxed[1:]...), timeout: 10 * r.wait()})
	policy, found := s.policy(t)
	if !found {
		t.Fatalf("learning wrote no policy: %v", learn)
	}
	said, hints := psbLines(learn.err)
	fail := func(what, more string) {
		t.Helper()
		t.Errorf("%s\n%s\n--- policy\n%s--- psb said while it learned\n%s", what, more, policy, strings.Join(append(said, hints...), "\n"))
	}
	learn.err = withoutPsb(learn.err)
	if d := r.differ(s, control, learn); d != "" {
		fail("the learning run differs from the control run", d)
	}
	for _, problem := range lint(policy, s.home, s.project) {
		fail("the learned policy is too wide: "+problem, "")
	}

	enforce := func(what, dir string) {
		t.Helper()
		got := s.run(t, call{argv: boxed, dir: dir, timeout: r.wait() * 2})
		if d := r.differ(s, control, got); d != "" {
			fail(what+" differs from the control run", d)
		}
	}
	// Under every interpreter in turn, once means once: what follows is proved by the other rows.
	brief := once() && r.Python == "each"
	if !brief {
		enforce("first enforced run", "")
	}
	if !once() {
		enforce("second enforced run", "")
	}
	reset(t, s, pristine)
	enforce("enforced run in a fresh project", "")
	r.produced(t, s, "enforced")
	lines.add(policy)
	if brief {
		return
	}

	if again := s.run(t, call{argv: append([]string{boxed[0], "--learn"}, boxed[1:]...), timeout: 10 * r.wait()}); again.code != control.code {
		fail("the second learning run ended otherwise", again.String())
	}
	if second, _ := s.policy(t); second != policy {
		fail("the second learning run changed the policy", string(diff.Diff("first", []byte(policy), "second", []byte(second))))
	}

	other := s
	other.project = filepath.Join(s.home, "elsewhere", "checkout")
	copyTree(t, pristine, other.project)
	must(t, os.WriteFile(filepath.Join(other.project, ".py-sandboxes"), []byte(policy), 0o644))
	s.give(t)
	if got := s.run(t, call{argv: []string{psb(t), "policy", "approve"}, dir: other.project}); got.code != 0 {
		fail("psb policy approve in another checkout", got.String())
	}
	got := s.run(t, call{argv: boxed, dir: other.project, timeout: r.wait() * 2})
	if d := r.differ(other, control, got); d != "" {
		fail("the run in another checkout differs from the control run", d)
	}

	reset(t, s, pristine)
	for _, what := range probes {
		got := s.probe(t, what, []string{psb(t), "--python", i.path, "--policy", ".py-sandboxes"})
		if reached := s.reached(t, what, got); len(reached) > 0 {
			fail(fmt.Sprintf("a probe under the learned policy could %s %v", what, reached), got.String())
		}
	}
}

func once() bool { return os.Getenv("PSB_ROWS") != "all" }

// prepare builds the row's project, with baits and its setup, and keeps a copy as pristine.
func (r row) prepare(t *testing.T, s scene, python, pristine string) {
	t.Helper()
	copyTree(t, r.Folder, s.project)
	must(t, os.Remove(filepath.Join(s.project, "row.toml")))
	s.bait(t)
	s.give(t)
	for _, argv := range r.Setup {
		if argv = slices.Clone(argv); argv[0] == "python" {
			argv[0] = python
		}
		if got := s.run(t, call{argv: argv}); got.code != 0 {
			t.Fatalf("setup %q: %v", argv, got)
		}
	}
	copyTree(t, s.project, pristine)
}

// reset puts the project back as it was before any run, but leaves a learned policy where it is; caches in the home go.
func reset(t *testing.T, s scene, pristine string) {
	t.Helper()
	policy, found := s.policy(t)
	must(t, os.RemoveAll(s.project))
	must(t, os.RemoveAll(filepath.Join(s.home, ".cache")))
	copyTree(t, pristine, s.project)
	if found {
		must(t, os.WriteFile(filepath.Join(s.project, ".py-sandboxes"), []byte(policy), 0o644))
	}
	s.give(t)
}

// policy is the text of the project's policy file, and whether there is one. It stands in the project's top folder.
func (s scene) policy(t testing.TB) (string, bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.project, ".py-sandboxes"))
	if os.IsNotExist(err) {
		return "", false
	}
	must(t, err)
	return string(b), true
}

// produced checks that what a run promises to leave on the host is really there.
func (r row) produced(t *testing.T, s scene, what string) {
	t.Helper()
	for _, name := range r.Produces {
		if info, err := os.Stat(filepath.Join(s.project, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s run: %q is absent or empty on the host (%v)", what, name, err)
		}
	}
}

// differ says how two runs differ after the row's normaliser; "" when they do not.
func (r row) differ(s scene, want, got result) string {
	return string(diff.Diff("without psb", []byte(r.normal(s, want).String()), "with psb", []byte(r.normal(s, got).String())))
}

func (r row) normal(s scene, x result) result {
	for _, text := range []*string{&x.out, &x.err} {
		*text = strings.ReplaceAll(*text, s.project, "PROJECT")
		*text = strings.ReplaceAll(*text, filepath.Join(s.home, "code", "project"), "PROJECT")
		*text = strings.ReplaceAll(*text, s.home, "HOME")
		*text = r.Normal(*text)
	}
	return x
}

func withoutPsb(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "psb: ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// probes are what programs/probe.py can be asked to try.
var probes = []string{"read", "change", "rename", "remove", "list"}

// probe tries one thing on the baits and the sibling, behind the words of launch.
func (s scene) probe(t *testing.T, what string, launch []string) result {
	t.Helper()
	// -c, not a file: the working folder then is the project, and the probe needs no rule of its own.
	return s.run(t, call{argv: slices.Concat(launch, []string{"-c", programs.Probe, what, s.sibling}, baits)})
}

// reached names what the probe got at, as seen from outside.
func (s scene) reached(t *testing.T, what string, got result) (names []string) {
	t.Helper()
	if strings.Contains(got.out, s.token) {
		names = append(names, "content or names: "+strconv.Quote(got.out))
	}
	for _, name := range baits {
		path := filepath.Join(s.project, name)
		info, err := os.Lstat(path)
		if err != nil {
			names = append(names, name)
			continue
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, []byte("# "+s.token+"\n")) || info.Mode() != fs.FileMode(0o644) {
			names = append(names, name)
		}
	}
	return names
}

// control shows that the probe gets at everything where nothing stops it.
func (s scene) control(t *testing.T, i interpreter) {
	t.Helper()
	for _, what := range probes {
		s.bait(t)
		s.give(t)
		if got := s.probe(t, what, []string{i.path}); len(s.reached(t, what, got)) == 0 {
			t.Errorf("control: without psb the probe cannot %s: %v", what, got)
		}
	}
}

// controlOnly is for who adds a row or an attack: it shows that the control runs hold, and needs no psb.
func controlOnly() bool { return os.Getenv("PSB_CONTROL") != "" }
