package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Programs that go out stand in testdata/network, in Python or in C; "started" is the first thing an attack of them prints.

// takes copies programs of testdata/network into the project; those in C are compiled.
func (s trial) takes(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		from := filepath.Join("testdata/network", name)
		if stem, isC := strings.CutSuffix(name, ".c"); isC {
			_, err := exec.LookPath("cc")
			ledger.Need(t, "cc", err)
			bin := filepath.Join(workshop, "bin", "network-"+stem)
			if _, err := os.Stat(bin); err != nil {
				must(t, os.MkdirAll(filepath.Dir(bin), 0o755))
				if out, err := exec.Command("cc", "-O1", "-Wall", "-Werror", "-pthread", "-o", bin, from).CombinedOutput(); err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
			}
			from, name = bin, stem
		}
		b, err := os.ReadFile(from)
		must(t, err)
		path := s.put(t, "home/code/project/"+name, string(b))
		if filepath.Ext(name) == "" {
			must(t, os.Chmod(path, 0o755))
		}
	}
	s.give(t)
}

// net writes the project's policy: these lines of [net], and further tables.
func (s trial) net(t testing.TB, rules string, more ...string) {
	t.Helper()
	text := kernelPolicy + strings.Join(more, "")
	if !strings.Contains(text, "[files]\n") {
		text += "[files]\n"
	}
	var runnable strings.Builder
	for _, name := range s.compiled(t) {
		fmt.Fprintf(&runnable, "%q = \"exec\"\n", name)
	}
	text = strings.Replace(text, "[files]\n", "[files]\n"+runnable.String(), 1)
	s.put(t, "home/code/project/.py-sandboxes", text+"[net]\n"+rules)
	s.give(t)
}

// compiled are the programs in C that the project has.
func (s trial) compiled(t testing.TB) (names []string) {
	t.Helper()
	all, err := filepath.Glob("testdata/network/*.c")
	must(t, err)
	for _, file := range all {
		name := strings.TrimSuffix(filepath.Base(file), ".c")
		if _, err := os.Stat(filepath.Join(s.project, name)); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// throughLite makes the trials of this world use the lite provider.
var throughLite bool

// words is the command line of a program of testdata/network in the project, boxed where the trial is; options are psb's.
func (s trial) words(t testing.TB, program string, options []string, args ...string) []string {
	t.Helper()
	stem, isC := strings.CutSuffix(program, ".c")
	if throughLite {
		options = slices.Concat([]string{"--provider", "landlock", "--allow-gap", "namespaces"}, options)
	}
	switch {
	case !s.boxed && isC:
		return append([]string{filepath.Join(s.project, stem)}, args...)
	case !s.boxed:
		return append([]string{systemPython, program}, args...)
	case isC:
		return slices.Concat([]string{psb(t), "exec", "--policy", ".py-sandboxes"}, options, []string{"--", "./" + stem}, args)
	}
	return slices.Concat([]string{psb(t), "--policy", ".py-sandboxes", "--python", systemPython}, options, []string{program}, args)
}

// ventures runs a program of testdata/network under the project's policy. It must have started.
func (s trial) ventures(t *testing.T, program string, args ...string) result {
	t.Helper()
	return s.started(t, s.run(t, call{argv: s.words(t, program, nil, args...), env: s.env, timeout: 2 * time.Minute}))
}

// raid tries an attack as each person in each language it is there in, as against does for breaks.
func raid(t *testing.T, programs []string, try func(t *testing.T, s trial, program string) (reached string)) {
	t.Helper()
	for _, program := range programs {
		t.Run(filepath.Ext(program)[1:], func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				s.takes(t, program)
				return try(t, s, program)
			})
		})
	}
}

// denials are what psb's lines say was refused, by operation and object.
func denials(r result) (objects []string) {
	said, _ := psbLines(r.err)
	for _, line := range said {
		if rest, ok := strings.CutPrefix(line, "psb: denied: "); ok {
			object, _, _ := strings.Cut(rest, " (")
			objects = append(objects, object)
		}
	}
	slices.Sort(objects)
	return slices.Compact(objects)
}

func fileText(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}
