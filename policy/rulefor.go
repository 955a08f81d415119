package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Ops are the operations of the grammar "OP OBJECT", in the order in which help shows them.
func Ops() []string {
	return []string{"read", "write", "create", "list", "exec", "hide", "device", "connect", "private", "listen", "deny", "env", "syscall", "import", "call", "eval"}
}

// ParseAccess reads "OP OBJECT". The object is everything after the first run of blanks, so a path may hold blanks;
// paths come back as written, addresses canonical. A pattern ("LC_*", "*.pypi.org:443") is no access: see ParseRule.
func ParseAccess(words string) (Access, error) {
	op, object := splitWords(words)
	if op == "" {
		return Access{}, errors.New(`write OP OBJECT, such as "read data/eu.csv"`)
	}
	if !contains(Ops(), op) {
		return Access{}, fmt.Errorf("unknown operation %q%s", op, near(op, Ops()))
	}
	if object == "" {
		return Access{}, fmt.Errorf("%s of what? write OP OBJECT, such as %q", op, example(Op(op)))
	}
	a := Access{Op: Op(op), Object: object}
	switch a.Op {
	case OpConnect, OpPrivate, OpListen, OpDeny:
		n, err := parseNet(object)
		if err == nil && a.Op == OpPrivate {
			err = checkPrivate(object)
		}
		if err != nil {
			return Access{}, err
		}
		if !n.single() {
			return Access{}, fmt.Errorf("%q names more than one address", object)
		}
		if !strings.HasPrefix(object, "unix:") {
			a.Object = n.canonical()
		}
	case OpEval:
		if err := checkEval(object, true); err != nil { // what no profile can give can be asked for all the same
			return Access{}, err
		}
	default:
		if err := checkObject(a.Op, object); err != nil {
			return Access{}, err
		}
	}
	return a, nil
}

// Grantable says why no rule can allow an access, whoever writes it; nil where one can.
func Grantable(a Access) error { return checkObject(a.Op, a.Object) }

func splitWords(words string) (op, object string) {
	words = strings.TrimSpace(words)
	i := strings.IndexAny(words, " \t")
	if i < 0 {
		return words, ""
	}
	return words[:i], strings.TrimLeft(words[i:], " \t")
}

func example(op Op) string {
	switch op {
	case OpConnect, OpDeny:
		return string(op) + " pypi.org:443"
	case OpPrivate:
		return "private db.corp.example:5432"
	case OpListen:
		return "listen 127.0.0.1:5000"
	case OpEnv:
		return "env RATES_URL"
	case OpSyscall:
		return "syscall mlock"
	case OpImport:
		return "import flask"
	case OpCall:
		return "call threads"
	case OpEval:
		return "eval call:len"
	case OpCreate, OpList:
		return string(op) + " out/"
	}
	return string(op) + " data/eu.csv"
}

// checkObject judges an object as the table of its operation would.
func checkObject(op Op, object string) error {
	switch {
	case isFileOp(op):
		key := object
		if (op == OpCreate || op == OpList) && !strings.HasSuffix(key, "/") {
			key += "/" // an access may name the new name, or the folder without "/"
		}
		return checkFile(key, "", []string{string(op)})
	case isNetOp(op):
		if err := checkNet(object); err != nil || op != OpPrivate {
			return err
		}
		return checkPrivate(object)
	case op == OpEnv:
		return checkEnvName(object)
	case op == OpSyscall && !syscallName(object):
		return fmt.Errorf("%q cannot be a system call's name", object)
	case op == OpImport:
		return checkImport(object)
	case op == OpCall:
		return checkCall(object)
	case op == OpEval:
		return checkEval(object, false)
	}
	return nil
}

// ParseRule reads "OP OBJECT" as a user types it and gives the rule to add to the policy file in the folder dir.
// Relative paths start at m.Cwd (else m.Project). For a rule of the command line, which stands in no file, dir is m.Cwd
// too. Where the object is a pattern or holds a macro it is kept as typed;
// otherwise the rule is the narrowest one, written as the file should hold it.
func ParseRule(words, dir string, m Macros) (Rule, error) {
	op, object := splitWords(words)
	a, err := ParseAccess(words)
	if err != nil {
		if !isNetOp(Op(op)) || checkObject(Op(op), object) != nil {
			return Rule{}, err
		}
		a = Access{Op: Op(op), Object: strings.TrimPrefix(object, "tcp://")} // a network, a wildcard, several ports or a macro
	}
	kept := Rule{Op: a.Op, Pattern: Pattern{Text: a.Object}, Deny: a.Op == OpHide || a.Op == OpDeny}
	switch {
	case isFileOp(a.Op):
		if t, _ := parseTemplate(object, true); t.hasRef() || a.Op == OpHide && hasGlob(object) {
			if (a.Op == OpCreate || a.Op == OpList) && !strings.HasSuffix(object, "/") {
				return Rule{}, fmt.Errorf("%q: %s speaks of a folder: end it with /", object, a.Op)
			}
			kept.Pattern.Tree = strings.HasSuffix(object, "/")
			return kept, nil
		}
	case strings.HasPrefix(a.Object, "unix:"):
		if strings.Contains(object, "${") || strings.HasPrefix(object, "unix:~") {
			return kept, nil
		}
	case a.Op == OpEval:
		return kept, Grantable(a)
	default:
		return kept, nil
	}
	if a, err = Resolve(a, m); err != nil {
		return Rule{}, err
	}
	return RuleFor(a).In(dir, m), nil
}

