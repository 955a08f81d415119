package plan

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"psb/landlock"
	"psb/policy"
)

// Request is all that a launch is compiled from.
type Request struct {
	Policy      *policy.Policy // expanded
	PolicyFiles []string       // absolute paths of the policy and its includes, protected from the box
	Own         []string       // psb's own folders: approvals, filters; never writable by a box
	Host        Host
	Command     Command
	Mode        Mode
	Macros      policy.Macros
	Accept      []string          // gaps accepted by name
	Require     []string          // layers demanded on top of the policy's
	Provider    string            // --provider, or OS_SANDBOX; "" leaves the policy's
	Shim        map[string]string // files of the shim: name in OwnDir → content
	Package     string            // host folder shown as PackageDir: the Python package of the shim; "" for none
	ShimPath    string            // host folder that goes first on PYTHONPATH instead, without a mount namespace
	Overlay     map[string]string // host path → name in OwnDir laid over it
}

type compiler struct {
	policy      *policy.Policy
	policyFiles []string
	host        Host
	look        Look
	mode        Mode
	places      places
	gaps        []Gap
	missing     []string
	watched     []string
	homes       []string
	cache       string // the user's, where learning made it writable
	lite        bool   // no namespaces
	own         []string
	absent      map[policy.Origin]bool
	problems    []error
}

func (c *compiler) problem(o policy.Origin, format string, args ...any) {
	at := o.From
	if o.File != "" {
		at = fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	c.problems = append(c.problems, fmt.Errorf("%s: "+format, append([]any{at}, args...)...))
}

// Compile turns policy, host and command into a Plan. It acts on nothing; what the host lacks comes back as gaps in the plan, mistakes in
// the policy as one error that joins them all.
func Compile(r Request, look Look) (*Plan, error) {
	c := &compiler{policy: r.Policy, policyFiles: r.PolicyFiles, host: r.Host, look: look, mode: r.Mode, places: places{}, homes: Homes(r.Macros), own: r.Own,
		absent: map[policy.Origin]bool{}}
	p := &Plan{Mode: r.Mode, Policy: r.Policy, Command: r.Command, Shim: r.Policy.Shim && len(r.Overlay) != 0, Syscalls: map[string]bool{}}
	p.Provider = c.ladder(r)
	c.lite = p.Provider == LandlockOnly
	c.limits(p, r.Accept)
	p.Identity = identityInside(r.Host, p.Provider)

	if p.Provider == Namespaces {
		c.places.privateSpaces(look, p.Limits["disk"].Bytes)
		c.places.ownSpaces(r.Command.Private, p.Limits["disk"].Bytes)
		c.etc(p.Identity, r.Host, r.Mode.Learning())
	} else {
		c.hostSpaces()
		p.Shim, r.Shim, r.Overlay = r.ShimPath != "" && p.Provider != None && !r.Command.Apart, nil, nil // without a mount namespace nothing can be laid over a file
		if p.Shim {
			c.showHost(r.ShimPath, Read, "psb's shim")
			c.gaps = addGap(c.gaps, Gap{Name: "shim", Lost: "python -I, -E and -S, and children with another environment, run without the shim: it comes by PYTHONPATH", Needs: "a mount namespace", Soft: true})
		}
	}
	if r.Mode.Learning() {
		c.learnTree(r)
	} else {
		c.alwaysThere(r)
		c.grant()
		c.hide()
	}
	if r.Mode == Audit {
		p.Protected = c.protectedOnly()
		c.overlay(r)
	} else {
		c.protect()
	}
	c.command(r)
	c.network(p)
	p.PythonLayer = c.pythonLayer(p, r)
	if len(c.problems) > 0 {
		return nil, errors.Join(c.problems...)
	}
	if r.Mode.Learning() {
		p.Env = slices.Clone(r.Command.Env)
	} else {
		p.Env = environment(r.Policy, r.Command.Env)
	}
	if r.Command.Python {
		p.Env = noBytecode(p.Env)
	}
	if p.Brokered && c.lite { // a resolver's datagrams have nowhere to go
		p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), func(kv string) bool { return strings.HasPrefix(kv, "RES_OPTIONS=") }), "RES_OPTIONS=use-vc")
	}
	if p.Shim && r.ShimPath != "" {
		p.Env = firstOnPath(p.Env, r.ShimPath)
	}
	for _, rule := range r.Policy.Rules {
		if rule.Op == policy.OpSyscall {
			if _, refused := p.Syscalls[rule.Pattern.Text]; !refused || rule.Deny {
				p.Syscalls[rule.Pattern.Text] = !rule.Deny
			}
		}
	}
	c.places.belowHidden()
	if p.Provider == Namespaces {
		c.spec(p, r)
	} else {
		c.hostRoot(p, r)
	}
	c.restrict(p)
	p.Places, p.Missing, p.Watched = c.places.sorted(), c.missing, c.watched
	for o := range c.absent {
		p.Absent = append(p.Absent, o)
	}
	slices.SortFunc(p.Absent, func(a, b policy.Origin) int { return a.Line - b.Line })
	p.Gaps = c.gaps
	for i := range p.Gaps {
		p.Gaps[i].Accepted = slices.Contains(r.Accept, p.Gaps[i].Name)
	}
	return p, nil
}

