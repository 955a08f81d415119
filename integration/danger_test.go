package integration

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/danger.md anew")

// dangerLabels are the five lines that head every dangerous file, in this order.
var dangerLabels = []struct{ label, also string }{
	{"Does to the process", "What it does to the process"},
	{"Undone", "Can it be undone"},
	{"Preconditions", "Preconditions"},
	{"Called by", "Who calls it"},
	{"Proved by", "Proven by|Which test proves it"},
}

const (
	mostDangerousLines = 380   // of one file
	mostDangerTogether = 18600 // of all; a limit that grows is looked at: the broker, which is all acts, brought 2 500; asking and auditing 1 500; the Python layer 300, psb mcp 800, its sessions 1 400, the nursery of its boxes 300
)

// linuxName is a name that only Linux builds, and unsafeName one that may use unsafe as well.
var (
	linuxName  = regexp.MustCompile(`_linux(_(amd64|arm64))?\.(go|c|h)$`)
	unsafeName = regexp.MustCompile(`_unsafe_linux(_(amd64|arm64))?\.go$`)
)

// dangerous are the files that can act on a process or on the host's kernel objects: those that use unsafe, syscall, x/sys/unix or C.
func dangerous(t *testing.T) (list []source) {
	for _, s := range sources(t) {
		if s.test || within(s.dir, "integration") {
			continue
		}
		acts := s.file == nil && path.Ext(s.name) == ".c" || linuxName.MatchString(s.name) && path.Ext(s.name) == ".go"
		for _, i := range s.imports {
			acts = acts || slices.Contains([]string{"unsafe", "syscall", "golang.org/x/sys/unix", "C"}, i)
		}
		if acts {
			list = append(list, s)
		}
	}
	return list
}

func TestDangerousNames(t *testing.T) {
	for _, s := range dangerous(t) {
		for _, i := range s.imports {
			switch {
			case i == "unsafe" && !unsafeName.MatchString(s.name):
				t.Errorf("%s imports unsafe: only *_unsafe_linux.go may", s.name)
			case slices.Contains([]string{"syscall", "golang.org/x/sys/unix", "C"}, i) && !linuxName.MatchString(s.name):
				t.Errorf("%s imports %s: only *_linux.go may", s.name, i)
			}
		}
		if s.file == nil && !linuxName.MatchString(s.name) {
			t.Errorf("%s is C: only *_linux.c may be", s.name)
		}
	}
}

// header reads the five labelled lines; a line that goes on continues the one before it.
func (s source) header() (lines []string, err error) {
	var comments []string
	for line := range strings.Lines(s.text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "#include") || strings.HasPrefix(line, "#define") {
			break
		}
		if text, ok := strings.CutPrefix(line, "// "); ok {
			comments = append(comments, text)
		}
	}
	at := 0
	for _, want := range dangerLabels {
		found := false
		for ; at < len(comments) && !found; at++ {
			for _, label := range strings.Split(want.label+"|"+want.also, "|") {
				if rest, ok := strings.CutPrefix(comments[at], label+": "); ok {
					lines, found = append(lines, rest), true
					break
				}
			}
			if !found && len(lines) > 0 {
				lines[len(lines)-1] += " " + comments[at]
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no line %q in its place of the five that head a dangerous file", s.name, "// "+want.label+": …")
		}
	}
	return lines, nil
}

func TestDangerousHeaders(t *testing.T) {
	tests, scripts := proofs(t)
	word := regexp.MustCompile(`\b((?:Test|Fuzz|Example)\w*\*?)|\b([a-z]+(?:_[a-z*]+)+\*?)(?:\b|$|[ ,.;])`)
	total := 0
	for _, s := range dangerous(t) {
		n := strings.Count(s.text, "\n")
		total += n
		if n > mostDangerousLines {
			t.Errorf("%s has %d lines, a dangerous file has at most %d", s.name, n, mostDangerousLines)
		}
		lines, err := s.header()
		if err != nil {
			t.Error(err)
			continue
		}
		named := 0
		for _, m := range word.FindAllStringSubmatch(lines[4], -1) {
			named++
			if m[1] != "" && !matches(tests, m[1]) {
				t.Errorf("%s is proved by %s, which is no test", s.name, m[1])
			}
			if m[2] != "" && !strings.HasSuffix(m[2], "_test") && !matches(scripts, m[2]) {
				t.Errorf("%s is proved by the script %s, which is none", s.name, m[2])
			}
		}
		if named == 0 {
			t.Errorf("%s names no test that proves it: %q", s.name, lines[4])
		}
	}
	if total > mostDangerTogether {
		t.Errorf("all dangerous files together have %d lines, more than %d: is each of them needed?", total, mostDangerTogether)
	}
	t.Logf("%d lines in %d dangerous files", total, len(dangerous(t)))
}

// matches looks a name up; a final * stands for any ending.
func matches(names []string, pattern string) bool {
	if stem, any := strings.CutSuffix(pattern, "*"); any {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, stem) })
	}
	return slices.Contains(names, pattern)
}

// proofs are the names of all tests and fuzz targets, and of all scripts.
func proofs(t *testing.T) (tests, scripts []string) {
	t.Helper()
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, s := range sources(t) {
		if s.test {
			for _, m := range name.FindAllStringSubmatch(s.text, -1) {
				tests = append(tests, m[1])
			}
		}
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	must(t, err)
	for _, f := range files {
		scripts = append(scripts, strings.TrimSuffix(filepath.Base(f), ".txtar"))
	}
	return tests, scripts
}

// TestDangerRegister holds docs/danger.md to the files; -update writes it.
func TestDangerRegister(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The dangerous files\n\nOnly these files can act on a process or on the kernel's objects: they use system calls, C or `unsafe`. The list is written by\n" +
		"`go test ./integration -run TestDangerRegister -update` from the five lines that head each of them, and a test keeps both in step.\n")
	for _, s := range dangerous(t) {
		lines, err := s.header()
		if err != nil {
			t.Error(err)
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.name)
		for i, l := range dangerLabels {
			fmt.Fprintf(&b, "- **%s:** %s\n", l.label, lines[i])
		}
	}
	root, err := moduleRoot()
	must(t, err)
	file := filepath.Join(root, "docs", "danger.md")
	if *update {
		must(t, os.WriteFile(file, []byte(b.String()), 0o644))
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != b.String() {
		t.Errorf("docs/danger.md is not what the files say (%v): run go test ./integration -run TestDangerRegister -update", err)
	}
}
