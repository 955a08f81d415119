package policy

import (
	"strings"
	"unicode/utf8"
)

// Globs: "*" any run of characters but "/", "?" one of them, "[ab]" "[a-z]" "[!a]" one of a set, "**" as a whole
// element any number of folders, "\x" the character x itself.

const globMeta = `*?[\`

func hasGlob(s string) bool { return strings.ContainsAny(s, globMeta) }

// escapeGlob writes a literal text so that it matches only itself.
func escapeGlob(s string) string {
	if !hasGlob(s) {
		return s
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte(globMeta, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unescapeGlob gives the literal text of a pattern that has no unescaped meta character.
func unescapeGlob(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
			if i == len(s) {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// globPath matches a whole path, element by element. The table keeps "**" from costing more than
// elements × elements.
func globPath(pattern, path string) bool {
	ps, xs := strings.Split(pattern, "/"), strings.Split(path, "/")
	reach := make([]bool, len(xs)+1) // reach[j]: the pattern so far matches the first j elements
	reach[0] = true
	for _, p := range ps {
		next := make([]bool, len(xs)+1)
		if p == "**" {
			on := false
			for j := range reach {
				on = on || reach[j]
				next[j] = on
			}
		} else {
			for j := range xs {
				next[j+1] = reach[j] && globName(p, xs[j])
			}
		}
		reach = next
	}
	return reach[len(xs)]
}

// globName matches one element, or a variable's name. A pattern that is not well formed matches nothing.
func globName(p, s string) bool {
	pi, si, starP, starS := 0, 0, -1, 0
	for si < len(s) {
		if pi < len(p) && p[pi] == '*' {
			starP, starS = pi, si
			pi++
			continue
		}
		if n, ok := globOne(p[pi:], s[si:]); ok {
			pi += n.pattern
			si += n.text
			continue
		}
		if starP < 0 {
			return false
		}
		starS++
		pi, si = starP+1, starS
	}
	for pi < len(p) && p[pi] == '*' {
		pi++
	}
	return pi == len(p)
}

type globStep struct{ pattern, text int }

// globOne matches one character of s against one element of p that is no "*".
func globOne(p, s string) (globStep, bool) {
	if p == "" {
		return globStep{}, false
	}
	r, width := utf8.DecodeRuneInString(s) // bytes that are not UTF-8 count one by one
	switch p[0] {
	case '?':
		return globStep{1, width}, true
	case '[':
		n, in, ok := globSet(p, r)
		return globStep{n, width}, ok && in
	case '\\':
		if len(p) < 2 {
			return globStep{}, false
		}
		return globStep{2, 1}, p[1] == s[0]
	}
	return globStep{1, 1}, p[0] == s[0]
}

// globSet reads "[…]" at the start of p: its length, and whether r is in it.
func globSet(p string, r rune) (n int, in, ok bool) {
	rs := []rune(p)
	i, not := 1, false
	if i < len(rs) && (rs[i] == '!' || rs[i] == '^') {
		not = true
		i++
	}
	for first := true; i < len(rs); first = false {
		lo := rs[i]
		if lo == ']' && !first {
			return len(string(rs[:i+1])), in != not, true
		}
		if lo == '\\' && i+1 < len(rs) {
			i++
			lo = rs[i]
		}
		hi := lo
		if i+2 < len(rs) && rs[i+1] == '-' && rs[i+2] != ']' {
			hi = rs[i+2]
			i += 2
		}
		in = in || lo <= r && r <= hi
		i++
	}
	return 0, false, false
}

// globCovers says whether the glob p matches every name that the glob asked matches. Of sets, escapes and very long patterns it knows that
// they match themselves.
func globCovers(p, asked string) bool {
	switch {
	case p == asked:
		return true
	case !hasGlob(asked):
		return globName(p, asked)
	case strings.ContainsAny(p, `[\`) || strings.ContainsAny(asked, `[\`) || len(p) > 60:
		return false
	}
	ps, as := []rune(p), []rune(asked)
	letters := []rune("\x00") // stands for every letter that neither names
	for _, c := range p + asked {
		if c != '*' && c != '?' {
			letters = append(letters, c)
		}
	}
	type state struct {
		at int    // how far a name has got in asked
		in uint64 // bit by bit, how far the same name may have got in p
	}
	todo := []state{{0, globSkip(ps, 1)}}
	seen := map[state]bool{}
	for len(todo) > 0 && len(seen) < 1<<14 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		if s.at == len(as) {
			if s.in&(1<<len(ps)) == 0 {
				return false // asked matches the name, p does not
			}
			continue
		}
		c := as[s.at]
		if c == '*' {
			todo = append(todo, state{s.at + 1, s.in})
		}
		for _, letter := range letters {
			switch {
			case c == '*':
				todo = append(todo, state{s.at, globStepAll(ps, s.in, letter)})
			case c == '?' || c == letter:
				todo = append(todo, state{s.at + 1, globStepAll(ps, s.in, letter)})
			}
		}
	}
	return len(todo) == 0
}

// globSkip adds the places that a "*" lets pass without a letter.
func globSkip(p []rune, in uint64) uint64 {
	for i, c := range p {
		if c == '*' && in&(1<<i) != 0 {
			in |= 1 << (i + 1)
		}
	}
	return in
}

// globStepAll takes every place one letter further.
func globStepAll(p []rune, in uint64, letter rune) uint64 {
	var out uint64
	for i, c := range p {
		switch {
		case in&(1<<i) == 0:
		case c == '*':
			out |= 1 << i
		case c == '?' || c == letter:
			out |= 1 << (i + 1)
		}
	}
	return globSkip(p, out)
}

// globValid says whether every "[" has its "]" and every "\" a character that it makes literal.
func globValid(p string) bool {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
			if i == len(p) || p[i] == '/' {
				return false
			}
		case '[':
			n, _, ok := globSet(p[i:], 'x')
			if !ok || strings.Contains(p[i:i+n], "/") {
				return false
			}
			i += n - 1
		}
	}
	return true
}
