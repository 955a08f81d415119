package pythonshim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// registry reads the functions of policy/registry.txt, by name, with their categories.
func registry(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../policy/registry.txt")
	if err != nil {
		t.Fatal(err)
	}
	out, category := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		switch w := strings.Fields(line); {
		case len(w) > 1 && w[0] == "category":
			category = w[1]
		case len(w) > 1 && w[0] == "call":
			out[w[1]] = category
		}
	}
	return out
}

func granted(names ...string) Rules {
	r := Rules{Imports: map[string]bool{"*": true}, Calls: map[string]bool{}}
	for _, n := range names {
		yes := !strings.HasPrefix(n, "!")
		r.Calls[strings.TrimPrefix(n, "!")] = yes
	}
	return r
}

// sample runs a program of testdata/calls with rules; nil is the interpreter without the shim.
func sample(t *testing.T, p python, rules *Rules, mode Mode, args ...string) result {
	t.Helper()
	dir, err := filepath.Abs("testdata/calls")
	if err != nil {
		t.Fatal(err)
	}
	args[0] = filepath.Join(dir, args[0])
	if rules == nil {
		return p.run(t, nil, nil, nil, args...)
	}
	return p.run(t, sceneOf(t, p, *rules).overlay(mode, ""), nil, nil, args...)
}

// lines are stdout's lines.
func (r result) lines() []string { return strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n") }

// unnoted is stdout without the notes of a child whose terminal it is.
func unnoted(r result) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(r.stdout, "\n"), func(l string) bool { return strings.HasPrefix(l, `{"e":`) }), "")
}

// TestEveryDoor: each function of the registry is refused, by name and category; with its own line or its category's it does what it does without
// the shim; learning asks for exactly what enforcing refused.
func TestEveryDoor(t *testing.T) {
	of := registry(t)
	each(t, func(t *testing.T, p python) {
		none := granted()
		r := sample(t, p, &none, Enforce, "samples.py", "each")
		var refused []string
		for _, line := range r.lines() {
			name, rest, _ := strings.Cut(line, " ")
			if want := "refused " + name + " " + of[name]; rest != want {
				t.Errorf("%s: %q, want %q", name, rest, want)
			}
			refused = append(refused, name)
		}
		if len(refused) < 85 || r.code != 0 || r.stderr != "" {
			t.Fatalf("%d functions, status %d, %s", len(refused), r.code, r.stderr)
		}
		for _, name := range refused {
			if !slices.ContainsFunc(r.noted(NoteDenied), func(n string) bool { return strings.HasPrefix(n, "call "+name+" ") }) {
				t.Errorf("no note of the refusal of %s", name)
			}
		}
		bare := sample(t, p, nil, Enforce, "samples.py", "fork")
		var names, categories []string
		for name, category := range of {
			names, categories = append(names, name), append(categories, category)
		}
		ways := map[string][]string{"by function": names}
		whole := everyRow() || p.Executable == pythons(t)[0].Executable // what rules mean is no matter of the interpreter
		if whole {
			ways["by category, with a false elsewhere"], ways["all"] = append(categories, "!nowhere"), []string{"*"}
		}
		for what, list := range ways {
			rules := granted(list...)
			if r := sample(t, p, &rules, Enforce, "samples.py", "fork"); r.stdout != bare.stdout || r.code != 0 {
				t.Errorf("%s: %d\n%s\nwant\n%s", what, r.code, r.stdout, bare.stdout)
			}
		}
		r = sample(t, p, &none, Learn, "samples.py", "fork")
		if got := unnoted(r); got != bare.stdout {
			t.Errorf("learning: %s\nwant\n%s", got, bare.stdout)
		}
		learned := map[string]bool{}
		for _, n := range r.noted(NoteCall) {
			w := strings.Fields(n)
			if of[w[1]] != w[0] {
				t.Errorf("learned %q", n)
			}
			learned[w[1]] = true
		}
		for _, name := range refused {
			if of[name] != "dynamic-code" && !learned[name] {
				t.Errorf("%s is refused and was not learned", name)
			}
			delete(learned, name)
		}
		if len(learned) > 0 {
			t.Errorf("learned %v, which is not refused", learned)
		}
		if !whole {
			return
		}
		// One false among all that is granted refuses that alone, in learning too.
		for no, mode := range map[string]Mode{"os.popen": Enforce, "privileges": Learn} {
			rules := granted("*", "!"+no)
			for _, line := range sample(t, p, &rules, mode, "samples.py", "fork").lines() {
				name, rest, _ := strings.Cut(line, " ")
				if is, want := strings.HasPrefix(rest, "refused "), name == no || of[name] == no; of[name] != "" && !strings.HasPrefix(rest, "status") && is != want {
					t.Errorf("%v: %s: %q with %s = false", mode, name, rest, no)
				}
			}
		}
	})
}

