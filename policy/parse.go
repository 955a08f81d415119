package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// MaxSize is the largest policy file that is read, in bytes.
const MaxSize = 1 << 20

// Parse reads one policy file. name is the path that messages show. A syntax error is reported alone; every other
// problem is reported at once in a *ParseError.
//
// The files it includes are listed in Includes and not read: use Load for a policy that is to be enforced.
func Parse(name string, src []byte) (*Policy, error) {
	p := &Policy{
		Name:    name,
		Sources: []Source{{Name: name, Bytes: src}},
		Limits:  map[string]Limit{},
		Shim:    true,
		Tables:  map[string]Origin{},
		Eval:    map[string]Eval{},
		Sandbox: Sandbox{Origin: map[string]Origin{}},
	}
	if len(src) > MaxSize {
		return nil, &ParseError{[]Problem{{File: name, What: fmt.Sprintf("larger than %d bytes", MaxSize)}}}
	}
	if line := notUTF8(src); line > 0 {
		return nil, &ParseError{[]Problem{{File: name, Line: line, What: "not UTF-8 text"}}}
	}
	index := indexTOML(src)
	if index.deep > 0 {
		return nil, &ParseError{[]Problem{{File: name, Line: index.deep, What: fmt.Sprintf("syntax: nested more than %d deep", maxNesting)}}}
	}
	var values map[string]any
	if _, err := toml.Decode(string(src), &values); err != nil {
		return nil, &ParseError{[]Problem{syntaxProblem(name, src, err)}}
	}
	r := reader{name: name, src: src, p: p, index: index, values: values}
	r.headers()
	r.entries()
	r.complete()
	p.rawBeside(&r.probs)
	if p.Locked {
		p.Learn = ""
	}
	if err := r.probs.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// notUTF8 gives the line of the first byte that is not UTF-8, 0 when there is none.
func notUTF8(src []byte) int {
	line := 1
	for i := 0; i < len(src); {
		c, n := utf8.DecodeRune(src[i:])
		if c == utf8.RuneError && n == 1 {
			return line
		}
		if c == '\n' {
			line++
		}
		i += n
	}
	return 0
}

func syntaxProblem(name string, src []byte, err error) Problem {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return Problem{File: name, What: "syntax: " + err.Error()}
	}
	what := pe.Message
	if what == "" {
		what = strings.TrimPrefix(pe.Error(), "toml: ")
	}
	if len(what) > 0 && strings.HasPrefix(what, "Key '") {
		what = "k" + what[1:]
	}
	// The decoder's line is one too far when it stumbles over the line's end; its offset is right.
	line := 1 + bytes.Count(src[:min(max(pe.Position.Start, 0), len(src))], []byte("\n"))
	return Problem{File: name, Line: line, What: "syntax: " + what}
}

// reader turns the decoded values into a policy, walking the index so that everything has its line.
type reader struct {
	name   string
	src    []byte
	p      *Policy
	index  fileIndex
	values map[string]any
	probs  problems
}

func (r *reader) at(line int) Origin { return Origin{File: r.name, Line: line} }

// table is one table of the format: what a key in it may be, and what to do with its value.
type table struct {
	name string
	help string // comment that a fresh table gets
	read func(r *reader, o Origin, key string, v any, e entry)
}

// tables in the order in which a file shows them. [python.eval.NAME] follows [python.eval].
func tables() []table {
	return []table{
		{"sandbox", "", (*reader).sandbox},
		{"env", `true: the host's value, "text": this value, false: never`, (*reader).env},
		{"files", "read, write (also reads), exec, hide: name/ is everything below; create, list: that folder only", (*reader).files},
		{"net", "connect, listen, deny; private beside connect: the name may lead into the own networks", (*reader).net},
		{"syscalls", "true: allow beside the base set, false: never", (*reader).syscalls},
		{"limits", "", (*reader).limits},
		{"python", "", (*reader).python},
		{"python.import", "what the program itself imports from outside the standard library", (*reader).imports},
		{"python.call", "sensitive functions and categories, denied by default", (*reader).calls},
		{"python.eval", "what evaluated text may use", (*reader).eval},
	}
}

// tableRank gives a table's place in a file, and its entry; ok is false for a name that is no table.
func tableRank(name string) (rank int, t table, ok bool) {
	all := tables()
	for i, t := range all {
		if t.name == name {
			return i, t, true
		}
	}
	if profile, found := strings.CutPrefix(name, "python.eval."); found && profile != "" {
		return len(all), table{name, "", (*reader).eval}, true
	}
	return 0, table{}, false
}

func tableNames() []string {
	names := []string{}
	for _, t := range tables() {
		names = append(names, t.name)
	}
	return names
}

