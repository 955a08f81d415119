package export

import (
	"fmt"
	"strings"

	"psb/policy"
)

// quoted is a word that every POSIX shell reads back as it is.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// visible is text for a comment: one line, and nothing in it that a reader could not see.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shellText is the text of a variable as a word in double and single quotes. Defaults go to variables of their own, which have to be set by
// the lines in set first.
func shellText(parts []policy.TextPart, prefix string, set *[]string) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Name == "":
			b.WriteString(quoted(p.Text))
		case len(p.Default) == 0:
			b.WriteString(`"${` + p.Name + `-}"`)
		default:
			word := shellText(p.Default, prefix, set)
			name := fmt.Sprintf("%s%d", prefix, len(*set)+1)
			*set = append(*set, name+"="+word)
			b.WriteString(`"${` + p.Name + `:-$` + name + `}"`)
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// nameRegexp is a glob on names of variables as a basic regular expression; ok is false for a glob that has none here.
func nameRegexp(glob string) (re string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString("[^=]*")
		case '?':
			b.WriteString("[^=]")
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			class := ""
			if end > 0 {
				class = glob[i+1 : i+1+end]
			}
			if class == "" || strings.ContainsAny(class, `\[/`) || class == "^" {
				return "", false
			}
			if class[0] == '^' { // package plan takes no other mark
				class = "^=" + class[1:]
			}
			b.WriteString("[" + class + "]")
			i += end + 1
		case '\\':
			if i++; i == len(glob) {
				return "", false
			}
			b.WriteString(literalRegexp(glob[i]))
		default:
			b.WriteString(literalRegexp(c))
		}
	}
	return b.String(), true
}

func literalRegexp(c byte) string {
	if strings.IndexByte(`.*[]^$\/`, c) >= 0 {
		return `\` + string(c)
	}
	return string(c)
}
