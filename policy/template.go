package policy

import (
	"fmt"
	"strings"
)

// A template is a text with macros, taken apart once so that a substituted value is never read as a macro again.
type template []piece

// piece is literal text, or a reference when ref is set.
type piece struct {
	lit    string
	ref    string // the name inside ${…}, or "~"
	raw    string // the reference as written
	hasDef bool
	def    template // what stands after ":-"
}

// builtins are the macro names that are no variables.
var builtins = []string{"project", "tmp", "python", "venv", "site", "cache", "config", "data", "run"}

// parseTemplate takes text apart. With path, a leading "~" stands for the home folder.
func parseTemplate(text string, path bool) (template, error) {
	t, rest, err := parsePieces(text, path, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("macro: text left over: %q", rest) // BUG: parsePieces only stops early inside a default
	}
	return t, err
}

// parsePieces reads until the end of text or, inside a default (depth above 0), until its closing brace, which it leaves in rest.
func parsePieces(text string, path bool, depth int) (t template, rest string, err error) {
	inside := depth > 0
	if depth > maxNesting {
		return nil, "", fmt.Errorf("defaults nested more than %d deep", maxNesting)
	}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			t = append(t, piece{lit: lit.String()})
			lit.Reset()
		}
	}
	if path && strings.HasPrefix(text, "~") {
		end := strings.IndexAny(text, "/}")
		name := text
		if end >= 0 {
			name = text[:end]
		}
		if name != "~" {
			return nil, "", fmt.Errorf("%s: only ~ itself, your own home, can be named", name)
		}
		t = append(t, piece{ref: "~", raw: "~"})
		text = text[1:]
	}
	for text != "" {
		switch {
		case strings.HasPrefix(text, "$${"):
			lit.WriteString("${")
			text = text[3:]
		case inside && text[0] == '}':
			flush()
			return t, text, nil
		case strings.HasPrefix(text, "${"):
			flush()
			p, after, err := parseRef(text, path, depth)
			if err != nil {
				return nil, "", err
			}
			t = append(t, p)
			text = after
		default:
			lit.WriteByte(text[0])
			text = text[1:]
		}
	}
	flush()
	if inside {
		return nil, "", fmt.Errorf("${ without its }")
	}
	return t, "", nil
}

// parseRef reads one ${NAME} or ${NAME:-default} at the start of text.
func parseRef(text string, path bool, depth int) (piece, string, error) {
	n := 2
	for n < len(text) && text[n] != '}' && text[n] != ':' && text[n] != '/' && text[n] != '$' {
		n++
	}
	name := text[2:n]
	switch {
	case n == len(text):
		return piece{}, "", fmt.Errorf("${ without its } (write $${ for a literal ${)")
	case !macroName(name):
		return piece{}, "", fmt.Errorf("%q is no macro name (write $${ for a literal ${)", name)
	case text[n] == '}':
		return piece{ref: name, raw: text[:n+1]}, text[n+1:], nil
	case !strings.HasPrefix(text[n:], ":-"):
		return piece{}, "", fmt.Errorf("${%s…: only ${NAME} and ${NAME:-default} are known", name)
	}
	def, rest, err := parsePieces(text[n+2:], path, depth+1)
	if err != nil {
		return piece{}, "", err
	}
	end := len(text) - len(rest) + 1
	return piece{ref: name, raw: text[:end], hasDef: true, def: def}, text[end:], nil
}

// macroName accepts names of variables; "*" and "?" too, for [env], where a glob may stand for itself.
func macroName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c == '*' || c == '?' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// hasRef says whether the text depends on anything outside it.
func (t template) hasRef() bool {
	for _, p := range t {
		if p.ref != "" {
			return true
		}
	}
	return false
}

// leading says whether the only reference, if any, is a whole first element of a path.
func (t template) leading() bool {
	for i, p := range t {
		if p.ref != "" && (i > 0 || len(t) > 1 && !strings.HasPrefix(t[1].lit, "/")) {
			return false
		}
	}
	return true
}

// expand puts values in. value gives "" for what is unset; escape is applied to substituted values only. With
// emptyOK an unset name without default becomes the empty text, otherwise it is an error.
func (t template) expand(value func(piece) string, escape func(string) string, emptyOK bool) (string, error) {
	var b strings.Builder
	for _, p := range t {
		if p.ref == "" {
			b.WriteString(p.lit)
			continue
		}
		v := value(p)
		switch {
		case v != "":
			b.WriteString(escape(v))
		case p.hasDef:
			d, err := p.def.expand(value, escape, emptyOK)
			if err != nil {
				return "", err
			}
			b.WriteString(d)
		case p.ref == "~":
			return "", fmt.Errorf("~: the home folder is not known")
		case !emptyOK:
			return "", unsetError(p.ref)
		}
	}
	return b.String(), nil
}

func unsetError(name string) error {
	for _, b := range builtins {
		if b == name {
			return fmt.Errorf("${%s} has no value here (write ${%s:-…} to give one)", name, name)
		}
	}
	if strings.ToLower(name) == name {
		if hint := near(name, builtins); strings.Contains(hint, "did you mean") {
			return fmt.Errorf("variable %s is unset or empty%s", name, hint)
		}
	}
	return fmt.Errorf("variable %s is unset or empty (write ${%s:-…} to give a default)", name, name)
}

// value looks a macro up; "" means unset.
func (m Macros) value(p piece) string {
	switch p.ref {
	case "~":
		return m.Home
	case "project":
		return m.Project
	case "tmp":
		return m.Tmp
	case "python":
		return m.Python
	case "venv":
		return m.Venv
	case "site":
		return m.Site
	case "cache":
		return m.Cache
	case "config":
		return m.Config
	case "data":
		return m.Data
	case "run":
		return m.Run
	}
	if m.Getenv == nil {
		return ""
	}
	v, _ := m.Getenv(p.ref)
	return v
}

func asIs(s string) string { return s }
