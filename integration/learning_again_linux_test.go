package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// eachLearner gives a scene of each person with the programs in its project and a data file.
func eachLearner(t *testing.T, programs []string, do func(t *testing.T, s scene)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			if controlOnly() {
				t.Skip("needs psb")
			}
			s.put(t, "home/code/project/data/in.csv", "1,2\n")
			for _, p := range programs {
				s.learnable(t, p)
			}
			do(t, s)
		})
	}
}

// learns is a learning run that must end with this status.
func (s scene) learns(t *testing.T, status int, args ...string) result {
	t.Helper()
	r := s.run(t, call{argv: slices.Concat([]string{psb(t), "--python", systemPython, "--learn"}, args)})
	if r.code != status {
		t.Fatalf("learn %q: %v", args, r)
	}
	return r
}

// enforced is a run under the policy that must end with this status.
func (s scene) enforced(t *testing.T, status int, args ...string) result {
	t.Helper()
	r := s.run(t, call{argv: slices.Concat([]string{psb(t), "--python", systemPython}, args)})
	if r.code != status {
		t.Fatalf("psb %q: %v", args, r)
	}
	return r
}

// rules are the lines of a policy's tables.
func rules(policy string) (list []string) {
	for line := range strings.Lines(policy) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "[") && line != "version = 1" {
			list = append(list, line)
		}
	}
	return list
}

func (s scene) holds(t *testing.T, want ...string) {
	t.Helper()
	policy, _ := s.policy(t)
	if got := rules(policy); !slices.Equal(got, want) {
		t.Errorf("the rules are\n%swant\n%s", lines(got), lines(want))
	}
}

// TestLearningRareBranch: what did not happen is not learned, its refusal is one line, and learning that run, too, adds just what it needed.
func TestLearningRareBranch(t *testing.T) {
	besideOthers(t)
	eachLearner(t, []string{"crash"}, func(t *testing.T, s scene) {
		s.learns(t, 0, "crash.py", "1")
		s.holds(t, `"./" = "list"  # import of pathlib`)
		r := s.enforced(t, 1, "crash.py", "0")
		said, hints := psbLines(r.err)
		if want := []string{"psb: denied: create crash.log (crash.py:6)"}; !slices.Equal(said, want) || !slices.Equal(hints, []string{"psb: hint: psb policy add create crash.log"}) {
			t.Errorf("psb said %q, hints %q, want %q", said, hints, want)
		}
		s.learns(t, 0, "crash.py", "0")
		s.holds(t, `"./" = ["create", "list"]  # import of pathlib`, `"crash.log" = "write"  # crash`)
		for _, arg := range []string{"0", "1", "0"} {
			if r := s.enforced(t, 0, "crash.py", arg); r.out != "done\n" || r.err != "" {
				t.Errorf("%s: %v", arg, r)
			}
		}
		policy, _ := s.policy(t)
		s.learns(t, 0, "crash.py", "1")
		if again, _ := s.policy(t); again != policy {
			t.Errorf("learning the first run again changed the policy:\n%s", again)
		}
	})
}

