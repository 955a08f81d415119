package integration

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// suites are CPython's tests of what the layer stands in. What is forbidden there is a module that the interpreter has since its start, and one that
// nobody has loaded; the tests of importlib have the first granted. slow is for PSB_ROWS=all.
var suites = []struct {
	forbidden []string
	tests     []string
	slow      bool
}{
	{[]string{"marshal", "ftplib"}, []string{"test_import", "test_compile", "test_builtin", "test_ast", "test_dis", "test_json", "test_re"}, false},
	{[]string{"ftplib"}, []string{"test_importlib"}, true},
}

// TestSuites: CPython's own tests of import, compile, built-ins, ast, dis, json and re end under their learned policy as they end without psb, on
// every interpreter (without PSB_ROWS=all on the system's, the oldest and the newest), and in the same process imports that nobody granted are refused,
// before them and after.
func TestSuites(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	slots := make(chan struct{}, atOnce)
	for _, i := range tried() {
		t.Run(i.version(), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, row := range suites {
				if !row.slow || !once() {
					provesSuite(t, i, row.forbidden, row.tests)
				}
			}
		})
	}
}

func provesSuite(t *testing.T, i interpreter, forbidden, tests []string) {
	t.Helper()
	s := suiteScene(t, i)
	suite, err := os.ReadFile(unharmedPrograms + "cpython/suite.py")
	must(t, err)
	s.put(t, "home/code/project/suite.py", string(suite))
	s.give(t)
	run := func(tries string, first ...string) result {
		t.Helper()
		return s.run(t, call{argv: slices.Concat(first, []string{"-B", "suite.py", tries, "-v"}, tests), timeout: suiteTime})
	}
	// triedAs is what the suite says of its imports when each of them ends so.
	triedAs := func(end string) (lines []string) {
		for _, when := range []string{"before ", "after "} {
			for _, name := range forbidden {
				lines = append(lines, when+name+" "+end)
			}
		}
		return lines
	}
	tries := strings.Join(forbidden, ",")
	control := run(tries, i.path)
	if got := suiteTried.FindAllString(control.out, -1); !slices.Equal(got, triedAs("imported")) {
		t.Fatalf("control: %v", control)
	}
	ends := func(what string, r result) {
		t.Helper()
		if r.code != control.code || !slices.Equal(failures(r), failures(control)) {
			t.Errorf("%s: status %d, failed %q; without psb %d, %q\n%s", what, r.code, failures(r), control.code, failures(control), r.err)
		}
	}
	ends("learning", run("-", psb(t), "--python", i.path, "--learn"))
	r := run(tries, psb(t), "--python", i.path)
	ends("enforced", r)
	if got := suiteTried.FindAllString(r.out, -1); !slices.Equal(got, triedAs("RuleModuleNotFoundError")) {
		t.Errorf("what nobody granted: %q", got)
	}
	said, hints := psbLines(r.err)
	for n, line := range said {
		said[n] = suiteLine.ReplaceAllString(line, "suite.py:N")
	}
	var wantSaid, wantHints []string
	for _, name := range forbidden {
		wantSaid = append(wantSaid, "psb: denied: import "+name+" (suite.py:N)")
		wantHints = append(wantHints, "psb: hint: psb policy add import "+name)
	}
	if !slices.Equal(said, wantSaid) || !slices.Equal(hints, wantHints) {
		t.Errorf("psb said %q %q, want %q %q", said, hints, wantSaid, wantHints)
	}
}

// suiteTime bounds one run of them all; a busy machine is given time.
const suiteTime = 10 * time.Minute

var (
	suiteLine   = regexp.MustCompile(`suite\.py:\d+`)
	suiteTried  = regexp.MustCompile(`(?m)^(?:before|after) (?:marshal|ftplib) \w+$`)
	suiteFailed = regexp.MustCompile(`(?m)^(?:FAIL|ERROR): .*$`)
)

// failures are the tests that failed, sorted.
func failures(r result) []string {
	failed := suiteFailed.FindAllString(r.out+r.err, -1)
	slices.Sort(failed)
	return failed
}

// suiteScene is a scene of the last person that can start the interpreter and has CPython's tests with it.
func suiteScene(t *testing.T, i interpreter) scene {
	t.Helper()
	var err error
	for _, who := range slices.Backward(people()) {
		s := newScene(t, who)
		if err = s.reaches(t, i, []string{"test.test_json"}); err == nil {
			return s
		}
	}
	t.Skip(err)
	return scene{}
}
