package policy

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the goldens anew")

// visible lets goldens show what an editor would hide: ^ a carriage return, % a missing final newline, @ a byte order
// mark.
var (
	toBytes = strings.NewReplacer("^\n", "\r\n", "%\n", "", "@#", "\ufeff#")
	toText  = strings.NewReplacer("\r\n", "^\n", "\ufeff", "@")
)

func golden(b []byte) string {
	s := toText.Replace(string(b))
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "%\n"
	}
	return s
}

// ruleLine reads "[never] OP OBJECT [< FROM] [# why]".
func ruleLine(line string) Rule {
	line, why, _ := strings.Cut(line, " # ")
	line, from, _ := strings.Cut(line, " < ")
	line, never := strings.CutPrefix(line, "never ")
	op, text, _ := strings.Cut(line, " ")
	return Rule{Op: Op(op), Pattern: Pattern{Text: text, Tree: strings.HasSuffix(text, "/"), From: from}, Deny: never, Why: why}
}

func TestEdit(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string]string{}
			for _, f := range ar.Files {
				part[f.Name] = string(f.Data)
			}
			before := []byte(toBytes.Replace(part["before"]))
			var (
				after   []byte
				changes []Change
				editErr error
				rules   []Rule
			)
			if adds, ok := part["add"]; ok {
				for _, line := range strings.Split(strings.TrimSpace(adds), "\n") {
					rules = append(rules, ruleLine(line))
				}
				after, changes, editErr = Edit(before, rules)
			} else {
				after = before
				var errs []error
				for _, line := range strings.Split(strings.TrimSpace(part["remove"]), "\n") {
					var (
						cs  []Change
						err error
					)
					after, cs, err = Remove(after, ruleLine(line))
					changes, errs = append(changes, cs...), append(errs, err)
				}
				editErr = errors.Join(errs...)
			}
			got := map[string]string{}
			if editErr != nil {
				got["error"] = editErr.Error() + "\n"
				if !bytes.Equal(after, before) || len(changes) > 0 {
					t.Error("an error, and yet the text was changed")
				}
			} else {
				got["after"] = golden(after)
				for _, c := range changes {
					got["changes"] += fmt.Sprintf("%d: %s: %s => %s\n", c.Line, c.Rule, c.Old, c.New)
				}
				if rules != nil {
					checkEdit(t, before, after, rules, changes)
				}
			}
			if *update {
				for i, f := range ar.Files {
					if f.Name == "after" || f.Name == "error" || f.Name == "changes" {
						ar.Files[i].Data = []byte(got[f.Name])
					}
				}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, name := range []string{"after", "error", "changes"} {
				if got[name] != part[name] {
					t.Errorf("%s:\n%s\nwant:\n%s", name, got[name], part[name])
				}
			}
		})
	}
}

// checkEdit holds the properties of every edit that succeeds.
func checkEdit(t *testing.T, before, after []byte, rules []Rule, changes []Change) {
	t.Helper()
	again, cs, err := Edit(after, rules)
	if err != nil || !bytes.Equal(again, after) || len(cs) > 0 {
		t.Errorf("a second edit: %v, changes %v, text\n%s\nfirst\n%s", err, cs, again, after)
	}
	if len(changes) == 0 && !bytes.Equal(before, after) {
		t.Error("no change told, and yet the text differs")
	}
	lines := strings.Split(string(after), "\n")
	for _, c := range changes {
		if c.Line < 1 || c.Line > len(lines) || c.New != "" && !strings.Contains(string(after), c.New) {
			t.Errorf("change %+v is not in the text", c)
		} else if first, _, _ := strings.Cut(c.New, "\n"); strings.TrimRight(lines[c.Line-1], "\r") != strings.TrimRight(first, "\r") && strings.TrimPrefix(lines[c.Line-1], "\ufeff") != first {
			t.Errorf("change of line %d: the line is %q, the change says %q", c.Line, lines[c.Line-1], first)
		}
	}
	rest := string(after)
	for _, line := range strings.SplitAfter(string(before), "\n") { // every old line still there, in order, but for changed ones
		if strings.TrimSpace(line) == "" {
			continue
		}
		changed := false
		for _, c := range changes {
			changed = changed || c.Old != "" && strings.Contains(c.Old, strings.TrimRight(line, "\r\n"))
		}
		i := strings.Index(rest, strings.TrimRight(line, "\n"))
		if i < 0 && !changed {
			t.Errorf("line %q was lost or moved", line)
		} else if i >= 0 && !changed {
			rest = rest[i:]
		}
	}
	m := Macros{Project: "/p", Home: "/home/u", Cache: "/c", Getenv: func(string) (string, bool) { return "/v/w", true }}
	p, err := Parse("", after)
	if err != nil {
		t.Fatalf("the result does not parse: %v\n%s", err, after)
	}
	if p, err = p.Expand(m); err != nil {
		return
	}
	for _, r := range rules {
		one := &Policy{Rules: []Rule{r}}
		if one, err = one.Expand(m); err != nil {
			continue
		}
		object := symbolObject(&one.Rules[0])
		v := p.Decide(Access{r.Op, object})
		if _, ok := ask(Access{r.Op, object}); !ok {
			continue // a network or a range: nothing one can ask for
		}
		if r.Deny && r.Op != OpHide && r.Op != OpDeny && v.Blocker == nil || (!r.Deny || r.Op == OpHide || r.Op == OpDeny) && !v.Allowed {
			t.Errorf("%s is not there after the edit:\n%s%+v", r, after, v)
		}
	}
}

