package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
		lists := map[string][]string{}
		for key, names := range e.Lists {
			lists[key] = slices.Clone(names)
		}
		r.Eval[name] = pythonshim.Profile{Lists: lists, Values: maps.Clone(e.Values)}
	}
	for _, rule := range p.Rules {
		if rule.Op == policy.OpEval {
			addConstruct(r.Eval, rule)
		}
	}
	return r
}

// addConstruct adds a construct of evaluated text to its profile, where no line of the file holds it: one of --allow.
func addConstruct(profiles map[string]pythonshim.Profile, rule policy.Rule) {
	profile, construct, named := strings.Cut(rule.Pattern.Text, "/")
	if !named {
		profile, construct = "", rule.Pattern.Text
	}
	key, name, _ := strings.Cut(construct, ":")
	if rule.Deny {
		name = "!" + name
	}
	p, there := profiles[profile]
	if !there {
		p = pythonshim.Profile{Lists: map[string][]string{}, Values: map[string]string{}}
		profiles[profile] = p
	}
	if !slices.Contains(p.Lists[key], name) {
		p.Lists[key] = append(p.Lists[key], name)
	}
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
