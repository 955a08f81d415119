package learn

import (
	"slices"
	"testing"

	"psb/policy"
)

func did(op policy.Op, object string, how How) Event {
	return Accessed{TID: 1, Access: policy.Access{Op: op, Object: object}, How: how}
}

// there is a folder the program wanted to make and found.
func there(object string) Event {
	return Accessed{TID: 1, Access: policy.Access{Op: policy.OpWrite, Object: object}, How: NewDir, Errno: "EEXIST"}
}

func through(op policy.Op, object, target, link string) Event {
	return Accessed{TID: 1, Access: policy.Access{Op: op, Object: object}, Target: target, Links: []string{link}}
}

// repo is what makes a repository.
func repo(dir string) []Event {
	return []Event{did("write", dir, NewDir), did("write", dir+"/HEAD", New), did("write", dir+"/hooks", NewDir), did("write", dir+"/hooks/pre-commit", New),
		did("write", dir+"/config", New), did("write", dir+"/objects", NewDir), did("write", dir+"/logs", NewDir), did("write", dir+"/logs/HEAD", New)}
}

func learned(k Knowledge, events ...Event) []string {
	k.Macros = policy.Macros{Project: "/p/app", Home: "/h/ann", Cache: "/h/ann/.cache"}
	k.Tables = map[string]bool{"files": true}
	grants, _ := Generalise(setOf(events), k)
	out := []string{}
	for _, g := range grants {
		mark := ""
		if g.Alert != "" && g.Access.Op != policy.OpExec {
			mark = "! "
		}
		out = append(out, mark+string(g.Access.Op)+" "+g.Text)
	}
	return out
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		know   Knowledge
		events []Event
		want   []string
	}{
		{"replaced by rename", Knowledge{}, []Event{
			did("write", "/p/app/o/x.swp", New), did("write", "/p/app/o/x.swp", Remove), did("write", "/p/app/o/x", Plain)},
			[]string{"create o/", "write o/x"}},
		{"made by rename", Knowledge{}, []Event{
			did("write", "/p/app/o/x.swp", New), did("write", "/p/app/o/x.swp", Remove), did("write", "/p/app/o/x", New)},
			[]string{"create o/", "write o/x"}},
		{"removed, was there", Knowledge{}, []Event{did("write", "/p/app/o/x", Remove)}, []string{"create o/", "write o/x"}},
		{"removed and made again", Knowledge{}, []Event{did("write", "/p/app/o/x", Remove), did("write", "/p/app/o/x", New)},
			[]string{"create o/", "write o/x"}},
		{"changed in place", Knowledge{}, []Event{did("write", "/p/app/o/x", Plain)}, []string{"write o/x"}},
		{"read and written", Knowledge{}, []Event{did("read", "/p/app/o/x", Plain), did("write", "/p/app/o/x", Plain)}, []string{"write o/x"}},
		{"folder made by rename", Knowledge{}, []Event{
			did("write", "/p/app/tmpabcdefgh", NewDir), did("write", "/p/app/tmpabcdefgh/x", New), did("write", "/p/app/tmpabcdefgh", RemDir),
			did("write", "/p/app/out", NewDir)}, []string{"create ./", "write out/"}},
		{"the project is the home folder", Knowledge{}, []Event{did("write", "/h/ann/x", New)}, []string{"! write ~/x"}},
		{"project in the private space", Knowledge{Private: FixedPrivate(), Shown: []string{"/tmp/in.csv"}}, []Event{
			did("read", "/tmp/in.csv", Plain), did("read", "/tmp/other", Plain)}, []string{"read /tmp/in.csv"}},
		{"packages inside the project", Knowledge{Always: []string{"/p/app/env/lib/"}}, []Event{
			did("read", "/p/app/env/lib/m.py", Plain), did("read", "/p/app/env/x", Plain)}, []string{"read env/x"}},
		{"an always readable program still needs exec", Knowledge{Always: []string{"/usr/bin/"}, Runs: []string{"/usr/bin/python3"}}, []Event{
			did("exec", "/usr/bin/python3", Plain), did("exec", "/usr/bin/git", Plain)}, []string{"exec /usr/bin/git"}},
		{"byte code asked for", Knowledge{}, []Event{
			did("write", "/p/app/m/__pycache__", NewDir), did("write", "/p/app/m/__pycache__/a.pyc.123", New), did("read", "/p/app/__pycache__/b.pyc", Plain)},
			[]string{"write m/__pycache__/", "read b.py"}},
		{"byte code by the way", Knowledge{Bytecode: true}, []Event{did("write", "/p/app/m/__pycache__/a.pyc", New)}, []string{}},
		{"repository", Knowledge{}, []Event{
			did("read", "/p/app/.git/HEAD", Plain), did("write", "/p/app/.git/index.lock", New), did("write", "/p/app/.git/index.lock", Remove),
			did("write", "/p/app/.git/index", Plain), did("write", "/p/app/.git/objects/9f/tmp_obj_x", New), did("write", "/p/app/.git/refs/heads/main", Plain),
			did("write", "/p/app/.git/hooks/post-commit", New), did("read", "/p/app/sub/.git", Plain)},
			[]string{"! create .git/", "write .git/index", "write .git/objects/", "write .git/refs/", "! read .git/", "! read sub/.git"}},
		{"a repository the run made", Knowledge{}, repo("/p/app/.git"), []string{}},
		{"a repository in a folder the run made", Knowledge{}, append([]Event{did("write", "/p/app/sub", NewDir)}, repo("/p/app/sub/.git")...),
			[]string{"create ./", "! write sub/"}},
		{"a bare repository", Knowledge{}, repo("/p/app/x.git"), []string{"create ./", "! write x.git/"}},
		{"the first submodule", Knowledge{}, append([]Event{did("read", "/p/app/.git/HEAD", Plain), did("write", "/p/app/.git/modules", NewDir)},
			repo("/p/app/.git/modules/sub")...), []string{"! read .git/"}},
		{"a submodule that was there", Knowledge{}, []Event{did("write", "/p/app/.git/modules/sub/index", Plain), did("write", "/p/app/.git/modules/sub/HEAD", Plain),
			did("write", "/p/app/.git/modules/sub/config", Plain)},
			[]string{"create .git/modules/sub/", "write .git/modules/sub/HEAD", "write .git/modules/sub/index"}},
		{"what git's settings name", Knowledge{Guarded: []string{"/p/app/githooks"}}, []Event{
			did("write", "/p/app/githooks", NewDir), did("write", "/p/app/githooks/pre-commit", New)}, []string{}},
		{"a work tree in a folder the run made", Knowledge{}, []Event{did("write", "/p/app/lib", NewDir), did("write", "/p/app/lib/.git", New)},
			[]string{"create ./", "! write lib/"}},
		{"a new cache of hashes", Knowledge{}, []Event{did("write", "/h/ann/.cache/d", NewDir), did("write", "/h/ann/.cache/d/v1", NewDir), did("write", "/h/ann/.cache/d/index", New),
			did("write", "/h/ann/.cache/d/v1/9f", NewDir), did("write", "/h/ann/.cache/d/v1/9f/9f86d081884c7d65", New),
			did("write", "/h/ann/.cache/d/v1/a1", NewDir), did("write", "/h/ann/.cache/d/v1/a1/a186d081884c7d65", New),
			did("write", "/h/ann/.cache/d/v1/b2", NewDir), did("write", "/h/ann/.cache/d/v1/b2/b286d081884c7d65", New)},
			[]string{"create ${cache}/d/", "write ${cache}/d/index", "write ${cache}/d/v1/"}},
		{"a folder wanted and found", Knowledge{}, []Event{there("/p/app/logs"), there("/p/app/out"), did("write", "/p/app/out/x", New), there("/p"), there("/srv"),
			there("/tmp"), there("/h/ann/.cache/demo/deep")}, []string{"create out/", "write out/x", "list ${cache}/demo/deep/", "list logs/"}},
		{"another home folder", Knowledge{Homes: []string{"/h/other"}}, []Event{did("list", "/h/other", Plain), did("write", "/h/other/x", New)},
			[]string{"! write /h/other/x"}},
		{"through a link nobody can change", Knowledge{}, []Event{through("read", "/p/app/current/c", "/p/app/rel1/c", "/p/app/current")},
			[]string{"read current/c"}},
		{"through a link the run could change", Knowledge{}, []Event{through("read", "/p/app/current/c", "/p/app/rel1/c", "/p/app/current"),
			did("write", "/p/app/o", New)}, []string{"create ./", "write o", "read rel1/c"}},
		{"through a link the policy lets change", Knowledge{Writes: func(dir string) bool { return dir == "/p/app" }},
			[]Event{through("read", "/p/app/current/c", "/p/app/rel1/c", "/p/app/current")}, []string{"read rel1/c"}},
		{"writing through a link", Knowledge{}, []Event{did("write", "/p/app/o", New), did("read", "/srv/a/b/x", Plain),
			Accessed{TID: 1, Access: policy.Access{Op: "write", Object: "/p/app/out/x"}, How: New, Target: "/srv/a/b/x", Links: []string{"/p/app/out"}}},
			[]string{"create ./", "create /srv/a/b/", "write /srv/a/b/x", "write o"}},
		{"a folder that holds something of the floor", Knowledge{Floor: []string{"/srv/a/b/key"}}, []Event{
			did("read", "/srv/a/b/1", Plain), did("read", "/srv/a/b/2", Plain), did("read", "/srv/a/b/3", Plain), did("read", "/srv/a/b/4", Plain)},
			[]string{"read /srv/a/b/1", "read /srv/a/b/2", "read /srv/a/b/3", "read /srv/a/b/4"}},
	} {
		if got := learned(tt.know, tt.events...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMissing(t *testing.T) {
	grants := []Grant{{Access: policy.Access{Op: "read", Object: "/a"}}, {Access: policy.Access{Op: "read", Object: "/b"}}}
	got := Missing(grants, func(a policy.Access) bool { return a.Object == "/a" })
	if len(got) != 1 || got[0].Access.Object != "/b" || len(grants) != 2 {
		t.Errorf("got %v", got)
	}
}

func TestRules(t *testing.T) {
	rules := Rules([]Grant{{Access: policy.Access{Op: "read", Object: "/p/app/x/"}, Text: "x/", Because: "app", Seen: 4, Of: 9, Alert: "careful"}})
	r := rules[0]
	if r.Pattern != (policy.Pattern{Text: "x/", Object: "/p/app/x", Tree: true}) || r.Why != "! careful; app; 4 of 9 files seen" {
		t.Errorf("got %+v", r)
	}
}
