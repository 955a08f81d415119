package main

import (
	"path/filepath"
	"slices"

	"psb/policy"
)

// madeFolder finds the folder above an object that the program may have made itself: one that stands where names may be made.
func madeFolder(p *policy.Policy, object string) string {
	for dir := filepath.Dir(object); dir != "/"; dir = filepath.Dir(dir) {
		if p.Decide(policy.Access{Op: policy.OpCreate, Object: dir}).Allowed {
			return dir
		}
	}
	return ""
}

// widen: what stands in a folder that the program made itself stays as it was in the next run, file by file. The second refusal there
// says that the folder is the program's: then the hint is one line for it.
func (d *denial) widen(j *job, v policy.Verdict, before []*denial) {
	if d.Access.Op != policy.OpWrite && d.Access.Op != policy.OpCreate || d.Hint != addHint(j, d.lasting()) || v.Narrower != nil {
		return
	}
	dir := madeFolder(j.policy, d.Access.Object)
	if dir == "" {
		return
	}
	second := false
	for _, o := range before {
		second = second || (o.Access.Op == policy.OpWrite || o.Access.Op == policy.OpCreate) && below(o.Access.Object, dir)
	}
	for _, r := range j.policy.Rules { // an earlier hint was followed
		second = second || !r.Deny && (r.Pattern.Object == dir || below(r.Pattern.Object, dir))
	}
	wide := *j.policy
	wide.Rules = append(slices.Clone(wide.Rules), policy.Rule{Op: policy.OpWrite, Pattern: policy.Pattern{Object: dir, Tree: true}})
	if second && wide.Decide(d.Access).Allowed { // else a line of its own keeps it
		d.Hint = addHint(j, policy.Access{Op: policy.OpWrite, Object: folderName(dir)})
	}
}