// TestOneLineIsEnough: what a function comes down to needs no line of its own.
func TestOneLineIsEnough(t *testing.T) {
	one := []string{"os.popen", "os.execl", "os.execlpe", "os.spawnl", "os.spawnvpe", "subprocess.Popen", "pty.spawn", "pty.fork", "multiprocessing.Process.start",
		"threading.Thread.start", "ctypes.CDLL", "ctypes.cast", "ctypes.string_at", "inspect.currentframe", "inspect.stack", "shelve.open", "pickle.Unpickler", "code.interact"}
	all := pythons(t)
	for _, p := range []python{all[0], all[len(all)-1]} {
		for _, name := range one {
			bare := sample(t, p, nil, Enforce, "samples.py", name)
			rules := granted(name)
			r := sample(t, p, &rules, Enforce, "samples.py", name)
			if r.stdout != bare.stdout || r.code != bare.code || strings.Contains(r.stdout, "refused") {
				t.Errorf("%s %s: %q, without the shim %q %s", p.Version, name, r.stdout, bare.stdout, r.stderr)
			}
		}
	}
}

// TestDoorsLookLikeTheOriginals: names, signatures, help, classes, copies and pickles.
func TestDoorsLookLikeTheOriginals(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		bare := sample(t, p, nil, Enforce, "same.py")
		if len(bare.lines()) < 1500 {
			t.Fatalf("%d lines %s", len(bare.lines()), bare.stderr)
		}
		rules := granted()
		for _, mode := range []Mode{Enforce, Learn} {
			r := sample(t, p, &rules, mode, "same.py")
			got, want := r.lines(), bare.lines()
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("%v: line %d %q, want %q", mode, i, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%v: %d lines, want %d %s", mode, len(got), len(want), r.stderr)
			}
		}
	})
}

// TestDoorsOfALateStart: by sitecustomize the layer comes after os and threading; what they hold already is found.
func TestDoorsOfALateStart(t *testing.T) {
	program := `import os, posix, signal, threading
for f, a in ((os.system, ("true",)), (posix.system, ("true",)), (os.popen, ("true",)), (signal.alarm, (0,)), (threading.Thread(target=int).start, ()), (eval, ("1",))):
    try: print(f(*a))
    except PermissionError as e: print(e.qualname)
`
	each(t, func(t *testing.T, p python) {
		dir := t.TempDir()
		for name, text := range files(Enforce, 2, granted(), dir) {
			write(t, dir, map[string]string{name: string(text)})
		}
		write(t, dir, map[string]string{"app/app.py": program})
		r := p.run(t, nil, nil, []string{"PYTHONPATH=" + dir}, filepath.Join(dir, "app/app.py"))
		if want := "os.system\nos.system\nos.popen\nsignal.alarm\nthreading.Thread.start\nbuiltins.eval\n"; r.stdout != want {
			t.Errorf("%q, want %q %s", r.stdout, want, r.stderr)
		}
	})
}

// TestProfilesWithoutALine: cProfile needs no line in any version; callbacks of the program's own do.
func TestProfilesWithoutALine(t *testing.T) {
	each(t, func(t *testing.T, p python) {
		none := granted()
		r := sample(t, p, &none, Enforce, "profiles.py")
		want := []string{"profiled True", "refused sys.monitoring.register_callback", "refused sys.monitoring.register_callback"}
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("%q\n%s", got, r.stderr)
		}
	})
}
