package main

import (
	"path/filepath"
	"strings"

	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim"
)

// errorMissing marks a module that was not found, and that nobody caught: its name is all that Python knows.
const errorMissing policy.Op = "error import"

// missing takes such an error over. A name that could not be had from a module that is there has that module's file.
func (r *refused) missing(n pythonshim.Note) {
	if name := n.Args[2]; name != "" && n.Args[3] == "" && !strings.ContainsAny(name, "/\x00") {
		r.add(policy.Access{Op: errorMissing, Object: name}, n.At, "reported")
	}
}

// found puts in the place of each missing module what finding it takes: a look into its folder, and its file.
func found(j *job, list []*denial) []*denial {
	var out []*denial
	for _, d := range list {
		if d.Access.Op != errorMissing {
			out = append(out, d)
			continue
		}
		for _, a := range moduleAccesses(j, d.Object) {
			one := *d
			one.Access, one.Op, one.Object = a, string(a.Op), a.Object
			out = append(out, &one)
		}
	}
	return out
}

// moduleAccesses finds a module of the program's own on the host, where Python looks first: beside the script, or in the working folder. Without
// a look into the folder Python takes it for empty. None where the host has no such module there.
func moduleAccesses(j *job, name string) []policy.Access {
	dir := j.plan.Command.Dir
	if j.where.script != "" {
		dir = filepath.Dir(j.look.Resolve(absolute(j.w.cwd, j.where.script)).Path)
	}
	at := filepath.Join(append([]string{dir}, strings.Split(name, ".")...)...)
	for _, try := range []string{at, at + ".py"} { // a package comes before a module of its name
		o := j.look.Resolve(try)
		read := policy.Access{Op: policy.OpRead, Object: o.Path}
		switch {
		case o.Kind == plan.Dir && try == at && ours(j, o.Path):
			read.Object = folderName(o.Path)
		case o.Kind == plan.File && try != at && ours(j, o.Path):
		default:
			continue
		}
		return []policy.Access{{Op: policy.OpList, Object: folderName(filepath.Dir(at))}, read}
	}
	return nil
}
