package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// examples are what a page of docs says that happens, taken apart in its own order:
//
//	```python NAME   (or toml, text, … NAME)   a file of the page's project
//	<!-- file NAME … -->                       one that the reader need not see
//	```console                                 commands behind "$ ", each with all it prints, stdout and stderr
//	```console needs policy diff               the same, once this build has that subcommand
//
// In what is printed, "…" stands for anything within a line, and alone on a line for any lines.
type examples struct {
	files    []examplePart
	sessions []examplePart
}

type examplePart struct {
	name string // a file's; of a session what it needs, "" for nothing
	line int    // in the page
	text string
}

var exampleBlock = regexp.MustCompile("(?ms)^```([a-z]+)(?: ([^\n]+))?\n(.*?)^```$|^<!-- file ([^\n]+)\n(.*?)^-->$")

func examplesOf(page string) (e examples) {
	for _, m := range exampleBlock.FindAllStringSubmatchIndex(page, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return page[m[2*i]:m[2*i+1]]
		}
		line := strings.Count(page[:m[0]], "\n") + 2
		switch {
		case part(4) != "":
			e.files = append(e.files, examplePart{part(4), line, part(5)})
		case part(1) == "console":
			e.sessions = append(e.sessions, examplePart{part(2), line, part(3)})
		case part(2) != "" && part(2) != "error":
			e.files = append(e.files, examplePart{part(2), line, part(3)})
		}
	}
	return e
}

// exampleCommand is one command of a session and what the page says it prints.
type exampleCommand struct {
	line          int
	command, want string
}

func commandsOf(session examplePart) (list []exampleCommand) {
	for i, l := range strings.Split(strings.TrimSuffix(session.text, "\n"), "\n") {
		if command, ok := strings.CutPrefix(l, "$ "); ok {
			list = append(list, exampleCommand{line: session.line + i, command: command})
		} else if len(list) > 0 {
			list[len(list)-1].want += l + "\n"
		}
	}
	return list
}

// printsAs reports whether a command printed what the page says.
func printsAs(got, want string) bool {
	pattern := ""
	for line := range strings.Lines(want) {
		if line == "…\n" {
			pattern += `(?:[^\n]*\n)*?`
			continue
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`)
	}
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}

func TestExamplesAreReadRight(t *testing.T) {
	e := examplesOf("a\n```python x.py\nprint(1)\n```\n<!-- file d/y\nz\n-->\n```toml error\nq\n```\n```console\n$ a\nb…\n…\n$ c\n```\n")
	if len(e.files) != 2 || e.files[0] != (examplePart{"x.py", 3, "print(1)\n"}) || e.files[1] != (examplePart{"d/y", 6, "z\n"}) || len(e.sessions) != 1 {
		t.Fatalf("%+v", e)
	}
	list := commandsOf(e.sessions[0])
	if len(list) != 2 || list[0] != (exampleCommand{12, "a", "b…\n…\n"}) || list[1] != (exampleCommand{15, "c", ""}) {
		t.Fatalf("%+v", list)
	}
	for got, want := range map[string]bool{"bcd\n": true, "b\nx\ny\n": true, "": false, "xb\n": false, "b": false} {
		if printsAs(got, list[0].want) != want {
			t.Errorf("%q: not %v", got, want)
		}
	}
	if !printsAs("", "") || printsAs("x\n", "") {
		t.Error("what prints nothing")
	}
}

// pagesWithExamples are the pages whose examples are run, each in a project of its own whose policy is approved.
var pagesWithExamples = []string{"denials.md", "ci.md", "python.md", "eval.md"}

// TestDocsExamples runs every example of the pages as it stands.
func TestDocsExamples(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, name := range pagesWithExamples {
		e := examplesOf(page(t, name))
		if len(e.sessions) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, who := range people() {
			t.Run(name+"/"+who.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, who)
				list, err := s.choose(t, "system", nil)
				ledger.Need(t, "python3", err)
				must(t, os.MkdirAll(filepath.Join(s.dir, "home/bin"), 0o755))
				must(t, os.Symlink(list[0].path, filepath.Join(s.dir, "home/bin/python3")))
				for _, f := range e.files {
					s.put(t, "home/code/project/"+f.name, f.text)
				}
				s.give(t)
				env := []string{"PATH=" + filepath.Join(s.dir, "home/bin") + ":" + filepath.Dir(psb(t)) + ":/usr/bin:/bin"}
				if r := s.run(t, call{argv: []string{psb(t), "policy", "approve"}, env: env}); r.code != 0 {
					t.Fatal(r)
				}
				for _, session := range e.sessions {
					if !built(t, s, session.name) {
						t.Logf("docs/%s:%d %s, which is not in this build: not run", name, session.line, session.name)
						continue
					}
					for _, c := range commandsOf(session) {
						r := s.run(t, call{argv: []string{"bash", "-c", "exec 2>&1\n" + c.command}, env: env})
						if !printsAs(r.out, c.want) {
							t.Errorf("docs/%s:%d: $ %s\nprints\n%sand the page says\n%s", name, c.line, c.command, r.out, fmt.Sprint(c.want))
						}
					}
				}
			})
		}
	}
}

// built reports whether this build has what a session needs. What psb does not know it refuses with a usage error.
func built(t *testing.T, s scene, needs string) bool {
	t.Helper()
	if needs == "" {
		return true
	}
	words, ok := strings.CutPrefix(needs, "needs ")
	if !ok {
		t.Fatalf("a session with %q", needs)
	}
	argv := append([]string{psb(t)}, strings.Fields(words)...)
	return s.run(t, call{argv: append(argv, ".py-sandboxes", ".py-sandboxes")}).code == 0
}