// Resolve makes an access as the user typed it canonical: macros have their values, paths are absolute and clean.
// Relative paths start at m.Cwd, else at m.Project.
func Resolve(a Access, m Macros) (Access, error) {
	if err := m.check(); err != nil {
		return Access{}, err
	}
	x := expander{value: m.value, base: func(o Origin) (string, error) { return (&Policy{}).folder(o, m) }, strict: true}
	text, isSocket := strings.CutPrefix(a.Object, "unix:")
	if !isFileOp(a.Op) && (!isSocket || strings.HasPrefix(text, "@")) {
		return a, nil
	}
	clean, tree, err := x.path(text, Origin{}, asIs)
	if err != nil {
		return Access{}, fmt.Errorf("%q: %w", a.Object, err)
	}
	if isSocket {
		clean = "unix:" + clean
	} else if tree && clean != "/" {
		clean += "/"
	}
	return Access{Op: a.Op, Object: clean}, nil
}

// RuleFor gives the narrowest rule that allows a: for create the folder of the new name (or the folder itself, when
// the object ends in "/"), for list the folder, for everything else the object alone. The text is absolute; In writes
// it as a file should hold it.
func RuleFor(a Access) Rule {
	r := Rule{Op: a.Op, Deny: a.Op == OpHide || a.Op == OpDeny, Pattern: Pattern{Text: a.Object, Object: a.Object}}
	if !isFileOp(a.Op) {
		if n, err := parseNet(a.Object); err == nil && n.single() && isNetOp(a.Op) {
			r.Pattern.Object = n.canonical()
			r.Pattern.Text = strings.ReplaceAll(r.Pattern.Object, "${", "$${")
		}
		return r
	}
	obj, tree := strings.TrimSuffix(a.Object, "/"), strings.HasSuffix(a.Object, "/")
	if a.Op == OpCreate && !tree {
		obj, tree = path.Dir(obj), true
	}
	if a.Op == OpList {
		tree = true
	}
	if obj == "" {
		obj = "/"
	}
	r.Pattern.Object, r.Pattern.Tree = obj, tree
	r.Pattern.Text = fileText(r, "", Macros{})
	return r
}

// In writes the rule's text as the policy file in the folder dir should hold it (see RelativeIn). Rules without a
// path stay as they are.
func (r Rule) In(dir string, m Macros) Rule {
	switch {
	case isFileOp(r.Op) && !r.Pattern.Glob && r.Pattern.Object != "":
		r.Pattern.Text = fileText(r, dir, m)
	case strings.HasPrefix(r.Pattern.Object, "unix:/"):
		r.Pattern.Text = "unix:" + RelativeIn(dir, strings.TrimPrefix(r.Pattern.Object, "unix:"), m)
	}
	return r
}

// String gives the grammar's form, "read data/eu.csv", unquoted.
func (r Rule) String() string { return string(r.Op) + " " + r.Pattern.Text }

func fileText(r Rule, dir string, m Macros) string {
	obj := r.Pattern.Object
	if r.Pattern.Tree && obj != "/" {
		obj += "/"
	}
	text := RelativeIn(dir, obj, m)
	if r.Op == OpHide {
		text = escapeHide(text)
	}
	return text
}

// escapeHide makes a literal text match itself in the table's one right that knows globs. Macros stay macros: their
// names hold no character that has a meaning in a glob.
func escapeHide(text string) string { return escapeGlob(text) }

// Relative writes an absolute object as a policy file in the project's folder should hold it; see RelativeIn.
func Relative(object string, m Macros) string { return RelativeIn(m.Project, object, m) }

// RelativeIn writes an absolute clean path (with a final "/" for a folder) as the policy file in the folder dir
// should hold it, so that the file means the same in another checkout and for another user: "data/x" below dir,
// "${project}/x", "${cache}/x", "~/x" …, else the path itself. Of several folders that hold the object the deepest
// counts. It is the inverse of Expand: expanding the text gives the object again. Paths of the interpreter and the
// system stay absolute.
func RelativeIn(dir, object string, m Macros) string {
	tree := strings.HasSuffix(object, "/") && object != "/"
	obj := strings.TrimSuffix(object, "/")
	type base struct{ folder, word string }
	bases := []base{{dir, "."}, {m.Project, "${project}"}, {m.Cache, "${cache}"}, {m.Config, "${config}"}, {m.Data, "${data}"},
		{m.Run, "${run}"}, {m.Tmp, "${tmp}"}, {m.Home, "~"}}
	if m.Venv != "" && !within(m.Venv, dir) && !within(m.Venv, m.Project) {
		bases = append(bases, base{m.Venv, "${venv}"}) // one inside the project is better named by its own path
	}
	best := base{}
	for _, b := range bases {
		if b.folder != "" && b.folder != "/" && within(obj, b.folder) && len(b.folder) > len(best.folder) {
			best = b
		}
	}
	rest := strings.ReplaceAll(strings.TrimPrefix(obj[len(best.folder):], "/"), "${", "$${")
	text := best.word + "/" + rest
	switch {
	case best.word == "":
		text = "/" + rest
	case rest == "" && !tree:
		text = best.word
	case rest == "":
		return best.word + "/"
	case best.word == "." && !strings.HasPrefix(rest, "~"):
		text = rest
	}
	if tree {
		text += "/"
	}
	return text
}

// within says whether obj is the folder dir or lies below it.
func within(obj, dir string) bool { return dir != "" && (obj == dir || below(obj, dir)) }
