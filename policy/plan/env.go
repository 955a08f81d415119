package plan

import (
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// alwaysEnv are the variables every program gets without a rule.
var alwaysEnv = []string{"PATH", "HOME", "USER", "TERM", "TZ", "LANG", "LC_*", "TMPDIR"}

// environment gives what the program sees of the host's variables, sorted: those always there, those the policy passes or sets;
// a refusal wins over everything, over the always-there set too. TMPDIR is the private /tmp, whatever the host's says.
func environment(p *policy.Policy, host []string) []string {
	out := map[string]string{}
	for _, kv := range host {
		name, value, ok := strings.Cut(kv, "=")
		if ok && slices.ContainsFunc(alwaysEnv, func(pat string) bool { return matchName(pat, name) }) {
			out[name] = value
		}
	}
	if _, ok := out["TMPDIR"]; ok {
		out["TMPDIR"] = "/tmp"
	}
	for _, r := range p.Rules {
		if r.Op != policy.OpEnv || r.Deny {
			continue
		}
		if r.Value != nil && !strings.Contains(r.Pattern.Text, "*") {
			out[r.Pattern.Text] = *r.Value
			continue
		}
		for _, kv := range host {
			if name, value, ok := strings.Cut(kv, "="); ok && matchName(r.Pattern.Text, name) {
				out[name] = value
			}
		}
	}
	for _, r := range p.Rules {
		if r.Op == policy.OpEnv && r.Deny {
			for name := range out {
				if matchName(r.Pattern.Text, name) {
					delete(out, name)
				}
			}
		}
	}
	list := make([]string, 0, len(out))
	for name, value := range out {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// matchName matches a variable's name against a pattern with "*"; names hold no "/", so path.Match's one exception never shows.
func matchName(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", ""), strings.ReplaceAll(name, "/", ""))
	return err == nil && ok
}

// MatchesName reports whether the name of an [env] line, which may be a glob, means a variable.
func MatchesName(pattern, name string) bool { return matchName(pattern, name) }

// AlwaysEnvNames are the variables that every program gets without a rule; some are globs.
func AlwaysEnvNames() []string { return slices.Clone(alwaysEnv) }

// AlwaysEnv reports whether every program gets a variable without a rule.
func AlwaysEnv(name string) bool {
	return slices.ContainsFunc(alwaysEnv, func(pat string) bool { return matchName(pat, name) })
}

// noBytecode keeps imports from writing __pycache__: in a box most of those writes would be refused, the rest would fill the project with
// byte code of the shim's making, and while learning nobody could tell an import's write from one the program asked for.
func noBytecode(env []string) []string {
	const name = "PYTHONDONTWRITEBYTECODE="
	for _, kv := range env {
		if strings.HasPrefix(kv, name) {
			return env
		}
	}
	return append(env, name+"1")
}

// firstOnPath puts a folder first on PYTHONPATH.
func firstOnPath(env []string, dir string) []string {
	const name = "PYTHONPATH="
	for i, kv := range env {
		if rest, ok := strings.CutPrefix(kv, name); ok {
			env = slices.Clone(env)
			env[i] = name + strings.TrimSuffix(dir+":"+rest, ":")
			return env
		}
	}
	return append(env, name+dir)
}