// byCommandLine says why a script is there. It can be read without a line, and that takes nothing away from a line.
const byCommandLine = "named on the command line"

// alwaysThere shows what every program gets: the interpreter, libraries, certificates, time zones; and the script.
func (c *compiler) alwaysThere(r Request) {
	for _, n := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if o := c.look.Resolve(n); len(o.Links) > 0 && o.Links[0].At == n {
			c.places.at(n).Link = o.Links[0].Text // where these are links, programs and #! lines go through them
		}
	}
	if py := r.Host.Python; py != nil {
		for _, need := range py.Reads {
			// Libraries are named by the interpreter's own bytes: from the system or from its prefix, or not at all.
			if !slices.Contains(py.Libs, need) || inside(need, libraryFolders) || below(need, py.BasePrefix) {
				c.showHost(need, Read, "python")
			}
		}
		for _, lib := range py.SystemLibs {
			c.showHost(lib, Read, "system libraries")
		}
		if r.Command.Python {
			c.showHost(r.Command.Exec, Read|Exec, "python")
			c.showHost(py.Executable, Read|Exec, "python")
		}
		if o := c.look.Resolve(py.Loader); py.Loader != "" && (inside(o.Path, libraryFolders) || below(o.Path, py.BasePrefix)) {
			c.showHost(py.Loader, Read|Exec, "python's loader")
		}
	}
	for _, a := range r.Host.Always {
		c.showHost(a, Read, "always there")
	}
	for _, l := range r.Host.Links {
		c.places.at(l.At).Link = l.Text
	}
	for _, s := range r.Command.Reads {
		c.showHost(s, Read, byCommandLine)
	}
}

// showHost shows a host path with everything that leads to it, where it is a file or a folder.
func (c *compiler) showHost(p string, rights Rights, why string) {
	o := c.look.Resolve(p)
	if o.Kind != File && o.Kind != Dir {
		return
	}
	for _, l := range o.Links {
		if c.mode == Enforce && c.policyWrites(path.Dir(l.At)) {
			c.gaps = addGap(c.gaps, Gap{Name: "link", Lost: fmt.Sprintf("%q (%s) goes through the link %q, which stands in a folder the box may write", p, why, l.At),
				Needs: "the path of its target, " + shortQuote(o.Path)})
			return
		}
	}
	c.places.show(o, rights, alwaysThere, why)
}

// learnTree shows the host read-only but for the floor, and lets a learning run write below the project, the working folder and the
// cache.
func (c *compiler) learnTree(r Request) {
	top, err := c.look.Entries("/")
	if err != nil {
		c.problems = append(c.problems, fmt.Errorf("list /: %w", err))
		return
	}
	learning := policy.Origin{From: "learning"}
	for _, e := range top {
		at := "/" + e.Name
		switch {
		case e.Name == "proc" || e.Name == "sys" || e.Name == "dev" || e.Name == "tmp" || e.Name == "run":
		case e.Link != "":
			c.places.at(at).Link = e.Link
		case e.Kind == Dir && c.lite:
			c.showBut(at, r.Macros, learning)
		case e.Kind == Dir:
			c.places.show(c.look.Resolve(at), Read|Exec|List, learning, "everything is readable while learning")
		}
	}
	for _, p := range slices.Concat(r.Command.Given, r.Command.Reads) {
		if o := c.look.Resolve(p); (o.Kind == File || o.Kind == Dir) && below(o.Path, "/tmp") {
			c.places.show(o, Read|Exec, learning, byCommandLine)
		}
	}
	for _, d := range slices.Concat([]string{r.Macros.Project, r.Command.Dir, r.Macros.Cache}, r.Command.Writes) {
		o := c.look.Resolve(d)
		if d == "" || o.Kind != Dir || o.Path == "/" || !c.wide(o.Path, r.Macros.Home) {
			continue
		}
		c.places.show(o, Read|Write|Exec|List, learning, "writable while learning")
		if d == r.Macros.Cache && !slices.Contains(r.Command.Writes, d) {
			c.cache = o.Path
		}
	}
	for _, home := range Homes(r.Macros) {
		for _, f := range Floor(home) {
			c.hideOne(c.look.Resolve(f), policy.Origin{From: "floor"})
		}
	}
}

