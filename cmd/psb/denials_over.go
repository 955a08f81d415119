package main

import (
	"hash/maphash"

	"psb/cmd/psb/report"
	"psb/policy"
)

// overflow counts the different refusals beyond those that are kept, each once, in bounded memory. Only what the kernel or the broker refused
// is counted: what the program says of itself becomes a denial only when the policy refuses it, too, and what is not kept cannot be asked about.
type overflow struct {
	seed   maphash.Seed
	seen   map[uint64]bool
	unsure bool // there were more that could not be counted, or not judged
}

// mostCounted bounds the memory: eight bytes of each.
const mostCounted = 1 << 17

func (o *overflow) add(key refusedKey) {
	if key.source != "kernel" {
		o.unsure = true
		return
	}
	if o.seen == nil {
		o.seed, o.seen = maphash.MakeSeed(), map[uint64]bool{}
	}
	if nameOnly(key.access) && o.expands(key.access.Object) {
		return
	}
	sum := o.sum(key.access)
	if len(o.seen) == mostCounted && !o.seen[sum] {
		o.unsure = true
		return
	}
	o.seen[sum] = true
}

// expands: a resolver asks for a name as it is first, and then with the search list behind it: that is one refusal.
func (o *overflow) expands(host string) bool {
	for i, c := range host {
		if c == '.' && o.seen[o.sum(policy.Access{Op: policy.OpConnect, Object: host[:i]})] {
			return true
		}
	}
	return false
}

func (o *overflow) sum(a policy.Access) uint64 { return maphash.Comparable(o.seed, a) }

func (o *overflow) more() report.More { return report.More{Count: len(o.seen), AtLeast: o.unsure} }
