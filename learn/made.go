package learn

import "slices"

// madeForIt gives the facts anew with the run as the maker of the folders that were made for it, where it made something in them or wanted
// to make them: without them it would have.
func madeForIt(facts []*fact, made []string) []*fact {
	for _, dir := range made {
		at, had := slices.BinarySearchFunc(facts, dir, func(f *fact, p string) int { return comparePaths(f.object, p) })
		f := &fact{object: dir}
		if had {
			own := *facts[at]
			f = &own
		}
		used := f.wanted
		for _, in := range facts[at:] {
			used = used || below(in.object, dir) && in.write
			if below(in.object, dir) && in.write {
				f.because = firstOf(f.because, in.because)
			}
		}
		if !used {
			continue
		}
		f.dir, f.known, f.made, f.write, f.wanted = true, true, true, true, false
		facts = slices.Clone(facts)
		if had {
			facts[at] = f
		} else {
			facts = slices.Insert(facts, at, f)
		}
	}
	return facts
}
