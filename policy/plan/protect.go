package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// protect keeps policy files, git's hooks and configuration, the virtual environment, start-up files and psb's own folders as they are
// wherever the box may write around them; every folder from one up to its grant's root is bound onto itself, so that no ancestor can be
// renamed away. The same holds for hidden files, which would otherwise show up elsewhere in the next run, and for what a deeper line keeps
// from being changed, which could be changed there.
func (c *compiler) protect() {
	names := c.protected()
	for _, p := range c.places {
		if p.Made == nil && p.Rights&(Write|Create) != 0 && slices.ContainsFunc(names, func(n Object) bool { return n.Kind != Absent && atOrBelow(p.Source.Path, n.Path) }) {
			p.Guarded, p.Why = true, "protected" // granted by name, and refused all the same
		}
	}
	for _, root := range c.places.sorted() {
		if root.Source.Kind != Dir || root.Rights&(Write|Create) == 0 || root.Guarded || root.Made != nil || root.SelfBind {
			continue
		}
		host := root.Source.Path
		for _, n := range names {
			if below(n.Path, host) {
				c.guard(root, n)
			}
		}
		c.repositories(root)
		if root.Rights.Has(Write) {
			for _, h := range c.places.sorted() {
				if (h.Hidden || h.kept()) && below(h.Source.Path, host) {
					c.pin(root, h.Source.Path)
				}
			}
		}
	}
}

// protected resolves the names that are protected wherever they lead: a start-up file may be a link into a folder of dot files.
func (c *compiler) protected() []Object {
	list := slices.Concat(c.policyFiles, c.own)
	for _, home := range c.homes {
		list = append(list, Guarded(home)...)
	}
	if c.host.Venv != "" {
		list = append(list, c.host.Venv)
	}
	out := make([]Object, 0, len(list))
	for _, n := range list {
		out = append(out, c.look.Resolve(n))
	}
	return out
}

// guard makes one object read-only below a writable root; one that is not there is looked for after the run.
func (c *compiler) guard(root *Place, o Object) {
	if o.Kind == Absent {
		if below(o.Path, root.Source.Path) && !slices.Contains(c.watched, o.Path) {
			c.watched = append(c.watched, o.Path)
		}
		return
	}
	if !below(o.Path, root.Source.Path) {
		return
	}
	at := inRoot(root, o.Path)
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
	c.pin(root, o.Path)
}

// pin binds every folder between a root and an object onto itself: a mount point cannot be renamed. What a deeper line keeps from being changed
// holds its folders fast already, and stays so.
func (c *compiler) pin(root *Place, host string) {
	var between []string
	for d := path.Dir(host); below(d, root.Source.Path); d = path.Dir(d) {
		if p := c.places[inRoot(root, d)]; p != nil && p.kept() {
			between = nil
			continue
		}
		between = append(between, d)
	}
	for _, d := range between {
		if a := c.places.at(inRoot(root, d)); a.Source.Kind == Absent {
			a.Source, a.Why = c.look.Resolve(d), "holds something protected"
			a.Rights |= Read | Write
			a.SelfBind = true
		}
	}
}

// inRoot is where a host path appears below a root.
func inRoot(root *Place, host string) string {
	return path.Join(root.Path, strings.TrimPrefix(host, root.Source.Path))
}

// repositories finds what git would run or read settings from below a root.
func (c *compiler) repositories(root *Place) {
	host := root.Source.Path
	for _, n := range []string{".git", ".py-sandboxes"} {
		if o := c.look.Resolve(path.Join(host, n)); o.Kind == Absent {
			c.guard(root, o)
		}
	}
	c.guardGit(root, path.Join(host, ".git"), 0)
	c.guardRepository(root, host, 0) // a bare one, or .git itself granted
	if !root.Rights.Has(Write) {
		return
	}
	visit := func(q string, k Kind) bool {
		switch path.Base(q) {
		case ".git":
			c.guardGit(root, q, 0)
			return false
		case "HEAD":
			c.guardRepository(root, path.Dir(q), 0)
		case "pyvenv.cfg":
			c.guardEnvironment(root, path.Dir(q))
		}
		return true
	}
	if host == c.cache && !c.lite {
		c.inCache(root, visit)
		return
	}
	if !c.look.Walk(host, mostWalked, visit) {
		c.gaps = addGap(c.gaps, Gap{Name: "protect", Lost: fmt.Sprintf("%q holds more than %d objects or folders psb cannot read: hooks and configuration of repositories in it may be writable", root.Path, mostWalked),
			Needs: "a narrower write grant"})
	}
}

// mostInCache bounds how many objects psb looks at in one folder of the cache.
const mostInCache = 5_000

