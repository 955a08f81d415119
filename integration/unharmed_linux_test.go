package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What the Python layer leaves as it is: programs that live off what it guards, and CPython's own tests of what it stands in.

const unharmedPrograms = "testdata/unharmed/"

// unharmed is one program of testdata/unharmed. Its head may say
//
//	# needs: MODULE…    modules of Debian, or the test skips
//	# status: N         how it ends, 0 when absent
//	# learning: other tracebacks    while it learns, frames of the layer stand in what it prints on stderr
type unharmed struct {
	name, text string
	needs      []string
	status     int
	otherwise  bool
}

func unharmedRows(t *testing.T) (rows []unharmed) {
	t.Helper()
	paths, err := filepath.Glob(unharmedPrograms + "*.py")
	must(t, err)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		must(t, err)
		u := unharmed{name: strings.TrimSuffix(filepath.Base(path), ".py"), text: string(b)}
		for line := range strings.Lines(u.text) {
			if rest, found := strings.CutPrefix(line, "# needs: "); found {
				u.needs = strings.Fields(rest)
			}
			u.otherwise = u.otherwise || line == "# learning: other tracebacks\n"
			if rest, found := strings.CutPrefix(line, "# status: "); found {
				u.status, err = strconv.Atoi(strings.TrimSpace(rest))
				must(t, err)
			}
		}
		rows = append(rows, u)
	}
	return rows
}

// TestUnharmed: each program, once learned, runs under what was learned without a refusal and prints what it prints without psb, on both streams.
func TestUnharmed(t *testing.T) {
	slots := make(chan struct{}, atOnce)
	for _, u := range unharmedRows(t) {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			who := people()
			s := newScene(t, who[len(who)-1])
			needs := map[string]string{}
			for _, module := range u.needs {
				needs[strings.ToLower(module)] = module
			}
			s.system(t, needs)
			fresh := func() {
				policy, exists := s.policy(t)
				must(t, os.RemoveAll(s.project))
				s.put(t, "home/code/project/"+u.name+".py", u.text)
				copyTree(t, unharmedPrograms+"site-packages", filepath.Join(s.project, "site-packages"))
				if exists {
					s.put(t, "home/code/project/.py-sandboxes", policy)
				}
				s.give(t)
			}
			fresh()
			control := s.run(t, call{argv: []string{systemPython, u.name + ".py"}})
			if control.code != u.status || control.out+control.err == "" {
				t.Fatalf("control: %v", control)
			}
			fresh()
			learn := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn", u.name + ".py"}})
			if learn.code != u.status || learn.out != control.out || !u.otherwise && withoutPsb(learn.err) != control.err {
				t.Errorf("learning: %v\nwant %v", learn, control)
			}
			fresh()
			if r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, u.name + ".py"}}); r != control {
				policy, _ := s.policy(t)
				t.Errorf("enforced: %v\nwant %v\n--- policy\n%s", r, control, policy)
			}
		})
	}
}
