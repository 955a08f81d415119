package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// accesses are asked of psb policy why and then tried by a program in the box: HOME and the project's folder are put in. What is only
// absent is not among them: why speaks of rights.
const accesses = `read ../sibling/open/a.txt
read ../sibling/open/a.env
read ../sibling/open/sub/b
read ../sibling/secret
read tree/t
read tree/leads-in
read tree/leads-out
read tree/folder-out/secret
list tree/
list tree/folder-out/
write tree/t
exec tree/t
read linked/t
list linked/
read made/old
write made/old
create made/new
list made/
read seen/s
list seen/
exec bin/tool
exec bin/other
write w/w
create w/new
read w/.env
read w/link-to-hidden
list w/
create w/../new
read w/../tree/t
read .py-sandboxes
write .py-sandboxes
read .git/HEAD
write .git/HEAD
write .git/config
create .git/hooks/x
read HOME/.bashrc
write HOME/.bashrc
list HOME/
list ../
read plain
create new
read /etc/passwd
read /etc/shadow
list /etc/
list /
list /tmp/
create /tmp/x
write /dev/null
read /dev/zero
exec /bin/sh
exec PYTHON`

// asked lays the files out and gives the accesses, right and path in turn.
func (s scene) asked(t *testing.T) (words []string) {
	t.Helper()
	for _, name := range []string{"sibling/open/a.txt", "sibling/open/a.env", "sibling/open/sub/b", "sibling/secret", "project/tree/t", "project/made/old", "project/seen/s",
		"project/w/w", "project/w/.env", "project/plain", "project/.git/HEAD", "project/.git/config", "project/.git/hooks/kept", "project/.git/objects/kept", "project/.git/refs/kept"} {
		s.put(t, "home/code/"+name, "x")
	}
	s.put(t, "home/.bashrc", "#\n")
	for name, to := range map[string]string{"tree/leads-in": "t", "tree/leads-out": "../../sibling/secret", "tree/folder-out": "../../sibling", "linked": "tree", "w/link-to-hidden": ".env"} {
		must(t, os.Symlink(to, filepath.Join(s.project, name)))
	}
	b, err := os.ReadFile("/bin/true")
	must(t, err)
	must(t, os.Mkdir(filepath.Join(s.project, "bin"), 0o755))
	for _, name := range []string{"bin/tool", "bin/other"} {
		must(t, writeProgram(filepath.Join(s.project, name), b))
	}
	s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+fmt.Sprintf(`[files]
"../sibling/open/" = "read"
"**/*.env" = "hide"
"tree/" = "read"
"linked/t" = "read"
"made/" = "create"
"seen/" = "list"
"bin/tool" = "exec"
"w/" = "write"
".git/" = "write"
%q = "write"
`, s.home+"/.bashrc"))
	text := strings.NewReplacer("HOME", s.home, "PYTHON", systemPython).Replace(accesses)
	return strings.Fields(text)
}

// TestBehaviourWhyIsTrue: what psb policy why says of an access is what the box then does, also where a rule says one thing and a link or the
// protection of a file another.
func TestBehaviourWhyIsTrue(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newScene(t, who)
			s.behave(t, "verdicts")
			words := s.asked(t)
			s.give(t)
			i := s.system(t, nil)
			r := s.run(t, call{argv: slices.Concat([]string{psb(t), "--python", i.path, "--policy", ".py-sandboxes", "verdicts.py"}, words)})
			did := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
			if r.code != 0 || len(did) != len(words)/2 {
				t.Fatal(r)
			}
			seen := map[string]int{}
			for n, line := range did {
				right, path := words[2*n], words[2*n+1]
				verdict, _, _ := strings.Cut(line, " ")
				seen[verdict]++
				why := s.run(t, call{argv: []string{psb(t), "policy", "why", right, path}})
				want, code := verdict+": "+right+" ", map[string]int{"allowed": 0, "refused": 1}[verdict]
				if !strings.HasPrefix(why.out, want) || why.code != code || why.err != "" {
					t.Errorf("the box: %s\npsb policy why %s %s: %v", line, right, path, why)
				}
			}
			if seen["allowed"] < 15 || seen["refused"] < 15 {
				t.Errorf("too few of one kind prove nothing: %v", seen)
			}
		})
	}
}

// TestBehaviourWhyInside: psb asked from inside its box judges the same file in the same way, and cannot where it may not read it.
func TestBehaviourWhyInside(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		b, err := os.ReadFile(psb(t))
		must(t, err)
		must(t, writeProgram(filepath.Join(s.project, "psb"), b))
		s.put(t, "home/code/project/open/a.env", "x")
		s.put(t, "home/code/project/open/b.txt", "x")
		const program = `import subprocess, sys
r = subprocess.run(["./psb", "policy", "why", "read", sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(r.returncode, r.stdout)`
		const rules = emptyPolicy + "[files]\n\"open/\" = \"read\"\n\"**/*.env\" = \"hide\"\n\"psb\" = \"exec\"\n"
		for _, c := range []struct{ policy, path, want string }{
			{rules, "open/b.txt", "125 "}, // the policy itself is not readable without a rule, and psb does not guess
			{rules + "\".py-sandboxes\" = \"read\"\n", "open/b.txt", "0 allowed: read "},
			{rules + "\".py-sandboxes\" = \"read\"\n", "open/a.env", "1 refused: read "},
			{rules + "\".py-sandboxes\" = \"read\"\n", "../sibling/other", "1 refused: read "},
		} {
			s.put(t, "home/code/project/.py-sandboxes", c.policy)
			s.give(t)
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "-c", program, c.path}})
			if !strings.HasPrefix(r.out, c.want) || r.code != 0 {
				t.Errorf("%s, want %s: %v", c.path, c.want, r)
			}
			outside := s.run(t, call{argv: []string{psb(t), "policy", "why", "read", c.path}})
			if _, inside, _ := strings.Cut(r.out, " "); c.want != "125 " && strings.TrimSpace(inside) != strings.TrimSpace(outside.out) {
				t.Errorf("inside %q outside %q", inside, outside.out)
			}
		}
	})
}

// TestBehaviourExplainOddFolder: the plan is one line for each of its lines, whatever the folder is called.
func TestBehaviourExplainOddFolder(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		dir := filepath.Join(s.project, "two\nrun        false")
		must(t, os.Mkdir(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "rules.toml"), []byte(emptyPolicy), 0o644))
		s.give(t)
		r := s.run(t, call{argv: []string{psb(t), "explain", "--python", systemPython, "--policy", filepath.Join(dir, "rules.toml"), "-c", "pass"}, dir: dir})
		if r.code != 0 || strings.Contains(r.out, "\nrun") || !strings.Contains(r.out, `\nrun        false`) {
			t.Error(r)
		}
	})
}
