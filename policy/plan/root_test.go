package plan

import (
	"fmt"
	"strings"
	"testing"

	"psb/namespaces"
	"psb/policy"
)

var project = fakeTree{
	"/p/app.py": "file", "/p/.env": "file", "/p/out/old.csv": "file", "/p/out/sub/deep/x": "file", "/p/data/a": "file", "/p/data/b": "file",
	"/p/.git/hooks/pre-commit": "file", "/p/.git/config": "file", "/p/.git/HEAD": "file", "/p/notes/private.txt": "file",
	"/p/current": "link data", "/p/tool": "file", "/dev/null": "dev", "/p/.py-sandboxes": "file",
}

func rule(op policy.Op, object string) policy.Rule {
	return policy.Rule{Op: op, Origin: policy.Origin{File: "p", Line: len(object)},
		Pattern: policy.Pattern{Text: object, Object: strings.TrimSuffix(object, "/"), Tree: strings.HasSuffix(object, "/")}}
}

// acts compiles rules over the project and renders the acts below /p, one a line.
func acts(t *testing.T, rules ...policy.Rule) (string, *compiler) {
	t.Helper()
	c := &compiler{policy: &policy.Policy{Rules: rules}, policyFiles: []string{"/p/.py-sandboxes"}, look: project, places: places{}, absent: map[policy.Origin]bool{},
		host: Host{Linked: func(string) []string { return nil }, Identity: Identity{Home: "/h"}}}
	c.grant()
	c.protect()
	b := &rootBuilder{ps: c.places, look: project, idmap: c.idmap}
	b.build()
	var out strings.Builder
	for _, op := range b.ops {
		ro := "rw"
		if op.ReadOnly {
			ro = "ro"
		}
		kind := map[namespaces.OpKind]string{namespaces.OpBind: "bind", namespaces.OpBindIn: "cover", namespaces.OpFile: "name", namespaces.OpDir: "folder",
			namespaces.OpSymlink: "link", namespaces.OpTmpfs: "empty", namespaces.OpReadOnly: "seal"}[op.Kind]
		switch {
		case op.Kind == namespaces.OpBindIn && strings.HasPrefix(op.Source, OwnDir):
			kind = "mask"
			ro = ""
		case kind != "bind" && kind != "cover":
			ro = ""
		}
		fmt.Fprintln(&out, strings.TrimSpace(strings.Join(strings.Fields(kind+" "+op.Target+" "+ro), " ")))
	}
	return out.String(), c
}

