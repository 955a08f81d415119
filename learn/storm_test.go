package learn

import (
	"fmt"
	"testing"

	"psb/policy"
)

// BenchmarkStorm is a program that opens 100 files in each of 200 folders, with the notes its shim writes.
func BenchmarkStorm(b *testing.B) {
	entries := map[string][]string{}
	for d := range 200 {
		for f := range 100 {
			dir := fmt.Sprintf("/home/u/project/data/%d", d)
			entries[dir] = append(entries[dir], fmt.Sprint(f))
		}
	}
	k := Knowledge{Macros: policy.Macros{Project: "/home/u/project", Home: "/home/u", Config: "/home/u/.config", Cache: "/home/u/.cache"}, Private: FixedPrivate(), Tables: map[string]bool{"files": true},
		Floor: []string{"/home/u/.ssh", "/home/u/.ssh/", "/home/u/.aws", "/home/u/.aws/"}, Always: []string{"/usr/lib/python3.11/", "/usr/bin/python3.11"},
		Entries: func(dir string) []string { return entries[dir] }}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			storm(entries)
		}
	})
	s := storm(entries)
	b.Run("generalise", func(b *testing.B) {
		for b.Loop() {
			if grants, _ := Generalise(s, k); len(grants) != 200 {
				b.Fatalf("%d grants", len(grants))
			}
		}
	})
}

func storm(entries map[string][]string) *Set {
	s := NewSet()
	s.Add(Spawned{Child: 1, PID: 1})
	for d := range 200 {
		dir := fmt.Sprintf("/home/u/project/data/%d", d)
		for n, f := range entries[dir] {
			if n < 16 {
				s.Add(Noted{TID: 1, Text: fmt.Sprintf(`{"e":"open","a":["data/%d/%s"],"w":"look.py:4","f":"look"}`, d, f)})
			} else if n == 16 {
				s.Add(Noted{TID: 1, Text: fmt.Sprintf(`{"e":"open","a":["data/%d/*"],"w":"look.py:4","f":"look"}`, d)})
			}
			s.Add(Accessed{TID: 1, Access: policy.Access{Op: policy.OpRead, Object: dir + "/" + f}})
		}
	}
	return s
}
