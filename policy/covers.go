package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// written is a policy judged as its text stands: macros and the folder of the top file have stand-ins for their value, so
// that two files mean the same in two places, and on a machine that knows no value.
type written struct {
	*Policy        // expanded with the stand-ins
	raw     []Rule // the same rules as they were read, paths of includes as the top file would write them
}

// asWritten takes a joined policy.
func (p *Policy) asWritten() (written, error) {
	x := symbols()
	x.value = func(m piece) string {
		if m.ref == "project" { // where relative paths of the top file start
			return standIn(".")
		}
		return standIn(m.raw)
	}
	x.base = func(o Origin) (string, error) { return path.Clean(standIn(".") + "/" + p.fromTop(o)), nil }
	q, err := p.expand(x, nil)
	if err != nil {
		return written{}, err
	}
	for i := range q.Rules {
		if r := &q.Rules[i]; isNetOp(r.Op) { // one address has one text
			r.Pattern.Object = lineObject(r)
		}
	}
	w := written{Policy: q}
	for _, r := range p.Rules {
		if rel := p.fromTop(r.Origin); isFileOp(r.Op) && rel != "." && !strings.HasPrefix(r.Pattern.Text, "/") && !strings.HasPrefix(r.Pattern.Text, "~") && !strings.HasPrefix(r.Pattern.Text, "${") {
			r.Pattern.Text = rel + "/" + r.Pattern.Text
		}
		w.raw = append(w.raw, r)
	}
	return w, nil
}

// fromTop is the way from the top file's folder to that of the file a rule stands in.
func (p *Policy) fromTop(o Origin) string {
	for _, s := range p.Sources {
		if s.Name != o.File || s.Path == "" || p.Sources[0].Path == "" {
			continue
		}
		if rel, err := filepath.Rel(path.Dir(p.Sources[0].Path), path.Dir(s.Path)); err == nil {
			return rel
		}
	}
	return "."
}

// sameRule says whether two rules of written policies say the same of the same thing.
func sameRule(a, b *Rule) bool {
	if a.Op != b.Op || a.Deny != b.Deny || a.Pattern.From != b.Pattern.From || !sameValue(a.Value, b.Value) {
		return false
	}
	return a.Pattern.Object == b.Pattern.Object && (!isFileOp(a.Op) || a.Pattern.Tree == b.Pattern.Tree)
}

