package main

import (
	"os"
	"slices"

	"psb/policy"
	"psb/policy/plan"
)

// Permission bits as stat(2) has them for others; for the group and the owner they stand three and six bits higher.
const (
	othersRead    = 0o4
	othersWrite   = 0o2
	othersExecute = 0o1
)

// refusedReadable finds what was refused with EACCES or EPERM about a file or folder that the policy lets the program read: to run it, or to
// change it.
// What the file's own permissions refuse is their affair, and nothing of psb's: then there is no denial. Where the file stands on a mount that
// is read-only the kernel says EROFS to a change, before it looks at anything else.
func refusedReadable(j *job, o plan.Object) (policy.Access, bool) {
	right := uint32(othersWrite)
	if o.Kind == plan.Dir {
		right = othersRead // to remove or rename it asks the folder above; what its own mode refuses first is a look inside
	} else if unixAllows(j, o, othersExecute) {
		if a := (policy.Access{Op: policy.OpExec, Object: o.Path}); !j.policy.Decide(a).Allowed {
			return a, true
		}
	}
	a := policy.Access{Op: policy.OpWrite, Object: o.Path}
	if o.Kind == plan.Dir {
		a.Object = folderName(o.Path)
	}
	return a, unixAllows(j, o, right) && (j.plan.Provider != plan.Namespaces || changeable(j.plan, o.Path))
}

// unixAllows reports whether an object's mode gives the program this right. The program has no capabilities, and is who started psb: root's
// files are its own where root did. A list of further users behind the mode is not looked at.
func unixAllows(j *job, o plan.Object, right uint32) bool {
	switch {
	case o.UID == j.w.id.UID:
		right <<= 6
	case o.GID == j.w.id.GID || !j.w.root && slices.Contains(ownGroups(), int(o.GID)):
		right <<= 3
	}
	return o.Mode&right != 0
}

func ownGroups() []int {
	list, _ := os.Getgroups() // none: the mode for others counts
	return list
}

// changeable reports whether an object stands on a mount of the box that may be written.
func changeable(p *plan.Plan, path string) bool {
	var nearest *plan.Place
	for _, at := range p.Places {
		if (at.Path == path || below(path, at.Path)) && (nearest == nil || len(at.Path) > len(nearest.Path)) {
			nearest = at
		}
	}
	return nearest != nil && nearest.Rights&(plan.Write|plan.Create) != 0
}