func TestRootActs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rules []policy.Rule
		want  string
	}{
		{"one file", []policy.Rule{rule("read", "/p/data/a")}, "bind /p/data/a ro\n"},
		{"file inside a read tree needs no mount", []policy.Rule{rule("read", "/p/data/"), rule("read", "/p/data/a")}, "bind /p/data ro\n"},
		{"deeper write inside a read tree", []policy.Rule{rule("read", "/p/data/"), rule("write", "/p/data/a")}, "bind /p/data ro\nbind /p/data/a rw\n"},
		{"deeper read inside a write tree", []policy.Rule{rule("write", "/p/data/"), rule("read", "/p/data/a")}, "bind /p/data rw\nbind /p/data/a ro\n"},
		{"a write tree holds a read place fast, and what leads to it", []policy.Rule{rule("write", "/p/out/"), rule("read", "/p/out/sub/deep/x")},
			"bind /p/out rw\nbind /p/out/sub rw\nbind /p/out/sub/deep rw\nbind /p/out/sub/deep/x ro\n"},
		{"what lies in a read place is kept by it", []policy.Rule{rule("write", "/p/out/"), rule("read", "/p/out/sub/"), rule("read", "/p/out/sub/deep/x")},
			"bind /p/out rw\nbind /p/out/sub ro\n"},
		{"a create folder in a write tree keeps what is there", []policy.Rule{rule("write", "/p/"), rule("create", "/p/data/"), rule("write", "/p/data/b")},
			"bind /p rw\nbind /p/.git rw\nbind /p/.git/config ro\nbind /p/.git/hooks ro\nbind /p/.py-sandboxes ro\nbind /p/data rw\ncover /p/data/a ro\n"},
		{"a list line in a write tree takes nothing away", []policy.Rule{rule("write", "/p/out/"), rule("list", "/p/out/sub/")}, "bind /p/out rw\n"},
		{"list makes names that cannot be opened", []policy.Rule{rule("list", "/p/data/"), rule("read", "/p/data/a")},
			"folder /p/data\nname /p/data/b\nbind /p/data/a ro\n"},
		{"create covers what is there", []policy.Rule{rule("create", "/p/data/")}, "bind /p/data rw\nmask /p/data/a\nmask /p/data/b\n"},
		{"a file with create and write stays replaceable", []policy.Rule{rule("create", "/p/data/"), rule("write", "/p/data/a")},
			"bind /p/data rw\nmask /p/data/b\n"},
		{"create in a readable folder keeps the present readable", []policy.Rule{rule("create", "/p/data/"), rule("read", "/p/data/")},
			"bind /p/data rw\ncover /p/data/a ro\ncover /p/data/b ro\n"},
		{"a listed folder in a create folder is a stand-in", []policy.Rule{rule("create", "/p/"), rule("list", "/p/data/")},
			"bind /p rw\nmask /p/.env\nmask /p/.git\nmask /p/.py-sandboxes\nmask /p/app.py\nmask /p/notes\nmask /p/out\nmask /p/tool\nempty /p/data\nname /p/data/a\nname /p/data/b\nseal /p/data\n"},
		{"a readable folder in a readable create folder is read-only", []policy.Rule{rule("create", "/p/out/"), rule("read", "/p/out/"), rule("read", "/p/out/sub/")},
			"bind /p/out rw\ncover /p/out/old.csv ro\nbind /p/out/sub ro\n"},
		{"a listed folder in a readable create folder is read-only", []policy.Rule{rule("create", "/p/out/"), rule("read", "/p/out/"), rule("list", "/p/out/sub/")},
			"bind /p/out rw\ncover /p/out/old.csv ro\nbind /p/out/sub ro\n"},
		{"a grant deep below a create folder", []policy.Rule{rule("create", "/p/out/"), rule("read", "/p/out/sub/deep/x")},
			"bind /p/out rw\nmask /p/out/old.csv\nempty /p/out/sub\nbind /p/out/sub/deep/x ro\nseal /p/out/sub\n"},
		{"a link and its target appear", []policy.Rule{rule("read", "/p/current/")}, "link /p/current\nbind /p/data ro\n"},
		{"git is guarded in a write tree", []policy.Rule{rule("write", "/p/")},
			"bind /p rw\nbind /p/.git rw\nbind /p/.git/config ro\nbind /p/.git/hooks ro\nbind /p/.py-sandboxes ro\n"},
		{"git is covered in a create folder", []policy.Rule{rule("create", "/p/"), rule("read", "/p/app.py")},
			"bind /p rw\nmask /p/.env\nmask /p/.git\nmask /p/.py-sandboxes\nmask /p/data\nmask /p/notes\nmask /p/out\nmask /p/tool\nbind /p/app.py ro\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, c := acts(t, tc.rules...)
			if got != tc.want {
				t.Errorf("acts:\n%swant:\n%s", got, tc.want)
			}
			if len(c.problems) != 0 || len(c.gaps) != 0 {
				t.Errorf("problems %v, gaps %v", c.problems, c.gaps)
			}
		})
	}
}

func TestLinkInWritableFolderIsAGap(t *testing.T) {
	_, c := acts(t, rule("create", "/p/"), rule("read", "/p/current/"))
	if len(c.gaps) != 1 || c.gaps[0].Name != "link" {
		t.Fatalf("gaps %v, want link", c.gaps)
	}
	if c.places["/p/data"] != nil {
		t.Error("the link's target is shown")
	}
}

func TestFolderAndFileSpelling(t *testing.T) {
	for _, r := range []policy.Rule{rule("read", "/p/data"), rule("read", "/p/tool/"), rule("device", "/p/tool"), rule("read", "/dev/null")} {
		_, c := acts(t, r)
		if len(c.problems) != 1 {
			t.Errorf("%s %s: problems %v, want one", r.Op, r.Pattern.Text, c.problems)
		}
	}
}

func TestMissing(t *testing.T) {
	_, c := acts(t, rule("create", "/p/new/"), rule("write", "/p/new/x"), rule("write", "/p/tree/"), rule("read", "/p/none"))
	got := strings.Join(c.missing, " ")
	if got != "/p/new /p/new /p/tree" {
		t.Errorf("missing %q", got)
	}
}

func TestHiddenInAReadPlaceOpensNothing(t *testing.T) {
	c := &compiler{policy: &policy.Policy{Rules: []policy.Rule{rule("write", "/p/out/"), rule("read", "/p/out/sub/")}}, look: project, places: places{}, absent: map[policy.Origin]bool{}}
	c.grant()
	c.hideOne(project.Resolve("/p/out/sub/deep/x"), policy.Origin{})
	c.protect()
	if p := c.places["/p/out/sub/deep"]; p != nil && p.Rights.Has(Write) {
		t.Errorf("a folder on the way to a hidden file may be written, in one that may only be read: %+v", p)
	}
}