func TestEditValue(t *testing.T) {
	v := "a \"b\"\n${X}"
	out, _, err := Edit([]byte("[env]\nA = true\n"), []Rule{{Op: OpEnv, Pattern: Pattern{Text: "A"}, Value: &v}, {Op: OpEnv, Pattern: Pattern{Text: "B"}, Value: &v}})
	if want := "[env]\nA = \"a \\\"b\\\"\\n${X}\"\nB = \"a \\\"b\\\"\\n${X}\"\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
	if again, cs, _ := Edit(out, []Rule{{Op: OpEnv, Pattern: Pattern{Text: "A"}, Value: &v}}); string(again) != string(out) || cs != nil {
		t.Errorf("%s %v", again, cs)
	}
	if _, _, err := Edit(nil, []Rule{{Op: OpRead, Pattern: Pattern{Text: "a\xff"}}}); err == nil || err.Error() != `"a\xff" is not UTF-8 and cannot be ruled by name; rule its folder` {
		t.Error(err)
	}
	if _, _, err := Edit(nil, []Rule{{Op: OpSyscall, Pattern: Pattern{Text: "base"}}}); err == nil || err.Error() != "base is no system call" {
		t.Error(err)
	}
}

func TestEditComment(t *testing.T) {
	out, _, err := Edit(nil, []Rule{{Op: OpRead, Pattern: Pattern{Text: "a\u202eb"}, Why: "x\n\"y\" = \"write\"\u202e \x1b[2J\xff"}})
	if want := "[files]  # read, write (also reads), exec, hide: name/ is everything below; create, list: that folder only\n\"a\\u202Eb\" = \"read\"  # x \"y\" = \"write\"\\u202e \\u001b[2J\uFFFD\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%q\n%q", err, out, want)
	}
	if p := mustParse(t, string(out)); len(p.Rules) != 1 || p.Rules[0].Pattern.Text != "a\u202eb" {
		t.Error(ruleLines(p))
	}
}

func TestEditOrderDoesNotMatter(t *testing.T) {
	rules := []Rule{ruleLine("read b"), ruleLine("read a"), ruleLine("env X"), ruleLine("exec t"), ruleLine("write a"), ruleLine("create d/"), ruleLine("list d/")}
	first, _, err := Edit(nil, rules)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		turned := append(append([]Rule{}, rules[i:]...), rules[:i]...)
		if got, _, _ := Edit(nil, turned); !bytes.Equal(got, first) {
			t.Errorf("another order gives\n%s\nnot\n%s", got, first)
		}
	}
}

func TestNew(t *testing.T) {
	if got := string(New("app.py")); got != webApp[:strings.Index(webApp, "\n[env]")] {
		t.Errorf("%q", got)
	}
	mustParse(t, string(New("a\nb = 1\r\x00")))
}

func FuzzEdit(f *testing.F) {
	files, _ := filepath.Glob("testdata/edit/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		part := map[string]string{}
		for _, a := range ar.Files {
			part[a.Name] = string(a.Data)
		}
		f.Add([]byte(toBytes.Replace(part["before"])), part["add"])
	}
	f.Add([]byte(webApp), "read a\nwrite a\nexec a\nhide b")
	f.Fuzz(func(t *testing.T, src []byte, adds string) {
		var rules []Rule
		for _, line := range strings.Split(adds, "\n") {
			rules = append(rules, ruleLine(line))
		}
		if len(rules) > 20 {
			return
		}
		out, changes, err := Edit(src, rules)
		if err != nil {
			if !bytes.Equal(out, src) || strings.Contains(err.Error(), "BUG") {
				t.Fatalf("%v\n%q", err, out)
			}
			return
		}
		again, cs, err := Edit(out, rules)
		if err != nil || !bytes.Equal(again, out) || len(cs) > 0 {
			t.Fatalf("a second edit: %v\n%q\n%q", err, out, again)
		}
		if len(changes) == 0 && !bytes.Equal(out, src) {
			t.Fatalf("no change told: %q %q", src, out)
		}
	})
}
