package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// speller writes lines in their one form.
type speller struct {
	nl     string
	src    []byte
	values map[string]any
	twice  map[string]bool // keys of a table that two lines would have in their one form
}

func newSpeller(src []byte, index fileIndex, values map[string]any, nl string) speller {
	s := speller{nl: nl, src: src, values: values, twice: map[string]bool{}}
	seen := map[string]bool{}
	for _, e := range index.entries {
		name := tableName(e.table) + " " + spellKey(tableName(e.table), tableName(e.key))
		s.twice[name] = seen[name]
		seen[name] = true
	}
	return s
}

// item spells one line. Comments within its value come to stand above it.
func (s speller) item(table string, e entry) item {
	key := tableName(e.key)
	it := item{key: key, comment: e.comment}
	_, isEval := isEvalTable(table)
	names := isEval && contains(evalLists, key)
	if !names {
		it.above = s.within(e)
	}
	name := spellKey(table, key)
	if !s.twice[table+" "+name] {
		it.key = oneKey(table, key)
	} else {
		name = strings.TrimRight(string(s.src[e.start:e.valStart]), " \t=") // two ways to write one thing stay two
	}
	v, _ := lookUp(s.values, append(slices.Clone(e.table), e.key...))
	value, rights := s.value(table, e, v)
	if names {
		value, it.comment = s.names(e, v)
	}
	it.line = strings.TrimSpace(name) + " = " + value
	it.rank = lineRank(rights)
	order := map[string][]string{"": topKeys, "limits": LimitNames(), "sandbox": sandboxKeys, "syscalls": {"base"}}[table]
	if table == "python.eval" || strings.HasPrefix(table, "python.eval.") {
		order = evalKeys()
	}
	if i := slices.Index(order, key); i >= 0 {
		it.rank = i - len(order) // before what has no place of its own
	}
	return it
}

// spellKey writes a key in its one form.
func spellKey(table, key string) string {
	switch table {
	case "env", "syscalls":
		return keyText(OpEnv, key)
	case "files", "net", "python.import", "python.call":
		return quoteTOML(oneKey(table, key))
	}
	return key
}

// oneKey is the one text for all keys that mean the same.
func oneKey(table, key string) string {
	if n, err := parseNet(key); table == "net" && err == nil && n.unix == "" {
		return n.canonical()
	}
	return key
}

// value writes a value in its one form, and gives the rights that it names.
func (s speller) value(table string, e entry, v any) (text string, rights []Op) {
	from := ""
	if m, ok := v.(map[string]any); ok && table == "files" {
		from, _ = m["from"].(string)
		v = m["right"]
	}
	if table == "files" || table == "net" {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, x := range list {
			word, _ := x.(string)
			rights = append(rights, Op(word))
		}
		return rightsText(rights, from), rights
	}
	switch v := v.(type) {
	case bool, int64, float64:
		return fmt.Sprint(v), nil
	case string:
		return quoteTOML(v), nil
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			word, _ := x.(string)
			words[i] = quoteTOML(word)
		}
		return "[" + strings.Join(words, ", ") + "]", nil
	}
	return string(s.src[e.valStart:e.valEnd]), nil
}

// names writes a list of [python.eval]: sorted, one name a line, with the comments that stand by it; comment is the one behind it all.
func (s speller) names(e entry, v any) (text, comment string) {
	l := listOf(s.src, e)
	values, _ := v.([]any)
	var out []lined
	for i := range min(len(values), len(l.elems)) {
		word, _ := values[i].(string)
		out = append(out, lined{l.above[i], quoteTOML(word), l.behind[i]})
	}
	slices.SortStableFunc(out, func(a, b lined) int { return strings.Compare(a.text, b.text) })
	switch {
	case len(out) > 0 || len(l.above) > 0:
	case l.open != "" && l.close != "":
		return commented("[", l.open) + s.nl + "]", l.close
	default:
		return "[]", cmp.Or(l.close, l.open)
	}
	return l.broken(out, s.nl), l.close
}

// within gives the comments inside a value of several lines, as lines of their own.
func (s speller) within(e entry) []string {
	var out []string
	scan := scanner{src: s.src[:e.valEnd], pos: e.valStart}
	for scan.pos < e.valEnd {
		switch scan.peek() {
		case '"', '\'':
			scan.str()
		case '#':
			if text := scan.endLine(); text != "" {
				out = append(out, "# "+text)
			}
		default:
			scan.pos++
		}
	}
	return out
}

// comments gives every comment of a text that says something, sorted.
func comments(src []byte) []string {
	index := indexTOML(src)
	var out []string
	pos := 0
	own := func(to int) {
		for line := range strings.Lines(strings.TrimPrefix(string(src[pos:to]), "\ufeff")) {
			if text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")); text != "" {
				out = append(out, text)
			}
		}
	}
	type part struct {
		start, end int
		texts      []string
	}
	var parts []part
	for _, h := range index.headers {
		parts = append(parts, part{h.start, h.end, []string{h.comment}})
	}
	for _, e := range index.entries {
		texts := []string{e.comment}
		for _, c := range (speller{src: src}).within(e) {
			texts = append(texts, strings.TrimPrefix(c, "# "))
		}
		parts = append(parts, part{e.start, e.end, texts})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.start - b.start })
	for _, p := range parts {
		own(p.start)
		for _, text := range p.texts {
			if text != "" {
				out = append(out, text)
			}
		}
		pos = p.end
	}
	own(len(src))
	slices.Sort(out)
	return out
}