// inCache looks through the cache, which nobody granted by name and which holds as much as other programs like, folder by folder: what is too
// large to be looked through stays as it is while learning.
func (c *compiler) inCache(root *Place, visit func(string, Kind) bool) {
	entries, err := c.look.Entries(root.Source.Path)
	if err != nil {
		return // what psb cannot list the program cannot either
	}
	left := 4 * mostInCache
	for _, e := range entries {
		dir := path.Join(root.Source.Path, e.Name)
		if !visit(dir, e.Kind) || e.Kind != Dir {
			continue
		}
		at := inRoot(root, dir)
		if p := c.places[at]; p != nil { // the command line names it, or it is protected or hidden
			continue
		}
		seen := 0
		complete := c.look.Walk(dir, min(mostInCache, left), func(q string, k Kind) bool {
			seen++
			return visit(q, k)
		})
		if left -= seen; complete {
			continue
		}
		c.places.show(c.look.Resolve(dir), Read|Exec|List, policy.Origin{From: "learning"}, "too much in it to look through: read-only while learning")
		c.gaps = addGap(c.gaps, Gap{Name: "cache", Soft: true, Lost: fmt.Sprintf("%q holds more than %d objects: it stays as it is while learning", at, mostInCache),
			Needs: "--learn-write FOLDER, where the program has to write in it"})
	}
}

// guardEnvironment protects a virtual environment that is not the one in use: another tool runs what is in it. A rule that names it, or
// something in it, for writing counts.
func (c *compiler) guardEnvironment(root *Place, dir string) {
	for _, r := range c.policy.Rules { // while learning, rules make no places
		if (r.Op == policy.OpWrite || r.Op == policy.OpCreate) && !r.Deny && atOrBelow(r.Pattern.Object, dir) {
			return
		}
	}
	for _, p := range c.places {
		if p != root && p.Rights&(Write|Create) != 0 && !p.SelfBind && atOrBelow(p.Source.Path, dir) {
			return
		}
	}
	c.guard(root, c.look.Resolve(dir))
}

// mostNested bounds submodules within submodules and pointers to pointers.
const mostNested = 5

// guardGit protects what stands at .git: a repository, or the pointer file of a work tree with what it points to.
func (c *compiler) guardGit(root *Place, git string, depth int) {
	o := c.look.Resolve(git)
	switch o.Kind {
	case File:
		c.guard(root, o)
		if to, ok := strings.CutPrefix(strings.TrimSpace(c.look.Text(o.Path, 4096)), "gitdir:"); ok && depth < mostNested {
			c.guardRepository(root, join(path.Dir(o.Path), strings.TrimSpace(to)), depth+1)
		}
	case Dir:
		c.guardRepository(root, o.Path, depth)
	}
}

// guardRepository protects the files of a repository by which git runs programs or finds other settings, its submodules' and work trees'
// included. Those that are not there are looked for after the run.
func (c *compiler) guardRepository(root *Place, dir string, depth int) {
	if depth > mostNested || c.look.Resolve(dir+"/HEAD").Kind != File || c.look.Resolve(dir).Kind != Dir {
		return
	}
	c.guardSettings(root, dir)
	if common := strings.TrimSpace(c.look.Text(path.Join(dir, "commondir"), 4096)); common != "" {
		c.guardSettings(root, c.look.Resolve(join(dir, common)).Path)
	}
	for _, group := range []string{"modules", "worktrees"} {
		c.guardNested(root, path.Join(dir, group), depth+1)
	}
}

// guardSettings protects the files of one git folder.
func (c *compiler) guardSettings(root *Place, dir string) {
	for _, n := range []string{"hooks", "config", "config.worktree", "commondir", "info/attributes"} {
		c.guard(root, c.look.Resolve(path.Join(dir, n)))
	}
	for _, n := range []string{"config", "config.worktree"} {
		for _, named := range settingPaths(c.look.Text(path.Join(dir, n), 1<<20)) {
			for _, base := range []string{dir, path.Dir(dir)} { // include.path starts at the file, core.hooksPath where git runs
				c.guard(root, c.look.Resolve(join(base, named)))
			}
		}
	}
}

// guardNested goes down to the repositories of submodules, whose names may hold slashes, and to linked work trees.
func (c *compiler) guardNested(root *Place, dir string, depth int) {
	o := c.look.Resolve(dir)
	if o.Kind == Absent {
		c.guard(root, o) // the first submodule or work tree is told
	}
	if depth > mostNested || o.Kind != Dir {
		return
	}
	entries, err := c.look.Entries(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Kind != Dir {
			continue
		}
		sub := path.Join(dir, e.Name)
		c.guard(root, c.look.Resolve(path.Join(sub, "commondir")))
		if c.look.Resolve(sub+"/HEAD").Kind == File {
			c.guardRepository(root, sub, depth)
		} else {
			c.guardNested(root, sub, depth+1)
		}
	}
}

// settingPaths are the files and folders a git configuration names that run or configure something: core.hooksPath, include.path.
func settingPaths(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		if i := strings.LastIndexByte(key, ']'); i >= 0 {
			key = key[i+1:]
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "hookspath", "path":
			if v := strings.Trim(strings.TrimSpace(value), `"`); ok && v != "" && !strings.HasPrefix(v, "~") {
				out = append(out, v)
			}
		}
	}
	return out
}

func join(base, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(base, p)
}
