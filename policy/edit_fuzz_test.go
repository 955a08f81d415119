package policy

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzEditKeeps holds Edit and Remove to their word on any text: every byte outside the lines they say they changed stays, in its order; what
// the policy allowed and refused before it still allows and refuses, unless the edit asked for that; what they write parses.
func FuzzEditKeeps(f *testing.F) {
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
	f.Add([]byte(webApp), "read a\nnever env RATES_URL\nhide static/\nconnect *.example.org:443 # why")
	f.Add([]byte("[python.eval]\r\ncall = [ # a\r\n  \"b\" # b\r\n]\r\nsyntax = [\"arith\", \"!Lambda\"] # s\r\n"), "eval call:a # why\neval call:c\neval syntax:Compare\nnever eval call:b")
	f.Add([]byte("[python.eval.x]\nmagic=[\n# c\n\"__len__\",'__init__'\n] # d"), "eval x/magic:__eq__\neval magic:__len__")
	f.Add([]byte("# a\r\n\r\n[files] # b\r\n\"a\" = [ # c\r\n \"read\",\r\n] # d\r\n"), "write a\ncreate ./")
	f.Fuzz(func(t *testing.T, src []byte, adds string) {
		var rules []Rule
		for _, line := range strings.Split(adds, "\n") {
			rules = append(rules, ruleLine(line))
		}
		if len(rules) > 12 {
			return
		}
		if out, changes, err := Edit(src, rules); err == nil {
			kept(t, src, out, changes)
			judged(t, src, out, rules)
		}
		for _, r := range rules {
			if out, changes, err := Remove(src, r); err == nil {
				kept(t, src, out, changes)
				if _, err := Parse("", out); err != nil {
					t.Fatalf("without %v:\n%q\nbecame\n%q: %v", r, src, out, err)
				}
				if _, _, err := Remove(out, r); err == nil {
					t.Fatalf("%v was taken out of\n%q\nand can be taken out again of\n%q", r, src, out)
				}
			}
		}
	})
}

// kept looks for the lines of src, but for those that a change names, among the lines of out.
func kept(t *testing.T, src, out []byte, changes []Change) {
	t.Helper()
	rest := bytes.Clone(src)
	for _, c := range changes {
		if c.Old == "" {
			continue
		}
		i := -1
		for _, en := range indexTOML(rest).entries {
			if at, ok := nameLine(rest, en, c.Old); ok {
				i, rest = at, cutLine(rest, at)
				break
			}
			if strings.TrimRight(string(rest[en.start:en.end]), "\r\n") == c.Old {
				i = en.start
				rest = append(rest[:en.start:en.start], rest[en.end:]...)
				break
			}
		}
		if i < 0 {
			t.Fatalf("a change of %q, which is no line of\n%q", c.Old, src)
		}
	}
	lines := bytes.SplitAfter(out, []byte("\n"))
	for _, line := range bytes.SplitAfter(rest, []byte("\n")) {
		for {
			if len(line) == 0 {
				break
			}
			if len(lines) == 0 {
				t.Fatalf("%q is lost:\n%q\nbecame\n%q", line, src, out)
			}
			got := lines[0]
			lines = lines[1:]
			// The last line gets the newline it lacked when another one follows.
			if bytes.Equal(got, line) || !bytes.HasSuffix(line, []byte("\n")) && bytes.Equal(bytes.TrimRight(got, "\r\n"), bytes.TrimRight(line, "\r")) ||
				bytes.Equal(bytes.TrimRight(line, "\r\n"), got) && len(lines) == 0 {
				break
			}
		}
	}
}

// nameLine finds the line of a list that holds one of its names and nothing else of the file.
func nameLine(src []byte, en entry, line string) (at int, ok bool) {
	if en.end-en.start <= len(line) {
		return 0, false
	}
	for _, el := range listOf(src, en).elems {
		at = bytes.LastIndexByte(src[:el.start], '\n') + 1
		if got, _, _ := bytes.Cut(src[at:], []byte("\n")); el.line > en.line && string(bytes.TrimRight(got, "\r")) == line {
			return at, true
		}
	}
	return 0, false
}

func cutLine(src []byte, at int) []byte {
	_, below, _ := bytes.Cut(src[at:], []byte("\n"))
	return append(src[:at:at], below...)
}

// judged compares what both texts say of the objects of the old one's rules.
func judged(t *testing.T, src, out []byte, added []Rule) {
	t.Helper()
	expanded := func(text []byte) *Policy {
		p, err := Parse("", text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		q, err := p.expand(symbols(), nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return q
	}
	refuses := false
	for _, r := range added {
		refuses = refuses || r.Deny || r.Op == OpHide || r.Op == OpDeny
	}
	before, after := expanded(src), expanded(out)
	for i := range before.Rules {
		r := &before.Rules[i]
		a := Access{r.Op, symbolObject(r)}
		old, now := before.Decide(a), after.Decide(a)
		if old.Allowed && !now.Allowed && !refuses || old.Blocker != nil && now.Allowed {
			t.Fatalf("%v was %v and is %v:\n%q\nbecame\n%q", a, old.Allowed, now.Allowed, src, out)
		}
	}
}
