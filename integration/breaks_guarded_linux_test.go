package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ways are the two kinds of runs that let a program write: under a rule, and while learning.
var ways = []string{"enforced", "learning"}

// goes runs a program in one of the ways, with the whole project to write in.
func (s trial) goes(t *testing.T, way string, args ...string) result {
	t.Helper()
	if way == "learning" {
		return s.learns(t, args...)
	}
	s.rules(t, "\"./\" = \"write\"\n")
	return s.runs(t, args...)
}

// repository makes a repository of git's own making, whose hooks stand in tools/hooks.
func (s trial) repository(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	s.give(t)
	for _, args := range [][]string{{"init", "-q", "."}, {"config", "core.hooksPath", "tools/hooks"}, {"config", "extensions.worktreeConfig", "true"}} {
		if r := s.run(t, call{argv: append([]string{"git"}, args...)}); r.code != 0 {
			t.Fatalf("git %q: %v", args, r)
		}
	}
	must(t, os.RemoveAll(filepath.Join(s.project, ".git/hooks")))
}

// bare puts what git takes for a repository into a folder of the project.
func (s trial) bare(t *testing.T, dir string) {
	t.Helper()
	s.files(t, map[string]string{dir + "/HEAD": "ref: refs/heads/main\n", dir + "/config": "[core]\n\trepositoryformatversion = 0\n",
		dir + "/objects/kept": "", dir + "/refs/kept": ""})
}

// TestBreakGitPresent: what git runs or takes its settings from cannot be changed where it stands when the box starts.
func TestBreakGitPresent(t *testing.T) {
	besideOthers(t)
	paths := []string{".git/config", ".git/hooks/post-checkout", ".git/config.worktree", ".git/info/attributes", ".git/modules/m/config", ".git/modules/m/hooks/post-checkout",
		".git/worktrees/wt/commondir", ".git/worktrees/wt/config.worktree", "tools/hooks/pre-commit", "gd/config", "gd/hooks/post-checkout", "apart/.git",
		"real/config", "real/hooks/post-checkout", "shared/.git/commondir", "shared/.git/common/config", "shared/.git/common/hooks/post-checkout"}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				s.program(t, "change.py")
				s.repository(t)
				for _, dir := range []string{".git/modules/m", "gd", "real", "shared/.git", "shared/.git/common"} {
					s.bare(t, dir)
				}
				s.files(t, map[string]string{".git/worktrees/wt/HEAD": "ref: refs/heads/main\n", ".git/worktrees/wt/gitdir": s.project + "/wt/.git\n",
					"wt/.git": "gitdir: ../.git/worktrees/wt\n", "linked/kept": ""})
				contents := map[string]string{"apart/.git": "gitdir: ../gd\n", "shared/.git/commondir": "common\n", ".git/worktrees/wt/commondir": "../..\n"}
				for _, p := range paths {
					switch old, err := os.ReadFile(filepath.Join(s.project, p)); {
					case err == nil:
						contents[p] = string(old)
					case contents[p] == "":
						contents[p] = "# kept\n"
					}
				}
				s.files(t, contents)
				must(t, os.Symlink("../real", filepath.Join(s.project, "linked/.git")))
				s.give(t)
				r := s.goes(t, way, append([]string{"change.py", s.word}, paths...)...)
				var changed []string
				for _, p := range paths {
					if b, err := os.ReadFile(filepath.Join(s.project, p)); err != nil || string(b) != contents[p] {
						changed = append(changed, p)
					}
				}
				if to, err := os.Readlink(filepath.Join(s.project, "linked/.git")); err != nil || to != "../real" {
					changed = append(changed, "linked/.git")
				}
				if !s.boxed && !slices.Equal(changed, paths) {
					t.Fatalf("control: changed %q of %q: %v", changed, paths, r)
				}
				return strings.Join(changed, ", ")
			})
		})
	}
}

// TestBreakGitAbsent: what was not there and would be run or obeyed by git is told when the box made it.
func TestBreakGitAbsent(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct {
		name  string
		paths []string
		parts bool // whether the submodule and the work tree were there before
	}{
		{"repository", []string{".git/commondir", ".git/hooks/post-checkout", ".git/config.worktree", ".git/info/attributes", "tools/hooks/pre-commit",
			"gd/commondir", "gd/hooks/post-checkout", "real/commondir", "real/hooks/post-checkout"}, false},
		{"submodule and work tree", []string{".git/modules/m/commondir", ".git/modules/m/hooks/post-checkout", ".git/worktrees/wt/commondir", ".git/worktrees/wt/config.worktree"}, true},
		{"first submodule", []string{".git/modules/m/config"}, false},
		{"first work tree", []string{".git/worktrees/wt/commondir"}, false},
	} {
		for _, way := range ways {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				against(t, func(t *testing.T, s trial) string {
					s.program(t, "change.py")
					s.repository(t)
					must(t, os.RemoveAll(filepath.Join(s.project, ".git/info")))
					s.bare(t, "gd")
					s.bare(t, "real")
					s.files(t, map[string]string{"apart/.git": "gitdir: ../gd\n", "linked/kept": ""})
					if c.parts {
						s.bare(t, ".git/modules/m")
						s.files(t, map[string]string{".git/worktrees/wt/HEAD": "ref: refs/heads/main\n", ".git/worktrees/wt/gitdir": s.project + "/wt/.git\n",
							"wt/.git": "gitdir: ../.git/worktrees/wt\n", "m/.git": "gitdir: ../.git/modules/m\n"})
					}
					must(t, os.Symlink("../real", filepath.Join(s.project, "linked/.git")))
					s.give(t)
					r := s.goes(t, way, append([]string{"change.py", s.word}, c.paths...)...)
					var untold, made []string
					for _, p := range c.paths {
						if _, err := os.Lstat(filepath.Join(s.project, p)); err != nil {
							continue
						}
						made = append(made, p)
						if !planted(r, p) {
							untold = append(untold, p)
						}
					}
					if !s.boxed && !slices.Equal(made, c.paths) {
						t.Fatalf("control: made %q of %q: %v", made, c.paths, r)
					}
					if s.boxed && len(untold) > 0 {
						return fmt.Sprintf("untold %q\n%v", untold, r)
					}
					return strings.Join(untold, ", ")
				})
			})
		}
	}
}

