package main

import (
	"slices"
	"strings"

	"psb/learn"
	"psb/policy"
	"psb/policy/plan"
)

// tries judges file accesses that failed inside the box: which of them were the sandbox's doing.
type tries struct {
	j    *job
	look *hostLook
	done map[try]verdictOnTry
}

type try struct {
	access policy.Access
	how    learn.How
	errno  learn.Errno
}

type verdictOnTry struct {
	access  policy.Access
	refused bool
}

func newTries(j *job) tries {
	return tries{j: j, look: newLook(newSightings()), done: map[try]verdictOnTry{}}
}

// mostTries bounds what is remembered: a program may try as many names as it likes.
const mostTries = 10_000

// judge gives the access that the policy refuses behind a failed call; refused is false where the same would have failed without psb.
func (t *tries) judge(e learn.Accessed) (a policy.Access, refused bool) {
	key := try{e.Access, e.How, e.Errno}
	v, known := t.done[key]
	if !known {
		if len(t.done) >= mostTries {
			t.done, t.look = map[try]verdictOnTry{}, newLook(newSightings())
		}
		v.access, v.refused = t.meant(e)
		v.refused = v.refused && !t.j.policy.Decide(v.access).Allowed && t.j.unixAllows(t.look, v.access)
		t.done[key] = v
	}
	return v.access, v.refused
}

// meant finds the access in the host's terms; ok is false where what the kernel said had nothing to do with the box.
func (t *tries) meant(e learn.Accessed) (a policy.Access, ok bool) {
	a = e.Access
	if below(a.Object, "/proc") || below(a.Object, "/dev/shm") || below(a.Object, "/dev/pts") {
		return a, false // the box's own; the host's are others
	}
	if a.Op == policy.OpRead && strings.HasSuffix(a.Object, ".pyc") && strings.HasSuffix(parent(a.Object), "/__pycache__") {
		return a, false // Python looks for them and does as well without; no learning makes a rule of it either
	}
	o := t.look.Resolve(a.Object)
	if o.Err != "" {
		return a, false
	}
	a.Object = o.Path
	if a.Op == policy.OpExec && t.j.policy.Decide(a).Allowed { // then it is what its first line names
		a.Object = t.startedBy(o)
		return a, a.Object != ""
	}
	made := e.How == learn.New || e.How == learn.NewDir || e.How == learn.Unnamed
	if o.Kind == plan.Dir && (a.Op == policy.OpRead || a.Op == policy.OpList) {
		a = policy.Access{Op: policy.OpList, Object: folderName(o.Path)}
	}
	if o.Kind == plan.Dir && (a.Op == policy.OpWrite || e.How == learn.Unnamed) {
		a.Object = folderName(o.Path) // a rule for it names it so
	}
	if e.How == learn.Look { // a shell looks along PATH before it starts a program
		return a, o.Kind == plan.File && o.Mode&0o111 != 0
	}
	switch e.Errno {
	case "ENOENT", "ENOTDIR": // the sandbox's doing only where the host has the object, or the folder to make it in
		switch {
		case t.j.elsewhere(a.Object):
			return a, false
		case o.Kind == plan.Absent && made && t.look.Resolve(parent(o.Path)).Kind == plan.Dir:
			a = making(o.Path, e.How)
		case o.Kind == plan.Absent:
			return a, false
		}
	case "EACCES", "EPERM", "EROFS":
		switch {
		case e.How == learn.Meta && e.Errno != "EROFS":
			return a, false // whose file it is decides
		case o.Kind == plan.Absent && made:
			a = making(o.Path, e.How)
		case o.Kind == plan.Absent && private(a.Object):
			return a, false
		}
	default:
		return a, false
	}
	return a, true
}

// making is the access behind a name that could not be made. A folder has no line of its own, which would mean a file: what lacks is the right to
// make names where it was to stand.
func making(name string, how learn.How) policy.Access {
	if how == learn.NewDir {
		name = folderName(parent(name))
	}
	return policy.Access{Op: policy.OpCreate, Object: name}
}

// mostShebang is what the kernel reads of a script to find its interpreter (BINPRM_BUF_SIZE).
const mostShebang = 256

// startedBy is the interpreter of a script; "" where it has none on the host.
func (t *tries) startedBy(o plan.Object) string {
	line, ok := strings.CutPrefix(t.look.Text(o.Path, mostShebang), "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return ""
	}
	if by := t.look.Resolve(words[0]); by.Kind == plan.File {
		return by.Path
	}
	return ""
}

// elsewhere: the box shows another host folder at this place, so that the host's own object there says nothing.
func (j *job) elsewhere(object string) bool {
	return slices.ContainsFunc(j.policy.Rules, func(r policy.Rule) bool {
		return r.Pattern.From != "" && (object == r.Pattern.Object || below(object, r.Pattern.Object))
	})
}

func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// unixAllows reports whether plain Unix permissions would let the program do this without psb.
func (j *job) unixAllows(look *hostLook, a policy.Access) bool {
	o := look.Resolve(strings.TrimSuffix(a.Object, "/"))
	const read, write, search = 4, 2, 1
	switch {
	case a.Op == policy.OpCreate && strings.HasSuffix(a.Object, "/"): // some name in that folder
		return o.Kind == plan.Dir && look.May(o, write|search)
	case a.Op == policy.OpCreate || a.Op == policy.OpWrite && o.Kind == plan.Absent:
		dir := look.Resolve(parent(o.Path))
		return dir.Kind == plan.Dir && look.May(dir, write|search)
	case a.Op == policy.OpWrite && o.Kind == plan.Dir:
		return look.May(o, write|search)
	case a.Op == policy.OpWrite:
		return look.May(o, write) || look.May(look.Resolve(parent(o.Path)), write|search) // replaced or removed
	case a.Op == policy.OpExec:
		return look.May(o, search)
	}
	return look.May(o, read)
}
