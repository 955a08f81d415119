//go:build linux

package seccomp

import (
	"fmt"
	"math/rand"
	"testing"

	"golang.org/x/net/bpf"
)

const testNote = -0x505342

// filters lists every kind of filter this package makes.
func filters() map[string]Filter {
	out := map[string]Filter{}
	for _, arch := range []Arch{AMD64, ARM64} {
		for _, o := range []Options{
			{},
			{NoteFD: testNote, Listener: true, LandlockABI: 7},
			{NoteFD: testNote, Listener: true, LandlockABI: 5},
			{NoteFD: testNote, Listener: true, Lite: true, LandlockABI: 7},
			{NoteFD: testNote, Lite: true, LandlockABI: 2},
			{NoteFD: testNote, Listener: true, LandlockABI: 7, Extra: map[string]bool{"ustat": true, "socket": false, "statmount": false}},
		} {
			o.Arch = arch
			name := fmt.Sprintf("%v listener=%v lite=%v abi=%d extra=%d", arch, o.Listener, o.Lite, o.LandlockABI, len(o.Extra))
			out["enforce "+name] = Enforce(o)
			out["learn "+name] = Learn(o)
		}
		out["reaper "+arch.String()] = Reaper(arch)
	}
	return out
}

// tries gives argument sets around every rule of one call: each rule's own values, each with one bit of each argument
// flipped, each with the unused upper halves filled.
func tries(rules []Call) [][6]uint64 {
	out := [][6]uint64{{}, {^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
	for _, r := range rules {
		var args [6]uint64
		for _, w := range r.When {
			args[w.Arg] |= w.Value
		}
		out = append(out, args)
		high := args
		for i := range high {
			high[i] |= 0xffffffff << 32
		}
		out = append(out, high)
		for _, w := range r.When {
			for bit := range 64 {
				flip := args
				flip[w.Arg] ^= 1 << bit
				out = append(out, flip)
			}
			var value [6]uint64
			value[w.Arg] = w.Value
			out = append(out, value)
		}
	}
	return out
}

// The compiled program and Filter.Decide are one judge: for every call known, on both architectures, around every rule.
func TestProgramAgrees(t *testing.T) {
	for title, f := range filters() {
		t.Run(title, func(t *testing.T) {
			p, err := f.Build()
			if err != nil {
				t.Fatal(err)
			}
			vm, err := bpf.NewVM(p.instructions())
			if err != nil {
				t.Fatal(err)
			}
			rules := map[string][]Call{}
			for _, c := range f.Calls {
				rules[c.Name] = append(rules[c.Name], c)
			}
			for _, name := range Names() {
				nr, ok := Number(f.Arch, name)
				if !ok {
					continue
				}
				for _, args := range tries(rules[name]) {
					want, _ := f.Decide(name, args)
					got, err := run(vm, uint32(f.Arch), nr, args)
					if err != nil || got != want.compiled() {
						t.Fatalf("%s%x: program says %v (%v), Decide says %v", name, args, got, err, want)
					}
				}
			}
			for _, nr := range []int{-1, 399, 423, 472, 1000} {
				if got, err := run(vm, uint32(f.Arch), nr, [6]uint64{}); err != nil || got != f.Default.compiled() {
					t.Errorf("number %d: %v (%v), want the default %v", nr, got, err, f.Default)
				}
			}
		})
	}
}

// A fuzz target over one call with many rules: any arguments, same answer.
func FuzzProgramAgrees(f *testing.F) {
	filter := Enforce(Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 5})
	p, err := filter.Build()
	if err != nil {
		f.Fatal(err)
	}
	names := Names()
	r := rand.New(rand.NewSource(1))
	for range 64 {
		f.Add(r.Intn(len(names)), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	}
	f.Fuzz(func(t *testing.T, i int, a, b, c, d uint64) {
		name := names[uint(i)%uint(len(names))]
		nr, ok := Number(AMD64, name)
		if !ok {
			return
		}
		args := [6]uint64{a, b, c, d, a ^ b, c ^ d}
		want, _ := filter.Decide(name, args)
		if got, err := p.Simulate(uint32(AMD64), nr, args); err != nil || got != want.compiled() {
			t.Fatalf("%s%x: program says %v (%v), Decide says %v", name, args, got, err, want)
		}
	})
}

func BenchmarkBuildEnforce(b *testing.B) {
	f := Enforce(Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 7})
	for b.Loop() {
		if _, err := f.Build(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEnforceData(b *testing.B) {
	for b.Loop() {
		_ = Enforce(Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 7})
	}
}
