package policy

import "strings"

// complete makes sure that no value was decoded which the index did not see: such a value would be a rule that
// nobody judged.
func (r *reader) complete() {
	type node struct {
		leaf bool
		sub  map[string]*node
	}
	root := &node{sub: map[string]*node{}}
	for _, e := range r.index.entries {
		n := root
		for _, k := range append(append([]string{}, e.table...), e.key...) {
			if n.sub[k] == nil {
				n.sub[k] = &node{sub: map[string]*node{}}
			}
			n = n.sub[k]
		}
		n.leaf = true
	}
	var walk func(n *node, m map[string]any, path string)
	walk = func(n *node, m map[string]any, path string) {
		for _, k := range sortedKeys(m) {
			at := strings.TrimPrefix(path+"."+k, ".")
			below, isTable := m[k].(map[string]any)
			switch next := n.sub[k]; {
			case next != nil && next.leaf:
			case isTable && next != nil:
				walk(next, below, at)
			case isTable && len(below) == 0:
			case isTable:
				walk(&node{sub: map[string]*node{}}, below, at)
			case len(r.probs.list) == 0:
				r.probs.add(Origin{File: r.name}, "BUG: %s has a value but no line; please report it", at)
			}
		}
	}
	walk(root, r.values, "")
}
