package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
)

// Here the half of psb outside the box is what is led astray: by links and folders the box put in the place of others, by names, by notes.

// swapping moves a folder away and puts a link to another one in its place.
const swapping = `import os, sys
print("started", flush=True)
here, there = sys.argv[1:]
try:
    os.rename(here, here + ".away")
    os.symlink(there, here)
except OSError as e:
    print(e.strerror)
`

// TestBreakPlantedCertificate: certificates that a variable names are shown, but not what a link of the box's own making leads to.
func TestBreakPlantedCertificate(t *testing.T) {
	besideOthers(t)
	const planting = `import os, sys
print("started", flush=True)
here, there = sys.argv[1:]
os.rename(here, here + ".away")
os.symlink(there, here)
`
	for _, variable := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		t.Run(variable, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				path, text := s.secret()
				here, there := filepath.Join(s.project, "ca/ca.pem"), path
				if variable == "SSL_CERT_DIR" {
					here, there = filepath.Join(s.project, "ca"), s.sibling
				}
				s.files(t, map[string]string{"show.py": showing, "plant.py": planting, "ca/ca.pem": "kept\n"})
				s.rules(t, "\"./\" = \"write\"\n")
				s.env = []string{variable + "=" + there}
				if r := s.runs(t, "show.py", path); !strings.Contains(r.out, text) {
					t.Fatalf("control: what the variable names itself is not shown: %v", r)
				}
				s.env = nil
				first := s.runs(t, "plant.py", here, there)
				if to, err := os.Readlink(here); err != nil || to != there {
					t.Fatalf("the first run planted no link (%v): %v", err, first)
				}
				s.env = []string{variable + "=" + here}
				r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "show.py", path), env: s.env})
				if said, _ := psbLines(r.err); r.code == 125 && len(said) == 1 {
					if !strings.Contains(said[0], "link") {
						t.Errorf("refused for another reason: %v", r)
					}
					return ""
				}
				if s.started(t, r); strings.Contains(r.out, text) {
					return "what the planted link names: " + r.out
				}
				return ""
			})
		})
	}
}

// TestBreakPolicyFolderSwapped: a learning run that puts a link in the place of its policy's folder has nothing written where the link leads.
func TestBreakPolicyFolderSwapped(t *testing.T) {
	besideOthers(t)
	for _, had := range []bool{false, true} { // whether the policy was there before
		t.Run(fmt.Sprintf("policy before %v", had), func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				const others = "version = 1\n[files]\n\"~/.ssh/\" = \"hide\"\n"
				other := filepath.Join(s.home, "code/other")
				policy := s.put(t, "home/code/other/.py-sandboxes", others)
				s.put(t, "home/code/other/show.py", showing)
				s.files(t, map[string]string{"sub/app.py": swapping})
				args := []string{"sub/app.py", filepath.Join(s.project, "sub"), other}
				argv := s.argv(t, []string{"--learn"}, args...)
				if had {
					s.files(t, map[string]string{"sub/.py-sandboxes": others})
					argv = s.argv(t, []string{"--learn", "--policy", "sub/.py-sandboxes"}, args...)
				}
				r := s.started(t, s.run(t, call{argv: argv}))
				to, err := os.Readlink(filepath.Join(s.project, "sub"))
				swapped := err == nil && to == other
				if !s.boxed {
					return map[bool]string{true: "the folder is another", false: ""}[swapped]
				}
				if b, err := os.ReadFile(policy); err != nil || string(b) != others {
					return fmt.Sprintf("another project's policy, now %q (%v): %v", b, err, r)
				}
				if list, err := os.ReadDir(other); err != nil || len(list) != 2 {
					return fmt.Sprintf("another project's folder, now %v (%v): %v", list, err, r)
				}
				if said, _ := psbLines(r.err); swapped && (r.code != 125 || !regexp.MustCompile(`folder|link|planted`).MatchString(strings.Join(said, "\n"))) {
					t.Errorf("psb does not say what became of the policy: %v", r)
				}
				if now := s.run(t, call{argv: s.argv(t, nil, "show.py"), dir: other}); now.code != 125 || now.out != "" {
					return fmt.Sprintf("an approval of another project's policy: %v", now)
				}
				return ""
			})
		})
	}
}

// TestBreakReportFolderSwapped: the report is not written where a link leads that the program put in the place of the report's folder.
func TestBreakReportFolderSwapped(t *testing.T) {
	besideOthers(t)
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				other := filepath.Join(s.home, "code/other")
				kept := s.put(t, "home/code/other/r.json", "kept\n")
				s.files(t, map[string]string{"swap.py": swapping, "up/d/kept": ""})
				options := []string{"--report", "up/d/r.json"}
				if way == "learning" {
					options = append(options, "--learn")
				} else {
					s.rules(t, "\"up/\" = \"write\"\n")
					options = append(options, "--policy", ".py-sandboxes")
				}
				r := s.started(t, s.run(t, call{argv: s.argv(t, options, "swap.py", filepath.Join(s.project, "up/d"), other)}))
				to, err := os.Readlink(filepath.Join(s.project, "up/d"))
				swapped := err == nil && to == other
				if !s.boxed {
					return map[bool]string{true: "the folder is another", false: ""}[swapped]
				}
				if b, err := os.ReadFile(kept); err != nil || string(b) != "kept\n" {
					return fmt.Sprintf("a file of another folder, now %.80q (%v)", b, err)
				}
				if said, _ := psbLines(r.err); swapped && !strings.Contains(strings.Join(said, "\n"), "report") {
					t.Errorf("psb does not say what became of the report: %v", r)
				}
				return ""
			})
		})
	}
}

