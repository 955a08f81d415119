package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput: what cannot be done is said in one clear line, with status 125; nothing starts and nothing is lost.
func TestBadInput(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	const good = markingPolicy
	byName := []string{"--policy", ".py-sandboxes", "mark.py"}
	for _, c := range []struct {
		name   string
		policy string
		files  map[string]string
		argv   []string // behind psb --python PYTHON; byName when nil
		says   string
		hint   string // part of a hint; "" when none is asked for
		person string // "" both
		status int    // 0: 125
		before func(t *testing.T, s scene)
	}{
		{name: "unknown table", policy: "version = 1\n[filez]\n\"a\" = \"read\"\n", says: `\.py-sandboxes:2: .*filez.*files`},
		{name: "unknown key", policy: "version = 1\n[sandbox]\nprovidr = \"auto\"\n", says: `\.py-sandboxes:3: .*providr.*provider`},
		{name: "unknown right", policy: "version = 1\n[files]\n\"a\" = \"raed\"\n", says: `\.py-sandboxes:3: .*raed.*read`},
		{name: "unknown limit", policy: "version = 1\n[limits]\nmemmory = \"1M\"\n", says: `\.py-sandboxes:3: .*memmory.*memory`},
		{name: "unknown variable", policy: "version = 1\n[files]\n\"${PSB_NO_SUCH}/a\" = \"read\"\n", says: `\.py-sandboxes:3: .*PSB_NO_SUCH`},
		{name: "unknown requirement", policy: "version = 1\n[sandbox]\nrequire = [\"moat\"]\n", says: `\.py-sandboxes:3: .*moat`},
		{name: "wrong type", policy: "version = \"one\"\n", says: `\.py-sandboxes:1: .*version`},
		{name: "wrong type of a right", policy: "version = 1\n[files]\n\"a\" = 7\n", says: `\.py-sandboxes:3: `},
		{name: "bad size", policy: "version = 1\n[limits]\nmemory = \"lots\"\n", says: `\.py-sandboxes:3: .*lots`},
		{name: "version of the future", policy: "version = 99\n", says: `\.py-sandboxes:1: .*99`},
		{name: "no TOML", policy: "version = 1\n[files\n", says: `\.py-sandboxes:2: `},
		{name: "root granted", policy: "version = 1\n[files]\n\"${PSB_ROOT:-/}\" = \"read\"\n", says: `\.py-sandboxes:3: `},
		{name: "file rule meets a folder", policy: "version = 1\n[files]\n\"out\" = \"read\"\n", says: `\.py-sandboxes:3: .*out/`},
		{name: "folder rule meets a file", policy: "version = 1\n[files]\n\"mark.py/\" = \"read\"\n", says: `\.py-sandboxes:3: .*mark\.py`},
		{name: "missing include", policy: "version = 1\ninclude = [\"team.py-sandboxes\"]\n", says: `\.py-sandboxes:2: .*team\.py-sandboxes`},
		{name: "include cycle", policy: "version = 1\ninclude = [\"a.toml\"]\n", says: `cycle|includes itself|circle`,
			files: map[string]string{"a.toml": "version = 1\ninclude = [\"b.toml\"]\n", "b.toml": "version = 1\ninclude = [\".py-sandboxes\"]\n"}},
		{name: "unreadable", policy: good, says: `\.py-sandboxes.*permission denied`, person: "user",
			before: func(t *testing.T, s scene) { must(t, os.Chmod(filepath.Join(s.project, ".py-sandboxes"), 0)) }},
		{name: "policy is a folder", says: `folder\.toml.*(is a directory|folder)`, argv: []string{"--policy", "folder.toml", "mark.py"},
			files: map[string]string{"folder.toml/x": ""}},
		{name: "policy is absent", says: `absent\.toml.*no such file`, argv: []string{"--policy", "absent.toml", "mark.py"}},
		{name: "learn into a closed folder", says: `permission denied|cannot write|read-only`, person: "user", argv: []string{"--learn", "mark.py"},
			before: func(t *testing.T, s scene) { must(t, os.Chmod(s.project, 0o555)) }},
		{name: "learn into a folder that is none", says: `no such file|not a directory|no folder`, argv: []string{"--learn=absent/policy.toml", "mark.py"}},
		{name: "learn into a locked policy", policy: "version = 1\nlocked = true\n", says: `locked`, argv: []string{"--learn", "mark.py"}},
		{name: "allow into a locked policy", policy: "version = 1\nlocked = true\n", says: `locked`, argv: []string{"--policy", ".py-sandboxes", "--allow", "read out/", "mark.py"}},
		{name: "no such interpreter", policy: good, says: `/no/such/python`, argv: []string{"--python", "/no/such/python", "--policy", ".py-sandboxes", "mark.py"}},
		{name: "no such interpreter in the policy", policy: "version = 1\n[sandbox]\npython = \"/no/such/python\"\n", says: `/no/such/python`, argv: []string{"-", "--policy", ".py-sandboxes", "mark.py"}},
		{name: "interpreter that is none", policy: good, says: `mark\.py`, argv: []string{"--python", "./mark.py", "--policy", ".py-sandboxes", "mark.py"}},
		{name: "unknown option", policy: good, says: `--polcy`, argv: []string{"--polcy", ".py-sandboxes", "mark.py"}},
		{name: "unknown option of python", policy: good, says: `-Z`, argv: []string{"--policy", ".py-sandboxes", "-Z", "mark.py"}},
		{name: "-c without a program", policy: good, says: `-c`, argv: []string{"--policy", ".py-sandboxes", "-c"}},
		{name: "script that is not there", policy: good, says: `can't open file.*absent\.py.*[Nn]o such file`, status: 2, argv: []string{"--policy", ".py-sandboxes", "absent.py"}},
		{name: "bad --allow", policy: good, says: `raed`, argv: []string{"--policy", ".py-sandboxes", "--allow", "raed x", "mark.py"}},
		{name: "bad --limit", policy: good, says: `memory`, argv: []string{"--policy", ".py-sandboxes", "--limit", "memory=lots", "mark.py"}},
		{name: "unknown provider", policy: good, says: `moat`, argv: []string{"--policy", ".py-sandboxes", "--provider", "moat", "mark.py"}},
		{name: "no sandbox asked for by the project", policy: "version = 1\n[sandbox]\nprovider = \"none\"\n", says: `provider|none`},
		{name: "gap accepted by the project", policy: "version = 1\n[sandbox]\nallow_gaps = [\"landlock\"]\n", says: `allow_gaps`},
		{name: "no policy and no terminal", says: `no policy|\.py-sandboxes`, hint: "--learn", argv: []string{"mark.py"}},
		{name: "not approved", policy: good, says: `approve`, hint: "psb policy approve", argv: []string{"mark.py"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					if c.person != "" && c.person != who.name {
						t.Skip("root is not held back by permission bits")
					}
					s := newMarkingScene(t, who, c.policy)
					for name, text := range c.files {
						s.put(t, "home/code/project/"+name, text)
					}
					s.give(t)
					list, err := s.choose(t, "any", nil)
					ledger.Need(t, "python3", err)
					argv := c.argv
					if argv == nil {
						argv = byName
					}
					switch {
					case argv[0] == "-":
						argv = argv[1:]
					case argv[0] != "--python":
						argv = append([]string{"--python", list[0].path}, argv...)
					}
					if c.before != nil {
						c.before(t, s)
					}
					before := tree(t, s.project)
					r := s.run(t, call{argv: append([]string{psb(t)}, argv...)})
					want := 125
					if c.status != 0 {
						want = c.status
					}
					s.refused(t, r, want, c.says)
					if _, hints := psbLines(r.err); c.hint != "" && !strings.Contains(strings.Join(hints, "\n"), c.hint) {
						t.Errorf("no hint with %q: %v", c.hint, r)
					}
					if after := tree(t, s.project); after != before {
						t.Errorf("the project changed from\n%s\nto\n%s", before, after)
					}
				})
			}
		})
	}
}

