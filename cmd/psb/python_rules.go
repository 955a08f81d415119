package main

import (
	"path/filepath"

	"psb/policy"
	"psb/pythonshim"
)

// pythonRules is what the shim has to know of a policy; script is what [job.installedScript] gives.
func pythonRules(p *policy.Policy, script string) pythonshim.Rules {
	r := pythonshim.Rules{Program: script, Imports: map[string]bool{}, Calls: map[string]bool{}, Eval: map[string]pythonshim.Profile{}}
	for _, rule := range p.Rules {
		into := map[policy.Op]map[string]bool{policy.OpImport: r.Imports, policy.OpCall: r.Calls}[rule.Op]
		if into == nil {
			continue
		}
		name := rule.Pattern.Text
		if was, said := into[name]; !said || was {
			into[name] = !rule.Deny // false wins
		}
	}
	for name, e := range p.Eval {
		r.Eval[name] = pythonshim.Profile{Lists: e.Lists, Values: e.Values}
	}
	return r
}

// installedScript gives the script, as python gets it, where it only starts an installed program: pip and its like put such scripts beside the
// interpreter, distributions among the system's programs. "" for every other program.
func (j *job) installedScript() string {
	if j.where.script == "" || j.layout == nil {
		return ""
	}
	folder := filepath.Dir(absolute(j.w.cwd, j.where.script))
	if installed(folder) || folder == filepath.Join(j.layout.Prefix, "bin") || folder == filepath.Join(j.layout.BasePrefix, "bin") {
		return j.where.script
	}
	return ""
}
