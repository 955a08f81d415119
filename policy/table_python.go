package policy

import (
	"fmt"
	"strings"
	"unicode"
)

func (r *reader) python(o Origin, key string, v any, _ entry) {
	if key != "shim" {
		if _, _, isTable := tableRank("python." + key); isTable {
			r.probs.add(o, "write [python.%s] as a table of its own", key)
			return
		}
		r.probs.add(o, "unknown key %s in [python]%s", key, near(key, []string{"shim"}))
		return
	}
	if on, ok := r.boolean(o, key, v); ok {
		r.p.Shim, r.p.shimAt = on, o
	}
}

// shimless refuses shim = false beside tables that only the shim could hold. Lines of p.Rules that stand in no file are not looked at.
func (ps *problems) shimless(p *Policy) {
	if p.Shim {
		return
	}
	first := map[string]Origin{}
	for _, r := range p.Rules {
		table := map[Op]string{OpImport: "python.import", OpCall: "python.call"}[r.Op]
		if _, seen := first[table]; table != "" && !seen {
			first[table] = r.Origin
		}
	}
	for name, e := range p.Eval {
		first[tableName(evalPath(name))] = e.Origin
	}
	for _, table := range sortedKeys(first) {
		o := first[table]
		ps.add(p.shimAt, "shim = false, and [%s] at %s:%d holds only with the shim: remove one of them", table, o.File, o.Line)
	}
}

func (r *reader) imports(o Origin, key string, v any, e entry) {
	if err := checkImport(key); err != nil {
		r.probs.add(o, "%s", err)
		return
	}
	if on, ok := r.boolean(o, key, v); ok {
		r.rule(OpImport, key, o, e.comment).Deny = !on
	}
}

func checkImport(name string) error {
	if name == "*" {
		return nil
	}
	if base, ok := strings.CutSuffix(name, ".*"); ok && dotted(base) {
		return fmt.Errorf("%q: a package brings its submodules: write %q", name, base)
	}
	if !dotted(name) {
		return fmt.Errorf("%q cannot be a module's name", name)
	}
	return nil
}

func (r *reader) calls(o Origin, key string, v any, e entry) {
	if err := checkCall(key); err != nil {
		r.probs.add(o, "%s", err)
		return
	}
	if on, ok := r.boolean(o, key, v); ok {
		r.rule(OpCall, key, o, e.comment).Deny = !on
	}
}

// callName accepts "subprocess.Popen" and categories such as "process-exec".
func callName(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !identifier(strings.ReplaceAll(part, "-", "_")) {
			return false
		}
	}
	return true
}

// dotted accepts what can stand after Python's import.
func dotted(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !identifier(part) {
			return false
		}
	}
	return true
}

func identifier(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.In(c, unicode.Digit, unicode.Mn, unicode.Mc)) {
			return false
		}
	}
	return s != ""
}

var (
	evalLists = []string{"syntax", "call", "attribute", "import", "magic"}
	evalNums  = []string{"max_iterations", "max_call_depth", "max_depth", "max_nodes"}
	evalModes = []string{"adaptive", "closed", "caller"}
)

func evalKeys() []string {
	return append(append(append([]string{}, evalLists...), "namespace", "timeout", "max_alloc"), evalNums...)
}

func isEvalKey(s string) bool { return contains(evalKeys(), s) }

func (r *reader) eval(o Origin, key string, v any, e entry) {
	profile := ""
	if len(e.table) == 3 {
		profile = e.table[2]
	}
	into, ok := r.p.Eval[profile]
	if !ok {
		return // its header is a problem already
	}
	switch {
	case contains(evalLists, key):
		names, ok := r.texts(o, key, v)
		if !ok {
			return
		}
		into.Lists[key] = append([]string{}, names...)
		for i, el := range listOf(r.src, e).elems {
			if i < len(names) { // a list of texts alone, as the decoder had it
				r.element(evalObject{profile, key, names[i]}, el, o)
			}
		}
	case key == "namespace":
		s, ok := r.text(o, key, v)
		if ok && !contains(evalModes, s) {
			r.probs.add(o, "unknown namespace %q%s", s, near(s, evalModes))
		}
		into.Values[key] = s
	case key == "timeout":
		s, ok := r.text(o, key, v)
		if _, err := parseTime(s); ok && err != nil {
			r.probs.add(o, "timeout: %s", err)
		}
		into.Values[key] = s
	case key == "max_alloc":
		if n, ok := v.(int64); ok {
			v = fmt.Sprint(n)
		}
		s, ok := r.text(o, key, v)
		if _, err := parseSize(s); ok && err != nil {
			r.probs.add(o, "max_alloc: %s", err)
		}
		into.Values[key] = s
	case contains(evalNums, key):
		n, ok := v.(int64)
		if !ok || n < 1 {
			r.probs.add(o, "%s must be a whole number from 1, not %s", key, describe(v))
			return
		}
		into.Values[key] = fmt.Sprint(n)
	default:
		r.probs.add(o, "unknown key %s in [%s]%s", key, tableName(e.table), near(key, evalKeys()))
	}
}

// element reads one text of a list: a rule, as a line of another table is.
func (r *reader) element(object evalObject, el element, o Origin) {
	name, deny := strings.CutPrefix(object.name, "!")
	at := r.at(el.line)
	if name == "" || strings.ContainsAny(name, " \t\r\n") {
		r.probs.add(at, "%s: %q is no name (\"name\" allows, \"!name\" denies)", object.key, object.name)
		return
	}
	if err := checkEvalName(object.key, name, deny); err != nil {
		r.probs.add(at, "%s", err)
		return
	}
	object.name = name
	r.rule(OpEval, object.String(), at, el.comment).Deny = deny
}

// rawEval finds a line that lets each of the functions, or the category, evaluate text without bounds; nil for none.
func (p *Policy) rawEval(names ...string) *Rule {
	for _, name := range names {
		v := Verdict{}
		p.weigh(question{op: OpCall, obj: name}, &v)
		if v.By != nil && v.Blocker == nil {
			return v.By
		}
	}
	return nil
}

// rawBeside names both lines where text may be evaluated without bounds and [python.eval] bounds it: the bounds would hold nothing.
func (p *Policy) rawBeside(probs *problems) {
	raw := p.rawEval("dynamic-code", "builtins.eval", "builtins.exec", "builtins.compile")
	if raw == nil || len(p.Eval) == 0 {
		return
	}
	first := ""
	for _, name := range sortedKeys(p.Eval) {
		if o := p.Eval[name].Origin; first == "" {
			first = fmt.Sprintf("[%s] (line %d)", tableName(evalPath(name)), o.Line)
			if o.File != raw.Origin.File {
				first = fmt.Sprintf("[%s] (%s:%d)", tableName(evalPath(name)), o.File, o.Line)
			}
		}
	}
	what := "take one of the two away"
	if raw.Pattern.Text == "*" {
		what += `, or add "dynamic-code" = false`
	}
	probs.add(raw.Origin, "%s = true lets text be evaluated without bounds, and %s bounds it: %s", quoteTOML(raw.Pattern.Text), first, what)
}
