package policy

import (
	"slices"
	"strings"
)

// Meant gives the words that a user who wrote OP OBJECT most likely meant, where those cannot be a rule; "" where nothing is near.
func Meant(op, object string) string {
	if !contains(Ops(), op) {
		if op = nearest(op, Ops()); op == "" {
			return ""
		}
	}
	switch Op(op) {
	case OpCall:
		if checkCall(object) != nil {
			object = meantCall(object)
		}
	case OpEval:
		if o, ok := parseEval(object); ok && o.key == "syntax" && !contains(EvalWords().syntax(), o.name) {
			if o.name = nearest(o.name, EvalWords().syntax()); o.name == "" {
				return ""
			}
			object = o.String()
		}
	}
	if object == "" || checkObject(Op(op), object) != nil {
		return ""
	}
	return op + " " + object
}

// meantCall finds the function or category of the registry behind a word: a twin in C, a function without its module, a slip of the keyboard.
func meantCall(name string) string {
	if twin := twinOf(name); twin != "" {
		return twin
	}
	functions, categories := registryNames()
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		found := slices.DeleteFunc(slices.Clone(functions), func(f string) bool { return !same(lastPart(f), name) })
		if len(found) > 0 { // of several the shortest: os.fork before pty.fork
			return slices.MinFunc(found, func(a, b string) int { return len(a) - len(b) })
		}
	}
	if whole := nearest(name, append(categories, functions...)); whole != "" {
		return whole
	}
	parts := make([]string, len(functions))
	for i, f := range functions {
		parts[i] = lastPart(f)
	}
	if part := nearest(name, parts); part != "" && !strings.Contains(name, ".") {
		return functions[slices.Index(parts, part)]
	}
	return ""
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// twinOf gives the name that programs use for a function of a module in C; "" where it is none.
func twinOf(name string) string {
	module, rest, _ := strings.Cut(name, ".")
	facade := map[string]string{"posix": "os", "_pickle": "pickle", "_ctypes": "ctypes", "_signal": "signal"}[module]
	if _, known := registry().of[facade+"."+rest]; known {
		return facade + "." + rest
	}
	return ""
}

// registryNames gives every function and every category, sorted.
func registryNames() (functions, categories []string) {
	for _, c := range registry().categories {
		categories = append(categories, c.Name)
		functions = append(functions, c.Functions...)
	}
	slices.Sort(functions)
	return functions, categories
}

// MeantModule finds among modules the one that a name was most likely to be: one or two letters away, so that no short name is taken for another.
func MeantModule(name string, modules []string) string {
	most := 1
	if len(name) >= 9 {
		most = 2
	}
	best := ""
	for _, m := range modules {
		if d := distance(name, m); len(name) >= 4 && d > 0 && d <= most && (best == "" || d < distance(name, best)) {
			best = m
		}
	}
	return best
}
