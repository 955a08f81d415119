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
	c.places.show(o, rights, r.Origin, "")
	if rights.Has(Exec) && o.Kind == File {
		c.runnable(o, r.Origin)
	}
}

// runnable brings what an executable file needs to start: its ELF interpreter and libraries, or the interpreter its first line names.
func (c *compiler) runnable(o Object, origin policy.Origin) {
	for _, need := range c.host.Linked(o.Path) {
		n := c.look.Resolve(need)
		if n.Kind == File {
			c.places.show(n, Read|Exec, origin, "started by "+path.Base(o.Path))
		}
	}
}

// policyWrites reports whether some rule lets the box change names in a folder.
func (c *compiler) policyWrites(dir string) bool {
	for _, r := range c.policy.Rules {
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

// protect keeps policy files, git's hooks and configuration, the virtual environment and start-up files as they are wherever the box
// may write around them; every folder from one up to its grant's root is bound onto itself, so that no ancestor can be renamed away.
func (c *compiler) protect() {
	names := map[string]bool{}
	for _, f := range c.policyFiles {
		names[f] = true
	}
	for _, home := range c.homes {
		for _, n := range Guarded(home) {
			names[n] = true
		}
	}
	if c.host.Venv != "" {
		names[c.host.Venv] = true
	}
	for _, root := range c.places.sorted() {
		if root.Source.Kind != Dir || root.Rights&(Write|Create) == 0 || root.Guarded || root.Made != nil {
			continue
		}
		host := root.Source.Path
		for n := range names {
			if below(n, host) {
				c.guard(root, c.look.Resolve(n))
				c.watch(n)
			}
		}
		for _, n := range []string{".git", ".git/hooks", ".git/config", ".py-sandboxes"} {
			c.watch(path.Join(host, n))
		}
		if !root.Rights.Has(Write) {
			c.guardGit(root, path.Join(host, ".git"))
			continue
		}
		complete := c.look.Walk(host, mostWalked, func(q string, k Kind) bool {
			if path.Base(q) == ".git" {
				c.guardGit(root, q)
				return false
			}
			return true
		})
		c.guardGit(root, host) // a bare repository, or .git itself granted
		if !complete {
			c.gaps = addGap(c.gaps, Gap{Name: "protect", Lost: fmt.Sprintf("%q holds more than %d objects or folders psb cannot read: hooks and configuration of repositories in it may be writable", root.Path, mostWalked),
				Needs: "a narrower write grant"})
		}
	}
}

// watch remembers a protected name that is not there: it cannot be masked without littering, so it is looked for after the run.
func (c *compiler) watch(name string) {
	if c.look.Resolve(name).Kind == Absent && !slices.Contains(c.watched, name) {
		c.watched = append(c.watched, name)
	}
}

// guardGit protects one repository's hooks and configuration, or the pointer file of a work tree.
func (c *compiler) guardGit(root *Place, git string) {
	o := c.look.Resolve(git)
	if o.Path != git {
		return // a link: its target is protected where it stands
	}
	switch o.Kind {
	case File:
		if path.Base(git) == ".git" {
			c.guard(root, o)
		}
	case Dir:
		if path.Base(git) != ".git" && c.look.Resolve(git+"/HEAD").Kind != File {
			return
		}
		for _, n := range []string{"hooks", "config", "config.worktree", "info/attributes"} {
			if p := c.look.Resolve(path.Join(git, n)); p.Kind != Absent && (n == "hooks" || p.Kind == File) {
				c.guard(root, p)
			}
		}
	}
}

// guard makes one object read-only below a writable root.
func (c *compiler) guard(root *Place, o Object) {
	if o.Kind == Absent || len(o.Links) != 0 {
		return
	}
	inside := func(host string) string { return path.Join(root.Path, strings.TrimPrefix(host, root.Source.Path)) }
	at := inside(o.Path)
	if !root.Rights.Has(Write) && c.places[at] == nil {
		return // keepPresent covers what has no rule of its own
	}
	p := c.places.at(at)
	if p.Hidden {
		return
	}
	p.Source, p.Guarded, p.Why = o, true, "protected"
	p.Rights &^= Write | Create
	if !root.Rights.Has(Write) {
		return
	}
	p.Rights |= Read
	for d := path.Dir(o.Path); below(d, root.Source.Path); d = path.Dir(d) {
		a := c.places.at(inside(d))
		if a.Source.Kind == Absent {
			a.Source, a.Why = c.look.Resolve(d), "holds something protected"
			a.Rights |= Read | Write
			a.SelfBind = true
		}
	}
}

func shortQuote(s string) string { return fmt.Sprintf("%q", s) }
