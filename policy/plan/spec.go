package plan

import (
	"psb/namespaces"
	"psb/policy"
)

// Resource numbers of setrlimit(2), the same on amd64 and arm64.
const (
	rlimitCPU    = 0
	rlimitFSize  = 1
	rlimitCore   = 4
	rlimitNProc  = 6
	rlimitNoFile = 7
)

func overlayOp(source, target string) namespaces.Op {
	return namespaces.Op{Kind: namespaces.OpBindIn, Source: source, Target: target, ReadOnly: true}
}

func shimOp(text string) namespaces.Op {
	return namespaces.Op{Kind: namespaces.OpFile, Mode: 0o644, Data: []byte(text)}
}

func madeIsDir(op *namespaces.Op) bool {
	switch op.Kind {
	case namespaces.OpFile, namespaces.OpBindIn, namespaces.OpSymlink:
		return false
	}
	return true
}

// spec fills what the stages inside need, but for descriptors and filters, which the launcher makes.
func (c *compiler) spec(p *Plan, r Request) {
	b := &rootBuilder{ps: c.places, look: c.look, idmap: c.idmap}
	b.build()
	for _, g := range b.gaps {
		c.gaps = addGap(c.gaps, g)
	}
	h := r.Host
	for i := range b.ops {
		if o := &b.ops[i]; o.Kind == namespaces.OpOverlay {
			o.UserXattr = !c.trusted()
			p.Overlaid = append(p.Overlaid, o.Target)
		}
	}
	p.Spec = namespaces.Spec{
		Unshare:  namespaces.Set{User: h.UserNS, Mount: true, PID: true, Net: true, IPC: true, UTS: true, Cgroup: true},
		LateUser: h.Root && h.UserNS && h.PlainNS && !h.Nested,
		UID:      p.Identity.UID, GID: p.Identity.GID,
		HostUID: h.Identity.UID, HostGID: h.Identity.GID,
		Hostname: h.Hostname,
		Loopback: true,
		Ops:      b.ops,
		Root:     "/tmp",
	}
	if len(p.Overlaid) > 0 {
		p.Spec.Upper = overlaySize(p.Limits)
	}
	if h.Root && !h.Nested {
		p.Spec.HostUID, p.Spec.HostGID = HostID, HostID
	}
	c.process(p, r)
}

// hostRoot fills what a box without namespaces has.
func (c *compiler) hostRoot(p *Plan, r Request) {
	c.process(p, r)
	p.Spec.Subreaper = p.Provider == LandlockOnly
	p.Spec.UID, p.Spec.GID = p.Identity.UID, p.Identity.GID
	p.Spec.HostUID, p.Spec.HostGID = p.Identity.UID, p.Identity.GID
}

// process fills what is the same in every provider: rlimits, what to execute and where.
func (c *compiler) process(p *Plan, r Request) {
	p.Spec.Rlimits = rlimits(p.Limits, c.host.Limits["pids"] == "")
	p.Spec.Exec, p.Spec.Argv, p.Spec.Env, p.Spec.Dir = r.Command.Exec, r.Command.Argv, p.Env, r.Command.Dir
	p.Spec.Hold = r.Mode.Learning()
}

// rlimits: the core limit is 1, not 0, as a core_pattern that is a pipe ignores 0. Where a control group holds pids it has to be the one that
// refuses: it counts the refusals, and the kernel asks the rlimit first.
func rlimits(l map[string]policy.Limit, grouped bool) []namespaces.Rlimit {
	out := []namespaces.Rlimit{{Resource: rlimitCore, Value: 1}}
	if v, ok := l["cpu_time"]; ok {
		out = append(out, namespaces.Rlimit{Resource: rlimitCPU, Value: max(1, uint64(v.Time.Seconds()))})
	}
	if v, ok := l["file_size"]; ok {
		out = append(out, namespaces.Rlimit{Resource: rlimitFSize, Value: v.Bytes})
	}
	if v, ok := l["open_files"]; ok {
		out = append(out, namespaces.Rlimit{Resource: rlimitNoFile, Value: v.Count})
	}
	if v, ok := l["pids"]; ok {
		most := v.Count + 1 // the reaper counts, too
		if grouped {
			most++
		}
		out = append(out, namespaces.Rlimit{Resource: rlimitNProc, Value: most})
	}
	return out
}

// plainProgram: a program or library of the system's that everybody may read and start who is not its owner, as far as its owner may. A map of ids would
// give nothing but the owner's name, for one more call of the kernel for each of them.
func plainProgram(p *Place) bool {
	o := p.Source
	return o.Kind == File && p.Rights&^(Read|Exec|List) == 0 && o.Mode>>6&^o.Mode&0o005 == 0 &&
		p.Path == o.Path && (inside(o.Path, programFolders) || inside(o.Path, libraryFolders))
}

// idmap decides whether a host object is shown through an id-mapped mount: real root only, where the object's own permission bits would
// not let the unprivileged id do what the grant says.
func (c *compiler) idmap(p *Place) (uid, gid uint32, on bool) {
	o, rights := p.Source, p.Rights
	if !c.host.Root {
		return 0, 0, false
	}
	if o.Kind == Device || rights.Has(UseDevice) { // devtmpfs knows no id-mapped mounts
		if o.Kind == Device && o.Mode&0o006 != 0o006 && !isAlways(p) {
			c.gaps = addGap(c.gaps, Gap{Name: "root-id", Lost: shortQuote(o.Path) + " is closed to others, and root's programs run as an unprivileged id",
				Needs: "a node that others may open (chmod o+rw), or running psb as a user of its group"})
		}
		return 0, 0, false
	}
	public := o.Mode&0o004 != 0 && (o.Kind != Dir || o.Mode&0o001 != 0)
	if public && (isAlways(p) || plainProgram(p)) {
		return 0, 0, false
	}
	if !c.look.IDMap(o.Path) {
		if c.mode == Audit { // said by overlay
			return 0, 0, false
		}
		if rights&(Write|Create) != 0 || !public {
			c.gaps = addGap(c.gaps, Gap{Name: "root-id", Lost: shortQuote(o.Path) + " stands on a file system without id-mapped mounts: root's own files there cannot be shown to an unprivileged id",
				Needs: "Linux 5.12 and a file system that supports it, or running psb as an ordinary user"})
		}
		return 0, 0, false
	}
	return o.UID, o.GID, true
}
