package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// pinned are the entries of notclaimed.toml.
var pinned = []string{
	"create/deeper landlock",
	"create/exchange landlock",
	"create/overwrite landlock",
	"create/remove landlock",
	"create/replace landlock",
	"devices/present landlock",
	"files/link-text landlock",
	"files/metadata-outside landlock",
	"files/size landlock",
	"forks landlock",
	"git/attributes landlock",
	"git/deep landlock",
	"git/exchange landlock",
	"git/hook landlock",
	"git/hooks-path landlock",
	"git/move landlock",
	"git/new-hook landlock",
	"git/pointer landlock",
	"git/settings landlock",
	"git/submodule landlock",
	"git/work-tree-settings landlock",
	"hidden/descriptors landlock",
	"hidden/direct landlock",
	"hidden/link landlock",
	"hidden/move landlock",
	"hidden/other-name",
	"hidden/pattern landlock",
	"hidden/size landlock",
	"hidden/spelling landlock",
	"hidden/unmount landlock",
	"launcher/approvals landlock",
	"launcher/configuration landlock",
	"launcher/filters landlock",
	"policy landlock",
	"policy/append landlock",
	"policy/exchange landlock",
	"policy/hard-link landlock",
	"policy/include landlock",
	"policy/link landlock",
	"policy/mapped landlock",
	"policy/metadata landlock",
	"policy/nameless landlock",
	"policy/reopen landlock",
	"proc/sockets landlock",
	"processes landlock",
	"readonly/attributes landlock",
	"readonly/folder-descriptor landlock",
	"readonly/mode landlock",
	"readonly/owner landlock",
	"readonly/times landlock",
	"resources/threads landlock",
	"startup/commands landlock",
	"startup/configuration landlock",
	"startup/new-names landlock",
	"venv/customize landlock",
	"venv/path-file landlock",
	"venv/python landlock",
	"venv/scripts landlock",
	"venv/settings landlock",
}

// fewestAttacks is how many programs try the claims.
const fewestAttacks = 100

// notClaimed is notclaimed.toml: what the attacks reach without psb being wrong.
type notClaimed struct {
	Entry []notClaimedEntry
}

type notClaimedEntry struct {
	Attack   string
	Provider string // "landlock", or "" for every provider
	Reason   string
	Limits   string // words that stand in docs/limits.md
}

func (e notClaimedEntry) String() string { return strings.TrimSpace(e.Attack + " " + e.Provider) }

func (n notClaimed) covers(attack string, v variant) bool {
	return slices.ContainsFunc(n.Entry, func(e notClaimedEntry) bool {
		return e.Attack == attack && (e.Provider == "" || e.Provider == "landlock" && v.lite)
	})
}

func readNotClaimed(t *testing.T) (n notClaimed) {
	t.Helper()
	meta, err := toml.DecodeFile("notclaimed.toml", &n)
	must(t, err)
	if extra := meta.Undecoded(); len(extra) > 0 {
		t.Errorf("notclaimed.toml: unknown keys %v", extra)
	}
	return n
}

// claim is a heading of docs/threat-model.md below "How a claim is tried", with what proves it.
type claim struct {
	name           string
	attacks, tests []string
}

// page gives a page of docs as one line of text.
func page(t *testing.T, name string) string {
	t.Helper()
	root, err := moduleRoot()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(root, "docs", name))
	must(t, err)
	return string(b)
}

// threatModel reads the claims. "attacks:" and "test:" begin a list that ends with the paragraph or with the next "control:".
func threatModel(t *testing.T) (claims []claim) {
	t.Helper()
	_, text, ok := strings.Cut(page(t, "threat-model.md"), "\n## How a claim is tried\n")
	if !ok {
		t.Fatal("threat-model.md has no part that says how a claim is tried")
	}
	proof := regexp.MustCompile(`(?ms)^(attacks|test): (.*?)(?:^control:|\n\n|\z)`)
	for _, part := range strings.Split(text, "\n## ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		c := claim{name: name}
		for _, m := range proof.FindAllStringSubmatch(body+"\n\n", -1) {
			list, _, _ := strings.Cut(m[2], "control: ")
			list, _, _ = strings.Cut(list, ". as:")
			if m[1] == "attacks" {
				c.attacks = append(c.attacks, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })...)
			} else {
				c.tests = append(c.tests, regexp.MustCompile(`\b(?:Test\w+|[a-z]+(?:_[a-z]+)+)\b`).FindAllString(regexp.MustCompile(`\S+\.go\b`).ReplaceAllString(list, ""), -1)...)
			}
		}
		claims = append(claims, c)
	}
	return claims
}