// TestPythonsOwnRefusals: where python itself would complain, the words and the status are python's.
func TestPythonsOwnRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		argv []string
		want int
	}{
		{"module that is not there", []string{"-m", "psb_no_such_module"}, 1},
		{"folder without a main module", []string{"out"}, 1},
		{"syntax error", []string{"broken.py"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					s := newMarkingScene(t, who, markingPolicy)
					s.put(t, "home/code/project/broken.py", "print(\n")
					s.give(t)
					list, err := s.choose(t, "any", nil)
					ledger.Need(t, "python3", err)
					bare := s.run(t, call{argv: append([]string{list[0].path}, c.argv...)})
					if bare.code != c.want {
						t.Fatalf("control: %v", bare)
					}
					if controlOnly() {
						return
					}
					got := s.run(t, call{argv: append([]string{psb(t), "--python", list[0].path, "--policy", ".py-sandboxes"}, c.argv...)})
					if got.code != bare.code || got.err != bare.err || got.out != bare.out {
						t.Errorf("without psb: %v\nwith psb: %v", bare, got)
					}
				})
			}
		})
	}
}

// tree is every name below dir with its content, as text.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(info.Mode().String() + " " + path)
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil && os.Getuid() == 0 {
				return err
			}
			b.WriteString(" " + string(text))
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}
