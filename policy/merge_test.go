package policy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMerge: every file but "want" is merged, in order; want shows what is refused, or the conflicts, and the result.
func TestMerge(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			last := len(ar.Files) - 1
			var sources []Source
			for _, f := range ar.Files[:last] {
				sources = append(sources, Source{Name: f.Name, Bytes: []byte(toBytes.Replace(string(f.Data)))})
			}
			m, err := Merge(sources)
			got := ""
			for _, r := range m.Refused {
				got += "refused: " + r.String() + "\n"
			}
			if err != nil {
				got = err.Error() + "\n"
			} else {
				got += golden(m.Text)
				kept(t, sources[0].Bytes, m.Text, m.Changes)
			}
			if *update {
				ar.Files[last].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(ar.Files[last].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if err == nil {
				again, err := Merge(append([]Source{{Name: "merged", Bytes: m.Text}}, sources...))
				if err != nil || !bytes.Equal(again.Text, m.Text) || len(again.Changes) > 0 {
					t.Errorf("merged again: %v\n%s", err, again.Text)
				}
			}
		})
	}
}

// judges gives the verdict on every access of small policies, for several texts: what one of them allows, or their rules joined, and no refusal of
// any takes away. (A line that lies deeper than one of another text takes nothing away from that text.)
func judges(t *testing.T, texts ...string) string {
	t.Helper()
	joined := &Policy{}
	var alone []*Policy
	for _, text := range texts {
		p, err := Parse("p", []byte(text))
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		joined.Rules = append(joined.Rules, p.Rules...)
		alone = append(alone, expanded(t, p))
	}
	all := expanded(t, joined)
	var b strings.Builder
	for _, a := range smallAccesses("/w/p") {
		v := all.Decide(a)
		one := slices.ContainsFunc(alone, func(p *Policy) bool { return p.Decide(a).Allowed })
		fmt.Fprintln(&b, a, v.Allowed || one && v.Blocker == nil)
	}
	return b.String()
}

func expanded(t *testing.T, p *Policy) *Policy {
	t.Helper()
	q, err := p.Expand(Macros{Project: "/w/p", Home: "/h"})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// unites holds Merge to its word: what any allows and none refuses, whatever the order, once and again.
func unites(t *testing.T, texts ...string) {
	t.Helper()
	want := judges(t, texts...)
	for turn := range texts {
		var sources []Source
		for i := range texts {
			n := (i + turn) % len(texts)
			sources = append(sources, Source{Name: string(rune('a' + n)), Bytes: []byte(texts[n])})
		}
		m, err := Merge(sources)
		if err != nil {
			t.Fatalf("%q: %v", texts, err)
		}
		if got := judges(t, string(m.Text)); got != want {
			t.Fatalf("%s\nbecame\n%s\nwhich allows\n%s\nnot\n%s", strings.Join(texts, "\nwith\n"), m.Text, got, want)
		}
		kept(t, sources[0].Bytes, m.Text, m.Changes)
		for _, s := range sources {
			again, err := Merge([]Source{{Name: "m", Bytes: m.Text}, s})
			if err != nil || !bytes.Equal(again.Text, m.Text) {
				t.Fatalf("%s\nmerged with\n%s\nagain became\n%s\n%v", m.Text, s.Bytes, again.Text, err)
			}
			self, err := Merge([]Source{s, s})
			if err != nil || !bytes.Equal(self.Text, s.Bytes) {
				t.Fatalf("%s\nmerged with itself became\n%s\n%v", s.Bytes, self.Text, err)
			}
		}
	}
}

func TestMergeUnites(t *testing.T) {
	seed := uint32(7)
	for range 30 {
		var texts []string
		for range 2 + int(seed>>16)%2 {
			choices := make([]byte, 30)
			for i := range choices {
				seed = seed*1664525 + 1013904223
				choices[i] = byte(seed >> 24)
			}
			texts = append(texts, smallPolicy(choices))
		}
		unites(t, texts...)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7}, []byte{7, 6, 5, 4, 3, 2, 1}, []byte{})
	f.Fuzz(func(t *testing.T, a, b, c []byte) { unites(t, smallPolicy(a), smallPolicy(b), smallPolicy(c)) })
}

func TestReason(t *testing.T) {
	for _, tc := range []struct{ own, other, want string }{
		{"app.a", "app.b", "app.a"},
		{"app.a; 2 of 5 files seen", "app.b; 3 of 5 files seen", "app.a; 3 of 5 files seen"},
		{"2 files seen", "3 of 4 files seen", "3 of 4 files seen"},
		{"app.a; 2 of 5 files seen", "app.b", "app.a; 2 of 5 files seen"},
		{"app.a", "! new code or settings; app.b", "! new code or settings; app.a"},
		{"! a secret; app.a", "app.b", "! a secret; app.a"},
		{"! a secret", "! a secret; app", "! a secret"},
	} {
		if got := joinReason(parseReason(tc.own), parseReason(tc.other)).String(); got != tc.want {
			t.Errorf("%q with %q: %q, want %q", tc.own, tc.other, got, tc.want)
		}
	}
}

// FuzzMergeKeeps: whatever two texts are merged, every byte of the first outside the lines said to be changed stays, in its order, and
// merging again changes nothing.
func FuzzMergeKeeps(f *testing.F) {
	for _, dir := range []string{"merge", "edit", "fmt"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*.txtar")
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(toBytes.Replace(string(ar.Files[0].Data))), []byte(toBytes.Replace(string(ar.Files[1].Data))))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		m, err := Merge([]Source{{Name: "a", Bytes: a}, {Name: "b", Bytes: b}})
		if err != nil {
			if strings.HasPrefix(err.Error(), "BUG") {
				t.Fatalf("%q\n%q: %v", a, b, err)
			}
			return
		}
		kept(t, a, m.Text, m.Changes)
		again, err := Merge([]Source{{Name: "m", Bytes: m.Text}, {Name: "b", Bytes: b}, {Name: "a", Bytes: a}})
		if err != nil || !bytes.Equal(again.Text, m.Text) {
			t.Fatalf("%q\nwith %q\nbecame %q\nand then %q: %v", a, b, m.Text, again.Text, err)
		}
	})
}
