package plan

import (
	"testing"

	"psb/policy"
)

// modes gives objects the permission bits that the test names.
type modes struct {
	fakeTree
	of map[string]uint32
}

func (m modes) Resolve(p string) Object {
	o := m.fakeTree.Resolve(p)
	o.Mode = m.of[p]
	return o
}

func (modes) IDMap(string) bool { return true }

// TestPlainProgramsNeedNoIDMap: of what a rule grants to root's program, the system's own programs and libraries are shown as they are, where everybody
// may do with them what the rule says; what is closed to others, may be written, stands elsewhere or is shown elsewhere is its owner's inside.
func TestPlainProgramsNeedNoIDMap(t *testing.T) {
	for _, c := range []struct {
		path   string
		mode   uint32
		rights Rights
		mapped bool
	}{
		{"/usr/bin/tool", 0o755, Read | Exec, false},
		{"/usr/lib/x/lib.so", 0o644, Read, false},
		{"/usr/lib/x/lib.so", 0o644, Read | Exec, false},
		{"/usr/lib/x/lib.so", 0o744, Read | Exec, true},
		{"/usr/bin/tool", 0o750, Read | Exec, true},
		{"/usr/bin/tool", 0o711, Read | Exec, true},
		{"/usr/bin/tool", 0o755, Read | Write, true},
		{"/p/tool", 0o755, Read | Exec, true},
	} {
		look := modes{fakeTree{c.path: "file"}, map[string]uint32{c.path: c.mode}}
		b := &compiler{look: look, host: Host{Root: true}}
		p := &Place{Path: c.path, Source: look.Resolve(c.path), Rights: c.rights, Origins: []policy.Origin{{File: ".py-sandboxes", Line: 3}}}
		if _, _, on := b.idmap(p); on != c.mapped {
			t.Errorf("%s, mode %o, %s: mapped %v", c.path, c.mode, c.rights, on)
		}
		p.Path = "/elsewhere"
		if _, _, on := b.idmap(p); !on {
			t.Errorf("%s shown elsewhere: not mapped", c.path)
		}
	}
}
