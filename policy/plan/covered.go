package plan

import "psb/namespaces"

// Covered reports whether the root that the plan builds keeps what stands at name from being read, or with write from being changed, though
// Landlock's rules may allow it: a mask, an entry that only shows a name, a read-only mount. name is clean and absolute, inside.
func (p *Plan) Covered(name string, write bool) bool {
	var last namespaces.Op
	for _, op := range p.Spec.Ops { // in the order they are made: of two at one place the later lies on top
		if atOrBelow(name, op.Target) && len(op.Target) >= len(last.Target) {
			last = op
		}
	}
	switch {
	case last.Kind == namespaces.OpBindIn && (last.Source == maskFile || last.Source == maskDir):
		return true
	case last.Kind == namespaces.OpFile && last.Mode == 0 && last.Target == name: // a name that can be seen, no more
		return true
	}
	return write && last.ReadOnly
}