func sameValue(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// covers says whether r gives, or refuses, everything that asked does: both do the one, or both the other. What it cannot judge is not covered.
func (r *Rule) covers(asked *Rule) bool {
	switch {
	case r.Deny != asked.Deny || tableOf(r.Op) != tableOf(asked.Op):
		return false
	case sameRule(r, asked):
		return true
	case isNetOp(r.Op):
		n, err := parseNet(asked.Pattern.Object)
		return err == nil && r.matches(question{op: asked.Op, obj: asked.Pattern.Object, net: n})
	case !isFileOp(r.Op):
		return r.coversName(asked)
	case r.Deny:
		return !r.Pattern.Glob && within(asked.Pattern.GlobRoot(), r.Pattern.Object) || !asked.Pattern.Glob && r.Pattern.Covers(asked.Pattern.Object)
	case r.Pattern.From != asked.Pattern.From || r.Pattern.From != "" && r.Pattern.Object != asked.Pattern.Object:
		return false // another folder of the host
	}
	q, ok := ask(Access{Op: asked.Op, Object: symbolObject(asked)})
	return ok && r.matches(q)
}

func (r *Rule) matches(q question) bool {
	if r.Deny {
		_, ok := q.blockedBy(r)
		return ok
	}
	_, ok := q.allowedBy(r)
	return ok
}

func (r *Rule) coversName(asked *Rule) bool {
	if r.Op != asked.Op {
		return false
	}
	if r.Op == OpEnv {
		return sameValue(r.Value, asked.Value) && globCovers(r.Pattern.Object, asked.Pattern.Object)
	}
	_, ok := question{op: asked.Op, obj: asked.Pattern.Object}.named(r)
	return ok
}

// anyCovers says whether rules together cover asked. The ports of an address may be given by several; a deeper line may take changing away.
func anyCovers(rules []Rule, asked *Rule) bool {
	return coveredBy(rules, asked) != nil || isNetOp(asked.Op) && netCovered(rules, asked)
}

// coveredBy finds the narrowest of the rules that covers asked, nil where none does alone.
func coveredBy(rules []Rule, asked *Rule) *Rule {
	var by *Rule
	for i := range rules {
		if r := &rules[i]; r.covers(asked) && (by == nil || len(r.Pattern.Object) > len(by.Pattern.Object)) {
			by = r
		}
	}
	if by == nil || asked.Deny || !isFileOp(asked.Op) {
		return by
	}
	if q, ok := ask(Access{Op: asked.Op, Object: symbolObject(asked)}); ok && deeper(rules, q, by) != nil {
		return nil
	}
	return by
}

func netCovered(rules []Rule, asked *Rule) bool {
	n, err := parseNet(asked.Pattern.Object)
	return err == nil && netCovers(rules, asked, n)
}

func netCovers(rules []Rule, asked *Rule, n netPattern) bool {
	q := question{op: asked.Op, obj: asked.Pattern.Object, net: n}
	for i := range rules {
		if r := &rules[i]; isNetOp(r.Op) && r.Deny == asked.Deny && r.matches(q) {
			return true
		}
	}
	parts := n.parts()
	if len(parts) < 2 {
		return false
	}
	return !slices.ContainsFunc(parts, func(part netPattern) bool { return !netCovers(rules, asked, part) })
}

// blocked says whether the refusals together take away all that the right r gives; by is one that has a part in it.
func blocked(refusals []Rule, r *Rule) (by *Rule, all bool) {
	as := *r
	as.Op, as.Deny, as.Value, as.Pattern.From = refusing(r.Op), true, nil, ""
	for i := range refusals {
		d := &refusals[i]
		if d.covers(&as) || isFileOp(d.Op) && r.Pattern.From != "" && isFileOp(r.Op) && d.Pattern.Covers(r.Pattern.From) {
			return d, true
		}
		if by == nil && d.touches(r) {
			by = d
		}
	}
	return by, by != nil && anyCovers(refusals, &as)
}

// refusing is the word by which a table refuses what op gives.
func refusing(op Op) Op {
	switch {
	case isFileOp(op):
		return OpHide
	case isNetOp(op):
		return OpDeny
	}
	return op
}

// touches says whether the refusal d may take away something of what the right r gives. It errs towards yes.
func (d *Rule) touches(r *Rule) bool {
	switch {
	case tableOf(d.Op) != tableOf(r.Op):
		return false
	case isFileOp(d.Op):
		root := d.Pattern.GlobRoot()
		for _, obj := range []string{r.Pattern.Object, r.Pattern.From} {
			if obj != "" && (within(obj, root) || within(root, obj)) {
				return true
			}
		}
		return false
	case isNetOp(d.Op):
		a, errA := parseNet(d.Pattern.Object)
		b, errB := parseNet(r.Pattern.Object)
		if errA != nil || errB != nil {
			return true
		}
		if a.unix != "" || b.unix != "" {
			return a.unix == b.unix
		}
		hosts := a.coversHost(b, OpDeny) || b.coversHost(a, OpDeny) || a.prefix.IsValid() != b.prefix.IsValid() // a name may lead into a network
		return hosts && a.udp == b.udp && a.ports.meet(b.ports)
	case d.Op == OpEnv:
		return hasGlob(d.Pattern.Object) || hasGlob(r.Pattern.Object) || d.Pattern.Object == r.Pattern.Object
	}
	return d.coversName(&Rule{Op: r.Op, Deny: true, Pattern: r.Pattern}) || (&Rule{Op: r.Op, Deny: true, Pattern: r.Pattern}).coversName(d)
}
