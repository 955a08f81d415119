package learn

import "slices"

// behindBytecode adds the sources of the byte code that was read. No rule grants byte code, so an enforced run reads the source: that learning
// found byte code of an earlier run beside it must not keep the source out of the policy.
func behindBytecode(facts []*fact) []*fact {
	out := slices.Clone(facts)
	for _, f := range facts {
		file := source(f.object)
		if file == f.object || !f.read {
			continue
		}
		at, had := slices.BinarySearchFunc(out, file, func(f *fact, p string) int { return comparePaths(f.object, p) })
		if had && (out[at].read || out[at].write || out[at].made) {
			continue
		}
		from := &fact{object: file, read: true, known: true, because: f.because, links: f.links}
		if f.target != "" {
			from.target = source(f.target)
		}
		if had {
			out[at] = from
		} else {
			out = slices.Insert(out, at, from)
		}
	}
	return out
}
