package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Expand gives a copy of the policy in which every object is absolute and every macro has its value; the texts stay
// as written. All problems are in one *ParseError: a macro without value, a value that yields the whole file system
// or the whole home, an address that is none once its macros are known.
//
// Preconditions: the folders of m are absolute and clean, and includes have been joined by Load.
func (p *Policy) Expand(m Macros) (*Policy, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return p.expand(expander{value: m.value, base: func(o Origin) (string, error) { return p.folder(o, m) }, home: m.Home, strict: true}, &m)
}

func (m Macros) check() error {
	for _, f := range []struct{ name, v string }{{"the working folder", m.Cwd}, {"${project}", m.Project}, {"~", m.Home}, {"${tmp}", m.Tmp},
		{"${python}", m.Python}, {"${venv}", m.Venv}, {"${site}", m.Site}, {"${cache}", m.Cache}, {"${config}", m.Config}, {"${data}", m.Data}, {"${run}", m.Run}} {
		if f.v != "" && (!path.IsAbs(f.v) || path.Clean(f.v) != f.v) {
			return fmt.Errorf("macros: %s is %q, no absolute clean path", f.name, f.v)
		}
	}
	return nil
}

// folder is where relative paths of a rule start: the folder of the file it stands in.
func (p *Policy) folder(o Origin, m Macros) (string, error) {
	if o.File != "" {
		for _, s := range p.Sources {
			if s.Name == o.File && s.Path != "" {
				return path.Dir(s.Path), nil
			}
		}
		abs, err := absolute(o.File, m)
		return path.Dir(abs), err
	}
	if m.Cwd != "" {
		return m.Cwd, nil
	}
	if m.Project != "" {
		return m.Project, nil
	}
	return "", errors.New("a relative path needs a folder to start from")
}

// expander holds what Expand and Edit do differently: Edit gives macros a stand-in for their value.
type expander struct {
	value  func(piece) string
	base   func(Origin) (string, error)
	home   string
	strict bool // refuse what is too wide, and includes that nobody read
	symbol bool // values are stand-ins
}

func (p *Policy) expand(x expander, m *Macros) (*Policy, error) {
	var probs problems
	q := *p
	q.macros = m
	q.Rules = make([]Rule, len(p.Rules))
	copy(q.Rules, p.Rules)
	for i := range q.Rules {
		if err := x.rule(&q.Rules[i]); err != nil {
			probs.add(q.Rules[i].Origin, "%s", err)
		}
	}
	if x.strict {
		if len(p.Includes) > 0 && !p.joined {
			probs.add(p.Includes[0].Origin, "BUG: include %q was not read; please report it", p.Includes[0].Text)
		}
		var err error
		if py := p.Sandbox.Python; strings.ContainsAny(py, "/~$") {
			if q.Sandbox.Python, _, err = x.path(py, p.Sandbox.Origin["python"], asIs); err != nil {
				probs.add(p.Sandbox.Origin["python"], "python: %s", err)
			}
		}
		if p.Learn != "" {
			if q.Learn, _, err = x.path(p.Learn, p.learnAt, asIs); err != nil {
				probs.add(p.learnAt, "learn: %s", err)
			}
		}
	}
	if err := probs.err(); err != nil {
		return nil, err
	}
	return &q, nil
}

func (x expander) rule(r *Rule) error {
	switch {
	case isFileOp(r.Op):
		return x.fileRule(r)
	case isNetOp(r.Op):
		return x.netRule(r)
	case r.Op == OpEnv && r.Value != nil:
		t, err := parseTemplate(*r.Value, false)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Pattern.Text, err)
		}
		if hasGlob(r.Pattern.Text) {
			r.Value = nil // "*_KEY" = "${*_KEY}" is each variable's own value
		} else if x.strict {
			v, err := t.expand(x.value, asIs, true)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Pattern.Text, err)
			}
			r.Value = &v
		}
	}
	r.Pattern.Object = r.Pattern.Text
	return nil
}

