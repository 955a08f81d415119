package learn

import (
	"maps"
	"slices"
	"strings"

	"psb/policy"
)

// said is what Python told of one module, function or name of evaluated text.
type said struct{ because string }

// pythonAccess words a note of Python's layer as an access; ok is false for one that no rule can allow, which a note may hold as well.
func pythonAccess(n note) (a policy.Access, ok bool) {
	if len(n.Args) != 2 {
		return a, false
	}
	switch n.Event {
	case "import":
		a = policy.Access{Op: policy.OpImport, Object: n.Args[0]}
	case "call":
		a = policy.Access{Op: policy.OpCall, Object: n.Args[1]}
	case "eval":
		a = policy.Access{Op: policy.OpEval, Object: n.Args[0] + ":" + n.Args[1]}
	default:
		return a, false
	}
	if _, key, name := policy.EvalParts(a.Object); key == "syntax" && policy.EvalWords().Free(name) {
		return a, true // no rule is asked for, but text was evaluated
	} else if key == "syntax" && policy.EvalWords().Groups[name] != nil {
		return a, false // a note names nodes: a group stands where all of them were seen
	}
	return a, policy.Grantable(a) == nil && !strings.Contains(a.Object, "*") // what was seen is no pattern
}

// speaks says whether a note is one of Python's layer.
func (n *note) speaks() bool { return n.Event == "import" || n.Event == "call" || n.Event == "eval" }

// heard takes a note of Python's layer in.
func (s *Set) heard(n note) {
	a, ok := pythonAccess(n)
	if !ok {
		what := strings.Join(n.Args, " ")
		if n.Event == "import" && len(n.Args) > 0 {
			what = n.Args[0]
		}
		if len(what) <= maxReason && room(s, s.odd, n.Event+" "+what, mostOdd, "names that no rule can hold") {
			s.odd[n.Event+" "+what] = true
		}
		return
	}
	because := n.reason()
	if because == "" && n.Event == "import" {
		because = (&note{Func: n.Args[1]}).reason()
	}
	if !room(s, s.python, a, mostPython, "modules, calls and names of evaluated text") {
		return
	}
	if s.python[a] == nil {
		s.python[a] = &said{because}
	}
	s.python[a].because = firstOf(s.python[a].because, because)
}

// python proposes what Python's layer asks for. Nothing but notes tells of it, and nothing but that layer is opened by it.
func (l *ladder) python() {
	if !l.k.Tables["python"] { // the notes of such a record mean something else, or nothing holds the lines
		return
	}
	evals := map[policy.Access]*said{}
	heard := l.heardOf()
	for _, a := range heard {
		f := l.set.python[a]
		switch a.Op {
		case policy.OpImport:
			l.imported(a, f)
		case policy.OpCall:
			l.called(a, f, slices.ContainsFunc(heard, func(a policy.Access) bool { return a.Op == policy.OpEval }))
		case policy.OpEval:
			evals[a] = f
		}
	}
	l.categories()
	l.evaluated(evals)
	for _, what := range slices.Sorted(maps.Keys(l.set.odd)) {
		if does, found := strings.CutPrefix(what, "eval text "); found {
			l.leave("evaluated text (" + does + "), which no rule can hold but call dynamic-code, in place of [python.eval]")
			continue
		}
		l.leave(what + ", which no rule can hold")
	}
}

func (l *ladder) heardOf() []policy.Access {
	return slices.SortedFunc(maps.Keys(l.set.python), func(a, b policy.Access) int { return strings.Compare(a.String(), b.String()) })
}

func (l *ladder) say(a policy.Access, f *said) *Grant {
	g := l.grant(a.Op, a.Object, false, f.because)
	g.Text = a.Object
	return g
}

// imported proposes a module, where no package above it is proposed: those speak for it. psb's own package is in every box.
func (l *ladder) imported(a policy.Access, f *said) {
	for above := a.Object; above != ""; {
		above = above[:max(strings.LastIndexByte(above, '.'), 0)]
		if o := l.set.python[policy.Access{Op: a.Op, Object: above}]; o != nil {
			return
		}
	}
	if top, _, _ := strings.Cut(a.Object, "."); top != "psb" && top != "pysandboxes" {
		l.say(a, f)
	}
}

// called proposes one function. What the program gives to a built-in is ruled by [python.eval], never by a grant of that; evals says that such rules come.
func (l *ladder) called(a policy.Access, f *said, evals bool) {
	_, ok := policy.CategoryOf(a.Object)
	builtin := slices.Contains([]string{"builtins.eval", "builtins.exec", "builtins.compile"}, a.Object)
	switch {
	case !ok:
		l.leave("call " + a.Object + ": a category is never one call")
	case builtin && evals:
	case builtin:
		l.leave("call " + a.Object + ": evaluated text is ruled by [python.eval]")
	default:
		l.say(a, f)
	}
}

// categories lets a category stand for its functions where every one that the interpreter has was called, and none of them wants a look of its own.
func (l *ladder) categories() {
	for _, c := range policy.Registry() {
		all := policy.Access{Op: policy.OpCall, Object: c.Name}
		functions := c.In(l.k.Python)
		missing := slices.ContainsFunc(functions, func(f string) bool { return l.grants[policy.Access{Op: policy.OpCall, Object: f}] == nil })
		if missing || len(functions) == 0 || policy.RiskOf(policy.RuleFor(all), l.k.Macros).Mark {
			continue
		}
		l.fold(all, functions, func(f string) policy.Access { return policy.Access{Op: policy.OpCall, Object: f} })
	}
}

// fold lets one rule stand for several.
func (l *ladder) fold(into policy.Access, parts []string, access func(string) policy.Access) {
	g := l.say(into, &said{})
	for _, p := range parts {
		g.Because = firstOf(g.Because, l.grants[access(p)].Because)
		delete(l.grants, access(p))
	}
}

// evaluated proposes the names of evaluated text, profile by profile: syntax that every text is made of needs none, a group of syntax stands for its
// nodes where all were seen.
func (l *ladder) evaluated(evals map[policy.Access]*said) {
	profiles := map[string]*said{} // with the reason of those that nothing was asked of
	rules := map[string]bool{}
	for _, a := range slices.SortedFunc(maps.Keys(evals), func(a, b policy.Access) int { return strings.Compare(a.Object, b.Object) }) {
		f := evals[a]
		profile, key, name := policy.EvalParts(a.Object)
		if profiles[profile] == nil {
			profiles[profile] = &said{f.because}
		}
		profiles[profile].because = firstOf(profiles[profile].because, f.because)
		if key == "syntax" && policy.EvalWords().Free(name) {
			continue
		}
		rules[profile] = true
		l.say(a, f)
	}
	for profile, f := range profiles {
		syntax := func(word string) policy.Access {
			return policy.Access{Op: policy.OpEval, Object: policy.EvalObject(profile, "syntax", word)}
		}
		if !rules[profile] { // the least that lets text be evaluated at all
			l.say(syntax("Constant"), f)
		}
		for group, nodes := range policy.EvalWords().Groups {
			if !slices.ContainsFunc(nodes, func(n string) bool { return l.grants[syntax(n)] == nil }) {
				l.fold(syntax(group), nodes, syntax)
			}
		}
	}
}
