package policy

import (
	"path"
	"strings"
)

// Decide judges one access. It looks at every rule and never stops at the first match: By is the narrowest rule that
// allows, Blocker the narrowest that forbids, and a Blocker always wins. What it cannot read – an object that is not
// canonical, a policy that was not expanded – it refuses.
//
// Rights of files that lie inside each other add up, but for write and create: there the deepest line that speaks of the place decides, and
// Narrower is that line where it takes away what a wider one gives.
//
// It judges by name alone. For create the object is the new name, or its folder with a final "/"; for list the
// folder. For a host by name the address it resolves to is not known here: the broker asks again with the address
// (for deny rules), and with private where that is Inward. Port 0, which only listen can ask for, stands for any port
// that the kernel gives out by itself. For syscall, import and call it knows the policy's lines only; the base set and
// the standard library are the caller's to add. A category of the registry stands for its functions, a module for its submodules and its twin in C,
// a group of syntax for its nodes. For hide and deny it answers whether the
// policy says so already.
//
// Precondition: the policy comes from Expand (an empty one needs none).
func (p *Policy) Decide(a Access) Verdict {
	v := Verdict{Locked: p.Locked, Fix: p.fix(a)}
	q, ok := ask(a)
	if !ok {
		return v
	}
	p.judge(q, &v)
	return v
}

// judge fills in what the rules say.
func (p *Policy) judge(q question, v *Verdict) {
	q.places = p.places(q)
	p.weigh(q, v)
	if v.By == nil && v.Blocker == nil {
		p.whole(q, v)
	}
	if q.op == OpHide || q.op == OpDeny { // asked whether it is forbidden: what forbids is what says yes
		v.By, v.Blocker = v.Blocker, nil
	}
	v.Allowed = v.By != nil && v.Blocker == nil
	if !v.Allowed {
		v.By = nil
	}
}

// whole answers what no single rule of the table does: a group all of whose parts are allowed, syntax that every profile of evaluated text has,
// and all of evaluated text where it has no bounds.
func (p *Policy) whole(q question, v *Verdict) {
	if q.op == OpEval {
		if v.By = p.rawEval("dynamic-code"); v.By != nil {
			return
		}
	}
	if o, ok := parseEval(q.obj); ok && q.op == OpEval && o.key == "syntax" && EvalWords().Free(o.name) {
		if e, ok := p.Eval[o.profile]; ok {
			v.By = &Rule{Op: OpEval, Pattern: Pattern{Text: o.String(), Object: o.String()}, Origin: e.Origin}
		}
		return
	}
	var by *Rule
	for _, part := range parts(q.op, q.obj) {
		one := Verdict{}
		p.weigh(question{op: q.op, obj: part}, &one)
		if one.By == nil || one.Blocker != nil {
			return
		}
		if by == nil {
			by = one.By
		}
	}
	v.By = by
}

// weigh finds the narrowest rule that allows and the narrowest that forbids.
func (p *Policy) weigh(q question, v *Verdict) {
	bestBy, bestBlock := -1, -1
	for i := range p.Rules {
		r := &p.Rules[i]
		if rank, ok := q.blockedBy(r); ok && rank > bestBlock {
			v.Blocker, bestBlock = r, rank
		}
		if rank, ok := q.allowedBy(r); ok && rank > bestBy {
			v.By, bestBy = r, rank
		}
	}
	if v.By == nil {
		return
	}
	if v.Narrower = deeper(p.Rules, q, v.By); v.Narrower != nil {
		v.By = nil
	}
}

// fix is RuleFor, written as the policy's file would hold it where that is known.
func (p *Policy) fix(a Access) Rule {
	r := RuleFor(a)
	if p.macros == nil {
		return r
	}
	dir := p.macros.Project
	if len(p.Sources) > 0 && p.Sources[0].Path != "" {
		dir = path.Dir(p.Sources[0].Path)
	}
	return r.In(dir, *p.macros)
}

// question is an access taken apart once for all rules.
type question struct {
	op     Op
	obj    string // paths without the final "/"
	tree   bool
	net    netPattern
	places []string // obj, and where a { from = … } takes it from
	glob   bool     // obj is a pattern, and all that it matches is asked for
}

// places follows { from = … } rules back to the host, because hide holds in every place where an object appears.
func (p *Policy) places(q question) []string {
	list := []string{q.obj}
	for i := range p.Rules {
		pat := p.Rules[i].Pattern
		if isFileOp(q.op) && pat.From != "" && pat.Object != "" && within(q.obj, pat.Object) {
			list = append(list, path.Clean(pat.From+q.obj[len(pat.Object):]))
		}
	}
	return list
}

func ask(a Access) (question, bool) {
	q := question{op: a.Op, obj: a.Object}
	switch {
	case isFileOp(a.Op):
		q.tree = strings.HasSuffix(a.Object, "/") && a.Object != "/"
		q.obj = strings.TrimSuffix(a.Object, "/")
		if q.obj == "" {
			q.obj, q.tree = "/", a.Object == "/"
		}
		return q, path.IsAbs(q.obj) && path.Clean(q.obj) == q.obj && a.Object != ""
	case isNetOp(a.Op):
		n, err := parseNet(a.Object)
		q.net = n
		return q, err == nil && n.single() && (a.Op == OpListen || !n.anyFree())
	case a.Op == OpEnv:
		return q, a.Object != "" && !strings.ContainsAny(a.Object, "=\x00")
	case a.Op == OpSyscall, a.Op == OpImport, a.Op == OpCall:
		return q, a.Object != ""
	case a.Op == OpEval:
		_, ok := parseEval(a.Object)
		return q, ok
	}
	return q, false
}

