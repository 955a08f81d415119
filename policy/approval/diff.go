package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"psb/policy"
)

// context is how many unchanged lines are shown around a change.
const context = 2

// Diff shows what changed from the sources old to the sources new, file by file: "--- old", "+++ new", then lines
// with "-", "+" or a blank before them and "…" where unchanged lines are left out. It is "" when nothing changed.
// Characters that could fool a terminal or a reader are escaped.
func Diff(old, new []policy.Source) string {
	var b strings.Builder
	before := map[string][]byte{}
	for _, s := range old {
		before[place(s)] = s.Bytes
	}
	now := map[string]bool{}
	for _, s := range new {
		now[place(s)] = true
		was, ok := before[place(s)]
		label := place(s)
		if !ok {
			label = "(nothing approved)"
		}
		file(&b, label, place(s), lines(was), lines(s.Bytes), !ok)
	}
	for _, s := range old {
		if !now[place(s)] {
			file(&b, place(s), "(no longer read)", lines(s.Bytes), nil, true)
		}
	}
	if b.Len() == 0 && Digest(old) != Digest(new) {
		b.WriteString("the files are the same and are read in another order\n")
	}
	return b.String()
}

// lines splits text; a last line without newline says so, because the bytes differ.
func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	list := strings.Split(string(text), "\n")
	if list[len(list)-1] == "" {
		return list[:len(list)-1]
	}
	list[len(list)-1] += " (no newline at the end)"
	return list
}

func file(b *strings.Builder, from, to string, old, new []string, always bool) {
	ops := compare(old, new)
	changed := always
	near := make([]bool, len(ops))
	for i, o := range ops {
		if o.mark == ' ' {
			continue
		}
		changed = true
		for j := max(0, i-context); j <= min(len(ops)-1, i+context); j++ {
			near[j] = true
		}
	}
	if !changed {
		return
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", visible(from), visible(to))
	for i, o := range ops {
		switch {
		case near[i]:
			fmt.Fprintf(b, "%c %s\n", o.mark, visible(o.text))
		case i == 0 || near[i-1]:
			b.WriteString("…\n")
		}
	}
}

type op struct {
	mark byte // ' ', '-', '+'
	text string
}

// maxTable bounds the table of compare; two texts that differ over more lines are shown whole.
const maxTable = 4 << 20

// compare gives the shortest way from old to new in lines.
func compare(old, new []string) []op {
	var head, tail []op
	for len(old) > 0 && len(new) > 0 && old[0] == new[0] {
		head = append(head, op{' ', old[0]})
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
		tail = append(tail, op{' ', old[len(old)-1]})
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	ops := head
	if (len(old)+1)*(len(new)+1) > maxTable {
		for _, s := range old {
			ops = append(ops, op{'-', s})
		}
		for _, s := range new {
			ops = append(ops, op{'+', s})
		}
	} else {
		ops = append(ops, middle(old, new)...)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		ops = append(ops, tail[i])
	}
	return ops
}

// middle walks the table of longest common runs.
func middle(old, new []string) []op {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var ops []op
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			ops = append(ops, op{' ', old[i]})
			i, j = i+1, j+1
		case j == len(new) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			ops = append(ops, op{'-', old[i]})
			i++
		default:
			ops = append(ops, op{'+', new[j]})
			j++
		}
	}
	return ops
}

// visible escapes control, invisible and direction-changing characters.
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}
