package pythonshim

import (
	"slices"
	"strings"
	"testing"
)

// taken makes rules of what learning noted.
func taken(r result) Rules {
	rules := granted()
	for _, n := range r.notes {
		switch n.Event {
		case NoteCall:
			rules.Calls[n.Args[1]] = true
		case NoteEval:
			if rules.Eval == nil {
				rules.Eval = map[string]Profile{"": {Lists: map[string][]string{}}}
			}
			if lists := rules.Eval[""].Lists; !slices.Contains(lists[n.Args[0]], n.Args[1]) {
				lists[n.Args[0]] = append(lists[n.Args[0]], n.Args[1])
			}
		}
	}
	return rules
}

// TestRoutesToADoor: whatever way leads to a function, it asks; each way works without rules.
func TestRoutesToADoor(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "routes.py")
		routes := 0
		for _, line := range bare.lines() {
			if line == "bomb" || line == "thread started" {
				continue
			}
			routes++
			if !strings.HasSuffix(line, " ran") {
				t.Errorf("without rules: %q", line)
			}
		}
		if routes < 50 || bare.code != 0 {
			t.Fatalf("%d routes, status %d, %s", routes, bare.code, bare.stderr)
		}
		for _, rules := range []Rules{granted(), granted("threads")} {
			r := sample(t, p, &rules, Enforce, "routes.py")
			threads := rules.Calls["threads"]
			met := 0
			for _, line := range r.lines() {
				switch {
				case line == "thread refused" && !threads, line == "thread started" && threads:
				case threads && (line == "thread by hand ran" || line == "old name of a thread ran"):
					met++
				default:
					if strings.HasPrefix(line, "thread refused ") && threads {
						continue // what the threads were to run
					}
					met++
					if !strings.Contains(line, " refused ") {
						t.Errorf("threads %v: %q", threads, line)
					}
				}
			}
			if met != routes {
				t.Errorf("threads %v: %d routes, want %d\n%s%s", threads, met, routes, r.stdout, r.stderr)
			}
			if n := strings.Count(r.stdout, "thread refused "); threads && n != 2 {
				t.Errorf("%d threads were refused what they were to run, want 2", n)
			}
			if !slices.ContainsFunc(r.noted(NoteDenied), func(n string) bool { return strings.HasPrefix(n, "call os.umask |") }) {
				t.Errorf("os.umask registered for the end was not refused: %s", r.stderr)
			}
		}
	})
}

// TestHonestWork: what the standard library and libraries do for themselves needs nothing; the few lines that learning asks for are all.
func TestHonestWork(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "work.py")
		if bare.code != 0 || len(bare.lines()) < 25 {
			t.Fatalf("status %d, %s", bare.code, bare.stderr)
		}
		none := granted()
		learned := sample(t, p, &none, Learn, "work.py")
		if learned.stdout != bare.stdout {
			t.Errorf("learning: %s\nwant %s\n%s", learned.stdout, bare.stdout, learned.stderr)
		}
		rules := taken(learned)
		var calls []string
		for name := range rules.Calls {
			calls = append(calls, name)
		}
		slices.Sort(calls)
		want := []string{"doctest.DocTestRunner.run", "multiprocessing.Process.start", "os.popen", "os.system", "pickle.loads", "shelve.open", "subprocess.Popen",
			"threading.Thread.start", "timeit.Timer"}
		if !slices.Equal(calls, want) {
			t.Errorf("learned %q, want %q", calls, want)
		}
		r := sample(t, p, &rules, Enforce, "work.py")
		if r.stdout != bare.stdout || len(r.noted(NoteDenied)) > 0 {
			t.Errorf("%s\nwant %s\nrefused %q %s", r.stdout, bare.stdout, r.noted(NoteDenied), r.stderr)
		}
		if !slices.ContainsFunc(learned.notes, func(n Note) bool { return n.Event == NoteCall && n.Args[1] == "os.system" && n.Library == "borrowed" }) {
			t.Errorf("nobody says that the library borrowed calls os.system: %q", learned.noted(NoteCall))
		}
	})
}

// TestPoisonedBuiltins: built-ins and module names replaced, state looked for, a stack that is nearly used up: the refusals stand.
func TestPoisonedBuiltins(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "poisoned.py").lines()
		rules := granted()
		r := sample(t, p, &rules, Enforce, "poisoned.py")
		got := r.lines()
		if len(got) != len(bare) || len(got) != 7 || r.code != 0 {
			t.Fatalf("%q, without rules %q %s", got, bare, r.stderr)
		}
		for i, want := range []string{"before ran", "poisoned system ran", "poisoned text ran", "odd file name ran"} {
			if what := strings.TrimSuffix(want, " ran"); !strings.HasPrefix(bare[i+1], want) || got[i+1] != what+" RuleApiPermissionError" {
				t.Errorf("%q, without rules %q", got[i+1], bare[i+1])
			}
		}
		for i, what := range []string{"near the end of the stack system deep ", "near the end of the stack text deep "} {
			if bare[i+5] != what+"ran" || got[i+5] != what+"refused" {
				t.Errorf("%q, without rules %q", got[i+5], bare[i+5])
			}
		}
	})
}
