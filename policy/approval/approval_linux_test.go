package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"psb/policy"
)

func src(parts ...string) []policy.Source {
	var s []policy.Source
	for i := 0; i < len(parts); i += 2 {
		s = append(s, policy.Source{Name: "shown", Path: parts[i], Bytes: []byte(parts[i+1])})
	}
	return s
}

func state(t *testing.T, s Store, path string, sources []policy.Source) string {
	t.Helper()
	st, last, err := s.Check(path, sources)
	if err != nil {
		return "error: " + err.Error()
	}
	text := st.String()
	for _, l := range last {
		text += "|" + l.Path + "=" + string(l.Bytes)
	}
	return text
}

func TestApproval(t *testing.T) {
	config := filepath.Join(t.TempDir(), "new", "config")
	s := At(config)
	one := src("/p/.py-sandboxes", "version = 1\n", "/p/team", "x")
	if got := state(t, s, "/p/.py-sandboxes", one); got != "never approved" {
		t.Error(got)
	}
	if got := state(t, s, "/p/.py-sandboxes", nil); got != "never approved" {
		t.Error(got)
	}
	if err := s.Approve("/p/.py-sandboxes", one); err != nil {
		t.Fatal(err)
	}
	const kept = "|/p/.py-sandboxes=version = 1\n|/p/team=x"
	for name, c := range map[string]struct {
		path    string
		sources []policy.Source
		want    string
	}{
		"same":           {"/p/.py-sandboxes", one, "approved" + kept},
		"text":           {"/p/.py-sandboxes", src("/p/.py-sandboxes", "version = 1\n\n", "/p/team", "x"), "changed since approval" + kept},
		"include":        {"/p/.py-sandboxes", src("/p/.py-sandboxes", "version = 1\n", "/p/team", "y"), "changed since approval" + kept},
		"include gone":   {"/p/.py-sandboxes", src("/p/.py-sandboxes", "version = 1\n"), "changed since approval" + kept},
		"order":          {"/p/.py-sandboxes", src("/p/team", "x", "/p/.py-sandboxes", "version = 1\n"), "changed since approval" + kept},
		"bytes moved":    {"/p/.py-sandboxes", src("/p/.py-sandboxes", "version = 1\n/p/team", "", "x"), "changed since approval" + kept},
		"file gone":      {"/p/.py-sandboxes", nil, "gone since approval" + kept},
		"another folder": {"/q/.py-sandboxes", one, "never approved"},
		"relative":       {"p", one, `error: approval: "p" is no absolute clean path`},
	} {
		if got := state(t, s, c.path, c.sources); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	var found []string
	filepath.Walk(config, func(name string, st os.FileInfo, err error) error {
		found = append(found, fmt.Sprintf("%o", st.Mode().Perm()))
		return err
	})
	if got := strings.Join(found, " "); got != "700 700 700 600" {
		t.Errorf("modes, and nothing else there: %s", got)
	}
	if err := s.Approve("/p/.py-sandboxes", src("/p/.py-sandboxes", "two")); err != nil {
		t.Fatal(err)
	}
	if got := state(t, s, "/p/.py-sandboxes", one); got != "changed since approval|/p/.py-sandboxes=two" {
		t.Error(got)
	}
	if err := s.Forget("/p/.py-sandboxes"); err != nil {
		t.Error(err)
	}
	if err := s.Forget("/p/.py-sandboxes"); err != nil {
		t.Error(err)
	}
	if got := state(t, s, "/p/.py-sandboxes", nil); got != "never approved" {
		t.Error(got)
	}
	if err := s.Approve("/p/x", nil); err == nil {
		t.Error("nothing was approved")
	}
	if err := At("").Approve("/p/x", one); err == nil || !strings.Contains(err.Error(), `the configuration folder "" is not absolute`) {
		t.Error(err)
	}
}

func TestDigestFraming(t *testing.T) {
	seen := map[string]string{}
	for _, s := range [][]policy.Source{src("/a", "b"), src("/a", "", "b", ""), src("/ab", ""), src("", "/ab"), src("/a", "b", "", ""), src("/a", "b/a", "b", ""), nil, src("", "")} {
		d := Digest(s)
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %s share a digest", s, other)
		}
		seen[d] = fmt.Sprint(s)
	}
}

func approved(t *testing.T) (Store, string) {
	t.Helper()
	config := t.TempDir()
	s := At(config)
	if err := s.Approve("/p/x", src("/p/x", "x")); err != nil {
		t.Fatal(err)
	}
	return s, config
}

func TestStoreMode(t *testing.T) {
	for _, c := range []struct {
		folder string
		mode   os.FileMode
		ok     bool
	}{
		{"psb/approved", 0o702, false}, {"psb/approved", 0o720, false}, {"psb", 0o702, false}, {"psb", 0o770, true}, {".", 0o777, false}, {".", 0o777 | os.ModeSticky, true}, {".", 0o775, true},
	} {
		s, config := approved(t)
		dir := filepath.Join(config, c.folder)
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		st, _, err := s.Check("/p/x", src("/p/x", "x"))
		if c.ok && (err != nil || st != Approved) {
			t.Errorf("%s %o: %v %v", c.folder, c.mode, st, err)
		}
		want := fmt.Sprintf("approval of %q: %q can be written by others: chmod go-w it", "/p/x", dir)
		if !c.ok && (err == nil || err.Error() != want || st != Never) {
			t.Errorf("%s %o: %v %v, want %s", c.folder, c.mode, st, err, want)
		}
		if err := s.Approve("/p/y", src("/p/y", "y")); (err == nil) != c.ok {
			t.Errorf("%s %o: approve: %v", c.folder, c.mode, err)
		}
	}
}

func TestStoreOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	for _, folder := range []string{"psb", "psb/approved"} {
		s, config := approved(t)
		dir := filepath.Join(config, folder)
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("approval of %q: %q belongs to uid 65534, not to you (uid 0)", "/p/x", dir)
		if st, _, err := s.Check("/p/x", src("/p/x", "x")); err == nil || err.Error() != want || st != Never {
			t.Errorf("%v %v, want %s", st, err, want)
		}
		if err := s.Approve("/p/x", src("/p/x", "x")); err == nil {
			t.Error("approved in a store of somebody else")
		}
	}
}

func TestRecordKind(t *testing.T) {
	record := func(config string) string {
		names, _ := filepath.Glob(filepath.Join(config, "psb/approved/*"))
		if len(names) != 1 {
			t.Fatalf("records %v", names)
		}
		return names[0]
	}
	for name, spoil := range map[string]func(string){
		"a link":     func(f string) { os.Rename(f, f+".real"); os.Symlink(f+".real", f) },
		"writable":   func(f string) { os.Chmod(f, 0o666) },
		"no json":    func(f string) { os.WriteFile(f, []byte("{"), 0o600) },
		"empty":      func(f string) { os.WriteFile(f, nil, 0o600) },
		"no sources": func(f string) { os.WriteFile(f, []byte(`{"Path":"L3AveA=="}`), 0o600) },
		"other text": func(f string) {
			b, _ := os.ReadFile(f)
			os.WriteFile(f, []byte(strings.Replace(string(b), `"eA=="`, `"eQ=="`, 1)), 0o600)
		},
		"other path": func(f string) {
			b, _ := os.ReadFile(f)
			os.WriteFile(f, []byte(strings.Replace(string(b), `"L3AveA=="`, `"L3Aveg=="`, 1)), 0o600)
		},
		"a folder":    func(f string) { os.Remove(f); os.Mkdir(f, 0o700) },
		"linked away": func(f string) { d := filepath.Dir(f); os.Rename(d, d+"2"); os.Symlink(d+"2", d) },
	} {
		s, config := approved(t)
		spoil(record(config))
		for _, sources := range [][]policy.Source{src("/p/x", "x"), src("/p/x", "y")} {
			if st, _, err := s.Check("/p/x", sources); err == nil || st != Never {
				t.Errorf("%s: %v %v", name, st, err)
			}
		}
	}
}

func TestDiff(t *testing.T) {
	long := ""
	for i := range 9 {
		long += fmt.Sprintf("line %d\n", i)
	}
	for _, c := range []struct {
		name     string
		old, new []policy.Source
		want     string
	}{
		{"same", src("/p/a", "x\n"), src("/p/a", "x\n"), ""},
		{"one line", src("/p/a", long), src("/p/a", strings.Replace(long, "line 4", "line\x1b[2J\u202e4", 1)),
			"--- /p/a\n+++ /p/a\n…\n  line 2\n  line 3\n- line 4\n+ line\\u001b[2J\\u202e4\n  line 5\n  line 6\n…\n"},
		{"newline", src("/p/a", "x"), src("/p/a", "x\n"), "--- /p/a\n+++ /p/a\n- x (no newline at the end)\n+ x\n"},
		{"first", nil, src("/p/a", "x\n"), "--- (nothing approved)\n+++ /p/a\n+ x\n"},
		{"include", src("/p/a", "x\n", "/p/b", "y\n"), src("/p/a", "x\n", "/p/c", ""), "--- (nothing approved)\n+++ /p/c\n--- /p/b\n+++ (no longer read)\n- y\n"},
		{"order", src("/p/a", "x\n", "/p/b", "y\n"), src("/p/b", "y\n", "/p/a", "x\n"), "the files are the same and are read in another order\n"},
		{"moved", src("/p/a", "a\nb\nc\n"), src("/p/a", "b\nc\na\n"), "--- /p/a\n+++ /p/a\n- a\n  b\n  c\n+ a\n"},
		{"carriage return", src("/p/a", "a\n"), src("/p/a", "a\r\n"), "--- /p/a\n+++ /p/a\n- a\n+ a\\u000d\n"},
	} {
		if got := Diff(c.old, c.new); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	a, b := strings.Repeat("a\nb\n", 3000), strings.Repeat("c\nd\n", 3000)
	if got := Diff(src("/p/a", a), src("/p/a", b)); strings.Count(got, "\n- ")+strings.Count(got, "\n+ ") != 12000 {
		t.Error("a large difference is not shown whole")
	}
}