// TestLearningKeepsWhatStands: comments, order, odd blanks and refusals written by hand stay as they are, and no rule is learned against one.
func TestLearningKeepsWhatStands(t *testing.T) {
	besideOthers(t)
	const byHand = "# mine\nversion=1\n\n[limits]\nwall = \"60s\"   # keep\n\n[files]   # odd\n\"~/x\" = \"hide\"\n\"data/\"=\"hide\"  # never\n\n[env]\nOTHER=false\n\n[net]\n\"10.0.0.0/8:1-1024\" = \"deny\"  # keep\n"
	eachLearner(t, []string{"crash", "environment"}, func(t *testing.T, s scene) {
		s.put(t, "home/code/project/reads.py", "import os\nfor name in ('data/in.csv', 'other.csv'):\n    try:\n        print(open(name).read())\n    except OSError:\n        print('no')\nos.environ.get('OTHER')\nos.environ.get('MY_SETTING')\n")
		s.put(t, "home/code/project/other.csv", "3\n")
		s.put(t, "home/code/project/.py-sandboxes", byHand)
		s.give(t)
		if r := s.run(t, call{argv: []string{psb(t), "policy", "approve"}}); r.code != 0 {
			t.Fatal(r)
		}
		r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn", "reads.py"}, env: []string{"OTHER=1", "MY_SETTING=2"}})
		if r.code != 0 || !strings.Contains(r.err, "psb: left out: env OTHER: .py-sandboxes:12 refuses it\n") || !strings.Contains(r.err, "psb: added 2 rules to .py-sandboxes\n") {
			t.Errorf("learning: %v", r)
		}
		want := strings.Replace(strings.Replace(byHand, "OTHER=false\n", "MY_SETTING = true  # reads\nOTHER=false\n", 1),
			"\"data/\"=\"hide\"  # never\n", "\"data/\"=\"hide\"  # never\n\"other.csv\" = \"read\"  # reads\n", 1)
		if got, _ := s.policy(t); sortedText(got) != sortedText(want) || !inOrder(got, byHand) {
			t.Errorf("the policy is\n%s\nwant\n%s", got, want)
		}
		s.noTrail(t)
		before, err := os.Stat(filepath.Join(s.project, ".py-sandboxes"))
		must(t, err)
		s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--learn", "reads.py"}, env: []string{"OTHER=1", "MY_SETTING=2"}})
		after, err := os.Stat(filepath.Join(s.project, ".py-sandboxes"))
		must(t, err)
		if !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
			t.Error("learning again touched the file")
		}
	})
}

func sortedText(text string) string { return lines(sorted(text)) }

