package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
)

// projectJob is a job on a project below the temporary folder, under a policy of these lines; shown are the folders of it that the box has.
func projectJob(t *testing.T, lines string, shown ...string) (*job, string) {
	t.Helper()
	dir := t.TempDir()
	for _, n := range []string{"data/x.csv", "nd/a", "unseen/x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{cwd: dir, id: plan.Identity{Home: "/home/somebody"}}
	m := macros(w.id, dir, "", "", "", w.lookup)
	m.Cwd = dir
	p, err := policy.Parse(policyName, []byte("version = 1\n[files]\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Expand(m); err != nil {
		t.Fatal(err)
	}
	j := &job{w: w, where: whereabouts{project: dir, policy: filepath.Join(dir, policyName)}, macros: m, policy: p, look: newLook(newSightings()),
		plan: &plan.Plan{Provider: plan.Namespaces, Command: plan.Command{Dir: dir}}}
	for _, n := range append(shown, "") {
		at := filepath.Join(dir, n)
		j.plan.Places = append(j.plan.Places, &plan.Place{Path: at, Source: j.look.Resolve(at)})
	}
	return j, dir
}

func TestFileAccess(t *testing.T) {
	for _, tc := range []struct{ lines, file, errno, want string }{
		{"", "new.txt", "30", "create new.txt"},
		{"", "new.txt", "13", "list ./"},
		{"'./' = 'list'", "new.txt", "13", "create new.txt"},
		{"'./' = 'create'", "nd/b", "13", "list nd/"},
		{"'nd/' = 'read'", "nd/b", "13", "create nd/b"},
		{"", "data/x.csv", "2", "read data/x.csv"},
		{"", "data", "13", "list data/"},
		{"", ".", "13", "list ./"},
		{"", "nd/a", "30", "write nd/a"},
		{"", "absent.txt", "2", ""},
		{"", "no/such/x", "2", ""},
		{"", "unseen/new", "2", "list unseen/"},
		{"", "data/new", "2", ""},       // data/ is in the box: the name is just not there
		{"", "/tmp/psb-none", "30", ""}, // the box's own /tmp is not the host's
		{"", "/dev/none", "13", ""},
		{"", "/usr/none", "30", "create /usr/none"},
	} {
		j, dir := projectJob(t, tc.lines, "data")
		a, ok := fileAccess(j, tc.file, tc.errno)
		got := ""
		if ok {
			got = string(a.Op) + " " + shownObject(dir, a.Object)
		}
		if got != tc.want {
			t.Errorf("%q: %s, errno %s: %q, want %q", tc.lines, tc.file, tc.errno, got, tc.want)
		}
	}
	j, _ := projectJob(t, "")
	j.plan.Provider = plan.LandlockOnly
	if a, ok := fileAccess(j, "new.txt", "13"); !ok || a.Op != policy.OpCreate {
		t.Errorf("Landlock alone says EACCES to a new name: %v", a)
	}
}

func TestDenialHints(t *testing.T) {
	for _, tc := range []struct {
		lines string
		asked []string
		want  string // of the last
	}{
		{"", []string{"list ./"}, "list ./"},
		{"", []string{"read -x"}, "read ./-x"},
		{"", []string{"read ~x"}, "read './~x'"},
		{"", []string{"read a${b}"}, "read 'a$${b}'"},
		{"'./' = 'create'", []string{"write nd/a"}, "write nd/a"},
		{"'./' = 'create'", []string{"write nd/a", "create nd/b"}, "write nd/"},
		{"'./' = 'create'\n'nd/' = 'list'", []string{"create nd/sub/b"}, "write nd/"},
		{"'./' = 'create'\n'nd/a' = 'write'", []string{"read nd/b"}, "read nd/b"},
		{"'nd/a' = 'write'", []string{"write nd/b"}, "write nd/b"}, // nothing says that the program made nd
	} {
		j, dir := projectJob(t, tc.lines)
		var r refused
		for _, words := range tc.asked {
			op, object, _ := strings.Cut(words, " ")
			if object = filepath.Join(dir, object); op == "list" {
				object = folderName(object)
			}
			r.add(policy.Access{Op: policy.Op(op), Object: object}, "", "reported")
		}
		list := r.denials(j).list
		if len(list) != len(tc.asked) {
			t.Errorf("%q %v: %d denials", tc.lines, tc.asked, len(list))
			continue
		}
		if got := list[len(list)-1].Hint; got != "psb policy add "+tc.want {
			t.Errorf("%q %v: %s, want %s", tc.lines, tc.asked, got, tc.want)
		}
	}
}

func TestTellIsBounded(t *testing.T) {
	for n, want := range map[int]string{20: "denied: read f19\n", 21: "psb: … and 1 more denial: --report FILE.json\n", 30: "psb: … and 10 more denials: --report FILE.json\n"} {
		var list []*denial
		for i := range n {
			list = append(list, &denial{Op: "read", Object: fmt.Sprintf("f%d", i), Count: 1})
		}
		var b bytes.Buffer
		tell(voice{&b}, "/", denials{list: list})
		if got := b.String(); strings.Count(got, "denied:") != 20 || !strings.HasSuffix(got, want) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestVoiceEscapes(t *testing.T) {
	var b bytes.Buffer
	voice{&b}.say("a\x1b[2J\u009b1m\u202eb\xff\tc…\nd")
	if got, want := b.String(), "psb: a\\u001b[2J\\u009b1m\\u202eb\\xff\tc…\npsb: d\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTwoNames: of an error on two names the first is something that is there, or text that names nothing: it is never made.
func TestTwoNames(t *testing.T) {
	for _, tc := range []struct{ from, to, want string }{
		{"text of a link", "link", "create link"},
		{"data/x.csv", "moved", "write data/x.csv, create moved"},
	} {
		j, dir := projectJob(t, "", "data")
		var r refused
		r.note(pythonshim.Note{Event: pythonshim.NoteError, Args: []string{"OSError", "30", tc.from, tc.to}})
		var got []string
		for _, d := range r.denials(j).list {
			got = append(got, d.Op+" "+shownObject(dir, d.Object))
		}
		if s := strings.Join(got, ", "); s != tc.want {
			t.Errorf("%s to %s: %q, want %q", tc.from, tc.to, s, tc.want)
		}
	}
}

// TestWhatAFileWasOpenedFor: a file that was to be changed is no read, whatever else the program said of it.
func TestWhatAFileWasOpenedFor(t *testing.T) {
	for _, tc := range []struct{ how, want string }{{"write", "write data/x.csv"}, {"folder", "read data/x.csv"}, {"anything", "read data/x.csv"}} {
		j, dir := projectJob(t, "", "data")
		var r refused
		r.note(pythonshim.Note{Event: pythonshim.NoteError, Args: []string{"PermissionError", "13", "data/x.csv", "", tc.how}})
		if list := r.denials(j).list; len(list) != 1 || list[0].Op+" "+shownObject(dir, list[0].Object) != tc.want {
			t.Errorf("%s: %+v, want %s", tc.how, list, tc.want)
		}
	}
}