// showBut shows a folder without the floor's paths, where nothing can be masked: Landlock only grants, so what leads to a hidden path is
// shown entry by entry.
func (c *compiler) showBut(dir string, m policy.Macros, origin policy.Origin) {
	var hidden []string
	for _, home := range Homes(m) {
		for _, f := range Floor(home) {
			if o := c.look.Resolve(f); o.Kind != Absent && atOrBelow(o.Path, dir) {
				hidden = append(hidden, o.Path)
			}
		}
	}
	c.showExcept(dir, hidden, origin)
}

func (c *compiler) showExcept(dir string, hidden []string, origin policy.Origin) {
	if slices.Contains(hidden, dir) {
		return
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return below(h, dir) }) {
		if o := c.look.Resolve(dir); o.Kind == File || o.Kind == Dir {
			c.places.show(o, Read|Exec|List, origin, "readable while learning")
		}
		return
	}
	entries, err := c.look.Entries(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Link == "" {
			c.showExcept(path.Join(dir, e.Name), hidden, origin)
		}
	}
}

// wide refuses to open the home folder or what holds it for writing, only because a run was started there.
func (c *compiler) wide(dir, home string) bool { return home == "" || !atOrBelow(home, dir) }

// command makes the working folder exist and the policy of stdin.
func (c *compiler) command(r Request) {
	if o := c.look.Resolve(r.Command.Dir); o.Kind == Dir {
		c.places.show(o, 0, alwaysThere, "working folder")
	}
	if home := c.look.Resolve(r.Host.Identity.Home); home.Kind == Dir && home.Path != "/" {
		c.places.show(home, 0, alwaysThere, "home, empty")
	}
	for host, own := range r.Overlay {
		if o := c.look.Resolve(host); o.Kind == File {
			p := c.places.at(o.Path)
			op := overlayOp(path.Join(OwnDir, own), o.Path)
			p.Made, p.Rights, p.Why = &op, p.Rights|Read, "with psb's shim"
		}
	}
	for name, text := range r.Shim {
		c.places.made(path.Join(OwnDir, name), Read, "psb's shim", shimOp(text))
	}
	if o := c.look.Resolve(r.Package); r.Package != "" && o.Kind == Dir && !c.lite {
		p := c.places.at(PackageDir)
		p.Source, p.Rights, p.Why, p.Origins = o, Read|List, "psb's Python package", []policy.Origin{alwaysThere}
	}
}

// restrict turns places into Landlock rules.
func (c *compiler) restrict(p *Plan) {
	rs := landlock.Everything()
	switch {
	case p.Provider == LandlockOnly:
		rs = rs.DenyNet()
	case p.Brokered:
		rs = rs.DenyTCP()
	}
	for _, pl := range c.places.sorted() {
		a := c.landlockRights(pl)
		if a == 0 || pl.Hidden || pl.Link != "" {
			continue
		}
		if pl.Made == nil && pl.Source.Kind == Absent || pl.Made != nil && p.Provider != Namespaces {
			continue
		}
		isDir := pl.Source.Kind == Dir
		if pl.Made != nil {
			isDir = madeIsDir(pl.Made)
		}
		where := pl.Path
		if p.Provider == LandlockOnly {
			where = pl.Source.Path
		}
		rs.Paths = append(rs.Paths, landlock.PathRule{Path: where, Access: a, File: !isDir})
	}
	fitted, lost := rs.Fit(c.host.Landlock)
	p.Files = fitted
	for _, l := range lost {
		c.landlockLoss(l, p.Provider)
	}
}

func (c *compiler) landlockRights(pl *Place) landlock.Access {
	var a landlock.Access
	r := pl.Rights
	if pl.Guarded {
		r &^= Write | Create
	}
	if r.Has(Read) {
		a |= landlock.ReadTree
	}
	if r.Has(Write) {
		a |= landlock.WriteTree
	}
	if r.Has(Create) {
		a |= landlock.CreateIn
	}
	if r.Has(List) {
		a |= landlock.ListDir
	}
	if r.Has(Exec) {
		a |= landlock.ExecFile
	}
	if r.Has(UseDevice) {
		a |= landlock.Device | landlock.ReadTree
	}
	return a
}