// TestBreakNames: names that a program made up reach the terminal escaped, whatever psb has to say about them.
func TestBreakNames(t *testing.T) {
	besideOthers(t)
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				s.program(t, "names.py")
				for _, word := range []string{"a\x1b[31m", "b\u009b31m", "c\x9b31m", "d\u202egnp", "e\u2066x\u2069", "f\u200f\u061c", "g\npsb: wrote lies", "h\rpsb: lies", "i\a", "j\x7f", "k\u2028l"} {
					s.put(t, "home/.ssh/"+word, "x\n")
					s.put(t, "home/code/project/given/"+word, "x\n")
					s.bare(t, "repository "+word+"/.git") // in which hooks are made, and told
				}
				s.give(t)
				r := s.goes(t, way, "names.py", s.home)
				if s.boxed && !strings.Contains(r.err, `x1b[31m`) && !strings.Contains(r.err, `\u{1b}[31m`) {
					t.Errorf("no name was told, so nothing is proved: %v", r)
				}
				return s.raw(t, r)
			})
		})
	}
}

// raw gives the lines of psb that hold what a terminal obeys; of a control it says that such names were met.
func (s trial) raw(t *testing.T, r result) string {
	t.Helper()
	if !s.boxed {
		return "names"
	}
	said, hints := psbLines(r.err)
	var bad []string
	for _, line := range append(said, hints...) {
		if strings.ContainsFunc(line, func(c rune) bool { return c == unicode.ReplacementChar || !unicode.IsPrint(c) }) ||
			regexp.MustCompile(`^psb: (wrote )?lies`).MatchString(line) {
			bad = append(bad, fmt.Sprintf("%q", line))
		}
	}
	return strings.Join(bad, "\n")
}

// TestBreakForgedNotes: the program can say what it likes of itself as often as it likes; psb ends in time and stays short.
func TestBreakForgedNotes(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	const bound, mostLines, mostBytes = 3 * time.Minute, 60, 16 << 10
	for _, c := range []struct {
		kind, way string
		many      int // of all kinds more than psb may tell or keep; of one so many that each must cost little
	}{
		{"error", "enforced", 200_000}, {"error", "learning", 20_000}, {"env", "enforced", 3000}, {"env", "learning", 3000},
		{"set", "enforced", 3000}, {"resolve", "enforced", 3000}, {"resolve", "learning", 3000}, {"import", "enforced", 3000}, {"import", "learning", 3000},
	} {
		t.Run(c.kind+"/"+c.way, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					s := trial{scene: newScene(t, who), boxed: true}
					_, err := s.choose(t, "system", nil)
					ledger.Need(t, "python3", err)
					for i := range 1500 {
						if c.kind == "error" { // told where there is a file
							s.put(t, fmt.Sprintf("forged/forged-%d", i), "")
						}
					}
					s.program(t, "notes.py")
					if c.kind == "set" { // then a variable that is not passed on is a denial
						for i := range c.many {
							s.env = append(s.env, fmt.Sprintf("SET_%d=x", i))
						}
					}
					run := func(n int) result {
						argv := s.argv(t, []string{"--learn"}, "notes.py", fmt.Sprint(n), c.kind, s.dir+"/forged")
						if c.way == "enforced" {
							s.rules(t, "")
							argv = s.argv(t, []string{"--policy", ".py-sandboxes"}, "notes.py", fmt.Sprint(n), c.kind, s.dir+"/forged")
						}
						return s.started(t, s.run(t, call{argv: argv, env: s.env, timeout: bound}))
					}
					if heard := map[string]string{"error enforced": "forged-0", "set enforced": "SET_0", "env learning": "FORGED_0"}[c.kind+" "+c.way]; heard != "" {
						if r := run(1); !strings.Contains(r.err, heard) {
							t.Fatalf("control: a single forged note is not heard, so many prove nothing: %v", r)
						}
					}
					many := c.many
					if who.uid == 0 { // the cost is the same for everybody
						many = min(many, 20_000)
					}
					r := run(many)
					if n := strings.Count(r.err, "\n"); n > mostLines || len(r.err) > mostBytes || r.code != 0 {
						t.Errorf("%d lines, %d bytes, status %s, beginning with\n%.1000s", n, len(r.err), r.status(), r.err)
					}
				})
			}
		})
	}
}
