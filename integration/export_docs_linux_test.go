package integration

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// block is a block of a page: its first line says what it is, and what file it is.
var block = regexp.MustCompile("(?ms)^```(\\w+) ?([^\n]*)\n(.*?)^```$")

// TestExportDocs does what docs/export.md shows: writes its files and compares what each command prints, as an ordinary user; lines that
// begin with "# " are root's.
func TestExportDocs(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	psb(t)
	page, err := os.ReadFile("../docs/export.md")
	must(t, err)
	who := people()
	s := newScene(t, who[len(who)-1])
	_, err = s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	in := "home/code/project/"
	s.put(t, in+"data/sales.csv", "40\n2\n")
	s.put(t, in+".env", "secret\n")
	s.put(t, "home/code/elsewhere/notes.txt", "secret\n")
	commands := 0
	for _, block := range block.FindAllStringSubmatch(string(page), -1) {
		switch kind, name, text := block[1], block[2], block[3]; {
		case name != "":
			s.put(t, in+name, text)
			s.give(t)
		case kind == "console":
			commands += s.typed(t, text)
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands were run", commands)
	}
}

// typed runs the commands of a block and compares what stands below each.
func (s scene) typed(t *testing.T, text string) (n int) {
	t.Helper()
	var command string
	var want strings.Builder
	run := func() {
		if command == "" {
			return
		}
		n++
		who := s
		words, root := strings.CutPrefix(command, "# ")
		if root && os.Getuid() != 0 {
			return
		}
		if root {
			who.who = person{"root", 0, 0}
		}
		for _, name := range []string{"bwrap", "runc", "systemd-analyze"} {
			if strings.Contains(words, name+" ") || name == "bwrap" && strings.Contains(words, "box/run") {
				_, err := exec.LookPath(name)
				ledger.Need(t, name, err)
			}
		}
		words = strings.TrimPrefix(words, "$ ")
		if r := who.run(t, call{argv: []string{"bash", "-c", words}}); r.out != want.String() || r.code != 0 || r.err != "" {
			t.Errorf("%s\nwant\n%s\n%s", words, want.String(), r)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			run()
			command = strings.TrimSuffix(line, "\n")
			want.Reset()
			continue
		}
		want.WriteString(line)
	}
	run()
	return n
}
