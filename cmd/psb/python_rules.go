package main

import (
	"psb/policy"
	"psb/pythonshim"
)

// pythonRules is what the shim has to know of a policy.
func pythonRules(p *policy.Policy) pythonshim.Rules {
	r := pythonshim.Rules{Imports: map[string]bool{}, Calls: map[string]bool{}, Eval: map[string]pythonshim.Profile{}}
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
