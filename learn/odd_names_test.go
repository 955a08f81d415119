package learn

import (
	"bytes"
	"slices"
	"testing"

	"psb/policy"
)

// A project may lie in a folder of any name: its rules are relative, and the name stands in none of them.
func TestProjectOfAnyName(t *testing.T) {
	for _, name := range []string{"a\nb", "a\rb", "caf\xe9", "tab\t", "quo\"te", "${HOME}", "back\\slash", " lead", "#x", "\x1b[31m", "\u2028", "\u202e", "[g]*?"} {
		project := "/srv/code/" + name
		k := Knowledge{Macros: policy.Macros{Project: project, Home: "/h/ann"}, Tables: map[string]bool{"files": true}}
		grants, report := Generalise(setOf([]Event{
			did("list", project, Plain), did("read", project+"/data/in.csv", Plain), did("write", project+"/out.txt", New),
			did("write", project+"/res", NewDir), did("write", project+"/res/a", New),
		}), k)
		want := "\"./\" = \"create\"  # python\n\"out.txt\" = \"write\"  # python\n\"res/\" = \"write\"  # python\n\"./\" = \"list\"  # python\n\"data/in.csv\" = \"read\"  # python\n"
		if got := ruleLines(grants); got != want || len(report.Left) > 0 {
			t.Errorf("%q: got\n%sleft out %q, want\n%s", name, got, report.Left, want)
		}
	}
}

// A name that a rule can hold gets one, on one line, whatever characters it has. One that is not UTF-8 cannot be ruled: its folder is told,
// and a new one is made there again.
func TestFilesOfAnyName(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app", Home: "/h/ann"}, Tables: map[string]bool{"files": true}, Private: FixedPrivate()}
	grants, report := Generalise(setOf([]Event{
		did("read", "/p/app/in/two\nlines = \"write\"", Plain), did("read", "/p/app/in/${HOME}", Plain), did("read", "/p/app/in/\xff", Plain),
		did("write", "/p/app/out/\xff", New), did("write", "/p/app/\xff/deep", New), did("write", "/tmp/\xff", New), did("write", "/p/app/.git/hooks/\xff", New),
	}), k)
	text, _, err := policy.Edit(policy.New("x"), Rules(grants))
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := bytes.Cut(text, []byte("only\n"))
	if want := "\"out/\" = \"create\"  # python\n\"in/$${HOME}\" = \"read\"  # python\n\"in/two\\nlines = \\\"write\\\"\" = \"read\"  # python\n"; string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p, err := policy.Parse("/p/app/.py-sandboxes", text)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Expand(k.Macros); err != nil {
		t.Fatal(err)
	}
	if v := p.Decide(policy.Access{Op: "read", Object: "/p/app/in/two\nlines = \"write\""}); !v.Allowed {
		t.Error("the name on two lines is not allowed by its rule")
	}
	left := []string{"a name that is not UTF-8, in .git/hooks/", "a name that is not UTF-8, in \xff/", "a name that is not UTF-8, in in/", "a name that is not UTF-8, in out/"}
	slices.Sort(left)
	if slices.Sort(report.Left); !slices.Equal(report.Left, left) {
		t.Errorf("left out %q, want %q", report.Left, left)
	}
}

func TestGuardedInRepositories(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app", Home: "/h/ann"}}
	for name, want := range map[string]bool{
		"": true, "hooks": true, "hooks/pre-commit": true, "config": true, "config.worktree": true, "info/attributes": true, "modules": true, "worktrees": true,
		"modules/a/b/hooks/x": true, "modules/a/config": true, "worktrees/w/commondir": true, "worktrees/w/gitdir": true,
		"HEAD": false, "index": false, "info/exclude": false, "modules/a/index": false, "worktrees/w/HEAD": false, "objects/9f": false, "refs/heads/x": false,
	} {
		p := "/p/app/.git"
		if name != "" {
			p += "/" + name
		}
		if got := k.guarded(p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}

// A refused or failed access is told where it belongs: what is never granted apart from what only this run could not do; making a folder that
// is there is neither.
func TestRefusalsAreTold(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app", Home: "/h/ann"}, Floor: []string{"/h/ann/.ssh"}, Guarded: []string{"/h/ann/.bashrc"}, Tables: map[string]bool{"files": true}}
	failed := func(op policy.Op, object string, how How, e Errno) Event {
		return Accessed{TID: 1, Access: policy.Access{Op: op, Object: object}, How: how, Errno: e}
	}
	grants, report := Generalise(setOf([]Event{
		failed("write", "/h/ann/.ssh", NewDir, "EEXIST"), failed("write", "/h/ann/.ssh/new", New, "EACCES"), failed("write", "/h/ann/.bashrc", Plain, "EROFS"),
		failed("write", "/p/app/.git/hooks/x", New, "EROFS"), failed("write", "/usr/x", NewDir, "EROFS"), failed("read", "/srv/secret", Plain, "EACCES"),
		failed("write", "/opt", NewDir, "EEXIST"),
	}), k)
	want := []string{"never granted: write /h/ann/.bashrc (EROFS)", "never granted: write /h/ann/.ssh/new (EACCES)", "never granted: write /p/app/.git/hooks/x (EROFS)",
		"refused while learning: read /srv/secret (EACCES)", "refused while learning: write /usr/x (EROFS)", "left out: making /opt/, which is there"}
	if got := report.Lines(); !slices.Equal(got, want) || len(grants) > 0 {
		t.Errorf("got %q and the rules\n%s", got, ruleLines(grants))
	}
}
