package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsLearn runs the examples of docs/learn.md.
func TestDocsLearn(t *testing.T) {
	besideOthers(t)
	eachLearner(t, nil, func(t *testing.T, s scene) { s.follow(t, "learn.md") })
}

// fence is a block of a page: what stands behind the three marks, and the text.
type fence struct {
	kind, file string
	text       string
}

func fences(page string) (list []fence) {
	open := false
	for line := range strings.Lines(page) {
		switch info, mark := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case mark && !open:
			kind, file, _ := strings.Cut(info, " ")
			list, open = append(list, fence{kind: kind, file: file}), true
		case mark:
			open = false
		case open:
			list[len(list)-1].text += line
		}
	}
	return list
}

// follow does in the project what a page of docs shows, from the top. A block with a file's name becomes that file; of a console, each line
// that begins with "$ " is given to a shell, and what comes out, on both streams, must be what stands below it. "…" stands for anything, alone on
// a line for any lines.
func (s scene) follow(t *testing.T, name string) {
	t.Helper()
	ran := 0
	for _, f := range fences(page(t, name)) {
		if f.file != "" {
			s.put(t, "home/code/project/"+f.file, f.text)
			s.give(t)
		}
		if f.kind != "console" {
			continue
		}
		for _, step := range strings.Split("\n"+f.text, "\n$ ")[1:] {
			command, want, _ := strings.Cut(strings.TrimSuffix(step, "\n"), "\n")
			both := filepath.Join(s.dir, "both")
			script := "PATH=" + filepath.Dir(psb(t)) + ":/usr/bin:/bin; export PATH; { " + command + "\n} >" + both + " 2>&1"
			must(t, os.WriteFile(both, nil, 0o666))
			must(t, os.Chmod(both, 0o666))
			s.run(t, call{argv: []string{"/bin/sh", "-c", script}})
			got, err := os.ReadFile(both)
			must(t, err)
			if ran++; !matching(want).MatchString(strings.TrimSuffix(string(got), "\n")) {
				t.Fatalf("docs/%s:\n$ %s\n%s\nand it says\n%s", name, command, got, want)
			}
		}
	}
	if ran == 0 {
		t.Fatalf("docs/%s shows no command", name)
	}
}

// matching makes an expression of what a page shows.
func matching(want string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for i, line := range strings.Split(want, "\n") {
		switch {
		case line == "…":
			b.WriteString(`(?:(?:\n|\A).*)*?`)
			continue
		case i > 0:
			b.WriteString(`(?:\n|\A)`)
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	return regexp.MustCompile(b.String() + `\z`)
}
