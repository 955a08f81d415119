package learn

import (
	"slices"
	"testing"

	"psb/policy"
)

func did(op policy.Op, object string, how How) Event {
	return Accessed{TID: 1, Access: policy.Access{Op: op, Object: object}, How: how}
}

func learned(k Knowledge, events ...Event) []string {
	k.Macros.Project, k.Macros.Home = "/p/app", "/h/ann"
	k.Tables = map[string]bool{"files": true}
	grants, _ := Generalise(setOf(events), k)
	out := []string{}
	for _, g := range grants {
		out = append(out, string(g.Access.Op)+" "+g.Text)
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
		{"the project is the home folder", Knowledge{}, []Event{did("write", "/h/ann/x", New)}, []string{"write ~/x"}},
		{"project in the private space", Knowledge{Private: FixedPrivate(), Shown: []string{"/tmp/in.csv"}}, []Event{
			did("read", "/tmp/in.csv", Plain), did("read", "/tmp/other", Plain)}, []string{"read /tmp/in.csv"}},
		{"packages inside the project", Knowledge{Always: []string{"/p/app/env/lib/"}}, []Event{
			did("read", "/p/app/env/lib/m.py", Plain), did("read", "/p/app/env/x", Plain)}, []string{"read env/x"}},
		{"an always readable program still needs exec", Knowledge{Always: []string{"/usr/bin/"}, Runs: []string{"/usr/bin/python3"}}, []Event{
			did("exec", "/usr/bin/python3", Plain), did("exec", "/usr/bin/git", Plain)}, []string{"exec /usr/bin/git"}},
		{"byte code asked for", Knowledge{}, []Event{
			did("write", "/p/app/m/__pycache__", NewDir), did("write", "/p/app/m/__pycache__/a.pyc.123", New), did("read", "/p/app/__pycache__/b.pyc", Plain)},
			[]string{"write m/__pycache__/"}},
		{"byte code by the way", Knowledge{Bytecode: true}, []Event{did("write", "/p/app/m/__pycache__/a.pyc", New)}, []string{}},
		{"repository", Knowledge{}, []Event{
			did("read", "/p/app/.git/HEAD", Plain), did("write", "/p/app/.git/index.lock", New), did("write", "/p/app/.git/index.lock", Remove),
			did("write", "/p/app/.git/index", Plain), did("write", "/p/app/.git/objects/9f/tmp_obj_x", New), did("write", "/p/app/.git/refs/heads/main", Plain),
			did("write", "/p/app/.git/hooks/post-commit", New), did("read", "/p/app/sub/.git", Plain)},
			[]string{"create .git/", "write .git/index", "write .git/objects/", "write .git/refs/", "read .git/", "read sub/.git"}},
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
