package policy

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed evalnames.txt
var evalNamesText string

// EvalNames are the words that [python.eval] knows.
type EvalNames struct {
	Core    []string            // syntax that no line has to allow: what every text is made of
	Marks   []string            // operators, which are judged with what they stand in: no words of a list
	Groups  map[string][]string // syntax nodes by group
	Nodes   []string            // syntax nodes in no group
	Methods map[string][]string // attributes by group

	Closed, Never, Undoing []string // attributes, functions, modules with all that is in them that no profile can give
	Exact, ByName, Named   []string // attributes, functions, modules that their own name gives and no pattern
	Danger                 []string // functions that lead out of a profile
}

// EvalWords gives the words. The same value each time: it must not be changed.
var EvalWords = sync.OnceValue(func() EvalNames {
	n := EvalNames{Groups: map[string][]string{}, Methods: map[string][]string{}}
	for line := range strings.Lines(evalNamesText) {
		w := strings.Fields(line)
		if len(w) < 2 || w[0] == "#" {
			continue
		}
		switch w[0] {
		case "group":
			n.Groups[w[1]] = append(n.Groups[w[1]], w[2:]...)
		case "methods":
			n.Methods[w[1]] = append(n.Methods[w[1]], w[2:]...)
		default:
			list := map[string]*[]string{"core": &n.Core, "mark": &n.Marks, "node": &n.Nodes, "closed": &n.Closed, "never": &n.Never, "undoing": &n.Undoing,
				"exact": &n.Exact, "byname": &n.ByName, "named": &n.Named, "danger": &n.Danger}[w[0]]
			*list = append(*list, w[1:]...)
		}
	}
	return n
})

// syntax gives every word that the list syntax takes, groups first.
func (n EvalNames) syntax() []string {
	groups := slices.Sorted(maps.Keys(n.Groups))
	out := slices.Clone(groups)
	for _, g := range groups {
		out = append(out, n.Groups[g]...)
	}
	return slices.Concat(out, n.Nodes, slices.DeleteFunc(slices.Clone(n.Core), func(node string) bool { return n.Groups[node] != nil }))
}

// Free says whether syntax needs no line of its own where text may be evaluated at all. A word that is a group, too, means that in a line.
func (n EvalNames) Free(node string) bool {
	return n.Groups[node] == nil && (contains(n.Core, node) || contains(n.Marks, node))
}

// evalObject is the object of a rule on evaluated text taken apart: "call:len", "calc/syntax:BinOp".
type evalObject struct{ profile, key, name string }

// parseEval reads "KEY:NAME" or "PROFILE/KEY:NAME"; it knows the shape alone.
func parseEval(object string) (o evalObject, ok bool) {
	head, name, ok := strings.Cut(object, ":")
	if profile, key, named := strings.Cut(head, "/"); named {
		o = evalObject{profile, key, name}
		ok = ok && profile != ""
	} else {
		o = evalObject{"", head, name}
	}
	return o, ok && contains(evalLists, o.key) && o.name != ""
}

func (o evalObject) String() string {
	if o.profile == "" {
		return o.key + ":" + o.name
	}
	return o.profile + "/" + o.key + ":" + o.name
}

// EvalParts takes the object of a rule on evaluated text apart; all empty for what is none.
func EvalParts(object string) (profile, key, name string) {
	o, ok := parseEval(object)
	if !ok {
		return "", "", ""
	}
	return o.profile, o.key, o.name
}

// EvalProfile says whether a profile may have this name; "" is the one without a name.
func EvalProfile(name string) bool { return name == "" || identifier(name) && !isEvalKey(name) }

// EvalObject is the object that EvalParts takes apart.
func EvalObject(profile, key, name string) string { return evalObject{profile, key, name}.String() }

// table names the table in which the object stands.
func (o evalObject) table() string { return tableName(evalPath(o.profile)) }

// checkEval judges an object as the table would, of one that allows or denies.
func checkEval(object string, deny bool) error {
	o, ok := parseEval(object)
	head, _, _ := strings.Cut(object, ":")
	_, key, named := strings.Cut(head, "/")
	switch {
	case ok && !EvalProfile(o.profile):
		return fmt.Errorf("%q cannot name a profile of [python.eval]", o.profile)
	case ok:
		return checkEvalName(o.key, o.name, deny)
	case !named:
		key = head
	}
	if !contains(evalLists, key) {
		return fmt.Errorf("%q: write KEY:NAME, such as call:len, or PROFILE/KEY:NAME; unknown key %s%s", object, key, near(key, evalLists))
	}
	return fmt.Errorf("%q: write KEY:NAME, such as call:len, or PROFILE/KEY:NAME", object)
}

