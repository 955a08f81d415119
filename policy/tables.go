package policy

import (
	"fmt"
	"sort"
	"strings"
)

// describe names a value's type as a newcomer would.
func describe(v any) string {
	switch v := v.(type) {
	case bool:
		return fmt.Sprint(v)
	case string:
		return fmt.Sprintf("the text %q", v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (r *reader) boolean(o Origin, key string, v any) (bool, bool) {
	b, ok := v.(bool)
	if !ok {
		r.probs.add(o, "%s must be true or false, not %s", key, describe(v))
	}
	return b, ok
}

func (r *reader) text(o Origin, key string, v any) (string, bool) {
	s, ok := v.(string)
	switch {
	case !ok:
		r.probs.add(o, "%s must be a text in quotes, not %s", key, describe(v))
	case strings.ContainsRune(s, 0):
		r.probs.add(o, "%s holds a NUL character", key)
		ok = false
	}
	return s, ok
}

func (r *reader) texts(o Origin, key string, v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		r.probs.add(o, `%s must be a list, ["…"], not %s`, key, describe(v))
		return nil, false
	}
	var out []string
	for _, x := range list {
		s, ok := r.text(o, "each element of "+key, x)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func (r *reader) rule(op Op, text string, o Origin, why string) *Rule {
	r.p.Rules = append(r.p.Rules, Rule{Op: op, Pattern: Pattern{Text: text}, Origin: o, Why: why})
	return &r.p.Rules[len(r.p.Rules)-1]
}

// Providers are the ways to build a box, as [sandbox] provider and --provider name them.
func Providers() []string { return []string{"auto", "namespaces", "landlock", "bwrap", "none"} }

// DefaultLayers are the layers every run must have unless the user's own file or command line says otherwise.
func DefaultLayers() []string { return []string{"namespaces", "landlock", "seccomp"} }

// Layers are what [sandbox] require and --require can name.
func Layers() []string { return []string{"namespaces", "landlock", "seccomp", "cgroups"} }

// sandboxKeys are the keys of [sandbox], in the order in which they are shown.
var sandboxKeys = []string{"python", "provider", "require", "allow_gaps"}

func (r *reader) sandbox(o Origin, key string, v any, _ entry) {
	s := &r.p.Sandbox
	s.Origin[key] = o
	switch key {
	case "python":
		text, ok := r.text(o, key, v)
		if !ok {
			return
		}
		if _, err := parseTemplate(text, true); err != nil || text == "" || strings.HasSuffix(text, "/") {
			r.probs.add(o, "python must name an interpreter, not %q", text)
		}
		s.Python = text
	case "provider":
		text, ok := r.text(o, key, v)
		if ok && !contains(Providers(), text) {
			r.probs.add(o, "unknown provider %q%s", text, near(text, Providers()))
		}
		s.Provider = text
	case "require":
		names, _ := r.texts(o, key, v)
		for _, n := range names {
			if !contains(Layers(), n) {
				r.probs.add(o, "unknown layer %q in require%s", n, near(n, Layers()))
			}
		}
		s.Require = append([]string{}, names...) // require = [] is not the same as no line
	case "allow_gaps":
		names, _ := r.texts(o, key, v)
		for _, n := range names {
			limit, isLimit := strings.CutPrefix(n, "limits.")
			switch {
			case isLimit && !contains(LimitNames(), limit):
				r.probs.add(o, "unknown limit %q in allow_gaps%s", limit, near(limit, LimitNames()))
			case !gapName(n):
				r.probs.add(o, "%q is no gap's name: psb doctor lists them", n)
			}
		}
		s.AllowGaps = names
	default:
		delete(s.Origin, key)
		r.probs.add(o, "unknown key %s in [sandbox]%s", key, near(key, sandboxKeys))
	}
}

// gapName knows the shape only: which gaps exist is the plan's to say.
func gapName(s string) bool {
	for i, c := range s {
		if (c < 'a' || c > 'z') && (i == 0 || c != '-' && c != '.' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func (r *reader) env(o Origin, key string, v any, e entry) {
	if err := checkEnvName(key); err != nil {
		r.probs.add(o, "%s", err)
		return
	}
	switch v := v.(type) {
	case bool:
		r.rule(OpEnv, key, o, e.comment).Deny = !v
	case string:
		t, err := parseTemplate(v, false)
		switch {
		case strings.ContainsRune(v, 0):
			r.probs.add(o, "%s holds a NUL character", key)
		case err != nil:
			r.probs.add(o, "%s: %s", key, err)
		default:
			if err := checkEnvValue(key, t); err != nil {
				r.probs.add(o, "%s: %s", key, err)
				return
			}
			r.rule(OpEnv, key, o, e.comment).Value = &v
		}
	default:
		r.probs.add(o, `%s must be true (the host's value), "a text" or false (never), not %s`, key, describe(v))
	}
}

func checkEnvName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a variable needs a name")
	case strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("%q cannot be a variable's name", name)
	case !globValid(name):
		return fmt.Errorf("%q: a [ without its ], or a \\ at the end", name)
	}
	return nil
}

// checkEnvValue allows a glob inside ${…} only where it is the whole value and repeats the key.
func checkEnvValue(key string, t template) error {
	for _, p := range t {
		if strings.ContainsAny(p.ref, "*?") && !(len(t) == 1 && p.ref == key && !p.hasDef) {
			return fmt.Errorf("%s: a glob may only stand for itself: %s = %s", p.raw, quoteTOML(key), quoteTOML("${"+key+"}"))
		}
		if err := checkEnvValue(key, p.def); p.hasDef && err != nil {
			return err
		}
	}
	if hasGlob(key) && !(len(t) == 1 && t[0].ref == key) {
		return fmt.Errorf("one text cannot be the value of many variables: write true")
	}
	return nil
}

func (r *reader) syscalls(o Origin, key string, v any, e entry) {
	if key == "base" {
		s, ok := r.text(o, key, v)
		if ok && s != "python" {
			r.probs.add(o, "unknown base %q%s", s, near(s, []string{"python"}))
		}
		r.p.SyscallBase = s
		return
	}
	if !syscallName(key) {
		r.probs.add(o, "%q cannot be a system call's name", key)
		return
	}
	if on, ok := r.boolean(o, key, v); ok {
		r.rule(OpSyscall, key, o, e.comment).Deny = !on
	}
}

func syscallName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (r *reader) limits(o Origin, key string, v any, _ entry) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case int64, float64:
		text = fmt.Sprint(v)
	default:
		r.probs.add(o, "%s must be a number or a text such as %s, not %s", key, limitExample(key), describe(v))
		return
	}
	l, err := ParseLimit(key, text)
	if err != nil {
		r.probs.add(o, "%s", err)
		return
	}
	l.Origin = o
	r.p.Limits[key] = l
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
