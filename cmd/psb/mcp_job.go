package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"psb/mcpserver"
	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim/call"
)

// boxJob works the launch out.
func boxJob(w *world, o *boxOrder) (*job, error) {
	quiet := *w
	quiet.ui, quiet.cwd, quiet.seen, quiet.env = voice{io.Discard}, "/", newSightings(), ownEnvironment(w.env)
	gaps := o.AllowGaps
	if o.Profile.Policy == "" {
		gaps = slices.Concat(gaps, builtInGaps)
	}
	j := &job{w: &quiet, opts: options{python: o.Profile.Python, provider: "namespaces", allowGaps: gaps}, where: whereabouts{project: o.Profile.Folder}, look: newLook(quiet.seen)}
	j.facts = probe(j.w, false)
	j.setOperatorMacros(w)
	if err := j.boxPolicy(o); err != nil {
		return nil, err
	}
	if err := j.findPython(); err != nil {
		return nil, err
	}
	j.setOperatorMacros(w)
	if err := j.expand(); err != nil {
		return nil, err
	}
	if err := j.boxLimits(o.Limits); err != nil {
		return nil, err
	}
	if o.Ahead {
		for _, dir := range j.layout.Sites {
			quiet.seen.contentBehind(dir) // what is installed there is imported before the call
		}
	}
	if !o.Network {
		j.policy.Rules = slices.DeleteFunc(j.policy.Rules, func(r policy.Rule) bool { return r.Op == policy.OpConnect || r.Op == policy.OpListen })
	}
	command := j.boxCommand(o)
	command.Env = append(command.Env, j.named(w.env, command.Env)...)
	return j, j.planFor(plan.Enforce, command)
}

// setOperatorMacros is setMacros for a policy of the operator's: what it writes as ${NAME} may be any of the server's variables.
func (j *job) setOperatorMacros(w *world) {
	j.setMacros()
	j.macros.Getenv = w.lookup
}

// named are the server's variables that a line of [env] names, those left out that the box has its own of.
func (j *job) named(server, own []string) (list []string) {
	for _, kv := range server {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(own, envName(name)) && j.speaksOf(name, false) {
			list = append(list, kv)
		}
	}
	return list
}

// speaksOf reports whether a line of [env] grants a variable, or refuses it.
func (j *job) speaksOf(name string, deny bool) bool {
	return slices.ContainsFunc(j.policy.Rules, func(r policy.Rule) bool {
		return r.Op == policy.OpEnv && r.Deny == deny && plan.MatchesName(r.Pattern.Text, name)
	})
}

// ownEnvironment is what psb itself goes by. The rest of the server's variables is not even known by name to what tells of denials.
func ownEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name != "PATH" && name != "HOME" && name != "USER" && !strings.HasPrefix(name, "XDG_")
	})
}

// boxPolicy reads the profile's policy, from the texts that the server read.
func (j *job) boxPolicy(o *boxOrder) error {
	if o.Profile.Policy == "" {
		p, err := policy.Parse("", []byte(builtInPolicy(func(name string) bool {
			j.w.seen.node(name)
			return present(name)
		})))
		if err != nil {
			return fmt.Errorf("BUG: the built-in policy: %w", err)
		}
		j.written = p
		return nil
	}
	read := func(name string) ([]byte, error) {
		if text, ok := o.Profile.Texts[name]; ok {
			return text, nil
		}
		return nil, os.ErrNotExist
	}
	p, err := policy.Load(read, o.Profile.Policy, j.macros)
	if err != nil {
		return refuse("psb policy --policy FILE check", "profile %s: %s", o.Profile.Name, err)
	}
	j.where.policy, j.where.exists, j.where.named = o.Profile.Policy, true, true
	j.written = p
	return j.checkTrust()
}

// boxLimits adds the call's limits; where the profile has a lower one, that holds. What this host cannot hold exactly is held as well as it can
// be, and told: the bound is the operator's offer, not a line of a policy that somebody relies on.
func (j *job) boxLimits(asked map[string]string) error {
	if j.policy.Limits == nil {
		j.policy.Limits = map[string]policy.Limit{}
	}
	for name, text := range asked {
		l, err := policy.ParseLimit(name, text)
		if err != nil {
			return refuse("", "%s", err)
		}
		l.Origin = policy.Origin{From: "the call"}
		if j.facts.host.Limits[name] != "" {
			l.Origin.From = "default"
		}
		if own, set := j.policy.Limits[name]; !set || lower(l, own) {
			j.policy.Limits[name] = l
		}
	}
	return nil
}