// allowedBy says whether r allows what is asked, and how narrowly: the larger the rank the narrower.
func (q question) allowedBy(r *Rule) (rank int, ok bool) {
	if r.Deny {
		return 0, false
	}
	switch q.op {
	case OpConnect, OpPrivate, OpListen:
		if r.Op != q.op {
			return 0, false
		}
		n, err := parseNet(r.Pattern.Object)
		return n.narrow(), err == nil && n.covers(q.net, r.Op)
	case OpEnv, OpSyscall, OpImport, OpCall, OpEval:
		return q.named(r)
	}
	if !isFileOp(q.op) || !isFileOp(r.Op) || !q.fileRight(r) {
		return 0, false
	}
	rank = len(r.Pattern.Object) * 4
	if !r.Pattern.Tree {
		rank += 2 // at the same place a file is narrower than a tree
	}
	if r.Op == q.op {
		rank++ // and the right asked for is narrower than one that implies it
	}
	return rank, true
}

// fileRight holds what each right of [files] implies.
func (q question) fileRight(r *Rule) bool {
	pat := r.Pattern
	if pat.Object == "" {
		return false // not expanded
	}
	covers := pat.Object == q.obj && (pat.Tree || !q.tree) || pat.Tree && below(q.obj, pat.Object)
	switch q.op {
	case OpRead:
		// reading a tree is said by read or write alone: exec is about the files in it
		return covers && (r.Op == OpRead || r.Op == OpWrite || !q.tree && (r.Op == OpExec || r.Op == OpDevice))
	case OpWrite:
		return covers && (r.Op == OpWrite || r.Op == OpDevice)
	case OpExec, OpDevice:
		return covers && r.Op == q.op
	case OpList:
		inTree := pat.Tree && (pat.Object == q.obj || below(q.obj, pat.Object))
		return r.Op == OpList && pat.Object == q.obj || inTree && (r.Op == OpRead || r.Op == OpWrite || r.Op == OpExec)
	case OpCreate:
		folder := q.obj
		if !q.tree {
			folder = path.Dir(q.obj)
		}
		inTree := pat.Tree && (pat.Object == folder || below(folder, pat.Object))
		return r.Op == OpCreate && pat.Object == folder || inTree && r.Op == OpWrite
	}
	return false
}

// blockedBy says whether r is a false, hide or deny that stands in the way.
func (q question) blockedBy(r *Rule) (rank int, ok bool) {
	if !r.Deny {
		return 0, false
	}
	switch q.op {
	case OpConnect, OpPrivate, OpListen, OpDeny:
		if r.Op != OpDeny {
			return 0, false
		}
		n, err := parseNet(r.Pattern.Object)
		return n.narrow(), err == nil && n.covers(q.net, OpDeny)
	case OpEnv, OpSyscall, OpImport, OpCall, OpEval:
		return q.named(r)
	}
	covers := false
	for _, place := range q.places {
		covers = covers || r.Op == OpHide && r.Pattern.Covers(place)
	}
	if !isFileOp(q.op) || !covers {
		return 0, false
	}
	if q.op == OpHide && q.tree && !r.Pattern.Tree && !r.Pattern.Glob && r.Pattern.Object == q.obj {
		return 0, false // hiding a folder is not said by hiding a file of that name
	}
	return len(r.Pattern.Object), true
}

// named matches the tables whose objects are names.
func (q question) named(r *Rule) (rank int, ok bool) {
	name := r.Pattern.Object
	if r.Op == OpCall && q.op == OpCall { // asked of a policy before it is expanded, too
		name = r.Pattern.Text
	}
	if r.Op != q.op || name == "" {
		return 0, false
	}
	switch q.op {
	case OpEnv:
		if q.glob {
			return len(strings.Trim(name, "*?")), globCovers(name, q.obj)
		}
		return len(strings.Trim(name, "*?")), globName(name, q.obj)
	case OpImport:
		return len(strings.Trim(name, "*")), coversImport(name, q.obj)
	case OpCall:
		rank = len(name)
		if name == q.obj {
			rank += 100 // a function is narrower than its category, whatever their names
		}
		return rank, coversCall(name, q.obj)
	case OpEval:
		o, okO := parseEval(name)
		asked, okA := parseEval(q.obj)
		rank = len(strings.ReplaceAll(o.name, "*", ""))
		if o.name == asked.name {
			rank += 100
		}
		return rank, okO && okA && (o.covers(asked) || r.Deny && o.denies(asked))
	}
	return len(name), name == q.obj
}

// Covers says whether the absolute clean path object is the pattern's own object, or lies below it. A glob covers
// what it matches and everything below; so does a path written without a final "/", should it be a folder.
func (p Pattern) Covers(object string) bool {
	if p.Object == "" || object == "" {
		return false
	}
	if !p.Glob {
		return object == p.Object || below(object, p.Object)
	}
	for {
		if globPath(p.Object, object) {
			return true
		}
		up := path.Dir(object)
		if up == object {
			return false
		}
		object = up
	}
}

// GlobRoot is the deepest folder that a glob's literal elements name: everything it can match lies below.
func (p Pattern) GlobRoot() string {
	if !p.Glob {
		return p.Object
	}
	root := ""
	for _, elem := range strings.Split(strings.TrimPrefix(p.Object, "/"), "/") {
		literal, ok := unescapeGlob(elem)
		if !ok {
			break
		}
		root += "/" + literal
	}
	if root == "" {
		return "/"
	}
	return root
}