// TestClaimsHaveAttacks: the threat model and the attacks say the same. No claim without an attack or a test, no attack without a claim.
func TestClaimsHaveAttacks(t *testing.T) {
	besideOthers(t)
	rows := map[string]string{}
	twin := map[string]bool{} // the claims that an attack in both languages tries
	for _, a := range attacks() {
		twin[a.claim] = twin[a.claim] || len(a.languages()) == 2
		if _, twice := rows[a.name]; twice {
			t.Errorf("two attacks are named %s", a.name)
		}
		rows[a.name] = a.claim
	}
	tests, scripts := proofs(t)
	inPage := map[string]string{}
	for _, c := range threatModel(t) {
		if len(c.attacks)+len(c.tests) == 0 {
			t.Errorf("threat-model.md: %s names no attack and no test", c.name)
		}
		if len(c.attacks) > 0 && !twin[c.name] {
			t.Errorf("threat-model.md: no attack of %s is there both in Python and in C", c.name)
		}
		for _, a := range c.attacks {
			if other, twice := inPage[a]; twice {
				t.Errorf("threat-model.md: the attack %s stands under %s and %s", a, other, c.name)
			}
			inPage[a] = c.name
			if rows[a] != c.name {
				t.Errorf("threat-model.md: %s names the attack %s, whose row names the claim %q", c.name, a, rows[a])
			}
		}
		for _, name := range c.tests {
			if !slices.Contains(tests, name) && !slices.Contains(scripts, name) {
				t.Errorf("threat-model.md: %s names %s, which is no test and no script", c.name, name)
			}
		}
	}
	bounds := readNotClaimed(t)
	for name, claim := range rows {
		if claim == "" {
			if !bounds.covers(name, variant{}) {
				t.Errorf("the attack %s has no claim, and notclaimed.toml does not name it for every provider", name)
			}
		} else if inPage[name] != claim {
			t.Errorf("the attack %s stands for the claim %s, and threat-model.md does not name it there", name, claim)
		}
	}
}

// TestAttackFilesHaveRows: each program below testdata/attack is run by a row, or by the test of a break; each row has a program.
func TestAttackFilesHaveRows(t *testing.T) {
	rows := map[string]bool{}
	for _, a := range attacks() {
		rows[a.name] = true
		if len(a.languages()) == 0 {
			t.Errorf("the attack %s has no program", a.name)
		}
	}
	if len(rows) < fewestAttacks {
		t.Errorf("%d attack programs, at least %d are wanted", len(rows), fewestAttacks)
	}
	var breaks strings.Builder
	files, err := filepath.Glob("breaks_*_test.go")
	must(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		breaks.Write(b)
	}
	for _, f := range regular(t, "testdata/attack") {
		rel, err := filepath.Rel("testdata/attack", f)
		must(t, err)
		stem, lang, _ := strings.Cut(rel, ".")
		switch {
		case rel == "attack.h", (lang == "py" || lang == "c") && rows[stem]:
		case strings.Contains(breaks.String(), `"`+rel+`"`), strings.Contains(breaks.String(), "/"+rel+`"`):
		default:
			t.Errorf("testdata/attack/%s: no row and no break runs it", rel)
		}
	}
}

// TestNotClaimed: what is not claimed is a short list with reasons that the user can read, and no claim is in it.
func TestNotClaimed(t *testing.T) {
	claimed := map[string]string{}
	for _, c := range threatModel(t) {
		for _, a := range c.attacks {
			claimed[a] = c.name
		}
	}
	known := map[string]bool{}
	for _, a := range attacks() {
		known[a.name] = true
	}
	limits := strings.Join(strings.Fields(page(t, "limits.md")), " ")
	var names []string
	for _, e := range readNotClaimed(t).Entry {
		names = append(names, e.String())
		if !known[e.Attack] {
			t.Errorf("%s: there is no such attack", e)
		}
		if e.Provider != "" && e.Provider != "landlock" {
			t.Errorf("%s: the provider is landlock, or left out", e)
		}
		if e.Provider == "" && claimed[e.Attack] != "" {
			t.Errorf("%s: threat-model.md claims it under %s", e, claimed[e.Attack])
		}
		if e.Reason == "" || len(strings.Fields(e.Limits)) < 3 || !strings.Contains(limits, e.Limits) {
			t.Errorf("%s: it needs a reason and some words that stand in limits.md, has %q and %q", e, e.Reason, e.Limits)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, slices.Sorted(slices.Values(pinned))) {
		t.Errorf("notclaimed.toml holds\n%q, pinned are\n%q: change both only after a review", names, slices.Sorted(slices.Values(pinned)))
	}
}
