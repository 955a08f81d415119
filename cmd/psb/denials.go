package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"psb/cmd/psb/report"
	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// denials are what a run was refused: those that are kept, and how many came beyond.
type denials struct {
	list []*denial
	more report.More
}

func (d denials) any() bool { return len(d.list) > 0 || d.more.Count > 0 }

// denial is one refused access as it is shown, with how often it came.
type denial struct {
	Access  policy.Access `json:"-"`
	Op      string        `json:"op"`
	Object  string        `json:"object"`
	Where   string        `json:"where,omitempty"`
	Count   int           `json:"count"`
	Source  string        `json:"source"` // kernel: a call was refused; reported: the shim says so
	Rule    string        `json:"rule,omitempty"`
	Blocker string        `json:"blocker,omitempty"`
	Hint    string        `json:"hint,omitempty"`
	Wider   string        `json:"wider,omitempty"`    // what would allow more than was asked, in words; "" for nothing
	LeadsTo string        `json:"leads_to,omitempty"` // where the object is, when its name leads over a link
	folder  bool          // of create: it may be a folder that was to be made
}

// refused collects what was refused during a run, in the order first seen. The zero value is ready.
type refused struct {
	list  []*denial
	known map[refusedKey]*denial
	kinds map[string]int // how many different ones of each kind are kept: kernel's calls, kernel's connects, what was reported of files, of imports
	ports lookups
	over  overflow
}

type refusedKey struct {
	access policy.Access
	source string
}

func (r *refused) add(a policy.Access, where, source string) {
	key := refusedKey{a, source}
	if d := r.known[key]; d != nil {
		d.Count++
		return
	}
	// A program may try for ever, and what it tries in one way must not hide what it tries in another. The names of calls end by themselves.
	const most = 1000
	kind := source
	if source == "kernel" || ofPython(a.Op) {
		kind += string(a.Op)
	}
	if r.known == nil {
		r.known, r.kinds = map[refusedKey]*denial{}, map[string]int{}
	}
	if r.kinds[kind] == most {
		r.over.add(key)
		return
	}
	r.kinds[kind]++
	d := &denial{Access: a, Op: string(a.Op), Object: a.Object, Where: where, Count: 1, Source: source}
	r.known[key], r.list = d, append(r.list, d)
}

func (r *refused) any() bool { return len(r.list) > 0 }

func (r *refused) syscall(name string) {
	r.add(policy.Access{Op: policy.OpSyscall, Object: name}, "", "kernel")
}

// note takes a line of the shim over. It is judged once the run is over: see denials.
func (r *refused) note(n pythonshim.Note) {
	switch n.Event {
	case pythonshim.NoteEnv:
		r.add(policy.Access{Op: policy.OpEnv, Object: n.Args[0]}, n.At, "reported")
	case pythonshim.NoteLookup:
		r.ports.add(n)
	case pythonshim.NoteResolve, pythonshim.NoteConnect:
		if object := saidAddress(n.Args[0], n.Args[1]); object != "" {
			r.add(policy.Access{Op: policy.OpConnect, Object: object}, n.At, "reported")
		}
	case pythonshim.NoteDenied:
		if a, ok := saidRefusal(n); ok {
			r.add(a, n.At, "reported")
		}
	case pythonshim.NoteError:
		if n.Args[1] == "import" {
			r.missing(n)
			return
		}
		for i, file := range n.Args[2:4] {
			kind := policy.Op("error ")
			if len(n.Args) > 4 {
				kind = cmp.Or(errorHow[n.Args[4]], kind)
			}
			if i == 0 && n.Args[3] != "" {
				kind = errorFrom // os.rename(from, to), and os.symlink(text, name), whose text names nothing
			}
			if strings.ContainsRune(file, '/') || file != "" && n.Args[1] != "0" {
				r.add(policy.Access{Op: kind + policy.Op(n.Args[1]), Object: file}, n.At, "reported")
			}
		}
	}
}

// errorFrom begins an error on the first of two names: nothing is made there.
const errorFrom policy.Op = "error from "

// errorHow begins an error of which the shim says how: on a name that may be a folder's, on a file that was to be changed.
var errorHow = map[string]policy.Op{"folder": "error folder ", "write": "error write "}

// denials are those of the refused accesses that the policy refuses, too: an ordinary Unix permission error is never blamed on the sandbox.
func (r *refused) denials(j *job) denials { return denials{r.judged(j), r.over.more()} }