// fileRule fills in the absolute object. For hide with a glob, values that macros put in match only themselves.
func (x expander) fileRule(r *Rule) error {
	text := r.Pattern.Text
	escape := asIs
	if r.Op == OpHide {
		escape = escapeGlob
	}
	obj, tree, err := x.path(text, r.Origin, escape)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	if x.symbol && (r.Op == OpCreate || r.Op == OpList) {
		tree = true
	}
	if !tree && (r.Op == OpCreate || r.Op == OpList) {
		return fmt.Errorf("%q: %s speaks of a folder: end it with /", text, r.Op)
	}
	if r.Op == OpHide {
		if literal, ok := unescapeGlob(obj); ok {
			obj = literal
		} else if r.Pattern.Glob = true; strings.Contains("/"+text+"/", "/../") {
			return fmt.Errorf("%q: .. cannot stand in a path with a glob", text)
		}
	}
	if err := x.tooWide(r.Op, obj, text); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	r.Pattern.Object, r.Pattern.Tree = obj, tree
	if r.Pattern.From != "" {
		from, fromTree, err := x.path(r.Pattern.From, r.Origin, asIs)
		if err == nil && fromTree != tree {
			err = errors.New("it and the path must both end in / or neither")
		}
		if err == nil {
			err = x.tooWide(r.Op, from, r.Pattern.From)
		}
		if err != nil {
			return fmt.Errorf("%q: from %q: %w", text, r.Pattern.From, err)
		}
		r.Pattern.From = from
	}
	return nil
}

// path makes one path absolute and clean; tree tells of a final "/".
func (x expander) path(text string, o Origin, escape func(string) string) (clean string, tree bool, err error) {
	t, err := parseTemplate(text, true)
	if err != nil {
		return "", false, err
	}
	if x.symbol && !t.leading() {
		return standIn(text), strings.HasSuffix(text, "/"), nil // a value in the middle may hold ".." and lead anywhere
	}
	s, err := t.expand(x.value, escape, false)
	if err != nil {
		return "", false, err
	}
	if strings.ContainsRune(s, 0) && x.strict {
		return "", false, errors.New("a value holds a NUL character")
	}
	if !path.IsAbs(s) {
		base, err := x.base(o)
		if err != nil {
			return "", false, err
		}
		s = escape(base) + "/" + s
	}
	return path.Clean(s), strings.HasSuffix(s, "/"), nil
}

// tooWide refuses rights on the root, the home or a folder above it. Reading the names of such a folder alone is
// narrow, so a list of it may be written out, but no value of a variable may yield it.
func (x expander) tooWide(op Op, obj, text string) error {
	if !x.strict {
		return nil
	}
	what := ""
	switch {
	case obj == "/":
		what = "the whole file system"
	case x.home != "" && x.home != "/" && obj == x.home:
		what = "your whole home"
	case x.home != "" && x.home != "/" && below(x.home, obj):
		what = "a folder that holds your whole home"
	default:
		return nil
	}
	if op == OpList && !strings.Contains(strings.ReplaceAll(text, "$${", ""), "${") {
		return nil
	}
	return fmt.Errorf("this is %s (%s); name the files or folders inside it that the program needs", what, obj)
}

func (x expander) netRule(r *Rule) error {
	text := r.Pattern.Text
	if sock, ok := strings.CutPrefix(text, "unix:"); ok && !strings.HasPrefix(sock, "@") {
		obj, tree, err := x.path(sock, r.Origin, asIs)
		if err == nil && tree {
			err = errors.New("name one socket, not a folder")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		r.Pattern.Object = "unix:" + obj
		return nil
	}
	t, err := parseTemplate(text, false)
	if err == nil {
		r.Pattern.Object, err = t.expand(x.value, asIs, false)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	if !x.strict {
		return nil
	}
	n, err := parseNet(r.Pattern.Object)
	if err != nil {
		return err
	}
	switch {
	case t.hasRef() && n.anyFree() && r.Op != OpListen:
		err = anyFreeError(r.Pattern.Object)
	case n.any && r.Op == OpPrivate: // an address that a macro yields does no harm: it is what connect opens
		err = checkPrivate(r.Pattern.Object)
	}
	return err
}

func isFileOp(op Op) bool { return contains(fileOps(), string(op)) }

// below says whether obj lies strictly inside the folder dir; both are clean and absolute.
func below(obj, dir string) bool {
	if dir == "/" {
		return obj != "/"
	}
	return len(obj) > len(dir) && obj[len(dir)] == '/' && obj[:len(dir)] == dir
}
