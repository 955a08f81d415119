package policy

import (
	"fmt"
	"strings"
	"unicode"
)

// New gives a fresh policy file: a line that says whose rights it holds, a line that says what to do with it, and the
// version. program names what was learned ("app.py", "-m package"); "" is a file begun by hand.
func New(program string) []byte {
	about := "Rights of the programs in this folder"
	if program != "" {
		about = "Rights of " + oneLine(program) + ", learned by psb"
	}
	return []byte("# " + about + "; one rule a line, edit freely. Format: psb policy help\n" +
		"# Read the lines marked ! first, then commit this file.\nversion = 1\n")
}

// Quote writes a text as a policy file holds it.
func Quote(s string) string { return quoteTOML(s) }

// quoteTOML writes a basic string. Everything a reader cannot see, or could be fooled by, is escaped.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oneLine makes text fit for a comment.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return printable(strings.ToValidUTF8(s, "\uFFFD"))
}

// keyText writes a key: names of variables and system calls bare where TOML allows, the rest quoted.
func keyText(op Op, text string) string {
	if op != OpEnv && op != OpSyscall {
		return quoteTOML(text)
	}
	for _, c := range text {
		if c != '_' && c != '-' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return quoteTOML(text)
		}
	}
	return text
}

// tableOf names the table that holds rules of an operation.
func tableOf(op Op) string {
	switch op {
	case OpConnect, OpPrivate, OpListen, OpDeny:
		return "net"
	case OpEnv:
		return "env"
	case OpSyscall:
		return "syscalls"
	case OpImport:
		return "python.import"
	case OpCall:
		return "python.call"
	case OpEval:
		return "python.eval"
	}
	if isFileOp(op) {
		return "files"
	}
	return ""
}

// rightsText writes the value of a rule: one word, or a list in the fixed order of the rights.
func rightsText(rights []Op, from string) string {
	var words []string
	for _, op := range append(fileOps(), netOps...) {
		for _, r := range rights {
			if string(r) == op {
				words = append(words, quoteTOML(op))
				break
			}
		}
	}
	text := strings.Join(words, ", ")
	if len(words) != 1 {
		text = "[" + text + "]"
	}
	if from != "" {
		text = "{ from = " + quoteTOML(from) + ", right = " + text + " }"
	}
	return text
}

// lineRank groups the lines of a table: what runs, what changes, what reads; what connects, what listens.
func lineRank(rights []Op) int {
	order := []Op{OpExec, OpDevice, OpCreate, OpWrite, OpList, OpRead, OpHide, OpConnect, OpPrivate, OpListen, OpDeny}
	best := len(order)
	for _, r := range rights {
		for i, o := range order {
			if r == o {
				best = min(best, i)
			}
		}
	}
	return best
}