func (r *refused) judged(j *job) []*denial {
	var out []*denial
	brokered := j.plan != nil && j.plan.Brokered
	list := r.ports.join(r.list)
	if j.policy == nil { // nothing to judge by, see takeOver: what the kernel was asked and refused is sure
		return slices.DeleteFunc(folded(list, brokered), func(d *denial) bool { return d.Source != "kernel" })
	}
	for _, d := range found(j, folded(list, brokered)) {
		if errno, ok := strings.CutPrefix(string(d.Access.Op), "error "); ok {
			errno, from := strings.CutPrefix(errno, "from ")
			errno, d.folder = strings.CutPrefix(errno, "folder ")
			errno, writes := strings.CutPrefix(errno, "write ")
			a, ok := fileAccess(j, d.Access.Object, errno)
			if writes && a.Op == policy.OpRead {
				a.Op, ok = policy.OpWrite, unixAllows(j, j.look.Resolve(a.Object), othersWrite) // which reads, too
			}
			if !ok || from && a.Op == policy.OpCreate {
				continue
			}
			name := absolute(j.plan.Command.Dir, d.Access.Object)
			if asked, ok := j.byLink(a, name, j.look.Resolve(name)); ok && j.policy.Decide(a).Blocker == nil {
				a, d.LeadsTo = asked, a.Object
			}
			d.Access, d.Op, d.Object = a, string(a.Op), a.Object
		}
		if d.Access.Op == policy.OpEnv {
			if _, set := j.w.lookup(d.Access.Object); !set {
				continue
			}
		}
		v := verdictOn(j.policy, d.Access)
		if v.Allowed || nameOnly(d.Access) && searched(j, d.Object) {
			continue
		}
		if same := accessIn(out, d.Access); same != nil { // two errors, or an error and the kernel's word, of one access
			same.join(d)
			continue
		}
		d.explain(j, v)
		d.widen(j, v, out)
		out = append(out, d)
	}
	return out
}

func accessIn(list []*denial, a policy.Access) *denial {
	if i := slices.IndexFunc(list, func(d *denial) bool { return d.Access == a }); i >= 0 {
		return list[i]
	}
	return nil
}

// join folds another record of the same access in. What the kernel was asked and the program said is one event; two of one source are two.
func (d *denial) join(o *denial) {
	if d.Where == "" {
		d.Where = o.Where
	}
	if d.Source == o.Source {
		d.Count += o.Count
		return
	}
	d.Source, d.Count = "kernel", max(d.Count, o.Count)
}

// fileAccess finds what was asked for behind a file error: the kernel's number and the name are all that the shim could say.
func fileAccess(j *job, file, errno string) (policy.Access, bool) {
	if errno == "2" && !strings.ContainsRune(file, '/') {
		// execvp(3) names the word it looked for, not where
		if p, err := findCommand(j.w, file); err == nil && !present(absolute(j.plan.Command.Dir, file)) {
			return policy.Access{Op: policy.OpExec, Object: p}, true
		}
	}
	abs := absolute(j.plan.Command.Dir, file)
	o := j.look.Resolve(abs)
	a := policy.Access{Op: policy.OpRead, Object: o.Path}
	if o.Kind == plan.Dir {
		a = policy.Access{Op: policy.OpList, Object: folderName(o.Path)}
	}
	switch errno {
	case "2", "20": // ENOENT, ENOTDIR: the sandbox's doing only where the host has the object, or a folder of the project that is not in the box
		if o.Kind == plan.Absent {
			return unseenFolder(j, o)
		}
		if o.Kind == plan.File && o.Mode&0o111 != 0 && programFolder(filepath.Dir(abs)) {
			a = policy.Access{Op: policy.OpExec, Object: abs}
		}
		return a, true
	case "1", "13", "30": // EPERM, EACCES, EROFS
		if o.Kind == plan.Absent {
			return createRefused(j, o, errno)
		}
		switch {
		case errno == "30":
			a.Op = policy.OpWrite
		case j.policy.Decide(a).Allowed:
			return refusedReadable(j, o)
		}
		return a, true
	}
	return a, false
}

func folderName(dir string) string { return strings.TrimSuffix(dir, "/") + "/" }

// programFolder: what stands there is looked for to be run.
func programFolder(dir string) bool {
	return strings.HasSuffix(dir, "/bin") || strings.HasSuffix(dir, "/sbin")
}

// createRefused: a name that is not on the host, in a folder that is. A box that is a root of its own refuses to make it as read-only
// (EROFS); what it answers with EACCES there was the look into a folder that no rule opens. Landlock alone says EACCES to both.
func createRefused(j *job, o plan.Object, errno string) (policy.Access, bool) {
	dir := filepath.Dir(o.Path)
	a := policy.Access{Op: policy.OpCreate, Object: o.Path}
	if list := (policy.Access{Op: policy.OpList, Object: folderName(dir)}); errno == "13" && j.plan.Provider == plan.Namespaces && !opened(j, list) {
		a = list
	}
	return a, j.look.Resolve(dir).Kind == plan.Dir && (ours(j, o.Path) || !private(o.Path))
}

// opened: some rule lets the box look into the folder, or make names there.
func opened(j *job, list policy.Access) bool {
	return j.policy.Decide(list).Allowed || j.policy.Decide(policy.Access{Op: policy.OpCreate, Object: list.Object}).Allowed
}

