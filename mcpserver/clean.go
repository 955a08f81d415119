package mcpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes the program's text harmless to whoever shows it: bytes that are no UTF-8 become the replacement character; what steers a terminal,
// changes the direction of text, hides text or cannot be seen is written out as an escape. Line ends, tabs and all that can be read stay.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			b.WriteByte('\r')
		case !harmful(r):
			b.WriteString(s[i : i+n])
		case r < 0x100:
			escape(&b, 'x', r, 2)
		case r < 0x10000:
			escape(&b, 'u', r, 4)
		default:
			escape(&b, 'U', r, 8)
		}
		i += n
	}
	return b.String()
}

// escape writes a backslash, a letter and so many hexadecimal digits.
func escape(b *strings.Builder, letter byte, r rune, digits int) {
	b.WriteByte('\\')
	b.WriteByte(letter)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b.WriteByte("0123456789abcdef"[r>>shift&0xf])
	}
}

func isClean(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == '\r' || harmful(r) {
			return false
		}
		i += n
	}
	return true
}

// harmful characters are never shown as they are.
func harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction of text
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff, r == 0x00ad, r == 0x180e, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // line ends and blanks that look like nothing
		return true
	case r >= 0x200b && r <= 0x200c, r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb: // not to be seen; ZWJ stays, emoji need it
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and more variation selectors
		return true
	case r >= 0xd800 && r <= 0xdfff, r&0xfffe == 0xfffe:
		return true
	}
	return r > 0xffff && unicode.Is(unicode.Co, r) || r >= 0xe000 && r <= 0xf8ff
}

// voiced is clean for text that stands beside psb's own lines: those begin with "[psb", and no line of the program may.
func voiced(s string) string {
	s = clean(s)
	if !strings.Contains(s, "[psb") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimLeft(l, " \t"), "[psb") {
			lines[i] = " |" + l
		}
	}
	return strings.Join(lines, "\n")
}

// cutHead is the longest beginning of at most n bytes that ends with a whole character, and with a whole line where one is near.
func cutHead(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	b = b[:n]
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	if i := strings.LastIndexByte(string(b), '\n'); i >= len(b)-len(b)/4 {
		b = b[:i+1]
	}
	return b
}

// cutTail is the same from the end.
func cutTail(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	b = b[len(b)-n:]
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	if i := strings.IndexByte(string(b), '\n'); i >= 0 && i < len(b)/4 {
		b = b[i+1:]
	}
	return b
}