// planted reports whether psb told of a path of the project, or of the folder that holds it.
func planted(r result, path string) bool {
	said, _ := psbLines(r.err)
	for _, line := range said {
		told, ok := strings.CutPrefix(line, "psb: planted: ")
		told, _, _ = strings.Cut(told, ": ")
		if told = strings.TrimSuffix(told, "/"); ok && told != ".git" && strings.Contains(told, "/") && within(path, told) {
			return true
		}
	}
	return false
}

// TestBreakStartUpLinks: a start-up file of the home that is a link is protected where it leads.
func TestBreakStartUpLinks(t *testing.T) {
	besideOthers(t)
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				dots := filepath.Join(s.project, "dots")
				if way == "enforced" {
					dots = filepath.Join(s.home, "dots")
				}
				rel, err := filepath.Rel(s.home, dots)
				must(t, err)
				links := map[string]string{".bashrc": dots + "/bashrc", ".profile": rel + "/profile", ".zshrc": "way/zshrc", "way": rel, ".vim": rel + "/vim"}
				var paths []string
				for _, name := range []string{"bashrc", "profile", "zshrc", "vim/vimrc"} {
					paths = append(paths, s.put(t, "home/"+rel+"/"+name, "# kept\n"))
				}
				for name, to := range links {
					must(t, os.Symlink(to, filepath.Join(s.home, name)))
				}
				s.program(t, "change.py")
				args := append([]string{"change.py", s.word}, paths...)
				if way == "enforced" {
					s.rules(t, fmt.Sprintf("%q = \"write\"\n", dots+"/"))
					s.runs(t, args...)
				} else {
					s.learns(t, args...)
				}
				var changed []string
				for _, name := range []string{".bashrc", ".profile", ".zshrc", ".vim/vimrc"} {
					if b, err := os.ReadFile(filepath.Join(s.home, name)); err != nil || string(b) != "# kept\n" {
						changed = append(changed, name)
					}
				}
				if !s.boxed && len(changed) != len(paths) {
					t.Fatalf("control: changed only %q", changed)
				}
				return strings.Join(changed, ", ")
			})
		})
	}
}

// TestBreakStartUpRule: a rule that names a start-up file for writing is not honoured.
func TestBreakStartUpRule(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct{ name, rule, file string }{
		{"file", ".bashrc", ".bashrc"},
		{"folder", ".vim/", ".vim/vimrc"},
		{"inside a folder", ".config/fish/config.fish", ".config/fish/config.fish"},
	} {
		t.Run(c.name, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				path := s.put(t, "home/"+c.file, "# kept\n")
				s.program(t, "change.py")
				rule := filepath.Join(s.home, c.rule)
				if strings.HasSuffix(c.rule, "/") {
					rule += "/"
				}
				if s.who.uid != 0 { // root's ~ is not the scene's home
					rule = "~/" + c.rule
				}
				s.rules(t, fmt.Sprintf("%q = \"write\"\n", rule))
				r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "change.py", s.word, path)})
				if r.code != 125 {
					s.started(t, r)
				}
				if b, err := os.ReadFile(path); err != nil || string(b) != "# kept\n" {
					return fmt.Sprintf("the start-up file, now %q (%v): %v", b, err, r)
				}
				return ""
			})
		})
	}
}

// TestBreakHideByRename: what is hidden stays hidden although the folder around it may be written: the folder cannot be moved to a name
// that nothing hides.
func TestBreakHideByRename(t *testing.T) {
	besideOthers(t)
	const moving = `import os, sys
print("started", flush=True)
above, name = sys.argv[1:]
try:
    os.rename(above, above + ".away")
    print("renamed")
except OSError as e:
    print("rename", e.errno)
for place in (above, above + ".away"):
    try:
        print(open(os.path.join(place, name)).read())
    except OSError as e:
        print(place, e.strerror)
`
	for _, c := range []struct{ name, rule, above, rest string }{
		{"file", "a/s.txt", "a", "s.txt"},
		{"file deeper", "a/b/c/s.txt", "a/b", "c/s.txt"},
		{"folder", "a/b/", "a", "b/s.txt"},
		{"pattern", "**/s.txt", "a", "s.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				s.files(t, map[string]string{"move.py": moving, c.above + "/" + c.rest: "# " + s.token + "\n"})
				s.rules(t, fmt.Sprintf("\"./\" = \"write\"\n%q = \"hide\"\n", c.rule))
				first := s.runs(t, "move.py", c.above, c.rest)
				if _, err := os.Lstat(filepath.Join(s.project, c.above, c.rest)); s.boxed && (err != nil || !strings.Contains(first.out, "rename 16\n")) {
					t.Errorf("the folder around it could be moved (%v), or not for being busy: %v", err, first)
				}
				if second := s.runs(t, "move.py", c.above, c.rest); strings.Contains(first.out+second.out, s.token) {
					return fmt.Sprintf("the hidden file: %v %v", first, second)
				}
				return ""
			})
		})
	}
}
