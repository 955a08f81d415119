package plan

import (
	"slices"
	"testing"

	"psb/policy"
)

// closedNodes is a host whose device nodes are closed to others where their name ends in "closed".
type closedNodes struct{ fakeTree }

func (t closedNodes) Resolve(p string) Object {
	o := t.fakeTree.Resolve(p)
	if o.Kind == Device {
		o.Mode = 0o666
		if o.Path == "/dev/closed" {
			o.Mode = 0o660
		}
	}
	return o
}

// IDMap says yes, as for any tmpfs: devtmpfs has the same magic number.
func (closedNodes) IDMap(string) bool { return true }

// TestDeviceOfRoot: neither a node nor a folder of nodes is shown through an id-mapped mount, and a node that only root may open is a gap.
func TestDeviceOfRoot(t *testing.T) {
	look := closedNodes{fakeTree{"/dev/open": "dev", "/dev/closed": "dev", "/dev/dri/card": "dev", "/usr/bin/python3": "file", "/p": "dir"}}
	for _, c := range []struct {
		path string
		tree bool
		root bool
		gap  bool
	}{{"/dev/open", false, true, false}, {"/dev/closed", false, true, true}, {"/dev/closed", false, false, false}, {"/dev/dri", true, true, false}} {
		b := &compiler{look: look, host: Host{Root: c.root}}
		p := &Place{Path: c.path, Source: look.Resolve(c.path), Rights: UseDevice, Origins: []policy.Origin{{File: ".py-sandboxes", Line: 3}}}
		if _, _, on := b.idmap(p); on {
			t.Errorf("%+v: an id-mapped mount", c)
		}
		if got := slices.ContainsFunc(b.gaps, func(g Gap) bool { return g.Name == "root-id" }); got != c.gap {
			t.Errorf("%+v: gaps %v", c, b.gaps)
		}
	}
}
