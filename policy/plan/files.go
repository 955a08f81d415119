package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// mostWalked bounds how many objects psb looks at below the granted trees for hide rules and protected names.
const mostWalked = 100_000

// grant puts every [files] rule in its place.
func (c *compiler) grant() {
	for i := range c.policy.Rules {
		r := &c.policy.Rules[i]
		rights := rightsOf(r.Op)
		if rights == 0 {
			continue
		}
		c.grantOne(r, rights)
	}
}

func (c *compiler) grantOne(r *policy.Rule, rights Rights) {
	source := r.Pattern.Object
	if r.Pattern.From != "" {
		source = r.Pattern.From
	}
	o := c.look.Resolve(source)
	if o.Err != "" {
		c.problem(r.Origin, "%q: %s", r.Pattern.Text, o.Err)
		return
	}
	for _, l := range o.Links {
		if c.policyWrites(path.Dir(l.At)) {
			c.gaps = addGap(c.gaps, Gap{Name: "link", Lost: fmt.Sprintf("%q goes through the link %q, which stands in a folder the box may write", r.Pattern.Text, l.At),
				Needs: "a rule that names the link's target, " + shortQuote(o.Path)})
			return
		}
	}
	switch {
	case o.Kind == Absent && rights&(Write|Create) != 0 && (rights.Has(Create) || r.Pattern.Tree) && !c.policyWrites(path.Dir(o.Path)):
		c.missing = append(c.missing, o.Path)
		return
	case o.Kind == Absent:
		if rights.Has(Write) && c.look.Resolve(path.Dir(o.Path)).Kind == Absent {
			c.missing = append(c.missing, path.Dir(o.Path))
		}
		c.absent[r.Origin] = true
		if r.Pattern.From == "" && c.places[o.Path] == nil {
			p := c.places.at(o.Path)
			p.Rights, p.Origins, p.Why = rights, append(p.Origins, r.Origin), "absent"
		}
		return
	case o.Kind == Dir && !r.Pattern.Tree:
		c.problem(r.Origin, "%q is a folder: write %q", r.Pattern.Text, r.Pattern.Text+"/")
		return
	case o.Kind != Dir && r.Pattern.Tree:
		c.problem(r.Origin, "%q is not a folder: write %q", r.Pattern.Text, strings.TrimSuffix(r.Pattern.Text, "/"))
		return
	case (rights == UseDevice) != (o.Kind == Device) && !(rights == UseDevice && o.Kind == Dir):
		c.problem(r.Origin, "%q: device is the right for nodes under /dev, and the only one", r.Pattern.Text)
		return
	case o.Kind == Other:
		c.problem(r.Origin, "%q is neither a file nor a folder", r.Pattern.Text)
		return
	}
	if r.Pattern.From != "" {
		o.Path, o.Asked = r.Pattern.Object, r.Pattern.From
		p := c.places.at(r.Pattern.Object)
		p.Source = c.look.Resolve(source)
		p.Rights |= rights
		p.Origins = append(p.Origins, r.Origin)
		return
	}
	if rights&(Write|Create) != 0 && slices.ContainsFunc(c.own, func(own string) bool { return atOrBelow(o.Path, own) }) {
		c.problem(r.Origin, "%q is psb's own: approvals and filters; no box may write there", r.Pattern.Text)
		return
	}
	c.places.show(o, rights, r.Origin, "")
	if rights.Has(Exec) && o.Kind == File {
		c.runnable(o, r.Origin)
	}
}

// policyWrites reports whether some rule lets the box change names in a folder. The virtual environment in use is protected from rules that
// only cover it.
func (c *compiler) policyWrites(dir string) bool {
	venv := c.host.Venv
	for _, r := range c.policy.Rules {
		if venv != "" && atOrBelow(dir, venv) && !atOrBelow(r.Pattern.Object, venv) {
			continue
		}
		switch {
		case r.Op == policy.OpWrite && r.Pattern.Tree && atOrBelow(dir, r.Pattern.Object),
			r.Op == policy.OpCreate && dir == r.Pattern.Object:
			return true
		}
	}
	return false
}

// hide masks what hide rules name, in every place it appears. Names without a glob are looked up; globs are expanded over the trees shown.
func (c *compiler) hide() {
	var globs bool
	for _, r := range c.policy.Rules {
		if r.Op != policy.OpHide {
			continue
		}
		if strings.ContainsAny(r.Pattern.Object, "*?[") {
			globs = true
			continue
		}
		c.hideOne(c.look.Resolve(r.Pattern.Object), r.Origin)
	}
	if !globs {
		c.hideMapped()
		return
	}
	seen := 0
	for _, p := range c.places.sorted() {
		if p.Source.Kind == File {
			if v := c.policy.Decide(policy.Access{Op: policy.OpRead, Object: p.Source.Path}); v.Blocker != nil && v.Blocker.Op == policy.OpHide {
				c.hideOne(p.Source, v.Blocker.Origin)
			}
		}
		if p.Source.Kind != Dir || p.Rights&(Read|Write|Create) == 0 || isAlways(p) {
			continue
		}
		complete := c.look.Walk(p.Source.Path, mostWalked-seen, func(q string, k Kind) bool {
			seen++
			v := c.policy.Decide(policy.Access{Op: policy.OpRead, Object: q})
			if v.Blocker == nil || v.Blocker.Op != policy.OpHide {
				return true
			}
			c.hideOne(Object{Path: q, Kind: k}, v.Blocker.Origin)
			return false
		})
		if !complete {
			c.gaps = addGap(c.gaps, Gap{Name: "hide", Lost: fmt.Sprintf("%q holds more than %d objects or folders psb cannot read: hidden names in it may stay visible", p.Path, mostWalked),
				Needs: "narrower grants, or hide rules without globs"})
		}
	}
	c.hideMapped()
}

func (c *compiler) hideOne(o Object, origin policy.Origin) {
	if o.Kind == Absent {
		return
	}
	p := c.places.at(o.Path)
	p.Hidden, p.Source, p.Origins = true, o, append(p.Origins, origin)
}

// hideMapped masks hidden objects once more where {from} shows them at another place.
func (c *compiler) hideMapped() {
	for _, p := range c.places.sorted() {
		if p.Source.Kind != Dir || p.Source.Path == p.Path || p.Made != nil {
			continue
		}
		for _, h := range c.places.sorted() {
			if h.Hidden && h.Source.Path == h.Path && atOrBelow(h.Path, p.Source.Path) {
				at := c.places.at(path.Join(p.Path, strings.TrimPrefix(h.Path, p.Source.Path)))
				at.Hidden, at.Source, at.Origins = true, Object{Path: h.Path, Kind: h.Source.Kind}, h.Origins
			}
		}
	}
}

func isAlways(p *Place) bool {
	for _, o := range p.Origins {
		if o != alwaysThere {
			return false
		}
	}
	return len(p.Origins) > 0
}

func shortQuote(s string) string { return fmt.Sprintf("%q", s) }
