package plan

import (
	"testing"

	"psb/namespaces"
)

// TestCovered: the mount on top of a place decides, and what it does not keep from the program Landlock judges alone.
func TestCovered(t *testing.T) {
	p := &Plan{Spec: namespaces.Spec{Ops: []namespaces.Op{
		{Kind: namespaces.OpTmpfs, Target: "/"},
		{Kind: namespaces.OpBind, Target: "/usr/lib", ReadOnly: true},
		{Kind: namespaces.OpBind, Target: "/p/out"},
		{Kind: namespaces.OpBindIn, Source: maskFile, Target: "/p/out/old"},
		{Kind: namespaces.OpBindIn, Source: maskDir, Target: "/p/out/dir"},
		{Kind: namespaces.OpBind, Target: "/p/out/dir/in"},
		{Kind: namespaces.OpFile, Target: "/p/name"},
		{Kind: namespaces.OpFile, Target: "/etc/hosts", Mode: 0o644},
		{Kind: namespaces.OpBindIn, Source: "/p/out/kept", Target: "/p/out/kept", ReadOnly: true},
	}}}
	for _, tc := range []struct {
		name        string
		read, write bool
	}{
		{"/usr/lib/x", false, true}, {"/p/out/new", false, false}, {"/p/out/old", true, true}, {"/p/out/dir/x", true, true}, {"/p/out/dir/in/x", false, false},
		{"/p/name", true, true}, {"/p/out/kept", false, true}, {"/elsewhere", false, false}, {"/p/outer", false, false}, {"/etc/hosts", false, false},
	} {
		if read, write := p.Covered(tc.name, false), p.Covered(tc.name, true); read != tc.read || write != tc.write {
			t.Errorf("%s: covered from reading %v, from changes %v", tc.name, read, write)
		}
	}
}
