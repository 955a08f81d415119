package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"psb/policy"
	"psb/policy/plan"
)

func TestFoldChanges(t *testing.T) {
	m := policy.Macros{Project: "/p", Home: "/h"}
	var many []change
	for i := range 40 {
		many = append(many, change{How: "create", Kind: "file", Path: fmt.Sprintf("/p/out/%d/f", i), After: 100})
	}
	for _, row := range []struct {
		name string
		list []change
		most int
		want []string
	}{
		{"none", nil, 3, nil},
		{"each alone", []change{{How: "create", Kind: "file", Path: "/p/a", After: 1}, {How: "delete", Kind: "folder", Path: "/p/b", Held: 2}}, 3, []string{"create a (1 byte)", "delete b/ with 2 objects"}},
		{"folded", many, 30, []string{"create 40 objects below out/ (4000 bytes)"}},
		{"what stands alone stays", append(slices.Clone(many), change{How: "change", Kind: "file", Path: "/p/x/y", Before: 5, After: 20_000}), 30,
			[]string{"create 40 objects below out/ (4000 bytes)", "change x/y (5 bytes, then 20 kB)"}},
		{"kinds and risks apart", []change{{How: "delete", Kind: "file", Path: "/p/d/1"}, {How: "delete", Kind: "file", Path: "/p/d/2"}, {How: "create", Kind: "file", Path: "/p/d/3", After: 1},
			{How: "delete", Kind: "file", Path: "/p/d/4", Risk: "sensitive"}}, 3, []string{"delete 2 objects below d/", "create d/3 (1 byte)", "delete d/4  # sensitive"}},
		{"words", []change{{How: "rename", Kind: "folder", Path: "/p/n", From: "/h/o"}, {How: "create", Kind: "link", Path: "/p/l", Link: "/etc/passwd"}, {How: "create", Kind: "fifo", Path: "/p/q"},
			{How: "chmod", Kind: "file", Path: "/p/m", Mode: "0644, then 0600"}}, 9, []string{"rename ~/o/ to n/", "create l (a link to /etc/passwd)", "create q (fifo)", "chmod m (0644, then 0600)"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := foldChanges(row.list, row.most, m); !slices.Equal(got, row.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

func TestRiskOfChange(t *testing.T) {
	j := &job{w: &world{cwd: "/p"}, macros: policy.Macros{Project: "/p", Home: "/h", Cache: "/h/.cache"}, plan: &plan.Plan{Protected: []string{"/h/.bashrc", "/p/.git/hooks", "/p/.py-sandboxes"}}}
	for _, row := range []struct {
		c    change
		want string
	}{
		{change{How: "create", Kind: "file", Path: "/p/a"}, ""},
		{change{How: "create", Kind: "file", Path: "/h/.cache/a"}, ""},
		{change{How: "create", Kind: "file", Path: "/p/.git/hooks/pre-commit"}, "protected: other programs run or obey it"},
		{change{How: "rename", Kind: "folder", Path: "/p/.git2", From: "/p/.git"}, "protected: other programs run or obey it"},
		{change{How: "delete", Kind: "folder", Path: "/p/.git"}, "protected: other programs run or obey it"},
		{change{How: "create", Kind: "file", Path: "/p/.env"}, "sensitive"},
		{change{How: "create", Kind: "file", Path: "/h/.ssh/authorized_keys"}, "sensitive"},
		{change{How: "create", Kind: "file", Path: "/etc/thing"}, "outside the project"},
		{change{How: "rename", Kind: "file", Path: "/p/a", From: "/h/notes"}, "outside the project"},
	} {
		if got := j.riskOf(row.c); got != row.want {
			t.Errorf("%v: %q, want %q", row.c, got, row.want)
		}
	}
}

func TestMountTable(t *testing.T) {
	const table = `25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw
30 1 259:2 / / rw,relatime shared:1 - ext4 /dev/vda rw
41 30 0:40 / /mnt/with\040space\134\011 ro,relatime - tmpfs t rw
42 30 0:41 / /srv rw - squashfs s ro
short line
`
	want := []plan.Mount{{Path: "/sys"}, {Path: "/"}, {Path: "/mnt/with space\\\t", ReadOnly: true}, {Path: "/srv", ReadOnly: true}}
	if got := parseMounts(strings.NewReader(table)); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