// headers checks the [table] lines.
func (r *reader) headers() {
	for _, h := range r.index.headers {
		name, o := tableName(h.path), r.at(h.line)
		_, _, ok := tableRank(name)
		switch {
		case ok && len(h.path) != strings.Count(name, ".")+1:
			r.probs.add(o, "unknown table [%s]: a name holds a dot", name)
		case len(h.path) > 3:
			r.probs.add(o, "unknown table [%s]: [%s] has no tables below it", name, tableName(h.path[:3]))
		case !ok && len(h.path) > 1 && h.path[0] != "python":
			r.probs.add(o, "unknown table [%s]: [%s] has no tables below it", name, h.path[0])
		case !ok:
			r.probs.add(o, "unknown table [%s]%s", name, near(name, tableNames()))
		case h.array:
			r.probs.add(o, "[[%s]]: write [%s]", name, name)
		case strings.HasPrefix(name, "python.eval."):
			profile := h.path[2]
			if isEvalKey(profile) || !identifier(profile) {
				r.probs.add(o, "%q cannot name a profile of [python.eval]", profile)
				continue
			}
			r.p.Tables[name] = o
			r.p.Eval[profile] = Eval{Origin: o, Lists: map[string][]string{}, Values: map[string]string{}}
		default:
			r.p.Tables[name] = o
			if name == "python.eval" {
				r.p.Eval[""] = Eval{Origin: o, Lists: map[string][]string{}, Values: map[string]string{}}
			}
		}
	}
}

// entries hands every key = value to its table.
func (r *reader) entries() {
	for _, e := range r.index.entries {
		o := r.at(e.line)
		v, ok := lookUp(r.values, append(append([]string{}, e.table...), e.key...))
		if !ok {
			r.probs.add(o, "%s and a longer name that starts with it cannot both stand without quotes: write each as \"…\"", tableName(e.key))
			continue
		}
		if e.table == nil {
			r.top(o, e, v)
			continue
		}
		name := tableName(e.table)
		_, t, known := tableRank(name)
		if !known || len(e.table) != strings.Count(name, ".")+1 {
			continue // its header is a problem already
		}
		dotted := name == "python.import" || name == "python.call"
		if len(e.key) > 1 && !dotted {
			if sub := name + "." + e.key[0]; name == "python" {
				r.probs.add(o, "write the line under [%s]", sub)
			} else {
				r.probs.add(o, "a name with a dot needs quotes: write %s", quoteTOML(tableName(e.key)))
			}
			continue
		}
		t.read(r, o, tableName(e.key), v, e)
	}
}

// lookUp finds the value at a path of keys.
func lookUp(m map[string]any, path []string) (any, bool) {
	for i, k := range path {
		v, ok := m[k]
		if !ok || i == len(path)-1 {
			return v, ok
		}
		if m, ok = v.(map[string]any); !ok {
			return nil, false
		}
	}
	return nil, false
}

// top reads the keys before the first table.
func (r *reader) top(o Origin, e entry, v any) {
	key := e.key[0]
	if _, _, isTable := tableRank(key); isTable {
		r.probs.add(o, "write %s as a table of its own: [%s] on a line, its rules below", key, key)
		return
	}
	if len(e.key) > 1 {
		r.probs.add(o, "unknown key %s%s", tableName(e.key), near(tableName(e.key), topKeys))
		return
	}
	switch key {
	case "version":
		n, ok := v.(int64)
		switch {
		case !ok:
			r.probs.add(o, "version must be the number 1, not %s", describe(v))
		case n != 1:
			r.probs.add(o, "version %d is unknown: this psb reads version 1", n)
		}
		r.p.Version = int(n)
	case "locked":
		on, ok := r.boolean(o, key, v)
		if ok && on {
			r.p.Locked, r.p.LockedAt = true, o
		}
	case "learn":
		s, ok := r.text(o, key, v)
		if !ok {
			return
		}
		if strings.HasSuffix(s, "/") || s == "" {
			r.probs.add(o, "learn must name a file, not %q", s)
		} else if contains([]string{"true", "false", "yes", "no", "on", "off"}, strings.ToLower(s)) {
			r.probs.add(o, "learn names a file: take the line away, or write learn = %s for a file of that name", quoteTOML("./"+s))
		} else if _, err := parseTemplate(s, true); err != nil {
			r.probs.add(o, "learn: %s", err)
		}
		r.p.Learn, r.p.learnAt = s, o
	case "include":
		names, ok := r.texts(o, key, v)
		if !ok {
			return
		}
		for _, s := range names {
			inc := Include{Text: strings.TrimPrefix(s, "?"), Optional: strings.HasPrefix(s, "?"), Origin: o}
			if _, err := parseTemplate(inc.Text, true); err != nil {
				r.probs.add(o, "include %q: %s", s, err)
				continue
			}
			if inc.Text == "" || strings.HasSuffix(inc.Text, "/") || strings.ContainsRune(inc.Text, 0) {
				r.probs.add(o, "include %q: name a file", s)
				continue
			}
			r.p.Includes = append(r.p.Includes, inc)
		}
	default:
		hint := near(key, topKeys)
		if t := near(key, tableNames()); !strings.Contains(hint, "did you mean") && strings.Contains(t, "did you mean") {
			hint = t
		}
		r.probs.add(o, "unknown key %s%s", key, hint)
	}
}

var topKeys = []string{"version", "include", "locked", "learn"}
