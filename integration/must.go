package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// known lists what a test of this package may ask of a host. PSB_MUST may name nothing else: a misspelt word there would
// otherwise turn nothing into a failure and nobody would see it.
var known = []string{
	"bwrap", "cc", "cgroup", "git", "landlock", "mountns", "ptrace", "pyenv", "python3", "root", "runc", "seccomp", "strace", "systemd-analyze", "userns",
	"anyio", "attrs", "debugpy", "ensurepip", "flask", "ipykernel", "ipython", "jinja2", "matplotlib", "numpy", "pandas", "pytest", "sqlalchemy",
	"aiohttp", "curl", "dig", "junitparser", "jupyter", "mcp-programs", "mcp-tools", "netns", "pip", "postgresql", "psycopg2", "redis", "requests", "setuptools", "wrk",
}

// skipper is the part of testing.TB that a need uses; its own tests hand in a recorder.
type skipper interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Ledger remembers what the host was asked for and what it had. The zero Ledger insists on nothing.
type Ledger struct {
	must map[string]bool

	mu      sync.Mutex
	had     map[string]int
	missing map[string]int
	reasons map[string]string
}

// NewLedger reads the value of PSB_MUST: names separated by commas, each of which turns a skip into a failure. "all" names
// every one. An unknown name is an error.
func NewLedger(must string) (*Ledger, error) {
	l := &Ledger{must: map[string]bool{}}
	for name := range strings.SplitSeq(must, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case name == "all":
			for _, k := range known {
				l.must[k] = true
			}
		case slices.Contains(known, name):
			l.must[name] = true
		default:
			return nil, fmt.Errorf("PSB_MUST: unknown name %q, known are all %s", name, strings.Join(known, " "))
		}
	}
	return l, nil
}

// Need says that the test goes on only where the host has what name stands for. missing is nil where it has, and else the
// reason why not, which the skip (or, named in PSB_MUST, the failure) prints. A name outside the known ones is a
// mistake of the test and fails.
func (l *Ledger) Need(t skipper, name string, missing error) {
	t.Helper()
	if !slices.Contains(known, name) {
		t.Fatalf("BUG: the need %q is not in the known list of must.go", name)
		return
	}
	if missing == nil {
		l.count(&l.had, name)
		return
	}
	l.count(&l.missing, name)
	l.mu.Lock()
	if l.reasons == nil {
		l.reasons = map[string]string{}
	}
	l.reasons[name] = missing.Error()
	l.mu.Unlock()
	if l.must[name] {
		t.Fatalf("PSB_MUST names %s, and it is missing: %v", name, missing)
		return
	}
	t.Skipf("no %s: %v", name, missing)
}

func (l *Ledger) count(m *map[string]int, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[name]++
}

// Closing is the last line of a run: what was really exercised, how often, and what was not there and why. Names are sorted.
func (l *Ledger) Closing() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var had, not []string
	for _, name := range known {
		if n := l.had[name]; n > 0 {
			had = append(had, fmt.Sprintf("%s %d", name, n))
		}
		if n := l.missing[name]; n > 0 {
			not = append(not, fmt.Sprintf("%s %d (%s)", name, n, l.reasons[name]))
		}
	}
	slices.Sort(had)
	slices.Sort(not)
	if len(had) == 0 {
		had = []string{"nothing"}
	}
	line := "exercised: " + strings.Join(had, ", ")
	if len(not) > 0 {
		line += "; skipped for want of: " + strings.Join(not, ", ")
	}
	return line
}