// private: the box has its own; what is refused there is not about the host's.
func private(p string) bool { return below(p, "/tmp") || below(p, "/dev") || below(p, "/proc") }

// ours: below the project or the working folder.
func ours(j *job, p string) bool {
	return j.where.project != "" && below(p, j.where.project) || below(p, j.plan.Command.Dir)
}

// unseenFolder: a name that the host does not have either, in a folder of the project that is not in the box: whether the program wanted to
// read or to make it, what kept it out is the folder.
func unseenFolder(j *job, o plan.Object) (policy.Access, bool) {
	dir := filepath.Dir(o.Path)
	a := policy.Access{Op: policy.OpList, Object: folderName(dir)}
	if !ours(j, dir) || j.look.Resolve(dir).Kind != plan.Dir {
		return a, false
	}
	for _, p := range j.plan.Places {
		if p.Path == dir || below(p.Path, dir) || p.Source.Kind == plan.Dir && below(dir, p.Path) && p.Rights&(plan.Read|plan.Write) != 0 {
			return a, false
		}
	}
	return a, true
}

const secretHint = "that looks like a secret or a start-up file: think before a rule gives it away"

// explain fills in what to do about a denial.
func (d *denial) explain(j *job, v policy.Verdict) {
	d.Rule = v.Fix.String()
	if nameOnly(d.Access) {
		d.Rule = d.Access.String() + ":PORT"
	}
	switch {
	case v.Blocker != nil:
		o := v.Blocker.Origin
		verb := map[policy.Op]string{policy.OpHide: "hides it", policy.OpDeny: "denies it"}[v.Blocker.Op]
		if verb == "" {
			verb = "refuses it"
		}
		d.Blocker = originWords(o.File, o.Line, o.From)
		d.Hint = fmt.Sprintf("%s %s (%q)", d.Blocker, verb, v.Blocker.Pattern.Text)
	case v.Locked:
		d.Hint = fmt.Sprintf("%s is locked", j.shownPolicy())
	case ofNet(d.Access.Op):
		d.Hint = netHint(j, d.Access)
	case ofPython(d.Access.Op) && policy.Grantable(d.Access) != nil:
		d.Hint = policy.Grantable(d.Access).Error()
	case rawText(d.Access) && bounds(j.policy):
		d.Hint = boundlessHint
	case rawText(d.Access):
		d.Hint, d.Wider = textHint, "without any bounds: "+addHint(j, d.Access)
	case ofPython(d.Access.Op):
		d.Hint, d.Wider = addHint(j, d.Access), widerHint(j, d.Access)
	case policy.Sensitive(d.Access.Object, j.macros), d.LeadsTo != "" && policy.Sensitive(d.LeadsTo, j.macros):
		d.Hint = secretHint
	case d.Op == string(policy.OpSyscall):
		d.Hint = syscallHint(d.Object)
	default:
		d.Hint = addHint(j, d.lasting())
	}
}

// lasting is the access that a line is for. A folder has none of its own, which would mean a file: what lacks is the right to make names where it
// was to stand.
func (d *denial) lasting() policy.Access {
	if d.Access.Op == policy.OpCreate && d.folder {
		return policy.Access{Op: policy.OpCreate, Object: folderName(filepath.Dir(d.Access.Object))}
	}
	return d.Access
}

// addHint is the command that would allow an access, fit for pasting.
func addHint(j *job, a policy.Access) string {
	object := shownObject(j.w.cwd, a.Object)
	if strings.HasPrefix(object, "unix:") {
		object = strings.ReplaceAll(object, "${", "$${")
	}
	if filepath.IsAbs(a.Object) {
		object = strings.ReplaceAll(object, "${", "$${")
		if strings.HasPrefix(object, "-") || strings.HasPrefix(object, "~") { // no option, no home
			object = "./" + object
		}
	}
	return "psb policy add " + policyFlag(j) + string(a.Op) + " " + shellQuote(object)
}

// shownObject is an object as a line names it: relative where it is below the working folder.
func shownObject(cwd, object string) string {
	if !filepath.IsAbs(object) {
		return object
	}
	if strings.TrimSuffix(object, "/") == strings.TrimSuffix(cwd, "/") {
		return "./"
	}
	return shown(cwd, object)
}

func syscallHint(name string) string {
	switch class, why := seccomp.ClassOf(name); class {
	case seccomp.Floor:
		return "never granted: " + why
	case seccomp.Base:
		return "refused for its arguments: docs/limits.md#refused-kernel-calls"
	case seccomp.Rest:
		return "outside the base set; a line [syscalls] " + name + " = true adds it"
	}
	return ""
}

func policyFlag(j *job) string {
	if s := j.shownPolicy(); s != policyName {
		return "--policy " + shellQuote(s) + " "
	}
	return ""
}