// inOrder reports whether all lines of part stand in text, in their order.
func inOrder(text, part string) bool {
	rest := strings.SplitAfter(text, "\n")
	for line := range strings.Lines(part) {
		i := slices.Index(rest, line)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// TestLearningLinkMoves: after a link was set to another target, a rule on the link follows it; one on the target, which is learned where the
// box could set the link itself, refuses the new one by its name.
func TestLearningLinkMoves(t *testing.T) {
	besideOthers(t)
	eachLearner(t, []string{"links"}, func(t *testing.T, s scene) {
		l := lesson{program: "links", files: linked}
		move := func() {
			must(t, os.Remove(filepath.Join(s.project, "current")))
			must(t, os.Symlink("rel2", filepath.Join(s.project, "current")))
			s.give(t)
		}
		l.setUp(t, s)
		s.learns(t, 0, "links.py")
		move()
		if r := s.enforced(t, 0, "links.py"); r.out != "2\n1\n" {
			t.Errorf("the rule on the link: %v", r)
		}
		l.setUp(t, s)
		must(t, os.Remove(filepath.Join(s.project, ".py-sandboxes")))
		s.learns(t, 0, "links.py", "write")
		must(t, os.Remove(filepath.Join(s.project, "out.txt")))
		if r := s.enforced(t, 0, "links.py", "write"); r.out != "1\n1\n" || r.err != "" {
			t.Errorf("the rule on the target: %v", r)
		}
		move()
		if r := s.enforced(t, 1, "links.py", "write"); !strings.Contains(r.err, "psb: denied: read ") || !strings.Contains(r.err, "rel2/c") {
			t.Errorf("the rule on the target after the link moved: %v", r)
		}
	})
}

// TestLearnedByAnother: what one person learned in one place holds for another person in another place, and names neither.
func TestLearnedByAnother(t *testing.T) {
	besideOthers(t)
	setUp := func(t *testing.T, s scene) {
		s.put(t, "home/code/project/data/in.csv", "1,2\n")
		must(t, os.MkdirAll(filepath.Join(s.home, ".cache"), 0o755))
		s.learnable(t, "per_person")
	}
	learner := people()[len(people())-1] // the ordinary one: the account's home is the scene's
	s := newScene(t, learner)
	_, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	if controlOnly() {
		t.Skip("needs psb")
	}
	setUp(t, s)
	s.put(t, "home/settings.ini", "a=1\n")
	s.give(t)
	s.learns(t, 0, "per_person.py")
	policy, _ := s.policy(t)
	for _, personal := range []string{s.dir, "/home/", "/root", "/run/", "54321", "row54321", "project"} {
		if strings.Contains(policy, personal) {
			t.Errorf("the policy names %q:\n%s", personal, policy)
		}
	}
	for _, who := range []person{{"another user", 54322, 54322}, {"root", 0, 0}} {
		t.Run(who.name, func(t *testing.T) {
			if os.Getuid() != 0 {
				ledger.Need(t, "root", os.ErrPermission)
			}
			o := newScene(t, who)
			o.project = filepath.Join(o.home, "src", "check out")
			must(t, os.MkdirAll(filepath.Join(o.project, "data"), 0o755))
			must(t, os.WriteFile(filepath.Join(o.project, "data/in.csv"), []byte("1,2\n"), 0o644))
			must(t, os.MkdirAll(filepath.Join(o.home, ".cache"), 0o755))
			o.learnable(t, "per_person")
			must(t, os.WriteFile(filepath.Join(o.project, ".py-sandboxes"), []byte(policy), 0o644))
			o.put(t, "home/settings.ini", "a=1\n")
			o.give(t)
			if r := o.run(t, call{argv: []string{psb(t), "policy", "approve"}}); r.code != 0 {
				t.Fatal(r)
			}
			// Root's home is the account's, not the scene's: there the settings are not those a rule on ~ names.
			args := []string{"per_person.py"}
			if who.uid == 0 {
				args = append(args, "without")
			}
			if r := o.enforced(t, 0, args...); r.err != "" {
				t.Errorf("under the other's policy: %v", r)
			}
		})
	}
}

// TestLearningOddFolder: whatever the project's folder is called, learning writes the same rules, and they hold.
func TestLearningOddFolder(t *testing.T) {
	besideOthers(t)
	for _, name := range []string{"two\nlines", "caf\xe9", "ca\rriage", "quo\"te", "${HOME}", "back\\slash", " blank ", "#", "\x1b[31m", "\u2028", "\u202egpj", "[g]*?"} {
		t.Run(strings.Trim(strings.ToValidUTF8(name, "byte"), " "), func(t *testing.T) {
			eachLearner(t, nil, func(t *testing.T, s scene) {
				s.project = filepath.Join(s.home, "code", name)
				must(t, os.MkdirAll(filepath.Join(s.project, "data"), 0o755))
				must(t, os.WriteFile(filepath.Join(s.project, "data/in.csv"), []byte("1,2\n"), 0o644))
				must(t, os.WriteFile(filepath.Join(s.project, "helper.py"), nil, 0o644))
				s.learnable(t, "any_folder")
				r := s.learns(t, 0, "any_folder.py")
				said, _ := psbLines(r.err)
				if i := slices.IndexFunc(said, func(l string) bool { return strings.Contains(l, "left out") }); i >= 0 {
					t.Errorf("learning left something out: %s", said[i])
				}
				policy, _ := s.policy(t)
				var keys []string
				for _, line := range rules(policy) {
					line, _, _ = strings.Cut(line, "  # ")
					keys = append(keys, line)
				}
				if want := []string{`"./" = ["create", "list"]`, `"out.txt" = "write"`, `"res/" = "write"`, `"data/in.csv" = "read"`, `"helper.py" = "read"`}; !slices.Equal(keys, want) {
					t.Fatalf("the rules are\n%s", lines(keys))
				}
				for range 2 {
					if r := s.enforced(t, 0, "any_folder.py"); r.out != "1,2\n" || r.err != "" {
						t.Errorf("enforced: %v", r)
					}
				}
				s.learns(t, 0, "any_folder.py")
				if again, _ := s.policy(t); again != policy {
					t.Errorf("learning again changed the policy:\n%s", again)
				}
			})
		})
	}
}
