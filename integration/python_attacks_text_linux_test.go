package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Attacks by evaluated text: each must be refused, with the exact exception and the rule, by the program's own eval and exec, by guarded_eval
// in a child and in the process; and the same text must succeed without psb.

// textAttack is one file of testdata/python_attacks/text: several texts that try the same. Its head says what must become of them:
//
//	#: MODE PROFILE ENDS KEYS [3.N]   eval or exec; the profile, - for the program's own; one letter a text; what the refusal names; since
type textAttack struct {
	name, mode, profile string
	ends                string // s: EvalSyntaxRejected, p: RuleEvalPermissionError, i: EvalInterrupted, f: nothing of what plain Python tells
	keys                []string
	since               int // minor version
	endless             bool
}

var textEnds = map[byte]string{'s': "EvalSyntaxRejected", 'p': "RuleEvalPermissionError", 'i': "EvalInterrupted"}

// deepTexts are too long to be written down; text_host.py makes them. Plain Python takes some, and dies of others.
var deepTexts = []textAttack{
	{name: "deep_brackets", mode: "eval", ends: "sssss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
	{name: "long_chains", mode: "eval", ends: "sssssssss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
	{name: "unary_towers", mode: "eval", ends: "ssss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
	{name: "nested_lambdas", mode: "eval", ends: "sss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
	{name: "many_nodes", mode: "eval", ends: "sss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
	{name: "long_texts", mode: "eval", ends: "ss", keys: []string{"max_nodes", "long", "too"}},
	{name: "deep_statements", mode: "exec", ends: "ssss", keys: []string{"max_depth", "max_nodes", "nested", "too"}},
}

func textAttacks(t *testing.T) (rows []textAttack) {
	t.Helper()
	for _, path := range regular(t, pythonAttackPrograms+"text") {
		b, err := os.ReadFile(path)
		must(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".py")
		m := regexp.MustCompile(`(?m)^#: (\w+) (\S+) (\w+) (\S+)(?: 3\.(\d+))?$`).FindStringSubmatch(string(b))
		if m == nil || strings.Count(string(b), "\n#--\n")+1 != len(m[3]) {
			t.Fatalf("%s: no head, or not as many ends as texts", path)
		}
		since, _ := strconv.Atoi(m[5])
		rows = append(rows, textAttack{name, m[1], strings.Trim(m[2], "-"), m[3], strings.Split(m[4], "|"), since, strings.Contains(m[3], "i")})
	}
	return rows
}

// What the profiles of these attacks grant: as much as can be granted without the thing that is attacked.
const (
	textSyntax = `syntax = ["arith", "compare", "conditional", "loop", "comprehension", "assign", "func", "async", "class", "exception", "context", "import",
  "subscript", "fstring", "yield", "Assert", "Delete", "Global", "Nonlocal", "Match", "match_case", "MatchValue", "MatchSingleton", "MatchSequence",
  "MatchMapping", "MatchClass", "MatchStar", "MatchAs", "MatchOr"]
`
	textCalls    = `"*", "getattr", "hasattr", "vars", "dir", "type", "object", "super", "print", "property", "classmethod", "staticmethod"`
	textImports  = "import = [\"*\", \"typing\", \"contextlib\"]\n"
	textAnything = "attribute = [\"*\", \"format\", \"format_map\"]\n"
	textMethods  = `magic = ["__init__", "__enter__", "__exit__", "__eq__", "__hash__", "__str__", "__repr__", "__contains__", "__bool__", "__len__", "__iter__",
  "__next__", "__add__", "__call__", "__name__"]
`
)

var textProfiles = map[string]string{
	"wide":    textSyntax + "call = [" + textCalls + "]\n" + textAnything + textImports + "timeout = \"5s\"\n",
	"never":   textSyntax + "call = [" + textCalls + "]\n" + textAnything + textImports + "magic = [\"*\"]\n",
	"classes": textSyntax + "call = [" + textCalls + "]\n" + textAnything + textImports + textMethods + "timeout = \"500ms\"\n",
	"dynamic": textSyntax + "call = [" + textCalls + ", \"eval\", \"exec\"]\n" + textAnything + textImports,
	"bounded": textSyntax + "call = [" + textCalls + "]\n" + textAnything + textImports + "timeout = \"500ms\"\n",
	"": textSyntax + "call = [" + textCalls + "]\n" + textImports +
		"attribute = [\"str-methods\", \"list-methods\", \"dict-methods\", \"set-methods\", \"tuple-methods\", \"num-methods\", \"bytes-methods\"]\n",
}

// textPolicy is the policy of a run: one profile as the program's own, all of them by name.
func textPolicy(own string) string {
	var b strings.Builder
	b.WriteString("version = 1\n[files]\n\"text/\" = \"read\"\n[limits]\ncpu_time = \"60s\"\n[python.eval]\n" + textProfiles[own])
	for _, name := range slices.Sorted(maps.Keys(textProfiles)) {
		if name != "" {
			fmt.Fprintf(&b, "[python.eval.%s]\n%s", name, textProfiles[name])
		}
	}
	return b.String()
}

// textEnd is what became of one text.
type textEnd struct {
	Name   string
	Text   string
	Number int
	End    any
	Class  string
	Key    string
	Hint   string
	Reason string
	True   bool
	Next   any
	Names  []string

	Violations                        [][]any
	Files, Children, Running, Threads int

	printed, told string
}

// ends runs texts in one of text_host.py's ways. Where a text ends the host itself, that is its end, and a new host goes on behind it.
func (s scene) ends(t *testing.T, python interpreter, way, own string, rows []textAttack) (all []textEnd) {
	t.Helper()
	b, err := os.ReadFile(pythonAttackPrograms + "text_host.py")
	must(t, err)
	s.put(t, "home/code/project/text_host.py", string(b))
	copyTree(t, pythonAttackPrograms+"text", s.project+"/text")
	s.put(t, "home/code/project/.py-sandboxes", textPolicy(own))
	s.give(t)
	argv := []string{python.path}
	if way != "plain" && way != "bounded" {
		argv = []string{psb(t), "--policy", ".py-sandboxes", "--python", python.path}
	}
	argv = append(argv, "text_host.py", way, s.outside())
	var words []string
	for _, a := range rows {
		profile := a.profile
		if way == "own" {
			profile = ""
		}
		words = append(words, a.mode+":"+profile+":"+a.name)
	}
	for first := 0; len(words) > 0; {
		words[0] += ":" + strconv.Itoa(first)
		r := s.run(t, call{argv: slices.Concat(argv, words), env: []string{"XDG_STATE_HOME=" + state(t, s.who)}, timeout: 10 * time.Minute})
		if strings.Contains(r.out+r.err, "# "+s.token) && way != "plain" {
			t.Error("a text read the file outside")
		}
		some := textEndsOf(t, r.out)
		all = append(all, some...)
		if strings.HasPrefix(r.out, "started\n") && strings.HasSuffix(r.out, "\ndone\n") {
			return all
		}
		if len(some) == 0 {
			t.Fatalf("the host does not begin: %v", r)
		}
		last := &all[len(all)-1]
		last.End, last.told = "the host ended: "+r.status(), r.err
		for !strings.HasSuffix(strings.TrimSuffix(words[0], ":"+strconv.Itoa(first)), ":"+last.Name) {
			words, first = words[1:], 0
		}
		words[0] = strings.TrimSuffix(words[0], ":"+strconv.Itoa(first))
		if first = last.Number + 1; first == len(rows[len(rows)-len(words)].ends) {
			words, first = words[1:], 0
		}
	}
	return all
}

// textEndsOf reads what the host told.
func textEndsOf(t *testing.T, out string) (all []textEnd) {
	t.Helper()
	for _, part := range strings.Split(out, "\x1e")[1:] {
		line, printed, _ := strings.Cut(part, "\n")
		var e textEnd
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Name != "" {
			e.printed = printed
			all = append(all, e)
			continue
		}
		last := &all[len(all)-1]
		e.Name, e.Text, e.Number, e.printed, e.told = last.Name, last.Text, last.Number, last.printed, line
		*last = e
	}
	return all
}

// refused says what is wrong with the end of a text; "" where it is the refusal it must be.
func (a textAttack) refused(e textEnd) string {
	want := textEnds[a.ends[e.Number]]
	if want == "" {
		if e.End != "value" || e.True || strings.Contains(e.printed, "reached") {
			return fmt.Sprintf("it was told: %v", e.End)
		}
		return ""
	}
	switch named := strings.ToLower(fmt.Sprint(e.Key, " ", e.Reason, " ", e.Hint, " ", e.Violations, " ", e.told)); {
	case e.Class != want:
		return fmt.Sprintf("ended with %v %s, want %s", e.End, e.Class, want)
	case strings.Contains(e.printed, "reached"):
		return "it printed " + e.printed
	case want == "EvalInterrupted" && !slices.Contains(a.keys, e.Reason):
		return fmt.Sprintf("the limit was %q, want one of %q", e.Reason, a.keys)
	case want != "EvalInterrupted" && !strings.Contains(named, "never granted") && !slices.ContainsFunc(a.keys, func(k string) bool { return strings.Contains(named, k) }):
		return fmt.Sprintf("the refusal names none of %q", a.keys)
	case want == "EvalSyntaxRejected" && len(e.Violations) == 0:
		return "no violation is told"
	case fmt.Sprint(e.Next) != "2":
		return fmt.Sprintf("the next evaluation gave %v", e.Next)
	}
	return ""
}

// endingTexts are those for this version that end by themselves, or, endless, those that do not.
func endingTexts(rows []textAttack, python interpreter, endless bool) []textAttack {
	return slices.DeleteFunc(slices.Clone(rows), func(a textAttack) bool { return a.endless != endless || a.since > python.minor })
}

// TestPythonTexts: refused, each with its exception and its rule, whoever evaluates it.
func TestPythonTexts(t *testing.T) {
	besideOthers(t)
	textCampaign(t, func(t *testing.T, who person, python interpreter) {
		rows := endingTexts(textAttacks(t), python, false)
		if !t.Run("control", func(t *testing.T) {
			for _, e := range newScene(t, who).ends(t, python, "plain", "", rows) {
				if e.End != "value" || !e.True && !strings.Contains(e.printed, "reached") {
					t.Errorf("control: without psb %s %d reaches nothing, so it proves nothing: %s\n%s", e.Name, e.Number, e.Text, e.told)
				}
			}
		}) || controlOnly() {
			return
		}
		eachWay(t, who, python, rows)
	})
}

// TestPythonDeepTexts: text too deep, long or wide for the parser is refused before it is parsed, and the host lives.
func TestPythonDeepTexts(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("plain Python takes or leaves these as it likes")
	}
	textCampaign(t, func(t *testing.T, who person, python interpreter) { eachWay(t, who, python, deepTexts) })
}

// textCampaign goes through persons and interpreters.
func textCampaign(t *testing.T, try func(t *testing.T, who person, python interpreter)) {
	for _, who := range people() {
		s := newScene(t, who)
		which := "any"
		if !once() {
			which = "each"
		}
		pythons, err := s.choose(t, which, nil)
		ledger.Need(t, "python3", err)
		for _, python := range pythons {
			t.Run(who.name+"/"+python.version(), func(t *testing.T) {
				t.Parallel()
				if err := s.reaches(t, python, nil); err != nil {
					t.Skip(err)
				}
				try(t, who, python)
			})
		}
	}
}

// goesWay: without PSB_ROWS=all the one person goes in a child, the other in the process.
func goesWay(who person, way string) bool {
	return !once() || len(people()) == 1 || (who.uid == 0) == (way == "child")
}

// eachWay evaluates the texts in the three guarded ways.
func eachWay(t *testing.T, who person, python interpreter, rows []textAttack) {
	byName := map[string]textAttack{}
	profiles := map[string][]textAttack{}
	for _, a := range rows {
		byName[a.name] = a
		profiles[a.profile] = append(profiles[a.profile], a)
	}
	judge := func(t *testing.T, ends []textEnd) {
		for _, e := range ends {
			t.Run(fmt.Sprintf("%s/%d", e.Name, e.Number), func(t *testing.T) {
				if wrong := byName[e.Name].refused(e); wrong != "" {
					t.Errorf("%s\n%s\n%s", wrong, e.Text, e.told)
				}
			})
		}
	}
	for _, way := range []string{"child", "process"} {
		if !goesWay(who, way) {
			continue
		}
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			judge(t, newScene(t, who).ends(t, python, way, "", rows))
		})
	}
	if !goesWay(who, "own") {
		return
	}
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		for _, profile := range slices.Sorted(maps.Keys(profiles)) {
			judge(t, newScene(t, who).ends(t, python, "own", profile, profiles[profile]))
		}
	})
}
