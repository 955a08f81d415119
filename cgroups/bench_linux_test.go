package cgroups

import "testing"

func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		Probe()
	}
}

func BenchmarkCreateUsageRemove(b *testing.B) {
	s := Probe()
	if !s.Controllers[memory].Writable || !s.Controllers[pids].Writable {
		b.Skip("no group may be made here")
	}
	l := Limits{Memory: 64 << 20, PIDs: 20}
	name := Name(1<<22+7, 1, 0)
	for b.Loop() {
		g, err := Create(s, name, l)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := g.Usage(); err != nil {
			b.Fatal(err)
		}
		if err := g.Remove(); err != nil {
			b.Fatal(err)
		}
	}
}
