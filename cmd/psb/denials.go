package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

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
}

// refused collects what was refused during a run, in the order first seen.
type refused struct {
	list []*denial
}

func (r *refused) add(a policy.Access, where, source string) {
	for _, d := range r.list {
		if d.Access == a && d.Source == source {
			d.Count++
			return
		}
	}
	const most = 1000 // a program may try for ever
	if len(r.list) < most {
		r.list = append(r.list, &denial{Access: a, Op: string(a.Op), Object: a.Object, Where: where, Count: 1, Source: source})
	}
}

func (r *refused) syscall(name string) {
	r.add(policy.Access{Op: policy.OpSyscall, Object: name}, "", "kernel")
}
func (r *refused) connect(to string) {
	r.add(policy.Access{Op: policy.OpConnect, Object: to}, "", "kernel")
}

// note takes a line of the shim over. It is judged once the run is over: see denials.
func (r *refused) note(n pythonshim.Note) {
	switch n.Event {
	case pythonshim.NoteEnv:
		r.add(policy.Access{Op: policy.OpEnv, Object: n.Args[0]}, n.At, "reported")
	case pythonshim.NoteResolve:
		r.add(policy.Access{Op: policy.OpConnect, Object: net.JoinHostPort(n.Args[0], n.Args[1])}, n.At, "reported")
	case pythonshim.NoteError:
		for _, file := range n.Args[2:] {
			if strings.ContainsRune(file, '/') || file != "" && n.Args[1] != "0" {
				r.add(policy.Access{Op: "error " + policy.Op(n.Args[1]), Object: file}, n.At, "reported")
			}
		}
	}
}

// denials are those of the refused accesses that the policy refuses, too: an ordinary Unix permission error is never blamed on the sandbox.
func (r *refused) denials(j *job) []*denial {
	var out []*denial
	for _, d := range r.list {
		if errno, ok := strings.CutPrefix(string(d.Access.Op), "error "); ok {
			a, ok := fileAccess(j, d.Access.Object, errno)
			if !ok {
				continue
			}
			d.Access, d.Op, d.Object = a, string(a.Op), a.Object
		}
		if d.Access.Op == policy.OpEnv {
			if _, set := j.w.lookup(d.Access.Object); !set {
				continue
			}
		}
		v := j.policy.Decide(d.Access)
		if v.Allowed {
			continue
		}
		d.explain(j, v)
		out = append(out, d)
	}
	return out
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
		a = policy.Access{Op: policy.OpList, Object: strings.TrimSuffix(o.Path, "/") + "/"}
	}
	switch errno {
	case "2", "20": // ENOENT, ENOTDIR: the sandbox's doing only where the host has the object
		if o.Kind == plan.File && o.Mode&0o111 != 0 && programFolder(filepath.Dir(abs)) {
			a = policy.Access{Op: policy.OpExec, Object: abs}
		}
		return a, o.Kind != plan.Absent
	case "1", "13", "30": // EPERM, EACCES, EROFS
		if o.Kind == plan.Absent {
			return a, createRefused(j, o, &a)
		}
		if j.policy.Decide(a).Allowed || errno == "30" {
			a.Op = policy.OpWrite
		}
		return a, true
	}
	return a, false
}

// programFolder: what stands there is looked for to be run.
func programFolder(dir string) bool {
	return strings.HasSuffix(dir, "/bin") || strings.HasSuffix(dir, "/sbin")
}

// createRefused: a name that is not on the host, in a folder that is.
func createRefused(j *job, o plan.Object, a *policy.Access) bool {
	dir := filepath.Dir(o.Path)
	*a = policy.Access{Op: policy.OpCreate, Object: o.Path}
	return j.look.Resolve(dir).Kind == plan.Dir && !strings.HasPrefix(o.Path, "/tmp/") && !strings.HasPrefix(o.Path, "/dev/") && !strings.HasPrefix(o.Path, "/proc/")
}

// explain fills in what to do about a denial.
func (d *denial) explain(j *job, v policy.Verdict) {
	d.Rule = v.Fix.String()
	object := d.Object
	if filepath.IsAbs(object) {
		object = shown(j.w.cwd, object)
	}
	switch {
	case v.Blocker != nil:
		o := v.Blocker.Origin
		verb := map[policy.Op]string{policy.OpHide: "hides it", policy.OpDeny: "denies it"}[v.Blocker.Op]
		if verb == "" {
			verb = "refuses it"
		}
		d.Blocker = fmt.Sprintf("%s:%d", o.File, o.Line)
		d.Hint = fmt.Sprintf("%s %s (%q)", d.Blocker, verb, v.Blocker.Pattern.Text)
	case v.Locked:
		d.Hint = fmt.Sprintf("%s is locked", j.shownPolicy())
	case policy.Sensitive(d.Access.Object, j.macros):
		d.Hint = "that looks like a secret or a start-up file: think before a rule gives it away"
	case d.Op == string(policy.OpConnect) || d.Op == string(policy.OpListen):
		d.Hint = "the network layer is not in this build"
	case d.Op == string(policy.OpSyscall):
		d.Hint = syscallHint(d.Object)
	default:
		d.Hint = "psb policy add " + policyFlag(j) + d.Op + " " + shellQuote(object)
	}
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

// line is one denial on one line.
func (d *denial) line(cwd string) string {
	object := d.Object
	if filepath.IsAbs(object) {
		object = shown(cwd, object)
	}
	var notes []string
	if d.Where != "" {
		notes = append(notes, plainText(shown(cwd, d.Where)))
	}
	if d.Count > 1 {
		notes = append(notes, fmt.Sprintf("%d times", d.Count))
	}
	s := "denied: " + d.Op + " " + plainText(object)
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, ", ") + ")"
	}
	return s
}

// tell prints denials with their hints; psb says nothing when there are none.
func tell(v voice, cwd string, list []*denial) {
	for _, d := range list {
		v.say("%s", d.line(cwd))
		if d.Hint != "" {
			v.hint("%s", plainHint(d.Hint))
		}
	}
}

// plainHint: hints hold quoted words; what is left of control characters must not reach the terminal.
func plainHint(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