// checkEvalName judges one name of a list, without the "!" of one that denies.
func checkEvalName(key, name string, deny bool) error {
	words := EvalWords()
	plain := strings.ReplaceAll(name, "*", "x") // a pattern is one whatever stands in place of its *
	top, _, _ := strings.Cut(name, ".")
	switch {
	case key == "syntax" && !contains(words.syntax(), name):
		return fmt.Errorf("syntax: unknown word %q%s", name, nearSome(name, words.syntax(), slices.Sorted(maps.Keys(words.Groups))))
	case key == "syntax" || key == "attribute" && words.Methods[name] != nil:
		return nil
	case key == "attribute" && strings.Contains(name, "-"):
		return fmt.Errorf("attribute: unknown group %q%s", name, near(name, slices.Sorted(maps.Keys(words.Methods))))
	case key == "import" && !dotted(plain) || key != "import" && !identifier(plain):
		return fmt.Errorf("%s: %q cannot be a name", key, name)
	case deny: // what nothing gives may be denied all the same
		return nil
	case (key == "attribute" || key == "magic") && contains(words.Closed, name):
		return fmt.Errorf("%s: %q is never granted: it leads out of the evaluation", key, name)
	case key == "call" && contains(words.Never, name):
		return fmt.Errorf("call: %q is never granted: it acts on the frame that calls it, or past the rules", name)
	case key == "import" && name != "__future__" && (contains(words.Undoing, top) || strings.HasPrefix(name, "_")):
		return fmt.Errorf("import: %q is never granted: it undoes the guard", name)
	case key == "attribute" && dunder(name):
		return fmt.Errorf("attribute: %q is a name of Python's own: those stand under magic", name)
	case key == "magic" && !dunder(name) && !strings.Contains(name, "*"):
		return fmt.Errorf("magic: %q is no name of Python's own, such as \"__len__\"", name)
	}
	return nil
}

func dunder(s string) bool {
	return len(s) > 4 && strings.HasPrefix(s, "__") && strings.HasSuffix(s, "__") && identifier(s)
}

// nearSome is near with a short list to fall back on where none is close.
func nearSome(got string, all, some []string) string {
	if hint := near(got, all); strings.HasPrefix(hint, ", did you mean") {
		return hint
	}
	return ", valid: " + strings.Join(some, " ")
}

// covers says whether the words of o give all that asked does: the same word, a group, a pattern. (What denies covers more: see denies.)
func (o evalObject) covers(asked evalObject) bool {
	switch {
	case o.profile != asked.profile || o.key != asked.key:
		return false
	case o.name == asked.name:
		return true
	}
	words := EvalWords()
	top, _, _ := strings.Cut(asked.name, ".")
	switch o.key {
	case "syntax":
		return contains(words.Groups[o.name], asked.name)
	case "attribute", "magic":
		if contains(words.Closed, asked.name) || contains(words.Exact, asked.name) {
			return false
		}
		if contains(words.Methods[o.name], asked.name) {
			return true
		}
	case "call":
		if contains(words.Never, asked.name) || contains(words.ByName, asked.name) {
			return false
		}
	case "import":
		if contains(words.Named, top) || contains(words.Undoing, top) {
			return false
		}
	}
	hidden := o.key != "magic" && strings.HasPrefix(o.name, "*") && strings.HasPrefix(asked.name, "_") // as in a shell
	return strings.Contains(o.name, "*") && !hidden && globCovers(o.name, asked.name)
}

// denies says whether o, as a name that denies, takes away what asked gives: here a pattern is one for every name.
func (o evalObject) denies(asked evalObject) bool {
	if o.profile != asked.profile || o.key != asked.key {
		return false
	}
	return o.covers(asked) || contains(EvalWords().Methods[o.name], asked.name) || o.key != "syntax" && strings.Contains(o.name, "*") && globCovers(o.name, asked.name)
}

// parts gives what an object is made of, where it is a group: all of it given is the whole given.
func parts(op Op, object string) []string {
	switch op {
	case OpEval:
		o, ok := parseEval(object)
		if !ok || o.key != "syntax" {
			return nil
		}
		var out []string
		for _, node := range EvalWords().Groups[o.name] {
			out = append(out, evalObject{o.profile, o.key, node}.String())
		}
		return out
	case OpCall:
		for _, c := range Registry() {
			if c.Name == object {
				return c.Functions
			}
		}
	}
	return nil
}
