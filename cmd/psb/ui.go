package main

// The law of what psb says. The program's stdout and stderr are the program's. psb speaks on stderr, each line with "psb: ", what to
// do in a line "psb: hint: ". Lower case, no full stop, nothing on success unless asked; --json puts one object on stdout.
// Names that came from a file, a program or the network are shown escaped: they may hold control characters.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exitDenied is the status of --fail-on-denial: the program ended with 0, and something was refused. exitRefused is psb's own: it refused or
// failed before the program started, or could not write what it was asked to.
const (
	exitDenied   = 123
	exitTimeout  = 124
	exitRefused  = 125
	exitNotExec  = 126
	exitNotFound = 127
)

// voice is where psb speaks.
type voice struct{ w io.Writer }

// say prints one line; line breaks inside become lines of their own, each prefixed.
func (v voice) say(format string, args ...any) {
	for _, line := range strings.Split(strings.TrimRight(fmt.Sprintf(format, args...), "\n"), "\n") {
		fmt.Fprintf(v.w, "psb: %s\n", plainLine(line)) // words from files, programs and the network may be among the others
	}
}

func (v voice) hint(format string, args ...any) { v.say("hint: "+format, args...) }

// plainText makes a name fit for one line of a terminal.
func plainText(s string) string {
	for _, r := range s { // of a byte that is no UTF-8 the loop makes the replacement character
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// plainLine makes a line of text fit for a terminal: what a reader cannot see, or could be fooled by (control, C1 and direction-changing
// characters, bytes that are no UTF-8), is escaped; tabs and everything else stay.
func plainLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' || unicode.IsPrint(r):
			b.WriteString(s[i : i+n])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// plainLines is plainLine for text of several lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = plainLine(l)
	}
	return strings.Join(lines, "\n")
}

// shellQuote makes a word that a shell reads back as it is.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r == '/' || r == ':' || r == ',' || r == '=' || r == '+' || r == '@' || r == '%' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) < 0 {
		return s
	}
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			quoted := strings.Trim(strconv.Quote(s), `"`)
			return "$'" + strings.ReplaceAll(strings.ReplaceAll(quoted, `\"`, `"`), "'", `\'`) + "'"
		}
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
