package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// conflicts finds the single values that two files set differently.
func (m *merger) conflicts() {
	for j := range m.sides {
		for i := range j {
			m.pair(m.sides[i], m.sides[j], i, j)
		}
	}
}

// pair compares two files; the problem stands at the later.
func (m *merger) pair(a, b side, i, j int) {
	differ := func(o Origin, what, says, other string, at Origin) {
		m.probs.add(o, "%s = %s, and %s:%d says %s: one of them has to change", what, says, at.File, at.Line, other)
	}
	for _, r := range b.given {
		if old := a.variable(&r); old != nil && !sameValue(old.Value, r.Value) && m.refusedBy(j, &r) == nil && m.refusedBy(i, old) == nil {
			differ(r.Origin, r.Pattern.Text, envText(&r), envText(old), old.Origin)
		}
		for _, old := range a.given {
			if isFileOp(r.Op) && isFileOp(old.Op) && r.Pattern.From != old.Pattern.From && lineObject(&r) == lineObject(&old) {
				m.probs.add(r.Origin, "%s is shown from another folder than at %s:%d: one of them has to change", quoteTOML(r.Pattern.Text), old.Origin.File, old.Origin.Line)
			}
		}
	}
	for _, name := range LimitNames() {
		x, y := a.Limits[name], b.Limits[name]
		if x.Name != "" && y.Name != "" && (x.Bytes != y.Bytes || x.Count != y.Count || x.CPUs != y.CPUs || x.Time != y.Time) {
			differ(y.Origin, name, quoteTOML(y.Text), quoteTOML(x.Text), x.Origin)
		}
	}
	single := func(key, x, y string, atX, atY Origin) {
		if x != "" && y != "" && x != y {
			differ(atY, key, quoteTOML(y), quoteTOML(x), atX)
		}
	}
	single("python", a.Sandbox.Python, b.Sandbox.Python, a.Sandbox.Origin["python"], b.Sandbox.Origin["python"])
	single("provider", a.Sandbox.Provider, b.Sandbox.Provider, a.Sandbox.Origin["provider"], b.Sandbox.Origin["provider"])
	single("learn", a.Learn, b.Learn, a.learnAt, b.learnAt)
	m.absent(a, b)
	for _, name := range sortedKeys(b.Eval) {
		x, ok := a.Eval[name]
		if y := b.Eval[name]; ok && !maps.Equal(x.Values, y.Values) {
			m.probs.add(y.Origin, "[%s] has other values than at %s:%d: one of them has to change", tableName(evalPath(name)), x.Origin.File, x.Origin.Line)
		}
	}
	m.unbounded(a, b)
}

// unbounded finds text that one file evaluates without bounds and the other within some.
func (m *merger) unbounded(a, b side) {
	var probs problems
	both := Policy{Rules: slices.Concat(a.Rules, b.Rules), Eval: maps.Clone(a.Eval)}
	maps.Copy(both.Eval, b.Eval)
	if both.rawBeside(&probs); len(probs.list) > 0 {
		m.probs.list = append(m.probs.list, probs.list[0])
	}
}

// absent finds values of which no line says something, too, and something stronger than a line of the other file.
func (m *merger) absent(a, b side) {
	for _, x := range [][2]side{{a, b}, {b, a}} {
		says, silent := x[0], x[1]
		if !says.Shim && silent.Shim {
			m.probs.add(says.shimAt, "shim = false, and %s has it on: one of them has to change", silent.Name)
		}
		if says.Sandbox.Require == nil || silent.Sandbox.Require != nil {
			continue
		}
		for _, layer := range DefaultLayers() {
			if !slices.Contains(says.Sandbox.Require, layer) {
				m.probs.add(says.Sandbox.Origin["require"], "require leaves out %s, which %s has by default: one of them has to change", layer, silent.Name)
			}
		}
	}
}

func envText(r *Rule) string {
	if r.Value == nil {
		return "true"
	}
	return quoteTOML(*r.Value)
}

func evalPath(name string) []string {
	if name == "" {
		return []string{"python", "eval"}
	}
	return []string{"python", "eval", name}
}

// values brings what is no rule from the other files into the text.
func (m *merger) values(e *editor) {
	first := m.sides[0].Policy
	var includes []string
	for _, s := range m.sides {
		for _, inc := range s.Includes {
			text := strings.Repeat("?", btoi(inc.Optional)) + inc.Text
			if !slices.Contains(includes, text) {
				includes = append(includes, text)
			}
		}
	}
	if len(includes) > len(first.Includes) {
		e.set("", "include", listText(includes))
	}
	for _, s := range m.sides[1:] {
		if s.Locked && !first.Locked {
			e.set("", "locked", "true")
		}
		if s.Learn != "" && first.Learn == "" {
			e.set("", "learn", quoteTOML(s.Learn))
		}
		for _, name := range LimitNames() {
			if l, ok := s.Limits[name]; ok && first.Limits[name].Name == "" {
				e.set("limits", name, quoteTOML(l.Text))
			}
		}
		if s.SyscallBase != "" && first.SyscallBase == "" {
			e.set("syscalls", "base", quoteTOML(s.SyscallBase))
		}
		if s.Sandbox.Python != "" && first.Sandbox.Python == "" {
			e.set("sandbox", "python", quoteTOML(s.Sandbox.Python))
		}
		if s.Sandbox.Provider != "" && first.Sandbox.Provider == "" {
			e.set("sandbox", "provider", quoteTOML(s.Sandbox.Provider))
		}
		m.profiles(e, s)
	}
	m.list(e, "require", func(s Sandbox) []string { return s.Require })
	m.list(e, "allow_gaps", func(s Sandbox) []string { return s.AllowGaps })
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func listText(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteTOML(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// list joins a list of [sandbox].
func (m *merger) list(e *editor, key string, of func(Sandbox) []string) {
	var all []string
	for _, s := range m.sides {
		all = union(all, of(s.Sandbox))
	}
	if first := of(m.sides[0].Sandbox); len(all) > len(first) || all != nil && first == nil {
		e.set("sandbox", key, listText(all))
	}
}

// profiles brings the tables of [python.eval] that the text does not have yet, with their values.
func (m *merger) profiles(e *editor, s side) {
	index := indexTOML(s.Sources[0].Bytes)
	for _, h := range index.headers {
		name := tableName(h.path)
		if !strings.HasPrefix(name+".", "python.eval.") || e.head(name) != nil || slices.Contains(e.fresh, name) {
			continue
		}
		e.fresh = append(e.fresh, name)
		for _, en := range index.entries {
			if tableName(en.table) == name && !contains(evalLists, tableName(en.key)) { // names of lists come as rules
				e.set(name, tableName(en.key), string(s.Sources[0].Bytes[en.valStart:en.valEnd]))
			}
		}
	}
}

// set gives a key that is no rule its value.
func (e *editor) set(table, key, value string) {
	for _, l := range e.lines {
		if l.table == table && l.key == key && !l.ruled {
			l.raw, l.changed = value, true
			return
		}
	}
	e.lines = append(e.lines, &editLine{table: table, key: key, raw: value, changed: true, asked: Rule{Op: Op(fmt.Sprintf("[%s]", table)), Pattern: Pattern{Text: key}}})
}
