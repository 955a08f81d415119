package integration

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Attacks that never end by themselves: the deadline ends them, nothing is left of them, and the next evaluation works.

// onlyKilled are texts that nothing but the end of their process ends: one call in C that the guard cannot weigh before.
var onlyKilled = []string{"regular_expressions"}

// TestPythonEndlessTexts: text that computes or fills memory without end is interrupted by the limit that it meets. All of a way run one
// after the other in one host, which has no more descriptors, threads and children after the last than after the first.
func TestPythonEndlessTexts(t *testing.T) {
	textCampaign(t, func(t *testing.T, who person, python interpreter) {
		rows := endingTexts(textAttacks(t), python, true)
		if !once() || who == people()[0] { // a text computes for the one as for the other
			t.Run("control", func(t *testing.T) {
				t.Parallel()
				for _, e := range newScene(t, who).ends(t, python, "bounded", "", rows) {
					// What is small as long as nobody copies it is the one thing that plain Python ends.
					if e.End == "value" && e.Name != "shared_nesting_given_back" {
						t.Errorf("control: without psb %s %d ends by itself, so it proves nothing: %s", e.Name, e.Number, e.Text)
					}
				}
			})
		}
		if controlOnly() {
			return
		}
		if goesWay(who, "child") {
			t.Run("child", func(t *testing.T) {
				t.Parallel()
				judgeEndless(t, rows, newScene(t, who).ends(t, python, "child", "", rows))
			})
		}
		if !goesWay(who, "process") {
			return
		}
		ended := slices.DeleteFunc(slices.Clone(rows), func(a textAttack) bool { return slices.Contains(onlyKilled, a.name) })
		t.Run("process", func(t *testing.T) {
			t.Parallel()
			judgeEndless(t, ended, newScene(t, who).ends(t, python, "process", "", ended))
		})
		t.Run("own", func(t *testing.T) {
			t.Parallel()
			profiles := map[string][]textAttack{}
			for _, a := range ended {
				if a.name != "shared_nesting_given_back" { // the program's own eval copies nothing
					profiles[a.profile] = append(profiles[a.profile], a)
				}
			}
			for _, profile := range slices.Sorted(maps.Keys(profiles)) {
				judgeEndless(t, profiles[profile], newScene(t, who).ends(t, python, "own", profile, profiles[profile]))
			}
		})
	})
}

// judgeEndless judges the ends, and what was left after each.
func judgeEndless(t *testing.T, rows []textAttack, ends []textEnd) {
	byName := map[string]textAttack{}
	for _, a := range rows {
		byName[a.name] = a
	}
	for i, e := range ends {
		t.Run(fmt.Sprintf("%s/%d", e.Name, e.Number), func(t *testing.T) {
			if wrong := byName[e.Name].refused(e); wrong != "" {
				t.Errorf("%s\n%s\n%s", wrong, e.Text, e.told)
			}
			if first := ends[0]; i > 0 && (e.Files > first.Files || e.Children > first.Children || e.Threads > first.Threads || e.Running > 0) {
				t.Errorf("left after it: %d descriptors, %d threads, %d children, %d of them running or dead; after the first it was %d, %d, %d",
					e.Files, e.Threads, e.Children, e.Running, first.Files, first.Threads, first.Children)
			}
		})
	}
}

// TestPythonEndlessTextTenTimes: the same text that only its process's end ends, ten times in one host.
func TestPythonEndlessTextTenTimes(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("the control is that of TestPythonEndlessTexts")
	}
	textCampaign(t, func(t *testing.T, who person, python interpreter) {
		all := endingTexts(textAttacks(t), python, true)
		row := all[slices.IndexFunc(all, func(a textAttack) bool { return a.name == onlyKilled[0] })]
		judgeEndless(t, []textAttack{row}, newScene(t, who).ends(t, python, "child", "", slices.Repeat([]textAttack{row}, 5)))
	})
}

// TestPythonDeadline: what a program does so as not to end does not help it: at the wall limit the box ends with all that is in it.
func TestPythonDeadline(t *testing.T) {
	for _, program := range regular(t, pythonAttackPrograms+"ends") {
		t.Run(strings.TrimSuffix(filepath.Base(program), ".py"), func(t *testing.T) {
			t.Parallel() // most of it is waiting for the limit
			code, err := os.ReadFile(program)
			must(t, err)
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					s := trial{scene: newScene(t, who)}
					_, err := s.choose(t, "system", nil)
					ledger.Need(t, "python3", err)
					s.files(t, map[string]string{"endless.py": string(code), "beat": ""})
					if !t.Run("control", func(t *testing.T) { s.outlives(t) }) || controlOnly() {
						return
					}
					for _, shim := range []string{"true", "false"} {
						s.files(t, map[string]string{"beat": "", ".py-sandboxes": "version = 1\n[files]\n\"beat\" = \"write\"\n[python]\nshim = " + shim + "\n" +
							map[string]string{"true": "[python.call]\n\"threads\" = true\n\"os.fork\" = true\n\"os.setsid\" = true\n"}[shim]})
						s.boxed = true
						r := s.started(t, s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes", "--limit", "wall=5s"}, "endless.py", s.word)}))
						if r.code != 124 {
							t.Errorf("shim = %s: %v", shim, r)
						}
						if left := withWord(t, s.word); len(left) > 0 {
							t.Errorf("shim = %s: left after the end: %v", shim, left)
						}
						if len(s.beats(t)) == 0 {
							t.Errorf("shim = %s: it did nothing before the deadline, so nothing is proved: %v", shim, r)
						}
					}
				})
			}
		})
	}
}

func (s trial) beats(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.project, "beat"))
	must(t, err)
	return string(b)
}

// outlives is the control: the program works on after the signals that end others.
func (s trial) outlives(t *testing.T) {
	var n int
	ready := func() {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			for _, p := range withWord(t, s.word) {
				syscall.Kill(p.pid, signal)
			}
			before := len(s.beats(t))
			until(t, "the program works on", func() bool { return len(s.beats(t)) > before+3 })
		}
		n = len(withWord(t, s.word))
		for _, p := range withWord(t, s.word) {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	s.watch(t, call{argv: s.argv(t, nil, "endless.py", s.word)}, ready)
	if n == 0 {
		t.Error("control: without psb the program ends, so it proves nothing")
	}
	until(t, "the control is gone", func() bool { return len(withWord(t, s.word)) == 0 })
}