func lower(a, b policy.Limit) bool {
	x, _ := limitValue(a)
	y, _ := limitValue(b)
	return x < y
}

// boxCommand is what the box starts, and with which environment: of the server's nothing but what the profile names is added later.
func (j *job) boxCommand(o *boxOrder) plan.Command {
	spaces := []plan.Space{{Path: mcpserver.Workspace}, {Path: call.Dir, Size: 24 << 20}}
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + mcpserver.Workspace, "LANG=C.UTF-8", "TMPDIR=/tmp", "USER=user", "MPLBACKEND=Agg", "MPLCONFIGDIR=/tmp"}
	dir := mcpserver.Workspace
	if o.Shell != nil && o.Shell.Dir != "" {
		dir += "/" + o.Shell.Dir
		spaces = append(spaces, plan.Space{Path: dir, Part: true})
	}
	c := plan.Command{Env: env, Dir: dir, Private: spaces}
	if o.Shell != nil {
		c.Exec = "/bin/sh"
		c.Argv = o.Shell.words()
		j.policy.Rules = append(j.policy.Rules, policy.Rule{Op: policy.OpExec, Origin: policy.Origin{From: "run_shell"}, Pattern: policy.Pattern{Text: c.Exec, Object: c.Exec}})
		return c
	}
	if o.Session { // run_shell comes to the same box
		j.policy.Rules = append(j.policy.Rules, policy.Rule{Op: policy.OpExec, Origin: policy.Origin{From: "run_shell"}, Pattern: policy.Pattern{Text: "/bin/sh", Object: "/bin/sh"}})
	}
	c.Exec, c.Python = j.layout.Launch, true
	c.Argv = []string{c.Exec, "-I", "-B", "-u", call.Dir + "/" + call.ProgramName}
	return c
}

// boxEnvironment adds what the box's own environment has beyond what policies speak of; what a policy refuses is not among it.
func (j *job) boxEnvironment() []string {
	out := slices.Clone(j.plan.Env)
	for _, kv := range j.plan.Command.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(out, envName(name)) && !j.speaksOf(name, true) {
			out = append(out, kv)
		}
	}
	return out
}

// boxFacts is what the kernel and the supervisor say of a run.
func (j *job) boxFacts(out outcome, b *boxWatcher, v *boxVerdict) {
	v.Usage = boxUsage{out.usage.MemoryPeak, out.usage.PIDsPeak, out.usage.PIDsRefused, out.usage.OOMKills, out.usage.Unknown}
	if v.Usage.MemoryPeak == 0 {
		v.Usage.MemoryPeak = out.exit.MaxRSS
	}
	for _, l := range j.reportLimits(out) {
		v.Limits = append(v.Limits, boxLimit{l.Name, l.Value, l.Unit, l.Effective, l.Reached})
	}
	found := b.seen.denials(j)
	v.More = found.more.Count
	for _, d := range found.list {
		if !ofNet(d.Access.Op) && !ofPython(d.Access.Op) && policy.Sensitive(d.Access.Object, j.macros) {
			d.Rule = "" // no ready line for what deserves a thought
		}
		v.Denials = append(v.Denials, boxDenial{Layer: d.Source, Operation: d.Op, Target: d.Object, Rule: d.Blocker, Policy: d.Rule, Where: d.Where, Count: d.Count})
	}
	v.Provider = string(j.plan.Provider)
	v.Walls = j.walls()
	for _, g := range j.plan.Gaps {
		v.Gaps = append(v.Gaps, g.Name+": "+g.Lost)
	}
	for _, kv := range j.plan.Env {
		name, _, _ := strings.Cut(kv, "=")
		v.Env = append(v.Env, name)
	}
}

// walls are the layers of this plan, in words.
func (j *job) walls() []string {
	out := []string{"namespaces: user, mount, pid, net, ipc, uts, cgroup", fmt.Sprintf("landlock ABI %d", j.facts.landlock.ABI), "seccomp"}
	if j.facts.cgroups.Usable() {
		out = append(out, "control group")
	}
	if j.policy.Shim && j.layout != nil && j.layout.ShimFits() {
		out = append(out, "python layer")
	}
	return out
}
